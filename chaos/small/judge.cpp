// The judge of the small world: the safety promises after every step, and rest at the end of a
// path.
#include <algorithm>
#include <bit>

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

bool is_cancelled(const decision& x, const base::pod_uid& pod) {
  return std::find(x.cancelled.begin(), x.cancelled.end(), pod) != x.cancelled.end();
}

bool is_live(const decision& x) {
  return x.what == protocol::verdict::committed && !x.is_done;
}

} // namespace

/// Upholds S8: what a shard has obeyed is durable, and nothing older gets a yes.
void world::judge_effect(const place& of, const protocol::effect& e) {
  if (of.kind != protocol::role_kind::shard)
    return;
  auto& highest = obeyed_.at(of.in).at(of.index);
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
    const auto* held = std::get_if<protocol::ack>(&s->what);
    if (held != nullptr && !held->refused && of == place_of(of.index))
      judge_ack(of.index, held->attempt);
  }
}

/// Upholds S1a where decisions collide (P11): an ack says that the room is held, so it is held for
/// nobody else.
void world::judge_ack(std::uint32_t shard, const base::attempt_id& attempt) {
  const auto* role = static_cast<const shards::shard_role*>(find(place_of(shard)));
  const auto* r = role != nullptr ? role->reservations().find(attempt) : nullptr;
  const auto waits = [this](const auto& seat) {
    return api_.all()[pod_number(seat.first)].node.empty();
  };
  if (r == nullptr || std::none_of(r->left.begin(), r->left.end(), waits))
    return;
  if (const auto sum = room_of(shard, *role); sum.pods > 1)
    say("S1a", fmt::format("shard {} acks room that it has promised to {} pods", shard, sum.pods));
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
  for (std::size_t n = 0; n < pods_most; ++n) {
    const auto& was = before.all()[n];
    const auto& is = api_.all()[n];
    if (was.node != is.node && !was.node.empty())
      say("S6",
          fmt::format("pod {} was on {} and is on {}", api_truth::name_of(n), was.node, is.node));
    if (!is.node.empty() && !is.is_gone && ++on.at(node_number(is.node)) > 1)
      say("S1b", fmt::format("two pods are on {}", is.node));
  }
}

/// Upholds S9: a victim goes only for a decision that stands, and of which it is one. Whoever gives
/// its members up has touched its victims before, and then a removal is refused.
void world::judge_removal(const api_truth& before) {
  const base::pod_uid victim{api_truth::uid_of(the_victim)};
  for (std::size_t g = 0; g < how_.gangs; ++g) {
    const auto* d = live_decision(g);
    if (d == nullptr)
      continue;
    bool is_named = false;
    bool has_member = false;
    for (const auto& part : d->chosen.slices) {
      is_named |= std::any_of(part.victims.begin(), part.victims.end(),
                              [&](const auto& v) { return v.pod == victim; });
      has_member |= std::any_of(part.seats.begin(), part.seats.end(),
                                [d](const auto& s) { return !is_cancelled(*d, s.pod); });
    }
    if (is_named && has_member)
      return;
  }
  say("S9", fmt::format("pod {} is evicted on {}, and no decision that stands names it",
                        api_truth::name_of(the_victim), before.all()[the_victim].node));
}

/// Upholds S1a, by the shard's present owner: what a former one promises comes to nothing.
void world::judge_room() {
  for (std::uint32_t s = 0; s < shards; ++s)
    if (const auto* role = static_cast<const shards::shard_role*>(find(place_of(s)))) {
      judge_known(s, *role);
      judge_room(s, *role);
    }
}

/// Per node, who is there or promised room there, each pod once, less the victim that a promise
/// names; there is room for one. Decisions of two gangs that a new owner has found in the log may
/// need more (P11): then nothing else is promised.
void world::judge_room(std::uint32_t shard, const shards::shard_role& role) {
  if (const auto sum = room_of(shard, role);
      sum.pods > 1 && (sum.is_promised_here || how_.gangs == 1))
    say("S1a", fmt::format("the room of node n{} is promised to {} pods", shard, sum.pods));
}

world::promises world::room_of(std::uint32_t shard, const shards::shard_role& role) const {
  std::uint32_t there = 0;    // a bit per pod
  std::uint32_t promised = 0; // … but by decisions that were found
  bool has_credit = false;
  const auto is_here = [&](std::size_t n) {
    const auto& x = api_.all()[n];
    return !x.is_gone && !x.node.empty() && node_number(x.node) == shard;
  };
  const auto& found = listed_[shard];
  for (const auto& [attempt, r] : role.reservations().all()) {
    const bool is_found = std::find(found.begin(), found.end(), attempt) != found.end();
    bool has_open = false;
    for (const auto& [pod, node] : r.left) {
      const auto n = pod_number(pod);
      if (api_.all()[n].is_gone || (!api_.all()[n].node.empty() && !is_here(n)))
        continue;
      there |= 1u << n;
      promised |= is_found ? 0 : 1u << n;
      has_open |= !is_here(n);
    }
    has_credit |= has_open && !r.asked->victims.empty();
  }
  for (std::size_t n = 0; n < pods_most; ++n)
    if (is_here(n)) {
      there |= 1u << n;
      promised &= ~(1u << n);
    }
  const int lent = has_credit && is_here(the_victim) ? 1 : 0;
  return {std::popcount(there) - lent, promised != 0};
}

/// Upholds S1a: nobody else is here to whom room could be promised that is taken. So it must be
/// known to be taken: a shard that may promise counts everybody who is bound on its node, as seen
/// or as promised.
void world::judge_known(std::uint32_t shard, const shards::shard_role& role) {
  const auto& node = *the_scene().nodes.at(shard);
  if (!role.nodes().is_fresh())
    return;
  for (std::size_t n = 0; n < pods_most; ++n) {
    const auto& x = api_.all()[n];
    const base::pod_uid pod{api_truth::uid_of(n)};
    if (x.is_gone || x.node != node.name.value || role.nodes().is_resident(node.uid, pod))
      continue;
    const auto& all = role.reservations().all();
    if (std::none_of(all.begin(), all.end(),
                     [&](const auto& r) { return r.second.left.contains(pod); }))
      say("S1a", fmt::format("pod {} is on node n{}, whose shard does not know it",
                             api_truth::name_of(n), shard));
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
    judge_change(*old.what, *pos->second.what);
  }
  std::array<int, pods_most> plans{};
  const decision* last = nullptr;
  for (const auto& [slot, kept] : is) {
    const auto& d = *kept.what;
    if (last != nullptr && last->by.gang == slot.gang && is_live(*last))
      say("S7",
          fmt::format("decision {} stands while {} is not done", slot.ordinal, last->by.ordinal));
    last = &d;
    note_plan(d);
    for (const auto& part : d.chosen.slices)
      for (const auto& s : part.seats)
        if (is_live(d) && !is_cancelled(d, s.pod) && ++plans.at(pod_number(s.pod)) > 1)
          say("S6", fmt::format("pod {} is in two live plans", s.pod_name));
  }
}

/// Upholds S2: of one slot.
void world::judge_change(const decision& was, const decision& is) {
  const auto slot = was.by.ordinal;
  if (was.by != is.by || was.what != is.what || (was.is_done && !is.is_done)
      || is.adopted_by < was.adopted_by)
    say("S2", fmt::format("decision {} was taken back", slot));
  if (is.is_done)
    return; // what is kept of it has no plan
  if (!(was.chosen == is.chosen))
    say("S2", fmt::format("decision {} has another plan than before", slot));
  for (const auto& pod : was.cancelled)
    if (!is_cancelled(is, pod))
      say("S2", fmt::format("decision {} has lost a cancelled member", slot));
}

/// Upholds S4. What is decided may be bound from here on.
void world::note_plan(const decision& what) {
  std::size_t members = 0;
  for (const auto& part : what.chosen.slices)
    for (const auto& s : part.seats) {
      ++members;
      decided_ |= bit_of(pod_number(s.pod), node_number(s.node_name.value));
    }
  if (is_live(what) && members + what.bound_already.at(0) < pods)
    say("S4", fmt::format("decision {} has {} members, the minimum is {}", what.by.ordinal, members,
                          pods));
}

/// Upholds S2, S4, S7: an object holds the last slot of its gang.
void world::judge_objects(const api_truth& before) {
  for (std::size_t g = 0; g < how_.gangs; ++g)
    if (before.decision(g) != api_.decision(g)) {
      was_looked_at_ = false;
      judge_object(before.decision(g), api_.decision(g));
    }
}

void world::judge_object(const protocol::decision_ptr& was, const protocol::decision_ptr& is) {
  if (is == nullptr)
    return;
  note_plan(*is);
  if (was == nullptr)
    return;
  if (was->by.ordinal == is->by.ordinal)
    judge_change(*was, *is);
  else if (is->by.ordinal < was->by.ordinal)
    say("S2", fmt::format("decision {} is lost", was->by.ordinal));
  else if (is_live(*was))
    say("S7",
        fmt::format("decision {} stands while {} is not done", is->by.ordinal, was->by.ordinal));
}

namespace {

/// No gang is bound in part; and one that nobody is in the way of, is bound. There is room for one.
std::optional<finding> judge_gangs(const world& x) {
  std::array<std::size_t, gangs_most> bound{};
  std::array<std::size_t, gangs_most> there{};
  for (std::size_t n = 0; n < pods * x.gangs(); ++n) {
    const auto& p = x.api().all()[n];
    bound.at(gang_of(n)) += p.node.empty() ? 0 : 1;
    there.at(gang_of(n)) += p.node.empty() || p.is_gone ? 0 : 1;
  }
  for (std::size_t g = 0; g < x.gangs(); ++g) {
    const bool has_rival = x.gangs() > 1 && there.at(1 - g) > 0;
    const bool is_whole = bound.at(g) == pods || (bound.at(g) == 0 && has_rival);
    if (!x.was_removed(g) && !is_whole)
      return finding{"L1", fmt::format("{} of {} pods{} are bound at the end", bound.at(g), pods,
                                       g == 0 ? "" : " of the second gang")};
    if (const auto* live = x.live_decision(g))
      return finding{"S5", fmt::format("decision {} is not done at the end", live->by.ordinal)};
  }
  return std::nullopt;
}

} // namespace

/// Upholds S5 and S10, and that no gang ends in part: nothing is under way, no timer runs.
std::optional<finding> judge_end(const world& x) {
  if (auto wrong = judge_gangs(x))
    return wrong;
  for (const auto& [where, here] : x.roles()) {
    if (where.kind == protocol::role_kind::gang)
      return finding{"S5", "a coordinator is left, and nothing will wake it"};
    if (where.kind == protocol::role_kind::shard
        && !static_cast<const shards::shard_role&>(*here.role).reservations().all().empty())
      return finding{"S10", fmt::format("{} holds room at the end", to_text(where))};
  }
  for (std::size_t unit = 0; unit < units; ++unit)
    if (x.find(x.place_of(unit)) == nullptr)
      return finding{"L1", fmt::format("nobody runs {}", protocol::to_text(address_of(unit)))};
  return std::nullopt;
}

} // namespace tutti::chaos::small
