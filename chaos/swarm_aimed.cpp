// Actions of a drawn world that wait for a state of the protocol instead of a time.
#include <algorithm>

#include "chaos/coverage.hpp"
#include "chaos/swarm_drawing.hpp"

namespace tutti::chaos {

using namespace std::chrono_literals;
using base::random_stream;

/// By time alone hardly anything happens while a member is touched or a victim is marked, and
/// nothing ever in states that take no time. So some actions wait for a state, rare ones first of
/// all. Evictions by policy come a minute and a half after what they are for: there faults last
/// longer. Each kind has a stream of its own.
void drawing::draw_aimed() {
  random_stream own{out_.seed, "aimed"};
  if (how_.aimed_percent == 0 || !(how_.takes_every_kind || own.chance(1, 3)))
    return;
  if (out_.evicts_degraded) {
    out_.faults_until += faults_longer_for_evictions_;
    out_.until += faults_longer_for_evictions_;
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
int drawing::times_aimed(std::string_view kind) {
  return kind == "link" || kind == "link_cut" || kind == "alien" || kind == "pod_done"
                 || kind == "group_again" || kind == "late"
             ? 3
             : 1;
}

void drawing::draw_aimed_of(const action_kind& kind, std::string_view state, random_stream own) {
  const auto first = out_.actions.size();
  const auto g = own.below(gangs_);
  const auto at = squeezed_for_ > 0ms && own.chance(1, 2) ? squeezed_at_ : began(g);
  if (kind.what == "late" && (state == "looking" || state == "seeking_victims"))
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
void drawing::draw_late_in_a_pause(base::duration at, std::string_view state, random_stream& own) {
  const auto who = process(own);
  if (!is_wanted("pause"))
    return;
  add(at, "late", who,
      {{"nth", "1"}, {"count", "8"}, {"message", "prepare"}, {"by", span(own, 1ms, 1s)}});
  add(at, "pause", who, {{"for", "2s"}, {std::string{when_key}, std::string{state}}});
}

/// What waits for its place waits where evictions pass.
void drawing::aim_at_evictor(action& x, std::string_view state) {
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
  if (x.what == "link") {
    x.with["nth"] = "1"; // the next frames at once: a victim is read in the time of one answer
    x.with["count"] = "20";
  }
  if (x.what == "api" || x.what == "api_down")
    x.target = state == "mark-victim" ? "status" : state == "delete-victim" ? "evict" : "read";
}

std::string_view drawing::some_state(random_stream& own) const {
  constexpr std::array<std::string_view, 20> usual{
      "planning", "preparing", "looking",  "deciding", "committing",  "binding",        "finishing",
      "in-doubt", "committed", "consumed", "stale",    "withdrawing", "bind",           "read",
      "touch",    "touch",     "touch",    "read",     "withdrawing", "seeking_victims"};
  constexpr std::array<std::string_view, 3> of_victims{"mark-victim", "delete-victim",
                                                       "read-victim"};
  if (out_.evicts_degraded && own.chance(2, 3))
    return one_of(own, of_victims);
  return out_.log_is_objects && own.chance(1, 8) ? "write-log" : one_of(own, usual);
}

/// Something that users or the cluster do to this gang.
void drawing::draw_doing(std::string_view what, std::uint64_t g, base::duration at,
                         random_stream& own) {
  const auto name = fmt::format("g{}", g);
  const auto member = fmt::format("{}-{}", name, own.below(members_[static_cast<std::size_t>(g)]));
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

} // namespace tutti::chaos
