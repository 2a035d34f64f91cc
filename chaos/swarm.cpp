// The cluster of a drawn world, its gangs, and what users and operators do.
#include "chaos/swarm.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "chaos/swarm_drawing.hpp"

namespace tutti::chaos {

using namespace std::chrono_literals;
using base::random_stream;

schedule drawing::draw() {
  draw_world();
  draw_gangs();
  draw_terms();
  draw_priorities();
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

/// Half of what users do happens while a gang is being started.
base::duration drawing::users_time() {
  if (users_.chance(1, 2))
    return some_time(users_);
  const auto g = users_.below(gangs_);
  const auto& gang = out_.actions[static_cast<std::size_t>(nodes_ + g)];
  return gang.at + sim::draw(users_, 0ms, 40ms);
}

void drawing::draw_world() {
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
  // A repair may take a minute before anybody is evicted: what comes after it has its time too.
  const auto repair = out_.evicts_degraded ? base::duration{1min} : base::duration{};
  out_.until = how_.faults_for + how_.quiet_for + repair;
  for (std::uint64_t n = 0; n < nodes_; ++n)
    add(0s, "node", fmt::format("n{}", n),
        {{"cpu", std::to_string(shape_.between(2, 8))},
         {"rack", fmt::format("r{}", shape_.below(racks_))}});
}

void drawing::draw_gangs() {
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

/// In every third world the gangs are of two applications, and some of them ask for company, for
/// distance or for evenness. A stream of its own: the other worlds stay what they were.
void drawing::draw_terms() {
  random_stream own{out_.seed, "terms"};
  if (!own.chance(1, 3) && !how_.always_terms)
    return;
  constexpr std::array<std::string_view, 2> apps{"a", "b"};
  constexpr std::array<std::string_view, 2> keys{"kubernetes.io/hostname", "example.com/rack"};
  for (std::uint64_t g = 0; g < gangs_; ++g) {
    auto& with = out_.actions[static_cast<std::size_t>(nodes_ + g)].with;
    with["app"] = one_of(own, apps);
    if (own.chance(1, 2))
      continue; // only asked about
    constexpr std::array<std::string_view, 4> kinds{"apart", "apart", "near", "even"};
    const auto kind = one_of(own, kinds);
    const auto key = one_of(own, keys);
    // Spread is over pods of the own kind: over others it would hardly ever be met.
    const auto whom = kind == "even" ? std::string_view{with["app"]} : one_of(own, apps);
    with[std::string{kind}] = fmt::format("{}@{}", whom, key);
  }
}

/// In every third world gangs differ in priority, so that some are evicted for others. A stream of
/// its own: the other worlds stay what they were.
void drawing::draw_priorities() {
  random_stream own{out_.seed, "priorities"};
  if (!own.chance(1, 3) && !how_.always_priorities)
    return;
  for (std::uint64_t g = 0; g < gangs_; ++g) {
    auto& gang = out_.actions[static_cast<std::size_t>(nodes_ + g)];
    const auto priority = own.below(4);
    gang.with["prio"] = std::to_string(priority);
    gang.with["mode"] = own.chance(1, 2) ? "all" : "single";
    if (priority > 1 && own.chance(1, 2)) // whoever it may evict runs by then
      gang.at = some_time(own);
  }
}

void drawing::draw_users() {
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
void drawing::draw_squeeze() {
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
void drawing::draw_operator() {
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
void drawing::draw_decay() {
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
void drawing::draw_orphans() {
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

schedule draw_schedule(std::uint64_t seed, const swarm_options& how) {
  return drawing{seed, how}.draw();
}

} // namespace tutti::chaos
