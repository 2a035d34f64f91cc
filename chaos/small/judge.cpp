// The judge of the small world: the safety promises after every step, and rest at the end of a
// path.
#include <algorithm>

#include <fmt/format.h>

#include "chaos/small/world.hpp"
#include "protocol/gang_role.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos::small {

using protocol::decision;

namespace {

std::uint32_t bit_of(std::size_t pod, std::size_t node) {
  return 1u << (2 * pod + node);
}

std::size_t pod_number(const base::pod_uid& uid) {
  return uid.value == api_truth::uid_of(0) ? 0 : 1;
}

bool is_cancelled(const decision& x, const base::pod_uid& pod) {
  return std::find(x.cancelled.begin(), x.cancelled.end(), pod) != x.cancelled.end();
}

bool is_live(const decision& x) {
  return x.what == protocol::verdict::committed && !x.is_done;
}

} // namespace

/// Upholds S8: what a shard has obeyed is durable, and nothing older gets a yes.
void world::judge_effect(const protocol::address& of, const protocol::effect& e) {
  if (of.kind != protocol::role_kind::shard)
    return;
  auto& highest = obeyed_.at(of.index);
  if (const auto* a = std::get_if<protocol::append>(&e)) {
    if (const auto* seen = std::get_if<protocol::epoch_record>(&a->what)) {
      if (seen->seen.value < highest)
        say("S8",
            fmt::format("shard {} obeys epoch {} after {}", of.index, seen->seen.value, highest));
      highest = seen->seen.value;
    }
  } else if (const auto* s = std::get_if<protocol::send>(&e)) {
    const auto* v = std::get_if<protocol::vote>(&s->what);
    if (v != nullptr && v->yes && v->attempt.epoch.value < highest)
      say("S8", fmt::format("shard {} votes yes for epoch {} after {}", of.index,
                            v->attempt.epoch.value, highest));
  }
}

/// Upholds S3: by the decisions that are durable.
void world::judge_binding(const protocol::http_request& request) {
  const auto [pod, is_binding] = target_of(request);
  const auto node = node_of(request);
  if ((decided_ & bit_of(pod, node_number(node))) == 0)
    say("S3", fmt::format("pod {} is to be bound to {}, and no durable decision says so",
                          api_truth::name_of(pod), node));
}

/// Upholds S6 and S1b.
void world::judge_pods(const api_truth& before) {
  std::array<int, shards> on{};
  for (std::size_t n = 0; n < pods; ++n) {
    const auto& was = before.all()[n];
    const auto& is = api_.all()[n];
    if (was.node != is.node && !was.node.empty())
      say("S6",
          fmt::format("pod {} was on {} and is on {}", api_truth::name_of(n), was.node, is.node));
    if (!is.node.empty() && !is.is_gone && ++on.at(node_number(is.node)) > 1)
      say("S1b", fmt::format("two pods are on {}", is.node));
  }
}

/// Upholds S1a: per node, who is bound there or promised room there, each pod once; there is room
/// for one.
void world::judge_room() {
  for (std::uint32_t s = 0; s < shards; ++s) {
    const auto* role = find(protocol::to_shard({s}));
    if (role == nullptr)
      continue;
    std::uint32_t there = 0; // a bit per pod
    for (const auto& [attempt, r] :
         static_cast<const shards::shard_role*>(role)->reservations().all())
      for (const auto& [pod, node] : r.left)
        if (const auto n = pod_number(pod);
            !api_.all()[n].is_gone
            && (api_.all()[n].node.empty() || node_number(api_.all()[n].node) == s))
          there |= 1u << n;
    for (std::size_t n = 0; n < pods; ++n)
      if (const auto& x = api_.all()[n]; !x.is_gone && !x.node.empty() && node_number(x.node) == s)
        there |= 1u << n;
    if (there == 3)
      say("S1a", fmt::format("the room of node n{} is promised to both pods", s));
  }
}

/// Upholds S2, S4, S6, S7: what the durable log was before a step or a crash, and what it is now.
void world::judge_store(const log& before) {
  const auto& was = before.all().decisions;
  const auto& is = log_->all().decisions;
  for (const auto& [slot, old] : was) {
    const auto pos = is.find(slot);
    if (pos == is.end()) {
      say("S2", fmt::format("decision {} is lost", slot.ordinal));
      continue;
    }
    const auto& a = *old.what;
    const auto& b = *pos->second.what;
    if (a.by != b.by || a.what != b.what || (a.is_done && !b.is_done)
        || b.adopted_by < a.adopted_by)
      say("S2", fmt::format("decision {} was taken back", slot.ordinal));
    if (b.is_done)
      continue; // what is kept of it has no plan
    if (!(a.chosen == b.chosen))
      say("S2", fmt::format("decision {} has another plan than before", slot.ordinal));
    for (const auto& pod : a.cancelled)
      if (!is_cancelled(b, pod))
        say("S2", fmt::format("decision {} has lost a cancelled member", slot.ordinal));
  }
  std::array<int, pods> plans{};
  const decision* last = nullptr;
  for (const auto& [slot, kept] : is) {
    const auto& d = *kept.what;
    if (last != nullptr && is_live(*last))
      say("S7",
          fmt::format("decision {} stands while {} is not done", slot.ordinal, last->by.ordinal));
    last = &d;
    std::size_t members = 0;
    for (const auto& part : d.chosen.slices)
      for (const auto& s : part.seats) {
        ++members;
        decided_ |= bit_of(pod_number(s.pod), node_number(s.node_name.value));
        if (is_live(d) && !is_cancelled(d, s.pod) && ++plans.at(pod_number(s.pod)) > 1)
          say("S6", fmt::format("pod {} is in two live plans", s.pod_name));
      }
    if (is_live(d) && members + d.bound_already.at(0) < pods)
      say("S4", fmt::format("decision {} has {} members, the minimum is {}", slot.ordinal, members,
                            pods));
  }
}

/// Upholds S5 and S10, and that no gang ends in part: nothing is under way, no timer runs.
std::optional<finding> judge_end(const world& x) {
  std::size_t bound = 0;
  for (const auto& p : x.api().all())
    bound += p.node.empty() ? 0 : 1;
  if (!x.was_removed() && bound != pods)
    return finding{"L1", fmt::format("{} of {} pods are bound at the end", bound, pods)};
  for (const auto& [slot, kept] : x.store().all().decisions)
    if (is_live(*kept.what))
      return finding{"S5", fmt::format("decision {} is not done at the end", slot.ordinal)};
  if (x.find(protocol::to_gang(the_scene().gang)) != nullptr)
    return finding{"S5", "a coordinator is left, and nothing will wake it"};
  for (std::uint32_t s = 0; s < shards; ++s)
    if (const auto* role = x.find(protocol::to_shard({s}));
        role != nullptr
        && !static_cast<const shards::shard_role*>(role)->reservations().all().empty())
      return finding{"S10", fmt::format("shard {} holds room at the end", s)};
  return std::nullopt;
}

} // namespace tutti::chaos::small
