#include "chaos/swarm.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/random.hpp"
#include "chaos/coverage.hpp"
#include "sim/world/dice.hpp"

namespace tutti::chaos {

namespace {

using namespace std::chrono_literals;
using base::random_stream;
using pairs = std::map<std::string, std::string>;

template <std::size_t N>
std::string_view one_of(random_stream& from, const std::array<std::string_view, N>& all) {
  return all[static_cast<std::size_t>(from.below(N))];
}

class drawing {
public:
  drawing(std::uint64_t seed, const swarm_options& how)
      : how_(how), shape_(seed, "shape"), users_(seed, "users"), faults_(seed, "faults") {
    out_.seed = seed;
  }

  schedule draw() {
    draw_world();
    draw_gangs();
    draw_users();
    draw_squeeze();
    draw_faults();
    draw_operator();
    draw_decay();
    draw_orphans();
    draw_aimed();
    std::stable_sort(out_.actions.begin(), out_.actions.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return std::move(out_);
  }

private:
  void add(base::duration at, std::string_view what, std::string target, pairs with = {}) {
    out_.actions.push_back({at, std::string{what}, std::move(target), std::move(with)});
  }
  base::duration some_time(random_stream& from) {
    return sim::draw(from, 1ms, how_.faults_for) / 1000 * 1000;
  }
  /// Most faults fall into the moments after something has begun: in an idle world they meet
  /// nobody.
  base::duration fault_time(random_stream& own) {
    if (squeezed_for_ > 0ms && own.chance(1, 3))
      return squeezed_at_ + sim::draw(own, 0ms, squeezed_for_) / 1000 * 1000;
    if (own.chance(1, 5) || out_.actions.empty())
      return some_time(own);
    const auto n = static_cast<std::size_t>(own.below(users_actions_));
    const auto after = own.chance(1, 4) ? sim::draw(own, 0ms, 3s) : sim::draw(own, 0ms, 40ms);
    return out_.actions[n].at + after;
  }
  /// Half of what users do happens while a gang is being started.
  base::duration users_time() {
    if (users_.chance(1, 2))
      return some_time(users_);
    const auto g = users_.below(gangs_);
    const auto& gang = out_.actions[static_cast<std::size_t>(nodes_ + g)];
    return gang.at + sim::draw(users_, 0ms, 40ms);
  }
  std::string node(random_stream& from) { return fmt::format("n{}", from.below(nodes_)); }
  std::string gang(random_stream& from) { return fmt::format("g{}", from.below(gangs_)); }
  std::string pod(random_stream& from) {
    const auto g = from.below(gangs_);
    return fmt::format("g{}-{}", g, from.below(members_[static_cast<std::size_t>(g)]));
  }

  void draw_world() {
    nodes_ = shape_.between(2, how_.nodes_most);
    racks_ = shape_.between(1, 3);
    gangs_ = shape_.between(1, how_.gangs_most);
    out_.shards = static_cast<std::uint32_t>(shape_.between(1, 4));
    out_.fast_path = shape_.chance(1, 2);
    // A stream of its own: the shapes of the others stay as they were.
    if (random_stream log{out_.seed, "log"}; log.chance(1, 4) || how_.replicas > 1) {
      out_.log_is_objects = true;
      out_.fast_path = false;
    }
    out_.evicts_degraded = random_stream{out_.seed, "policy"}.chance(1, 6) || how_.evicts_degraded;
    // In most worlds every order of facts is tried, also the rarest.
    if (random_stream{out_.seed, "pause"}.chance(1, 4))
      out_.burst_pause = base::limits::burst_pause;
    // F27: with a window of 256 no world would ever fill it.
    if (random_stream window{out_.seed, "window"}; window.chance(1, 4))
      out_.window = static_cast<std::uint32_t>(window.between(1, 3));
    out_.replicas = how_.replicas;
    out_.faults_until = how_.faults_for;
    // A repair has a minute, and who is evicted then half a minute more.
    const auto until_evicted = out_.evicts_degraded ? base::duration{1min} : base::duration{};
    out_.until = how_.faults_for + how_.quiet_for + until_evicted;
    for (std::uint64_t n = 0; n < nodes_; ++n)
      add(0s, "node", fmt::format("n{}", n),
          {{"cpu", std::to_string(shape_.between(2, 8))},
           {"rack", fmt::format("r{}", shape_.below(racks_))}});
  }

  void draw_gangs() {
    for (std::uint64_t g = 0; g < gangs_; ++g) {
      const auto members = users_.between(1, 6);
      members_.push_back(members);
      pairs with{
          {"members", std::to_string(members)},
          // Some wait for members that may never come.
          {"min", std::to_string(users_.chance(1, 10) ? members + 1 : users_.between(1, members))},
          {"cpu", std::to_string(users_.between(1, 4))}};
      if (users_.chance(1, 4))
        with["key"] = "example.com/rack";
      // Half of them come at once: rivals.
      add(users_.chance(1, 2) ? 1ms : some_time(users_), "gang", fmt::format("g{}", g),
          std::move(with));
    }
  }

  void draw_users() {
    for (auto left = users_.below(6); left > 0; --left) {
      const auto at = users_time();
      switch (users_.below(8)) {
      case 0:
        add(at, "node_gone", node(users_));
        break;
      case 1:
        add(at, "cordon", node(users_), {{"off", std::to_string(users_.below(2))}});
        break;
      case 2:
        add(at, "gang_gone", gang(users_));
        break;
      case 3:
        add(at, "pod_gone", pod(users_), {{"again", std::to_string(users_.below(2))}});
        break;
      case 4:
        add(at, "pod_done", pod(users_));
        break;
      case 5:
        add(at, "min", gang(users_), {{"to", std::to_string(users_.between(1, 6))}});
        break;
      case 6:
        add(at, "foreign", fmt::format("x{}", left),
            {{"node", node(users_)}, {"cpu", std::to_string(users_.between(1, 3))}});
        break;
      default:
        add(at, "node", node(users_),
            {{"cpu", std::to_string(users_.between(1, 8))},
             {"rack", fmt::format("r{}", users_.below(racks_))}});
      }
    }
  }

  /// In every fourth world a gang loses its room between the yes of its shards and their acks,
  /// which a slow disk keeps apart: what is decided meanwhile is withdrawn, or cancelled in part.
  /// Left to chance, hardly any fault would ever meet that.
  void draw_squeeze() {
    auto own = users_.fork("squeeze");
    if (!own.chance(1, 4))
      return;
    const auto g = nodes_ + own.below(gangs_);
    squeezed_at_ = out_.actions[static_cast<std::size_t>(g)].at;
    sync_takes_ = sim::draw(own, 20ms, 600ms) / 1'000'000 * 1'000'000;
    squeezed_for_ = 4 * sync_takes_;
    for (auto left = own.between(1, nodes_); left > 0; --left) {
      const auto at = squeezed_at_ + sim::draw(own, 4ms, 2 * sync_takes_) / 1000 * 1000;
      const auto who = node(own);
      const pairs as_new{{"cpu", std::to_string(own.between(1, 8))},
                         {"rack", fmt::format("r{}", own.below(racks_))}};
      if (own.chance(1, 3)) {
        add(at, "foreign", fmt::format("z{}", left),
            {{"node", who}, {"cpu", std::to_string(own.between(2, 6))}});
        continue;
      }
      if (own.chance(1, 2))
        add(at, "node_gone", who);
      else
        add(at, "node", who, {{"cpu", "1"}, {"rack", as_new.at("rack")}});
      add(at + sim::draw(own, 500ms, 4s) / 1000 * 1000, "node", who, as_new);
    }
  }

  /// In every third world an operator takes gangs back, mostly while they are being started, or
  /// while a slow disk keeps a decision from being known. Drawn behind faults: those stay as they
  /// are.
  void draw_operator() {
    random_stream own{out_.seed, "operator"};
    if (!own.chance(1, 3))
      return;
    for (auto left = own.between(1, 4); left > 0; --left) {
      const auto g = own.below(gangs_);
      const auto began = out_.actions[static_cast<std::size_t>(nodes_ + g)].at;
      const auto at = own.chance(1, 4) ? some_time(own)
                      : squeezed_for_ > 0ms && own.chance(1, 2)
                          ? squeezed_at_ + sim::draw(own, 0ms, squeezed_for_)
                          : began + sim::draw(own, 0ms, 40ms);
      pairs with;
      if (own.chance(1, 3))
        with["pod"] = fmt::format("g{}-{}", g, own.below(members_[static_cast<std::size_t>(g)]));
      add(at / 1000 * 1000, "cancel", fmt::format("g{}", g), std::move(with));
    }
  }

  /// Where degraded gangs go by policy, some fall below their minimum after their start.
  void draw_decay() {
    if (!out_.evicts_degraded)
      return;
    random_stream own{out_.seed, "decay"};
    for (auto left = own.between(1, 3); left > 0; --left) {
      const auto g = own.below(gangs_);
      const auto members = members_[static_cast<std::size_t>(g)];
      const auto began = out_.actions[static_cast<std::size_t>(nodes_ + g)].at;
      const auto at = std::min(began + sim::draw(own, 500ms, 8s) / 1000 * 1000, how_.faults_for);
      if (own.chance(1, 2))
        add(at, "pod_gone", fmt::format("g{}-{}", g, own.below(members)), {{"again", "0"}});
      else
        add(at, "min", fmt::format("g{}", g), {{"to", std::to_string(members + 1)}});
    }
  }

  /// In every sixth world somebody deletes groups and leaves their pods; some are made anew.
  void draw_orphans() {
    random_stream own{out_.seed, "orphans"};
    if (!own.chance(1, 6))
      return;
    for (auto left = own.between(1, 2); left > 0; --left) {
      const auto g = own.below(gangs_);
      const auto began = out_.actions[static_cast<std::size_t>(nodes_ + g)];
      const auto at =
          own.chance(1, 3) ? some_time(own) : began.at + sim::draw(own, 0ms, 40ms) / 1000 * 1000;
      add(at, "group_gone", began.target);
      if (own.chance(1, 2))
        add(std::min(at + sim::draw(own, 1ms, 8s) / 1000 * 1000, how_.faults_for), "group_again",
            began.target);
    }
  }

  /// By time alone hardly anything happens while a member is touched or a victim is marked, and
  /// nothing ever in states that take no time. So some actions wait for a state, rare ones first of
  /// all. Evictions by policy come a minute and a half after what they are for: there faults last
  /// longer. Each kind has a stream of its own.
  void draw_aimed() {
    random_stream own{out_.seed, "aimed"};
    if (how_.aimed_percent == 0 || !(how_.takes_every_kind || own.chance(1, 3)))
      return;
    if (out_.evicts_degraded) {
      out_.faults_until += until_evicted_;
      out_.until += until_evicted_;
    }
    if (own.chance(1, 2)) // members that are decided and not bound are touched then
      for (auto left = own.between(1, 2); left > 0; --left) {
        const auto g = own.below(gangs_);
        add(began(g), "cancel", fmt::format("g{}", g),
            {{std::string{when_key}, own.chance(1, 2) ? "committing" : "binding"}});
      }
    // Gangs that have started fall below a minimum that they can never have again.
    if (out_.evicts_degraded)
      for (std::uint64_t g = 0; g < gangs_; ++g)
        if (own.chance(1, 2))
          add(how_.faults_for - 1s, "min", fmt::format("g{}", g),
              {{"to", std::to_string(members_[static_cast<std::size_t>(g)] + 1)}});
    // A victim is read when its deletion has come to nothing, or nobody knows.
    if (auto reads = own.fork("reads");
        out_.evicts_degraded && is_wanted("api") && reads.chance(1, 2))
      for (int left = 3; left > 0; --left)
        add(how_.faults_for, "api", "evict",
            {{std::string{when_key}, "mark-victim"},
             {"nth", std::to_string(reads.between(1, 2))},
             {"becomes", reads.chance(1, 2) ? "500" : "applied_lost"}});
    for (const auto& kind : action_kinds())
      if (kind.what != "node" && kind.what != "gang" && (!is_fault(kind) || is_wanted(kind.what)))
        for (int n = 0; n < times_aimed(kind.what); ++n)
          if (auto more = own.fork(fmt::format("{} {}", kind.what, n));
              more.chance(how_.aimed_percent, 100))
            draw_aimed_of(kind, some_state(more), std::move(more));
    if (const auto* kind = find_kind(how_.aims_at.first); kind != nullptr)
      for (int n = 0; n < 4; ++n)
        draw_aimed_of(*kind, how_.aims_at.second, own.fork(fmt::format("aims at {}", n)));
  }

  /// Frames are few, those that meet a rare state fewer; and most pods do not run yet.
  static int times_aimed(std::string_view kind) {
    return kind == "link" || kind == "link_cut" || kind == "alien" || kind == "pod_done"
                   || kind == "group_again" || kind == "late"
               ? 3
               : 1;
  }

  base::duration began(std::uint64_t g) const {
    return out_.actions[static_cast<std::size_t>(nodes_ + g)].at;
  }

  void draw_aimed_of(const action_kind& kind, std::string_view state, random_stream own) {
    const auto first = out_.actions.size();
    const auto g = own.below(gangs_);
    const auto at = squeezed_for_ > 0ms && own.chance(1, 2) ? squeezed_at_ : began(g);
    if (kind.what == "late" && (state == "looking" || state == "seeking-victims"))
      return draw_late_in_a_pause(at, state, own);
    if (is_fault(kind))
      draw_fault(kind.what, own);
    else
      draw_doing(kind.what, g, at, own);
    for (auto n = first; n < out_.actions.size(); ++n)
      if (auto& a = out_.actions[n]; a.what == kind.what) {
        a.at = kind.what == "pod_done" ? how_.faults_for / 4 : at; // somebody is bound by then
        a.with[std::string{when_key}] = std::string{state};
        if (a.with.contains("nth") && a.what != "corrupt")
          a.with["nth"] = std::to_string(own.between(1, 2));
        aim_at_evictor(a, state);
      }
  }

  /// A word that is heard again comes with time, and these states take none, unless the process
  /// stands still in them.
  void draw_late_in_a_pause(base::duration at, std::string_view state, random_stream& own) {
    const auto who = process(own);
    if (!is_wanted("pause"))
      return;
    add(at, "late", who,
        {{"nth", "1"}, {"count", "8"}, {"message", "prepare"}, {"by", span(own, 1ms, 1s)}});
    add(at, "pause", who, {{"for", "2s"}, {std::string{when_key}, std::string{state}}});
  }

  /// What waits for its place waits where evictions pass.
  static void aim_at_evictor(action& x, std::string_view state) {
    if (!state.ends_with("-victim"))
      return;
    if (x.with.contains("row"))
      x.with["row"] = "B3";
    if (x.with.contains("pass"))
      x.with["pass"] = "1";
    if (x.what == "late") {
      x.with["by"] = "2ms"; // what gets the room of the first victims is asked for beside the next
      x.with["count"] = "8";
    }
    if (x.what == "api" || x.what == "api_down")
      x.target = state == "mark-victim" ? "status" : state == "delete-victim" ? "evict" : "read";
  }

  std::string_view some_state(random_stream& own) const {
    constexpr std::array<std::string_view, 20> usual{
        "planning", "preparing",   "looking",  "deciding",    "committing",
        "binding",  "finishing",   "in-doubt", "committed",   "consumed",
        "stale",    "withdrawing", "bind",     "read",        "touch",
        "touch",    "touch",       "read",     "withdrawing", "seeking-victims"};
    constexpr std::array<std::string_view, 3> of_victims{"mark-victim", "delete-victim",
                                                         "read-victim"};
    if (out_.evicts_degraded && own.chance(2, 3))
      return one_of(own, of_victims);
    return out_.log_is_objects && own.chance(1, 8) ? "write-log" : one_of(own, usual);
  }

  /// Something that users or the cluster do to this gang.
  void draw_doing(std::string_view what, std::uint64_t g, base::duration at, random_stream& own) {
    const auto name = fmt::format("g{}", g);
    const auto member =
        fmt::format("{}-{}", name, own.below(members_[static_cast<std::size_t>(g)]));
    if (what == "node_gone")
      add(at, what, node(own));
    else if (what == "cordon")
      add(at, what, node(own), {{"off", "0"}});
    else if (what == "group_again") {
      add(at, "gang_gone", name); // a group goes for good when its last pod has gone
      add(at, what, name);
    } else if (what == "pod_gone")
      add(at, what, member, {{"again", std::to_string(own.below(2))}});
    else if (what == "pod_done")
      for (int left = 4; left > 0; --left) // those that run are done
        add(at, what, pod(own));
    else if (what == "min")
      add(at, what, name, {{"to", std::to_string(own.between(1, 6))}});
    else if (what == "foreign")
      add(at, what, fmt::format("w{}", own.below(1000)),
          {{"node", node(own)}, {"cpu", std::to_string(own.between(1, 3))}});
    else
      add(at, what, name); // gang_gone, group_gone, cancel
  }

  bool is_wanted(std::string_view kind) const {
    return how_.faults.empty() || how_.faults.contains(std::string{kind});
  }

  /// Each kind has a stream of its own: leaving one out does not move the others.
  void draw_faults() {
    users_actions_ = out_.actions.size();
    if (squeezed_for_ > 0ms && is_wanted("slow_disk"))
      add(squeezed_at_, "slow_disk", "scheduler-0",
          {{"for", duration_text(2 * squeezed_for_)}, {"sync", duration_text(sync_takes_)}});
    for (const auto& kind : action_kinds()) {
      auto own = faults_.fork(kind.what);
      const bool is_on = own.chance(1, 2);
      if (!is_fault(kind) || !(is_on || how_.takes_every_kind) || !is_wanted(kind.what))
        continue;
      for (auto left = own.between(1, 3); left > 0; --left)
        draw_fault(kind.what, own);
    }
  }

  void draw_fault(std::string_view what, random_stream& own) {
    constexpr std::array<std::string_view, 23> rows{
        "C0",  "C1", "C2", "C4", "C5", "C7", "C8", "C9", "C10", "C11", "C12", "C13",
        "C14", "P0", "P1", "P2", "P3", "P4", "P5", "P6", "B0",  "B1",  "B2"};
    constexpr std::array<std::string_view, 10> deadly{"C1", "C2", "C4", "C5", "C7",
                                                      "C8", "P1", "P2", "P4", "B1"};
    constexpr std::array<std::string_view, 8> words{"bind",  "bind",  "read",   "list",
                                                    "watch", "touch", "status", "event"};
    constexpr std::array<std::string_view, 8> answers{
        "409", "429", "500", "503", "lost", "lost", "applied_lost", "applied_lost"};
    constexpr std::array<std::string_view, 3> resources{"pods", "nodes", "podgroups"};
    const auto at = fault_time(own);
    // Where decisions are API objects, half of the API server's faults meet those.
    const auto word = [&] {
      return out_.log_is_objects && own.chance(1, 2) ? std::string{"decide"}
                                                     : std::string{one_of(own, words)};
    };
    const auto who = process(own);
    const auto span = [&](base::duration least, base::duration most) {
      return drawing::span(own, least, most);
    };
    if (what == "crash")
      draw_crash(at, who, own);
    else if (what == "crash_at")
      add(at, what, who,
          {{"row", std::string{one_of(own, rows)}},
           {"pass", std::to_string(own.between(1, 3))},
           {"kept", std::to_string(own.below(3))}});
    else if (what == "restart")
      add(at, what, who, {{"down", span(10ms, 3s)}});
    else if (what == "pause")
      add(at, what, who, {{"for", span(10ms, 20s)}});
    else if (what == "kill_actor")
      add(at, what, who, {{"role", role(own)}});
    else if (what == "kill_at")
      add(at, what, who,
          {{"row", std::string{one_of(own, deadly)}}, {"pass", std::to_string(own.between(1, 3))}});
    else if (what == "late")
      add(at, what, who,
          {{"nth", std::to_string(own.between(1, 4))},
           {"count", std::to_string(own.between(1, 8))},
           {"message", own.chance(1, 4) ? "abort" : "prepare"},
           {"by", span(1ms, 6s)}});
    else if (what == "clock")
      add(at, what, who, {{"by", own.chance(1, 2) ? "3h" : "-3h"}});
    else if (what == "disk_full" || what == "sync_fails" || what == "slow_disk"
             || what == "corrupt")
      draw_disk(at, what, who, own);
    else if (what == "alien" && how_.replicas > 1)
      add(at, what, who);
    else if (what == "cut_off")
      add(at, what, who, {{"for", span(100ms, 10s)}});
    else if (what == "link_cut" || what == "link")
      draw_link(at, what, who, own);
    else if (what == "api")
      draw_answer(at, word(), std::string{one_of(own, answers)}, own);
    else if (what == "api_down")
      draw_outage(at, word(), std::string{one_of(own, answers)}, own);
    else if (what == "watch_stall")
      add(at, what, std::string{one_of(own, resources)}, {{"for", span(100ms, 15s)}});
    else if (what == "watch_expired")
      draw_expiry(at, own);
    else if (what == "watch_twice")
      add(at, what, std::string{one_of(own, resources)}, {{"for", span(1s, 10s)}});
    else if (what == "watch_cut")
      add(at, what, std::string{one_of(own, resources)});
  }

  /// One alone with its decisions in objects has its epochs in its store, and nowhere else.
  bool has_epochs_alone() const { return out_.log_is_objects && how_.replicas == 1; }

  void draw_disk(base::duration at, std::string_view what, const std::string& who,
                 random_stream& own) {
    if (what == "slow_disk")
      add(at, what, who, {{"for", span(own, 100ms, 5s)}, {"sync", span(own, 10ms, 900ms)}});
    else if (what == "disk_full")
      add(at, what, who, {{"for", span(own, 10ms, 20s)}});
    else if (what != "corrupt")
      add(at, what, who);
    else if (!has_epochs_alone())
      add(at, what, who, {{"nth", std::to_string(own.below(200))}, {"down", span(own, 10ms, 3s)}});
  }

  /// Where several share the cluster a disk may be lost, too: all that matters is elsewhere.
  void draw_crash(base::duration at, const std::string& who, random_stream& own) {
    pairs with{{"kept", std::to_string(own.below(4))}, {"down", span(own, 10ms, 3s)}};
    if (how_.replicas > 1 && own.fork(fmt::format("disk {}", at.count())).chance(1, 3))
      with["disk"] = "lost";
    add(at, "crash", who, std::move(with));
  }

  static std::string span(random_stream& own, base::duration least, base::duration most) {
    return duration_text(sim::draw(own, least, most) / 1'000'000 * 1'000'000);
  }

  /// One alone draws nothing: its runs stay what they were.
  std::string process(random_stream& own) {
    return fmt::format("scheduler-{}", how_.replicas > 1 ? own.below(how_.replicas) : 0);
  }

  /// Frames between processes, where there are several.
  void draw_link(base::duration at, std::string_view what, const std::string& who,
                 random_stream& own) {
    constexpr std::array<std::string_view, 3> fates{"lost", "twice", "late"};
    if (how_.replicas == 1)
      return;
    if (what == "link_cut")
      add(at, what, who, {{"from", process(own)}, {"for", span(own, 100ms, 10s)}});
    else
      add(at, what, who,
          {{"nth", std::to_string(own.between(1, 20))},
           {"count", std::to_string(own.between(1, 6))},
           {"fate", std::string{one_of(own, fates)}},
           {"by", span(own, 1ms, 4s)}});
  }

  /// One request is answered otherwise. What came later is drawn from a fork: all else stays as it
  /// was.
  void draw_answer(base::duration at, std::string word, std::string becomes, random_stream& own) {
    auto more = own.fork(fmt::format("answer {}", at.count()));
    pairs with{{"nth", std::to_string(own.between(1, 12))},
               {"silent", own.chance(1, 4) ? "1" : "0"}};
    if (becomes == "429" && more.chance(1, 2))
      with["retry"] = std::to_string(more.between(1, 8));
    if (becomes != "lost" && more.chance(1, 4))
      with["delay"] = span(more, 10ms, 12s);
    with["becomes"] = std::move(becomes);
    add(at, "api", std::move(word), std::move(with));
  }

  /// While a decided gang may not bind, others come to its nodes.
  void draw_outage(base::duration at, std::string word, std::string answer, random_stream& own) {
    const bool is_forbidden = word == "bind" && own.chance(1, 2);
    const auto how_long = sim::draw(own, 100ms, 4s) / 1'000'000 * 1'000'000;
    if (is_forbidden)
      add(at + how_long / 4, "foreign", fmt::format("y{}", own.below(1000)),
          {{"node", node(own)}, {"cpu", std::to_string(own.between(1, 3))}});
    add(at, "api_down", std::move(word),
        {{"for", duration_text(how_long)}, {"becomes", is_forbidden ? "403" : std::move(answer)}});
  }

  /// An expired watch matters if something goes meanwhile that the list does not name any more.
  void draw_expiry(base::duration at, random_stream& own) {
    constexpr std::array<std::string_view, 4> resources{"pods", "pods", "nodes", "podgroups"};
    const auto how_long = sim::draw(own, 10ms, 6s) / 1'000'000 * 1'000'000;
    const std::string resource{one_of(own, resources)};
    add(at, "watch_expired", resource, {{"for", duration_text(how_long)}});
    if (resource == "pods" && own.chance(1, 2))
      add(at + how_long / 2, "pod_gone", pod(own), {{"again", "0"}});
  }

  std::string role(random_stream& own) {
    constexpr std::array<std::string_view, 7> kinds{"queue",  "topology", "mirror",    "binder",
                                                    "status", "evictor",  "preemption"};
    if (out_.log_is_objects && own.chance(1, 5))
      return "decisions";
    switch (own.below(6)) {
    case 0:
    case 1:
      return fmt::format("shard({})", own.below(out_.shards));
    case 2:
      return fmt::format("coordinator({})", gang(own));
    case 3:
      return fmt::format("gang({})", gang(own));
    case 4:
      return fmt::format("node({})", node(own));
    default:
      return std::string{one_of(own, kinds)};
    }
  }

  const swarm_options& how_;
  random_stream shape_;
  random_stream users_;
  random_stream faults_;
  schedule out_;
  std::size_t users_actions_ = 0; ///< in `out_`, before faults are added
  std::uint64_t nodes_ = 0;
  std::uint64_t racks_ = 0;
  std::uint64_t gangs_ = 0;
  std::vector<std::uint64_t> members_;
  base::duration squeezed_at_{};
  base::duration squeezed_for_{}; ///< 0 = nobody is squeezed
  base::duration sync_takes_{};   ///< meanwhile
  /// A repair has a minute, and who is evicted then half a minute more; and a while for all of
  /// them.
  static constexpr base::duration until_evicted_ = 2min;
};

} // namespace

schedule draw_schedule(std::uint64_t seed, const swarm_options& how) {
  return drawing{seed, how}.draw();
}

} // namespace tutti::chaos
