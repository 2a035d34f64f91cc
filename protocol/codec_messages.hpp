// Describes every message of messages.hpp, and the facts in them, once for writing and reading.
//
// Only `messages_codec.cpp` includes this. A field that is added to a message is added here and in
// messages.capnp; the random round trip finds it if it is forgotten.
#pragma once

#include "base/explanation.hpp"
#include "protocol/address.hpp"
#include "protocol/codec_parts.hpp"
#include "protocol/messages.hpp"

namespace tutti::protocol::codec {

template <>
inline constexpr int
    enum_count<base::reason_code> = static_cast<int>(base::reason_code::scheduler_error) + 1;
template <>
inline constexpr int enum_count<attempt_outcome> = static_cast<int>(attempt_outcome::stopped) + 1;
template <>
inline constexpr int enum_count<bind_verdict> = static_cast<int>(bind_verdict::refused) + 1;
template <>
inline constexpr int enum_count<pod_state> = static_cast<int>(pod_state::terminal) + 1;
template <>
inline constexpr int enum_count<phase> = phase_count;
template <>
inline constexpr int enum_count<role_kind> = role_kind_count;

// ---------------------------------------------------------------- facts and explanations

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, address> x) {
  FIELD(Kind, x.kind);
  FIELD(Index, x.index);
  FIELD(Key, x.key);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::shortage> x) {
  FIELD(Name, x.name);
  FIELD(Need, x.need);
  FIELD(Room, x.room);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::node_count> x) {
  FIELD(Cause, x.cause);
  FIELD(Nodes, x.nodes);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::domain_fit> x) {
  FIELD(Level, x.level);
  FIELD(Domain, x.domain);
  FIELD(Wanted, x.wanted);
  FIELD(Placed, x.placed);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::explanation> x) {
  FIELD(Primary, x.primary);
  FIELD(Others, x.others);
  FIELD(NodesSeen, x.nodes_seen);
  FIELD(NodesFit, x.nodes_fit);
  FIELD(Rejected, x.rejected);
  FIELD(Closest, x.closest);
  FIELD(Wanted, x.wanted);
  FIELD(Placed, x.placed);
  FIELD(Dimension, x.dimension);
  FIELD(ShortBy, x.short_by);
  FIELD(Detail, x.detail);
  FIELD(ViewVersion, x.view_version);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_facts> x) {
  FIELD(Uid, x.uid);
  FIELD(Name, x.name);
  FIELD(Kind, x.kind);
  FIELD(Allocatable, x.allocatable);
  FIELD(HostName, x.host_name);
  FIELD(Domains, x.domains);
  FIELD(FactsHash, x.facts_hash);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, pod_facts> x) {
  FIELD(Uid, x.uid);
  FIELD(Name, x.name);
  FIELD(Group, x.group);
  FIELD(Scheduler, x.scheduler);
  FIELD(Priority, x.priority);
  FIELD(NeverPreempts, x.never_preempts);
  FIELD(IsGated, x.is_gated);
  FIELD(IsTerminal, x.is_terminal);
  FIELD(IsDeleting, x.is_deleting);
  FIELD(Node, x.node);
  FIELD(ResourceVersion, x.resource_version);
  FIELD(CreatedMs, x.created.unix_ms);
  FIELD(Kind, x.kind);
  FIELD(Refused, x.refused);
  FIELD(Ties, x.ties);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, group_facts> x) {
  FIELD(Uid, x.uid);
  FIELD(Name, x.name);
  FIELD(IsBasic, x.is_basic);
  FIELD(MinCount, x.min_count);
  FIELD(TopologyKey, x.topology_key);
  FIELD(Priority, x.priority);
  FIELD(NeverPreempts, x.never_preempts);
  FIELD(EvictsWhole, x.evicts_whole);
  FIELD(IsDeleting, x.is_deleting);
  FIELD(HasStarted, x.has_started);
  FIELD(CreatedMs, x.created.unix_ms);
  FIELD(Refused, x.refused);
  FIELD(IsDegraded, x.is_degraded);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, member> x) {
  FIELD(Uid, x.uid);
  FIELD(Name, x.name);
  FIELD(Group, x.group);
  FIELD(Kind, x.kind);
  FIELD(Node, x.node);
  FIELD(ResourceVersion, x.resource_version);
  FIELD(Ties, x.ties);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, gang> x) {
  FIELD(Uid, x.uid);
  FIELD(Name, x.name);
  FIELD(IsLonePod, x.is_lone_pod);
  FIELD(Priority, x.priority);
  FIELD(HasStarted, x.has_started);
  FIELD(Groups, x.groups);
  FIELD(Members, x.members);
  FIELD(NeverPreempts, x.never_preempts);
}

// ---------------------------------------------------------------- messages

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, try_gang> x) {
  FIELD(Who, x.who);
  FIELD(Tries, x.tries);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, begin_attempt> x) {
  FIELD(Attempt, x.attempt);
  FIELD(LowWater, x.low_water);
  FIELD(Partition, x.partition);
  FIELD(Who, x.who);
  FIELD(Tries, x.tries);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, resume_decision> x) {
  FIELD(What, x.what);
  FIELD(Owner, x.owner);
  FIELD(Partition, x.partition);
  FIELD(LowWater, x.low_water);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, attempt_over> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Outcome, x.outcome);
  FIELD(Why, x.why);
  FIELD(MembersBound, x.members_bound);
  FIELD(Bound, x.bound);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, gang_deleted> x) {
  FIELD(Gang, x.gang);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, gangs_kept> x) {
  FIELD(Gangs, x.gangs);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, gang_progress> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Name, x.name);
  FIELD(At, x.at);
  FIELD(Reason, x.reason);
  FIELD(Members, x.members);
  FIELD(Bound, x.bound);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, last_look> x) {
  FIELD(Attempt, x.attempt);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, last_look_answer> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Now, x.now);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, plan_order> x) {
  FIELD(Gangs, x.gangs);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, plan_request> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Who, x.who);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, plan_answer> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Placement, x.placement);
  FIELD(WhyNot, x.why_not);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, plan_dropped> x) {
  FIELD(Attempt, x.attempt);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, view_grew> x) {
  FIELD(ViewVersion, x.view_version);
  FIELD(Grown, x.grown);
  FIELD(MostFree, x.most_free);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, prepare> x) {
  FIELD(Attempt, x.attempt);
  FIELD(LowWater, x.low_water);
  FIELD(Coordinator, x.coordinator);
  FIELD(Asked, x.asked);
  FIELD(Fast, x.fast);
  FIELD(Priority, x.priority);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, vote> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Shard, x.shard);
  FIELD(ShardEpoch, x.shard_epoch);
  FIELD(Incarnation, x.incarnation);
  FIELD(Yes, x.yes);
  FIELD(WhyNot, x.why_not);
  FIELD(Holders, x.holders);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, commit> x) {
  FIELD(Attempt, x.attempt);
  FIELD(LowWater, x.low_water);
  FIELD(Coordinator, x.coordinator);
  FIELD(Asked, x.asked);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, ack> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Shard, x.shard);
  FIELD(ShardEpoch, x.shard_epoch);
  FIELD(Refused, x.refused);
  FIELD(Why, x.why);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, abort_attempt> x) {
  FIELD(Attempt, x.attempt);
  FIELD(LowWater, x.low_water);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, release> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Pods, x.pods);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, released> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Shard, x.shard);
  FIELD(Pods, x.pods);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, finish> x) {
  FIELD(Attempt, x.attempt);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, inquiry> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Shard, x.shard);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, inquiry_answer> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Done, x.done);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, pressure> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Shard, x.shard);
  FIELD(Node, x.node);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, new_epoch> x) {
  FIELD(Partition, x.partition);
  FIELD(Epoch, x.epoch);
  FIELD(LowWater, x.low_water);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, hold> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Seats, x.seats);
  FIELD(Victims, x.victims);
  FIELD(FactsHash, x.facts_hash);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, held> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Node, x.node);
  FIELD(Yes, x.yes);
  FIELD(Moved, x.moved);
  FIELD(ShortPod, x.short_pod);
  FIELD(Lacking, x.lacking);
  FIELD(Holders, x.holders);
  FIELD(Free, x.free);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, let_go> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Pods, x.pods);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_begin::resident> x) {
  FIELD(Pod, x.pod);
  FIELD(Takes, x.takes);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_begin> x) {
  FIELD(Facts, x.facts);
  FIELD(Residents, x.residents);
  FIELD(Reservations, x.reservations);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_changed> x) {
  FIELD(Facts, x.facts);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, pod_arrived> x) {
  FIELD(Node, x.node);
  FIELD(Pod, x.pod);
  FIELD(Takes, x.takes);
  FIELD(Ties, x.ties);
  FIELD(Priority, x.priority);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, pod_left> x) {
  FIELD(Node, x.node);
  FIELD(Pod, x.pod);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, room> x) {
  FIELD(Node, x.node);
  FIELD(Free, x.free);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, may_bind> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Node, x.node);
  FIELD(Pods, x.pods);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, may_bind_answer> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Node, x.node);
  FIELD(Allowed, x.allowed);
  FIELD(Refused, x.refused);
  FIELD(IsGone, x.is_gone);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::tied_pods> x) {
  FIELD(Kind, x.kind);
  KJ_REQUIRE(x.kind != nullptr, "counts pods of no kind");
  FIELD(Count, x.count);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_view> x) {
  FIELD(Uid, x.uid);
  FIELD(Facts, x.facts);
  FIELD(Free, x.free);
  FIELD(PortsTaken, x.ports_taken);
  FIELD(IsGone, x.is_gone);
  FIELD(Tied, x.tied);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, guard_view> x) {
  FIELD(Id, x.id);
  FIELD(Any, x.any);
  FIELD(Exclusive, x.exclusive);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, view_delta> x) {
  FIELD(Shard, x.shard);
  FIELD(Incarnation, x.incarnation);
  FIELD(Version, x.version);
  FIELD(IsWhole, x.is_whole);
  FIELD(Nodes, x.nodes);
  FIELD(Settled, x.settled);
  FIELD(Guards, x.guards);
  FIELD(GuardsFrom, x.guards_from);
  FIELD(GuardsKnown, x.guards_known);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, view_wanted> x) {
  FIELD(AfterAList, x.after_a_list);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_seen> x) {
  FIELD(Facts, x.facts);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_gone> x) {
  FIELD(Uid, x.uid);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_leaves> x) {
  FIELD(Facts, x.facts);
  FIELD(Move, x.move);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_idle> x) {
  FIELD(Node, x.node);
  FIELD(Move, x.move);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, nodes_held> x) {
  FIELD(Shard, x.shard);
  FIELD(Nodes, x.nodes);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, pods_awaited> x) {
  FIELD(Shard, x.shard);
  FIELD(Pods, x.pods);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, guards_seen> x) {
  FIELD(Guards, x.guards);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, view_trust> x) {
  FIELD(Fresh, x.fresh);
  FIELD(IsAnew, x.is_anew);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, pod_seen> x) {
  FIELD(Pod, x.pod);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, pod_gone> x) {
  FIELD(Uid, x.uid);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, group_seen> x) {
  FIELD(Group, x.group);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, group_gone> x) {
  FIELD(Uid, x.uid);
  FIELD(Name, x.name);
}

template <class Io, class B>
void describe(Io&, B, io_ref<Io, facts_synced>) {}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, fence_found> x) {
  FIELD(Highest, x.highest);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, bind> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Pod, x.pod);
  FIELD(Uid, x.uid);
  FIELD(ResourceVersion, x.resource_version);
  FIELD(Node, x.node);
  FIELD(Partition, x.partition);
  FIELD(Fence, x.fence);
  FIELD(Before, x.before);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, bind_answer> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Uid, x.uid);
  FIELD(Verdict, x.verdict);
  FIELD(ResourceVersion, x.resource_version);
  FIELD(Node, x.node);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, read_pod> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Pod, x.pod);
  FIELD(Uid, x.uid);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, touch> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Pod, x.pod);
  FIELD(Uid, x.uid);
  FIELD(Partition, x.partition);
  FIELD(Fence, x.fence);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, pod_read> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Uid, x.uid);
  FIELD(State, x.state);
  FIELD(Touched, x.touched);
  FIELD(ResourceVersion, x.resource_version);
  FIELD(Node, x.node);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, evict> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Gang, x.gang);
  FIELD(Who, x.who);
  FIELD(Fence, x.fence);
  FIELD(Why, x.why);
  FIELD(Event, x.event);
  FIELD(IsForPod, x.is_for_pod);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, victim_gone> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Pod, x.pod);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, stop_evicting> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Who, x.who);
  FIELD(Fence, x.fence);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, eviction_stopped> x) {
  FIELD(Attempt, x.attempt);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, set_condition> x) {
  FIELD(Name, x.name);
  FIELD(IsPod, x.is_pod);
  FIELD(Uid, x.uid);
  FIELD(Type, x.type);
  FIELD(Status, x.status);
  FIELD(Reason, x.reason);
  FIELD(Message, x.message);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, emit_event> x) {
  FIELD(About, x.about);
  FIELD(IsPod, x.is_pod);
  FIELD(Uid, x.uid);
  FIELD(IsWarning, x.is_warning);
  FIELD(Reason, x.reason);
  FIELD(Action, x.action);
  FIELD(Text, x.text);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, evict_degraded> x) {
  FIELD(Gang, x.gang);
  FIELD(Name, x.name);
  FIELD(Members, x.members);
  FIELD(Why, x.why);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, cancel_gang> x) {
  FIELD(Id, x.id);
  FIELD(Gang, x.gang);
  FIELD(Name, x.name);
  FIELD(IsLonePod, x.is_lone_pod);
  FIELD(Pods, x.pods);
  FIELD(Reason, x.reason);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, gang_cancelled> x) {
  FIELD(Id, x.id);
  FIELD(Gang, x.gang);
  FIELD(IsDone, x.is_done);
  FIELD(Text, x.text);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, victims_wanted> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Who, x.who);
  FIELD(WhyNot, x.why_not);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, victims_answer> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Placement, x.placement);
  FIELD(Refusal, x.refusal);
  FIELD(Why, x.why);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, offers_wanted> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Below, x.below);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, evictable> x) {
  FIELD(Pod, x.pod);
  FIELD(Name, x.name);
  FIELD(Node, x.node);
  FIELD(Takes, x.takes);
  FIELD(Ties, x.ties);
  FIELD(StartedMs, x.started_ms);
  FIELD(GraceMs, x.grace_ms);
  FIELD(Budgets, x.budgets);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, offer_unit> x) {
  FIELD(Name, x.name);
  FIELD(IsGroup, x.is_group);
  FIELD(IsLeaving, x.is_leaving);
  FIELD(IsExempt, x.is_exempt);
  FIELD(Priority, x.priority);
  FIELD(Gang, x.gang);
  FIELD(Pods, x.pods);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, offer_budget> x) {
  FIELD(Name, x.name);
  FIELD(Allowed, x.allowed);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, offers> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Piece, x.piece);
  FIELD(Pieces, x.pieces);
  FIELD(IsComplete, x.is_complete);
  FIELD(Units, x.units);
  FIELD(Budgets, x.budgets);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, named_wanted> x) {
  FIELD(Attempt, x.attempt);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, named_told> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Shard, x.shard);
  FIELD(Pods, x.pods);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, inspect> x) {
  FIELD(Id, x.id);
  FIELD(What, x.what);
  FIELD(Name, x.name);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, inspected> x) {
  FIELD(Id, x.id);
  FIELD(Json, x.json);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, slot_decide> x) {
  FIELD(Gang, x.gang);
  FIELD(Ordinal, x.ordinal);
  FIELD(What, x.what);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, slot_decided> x) {
  FIELD(Gang, x.gang);
  FIELD(Ordinal, x.ordinal);
  FIELD(Winner, x.winner);
  FIELD(Refusal, x.refusal);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, amendment> x) {
  FIELD(By, x.by);
  FIELD(Cancel, x.cancel);
  FIELD(Adopt, x.adopt);
  FIELD(Finish, x.finish);
  FIELD(Bound, x.bound);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, slot_amend> x) {
  FIELD(Gang, x.gang);
  FIELD(Ordinal, x.ordinal);
  FIELD(What, x.what);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, slot_amended> x) {
  FIELD(Gang, x.gang);
  FIELD(Ordinal, x.ordinal);
  FIELD(IsRefused, x.is_refused);
  FIELD(Now, x.now);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, slots_forget> x) {
  FIELD(Gang, x.gang);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, slots_wanted> x) {
  FIELD(Id, x.id);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, slots_told> x) {
  FIELD(Id, x.id);
  FIELD(All, x.all);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, map_wanted> x) {
  FIELD(Attempt, x.attempt);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, map_told> x) {
  FIELD(Attempt, x.attempt);
  FIELD(ShardEpochs, x.shard_epochs);
}

} // namespace tutti::protocol::codec
