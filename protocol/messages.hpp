// Everything one role may say to another, as plain structs, described from the sender's side.
//
// Every message about an attempt is idempotent by (attempt, kind): a second copy is answered from
// state and changes nothing (F1, F2). Large parts are shared and immutable. `messages_codec.hpp`
// turns a message into bytes wherever the two ends are different processes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/explanation.hpp"
#include "base/ids.hpp"
#include "base/resources.hpp"
#include "base/time.hpp"
#include "protocol/address.hpp"
#include "protocol/decision.hpp"
#include "protocol/facts.hpp"
#include "protocol/phases.hpp"
#include "protocol/plan.hpp"
#include "protocol/records.hpp"

namespace tutti::protocol {

// ---------------------------------------------------------------- queue → partition → gang

/// queue → partition: try this gang now. Answered by `attempt_over` or `gang_progress`.
struct try_gang {
  gang_ptr who;
  std::uint32_t tries = 0; ///< failed ones so far: jitter, and sequential prepare after k
};

/// partition → gang: the first message to a new pod group actor. `low_water` is the smallest try of
/// this partition and epoch that may still be alive; all messages about the attempt carry it on.
struct begin_attempt {
  base::attempt_id attempt;
  std::uint64_t low_water = 0;
  base::partition_id partition;
  gang_ptr who;
  std::uint32_t tries = 0;
};

/// partition → gang: roll this forward as `owner`. gang → partition: it stands in the slot I lost.
struct resume_decision {
  decision_ptr what;
  base::epoch_no owner;
  base::partition_id partition;
  std::uint64_t low_water = 0;
};

enum class attempt_outcome : std::uint8_t {
  bound,     ///< every member bound or accounted for, DONE is durable
  refused,   ///< no placement; `why` has the numbers
  conflict,  ///< a shard refused, a rival won, or the last look failed: try again after a short
             ///< back-off
  withdrawn, ///< decided, could not be covered, nothing bound: cancelled whole
  degraded,  ///< fewer than the minimum are bound and repair failed
  stopped    ///< the gang is gone, or its shards did not answer in time
};

std::string_view name_of(attempt_outcome x);

/// gang → queue and → partition: this attempt has ended; the pod group actor retires after it.
/// `members_bound` are the pods that its decision has bound. A Binding is never undone: facts that
/// show one of them pending are behind, and nothing may be planned by them (P2).
struct attempt_over {
  base::attempt_id attempt;
  attempt_outcome outcome = attempt_outcome::refused;
  base::explanation why;
  std::vector<base::pod_uid> members_bound;
  std::uint32_t bound = 0; ///< live bound members of the gang now, as the attempt knows
};

/// queue → partition: the gang's root was seen deleted, and its uid does not come back alive. What
/// is kept of its decisions is forgotten once nothing of it is under way.
struct gang_deleted {
  base::gang_uid gang;
};

/// partition → queue, at its start and when the queue asks (`view_wanted`): gangs whose decisions
/// are kept. For each that is not there once the list is complete, `gang_deleted` comes back.
struct gangs_kept {
  std::vector<base::gang_uid> gangs;
};

/// gang → queue: the phase of a live attempt changed (also sent once when a decision is resumed).
struct gang_progress {
  base::attempt_id attempt;
  object_name name;
  phase at = phase::planning;
  base::reason_code reason = base::reason_code::none;
  std::uint32_t members = 0; ///< of the plan, 0 before there is one
  std::uint32_t bound = 0;   ///< members bound, earlier ones included
};

// ---------------------------------------------------------------- last look

/// gang → queue: with all votes in hand, read the gang again (rule 3).
struct last_look {
  base::attempt_id attempt;
};

/// queue → gang: the facts of this moment; `now` is null if the gang is gone or not to be
/// scheduled.
struct last_look_answer {
  base::attempt_id attempt;
  gang_ptr now;
};

// ---------------------------------------------------------------- gang ↔ topology ↔ planner

/// gang → topology: propose a placement. The proposed room is marked tentative for this attempt.
struct plan_request {
  base::attempt_id attempt;
  gang_ptr who;
};

/// queue → topology, before it asks for them: these gangs are tried at the same moment, in this
/// order. A request of one of them waits for those that are named before it, and not for long: the
/// way through partitions and gangs takes some of them longer than others.
struct plan_order {
  std::vector<base::gang_uid> gangs;
};

/// topology → gang: a placement, or why there is none (exactly one is set).
struct plan_answer {
  base::attempt_id attempt;
  plan_ptr placement;
  base::explanation why_not;
};

/// gang → topology: the attempt ended before its shards could say so; drop its marks.
struct plan_dropped {
  base::attempt_id attempt;
};

/// topology → queue: `grown` nodes came, grew, lost taints or freed room; gangs refused on an older
/// view may fit now. `most_free` bounds what one node may offer, each amount on its own.
struct view_grew {
  std::uint64_t view_version = 0;
  std::uint32_t grown = 0;
  base::resources most_free;
};

// ---------------------------------------------------------------- gang ↔ shard (two-phase
// reservation)

/// gang → shard: hold this slice. Answered by `vote`, at once.
struct prepare {
  base::attempt_id attempt;
  std::uint64_t low_water = 0;
  base::partition_id coordinator;
  slice_ptr asked;
  bool fast = false; ///< the vote shall carry its PREPARED record instead of writing it
  /// Of the gang: victims are of a lower one, as the shard knows them.
  std::int32_t priority = 0;
};

/// shard → gang. A yes is the incarnation's word, not yet the disk's. A no says why, who holds the
/// room (if anyone) and what was free; nothing is held and nothing was written then.
struct vote {
  base::attempt_id attempt;
  base::shard_id shard;
  base::epoch_no shard_epoch;
  base::incarnation_no incarnation;
  bool yes = false;
  base::explanation why_not;
  std::vector<base::attempt_id> holders;
};

/// gang → shard: decided; journal COMMITTED, sync, then `ack`. Resent until acked.
struct commit {
  base::attempt_id attempt;
  std::uint64_t low_water = 0;
  base::partition_id coordinator;
  slice_ptr asked;
};

/// shard → gang: the slice is durably committed and its room is held *now*; or, `refused`, it was
/// forgotten and does not fit any more. A refusal is not final: COMMIT is resent.
struct ack {
  base::attempt_id attempt;
  base::shard_id shard;
  base::epoch_no shard_epoch;
  bool refused = false;
  base::explanation why;
};

/// gang → shard: undecided and given up; release everything. Not answered (presumed abort).
struct abort_attempt {
  base::attempt_id attempt;
  std::uint64_t low_water = 0;
};

/// gang → shard: these committed members were cancelled durably and touched; release them (rule
/// 7c). Answered by `released`. Resent until answered.
struct release {
  base::attempt_id attempt;
  std::vector<base::pod_uid> pods;
};
struct released {
  base::attempt_id attempt;
  base::shard_id shard;
  std::vector<base::pod_uid> pods;
};

/// gang → shard: DONE is durable; forget the attempt once its pods are seen bound or gone.
struct finish {
  base::attempt_id attempt;
};

/// shard → partition: what became of this attempt that I hold in doubt?
struct inquiry {
  base::attempt_id attempt;
  base::shard_id shard;
};

/// partition → shard: aborted, or done. (Still undecided: no answer. Committed: COMMIT comes.)
struct inquiry_answer {
  base::attempt_id attempt;
  bool done = false; ///< false: aborted
};

/// shard → gang: room you hold here is no longer there (a node shrank, vanished, or was taken by
/// others). An undecided attempt is to be aborted.
struct pressure {
  base::attempt_id attempt;
  base::shard_id shard;
  base::node_uid node;
};

/// partition → shard: I own the partition now, under `epoch`; obey nothing older (S8).
/// Partition → queue: the same; attempts of older epochs are over unless I resume them: ask again.
/// Partition → live gang: my epoch was raised; `epoch` is the fence of whatever you write from here
/// on (2.7). Shell → queue, `epoch` 0: the partition is another replica's now.
struct new_epoch {
  base::partition_id partition;
  base::epoch_no epoch;
  std::uint64_t low_water = 0;
};

// ---------------------------------------------------------------- shard ↔ node

/// shard → node: hold room for all or for none. Answered by `held`.
struct hold {
  base::attempt_id attempt;
  std::vector<seat> seats;
  std::vector<victim> victims;  ///< their room counts as free for these seats
  std::uint64_t facts_hash = 0; ///< 0 = do not compare
};

/// node → shard: `yes`, or what was short and who holds it. `free` is what is left now.
struct held {
  base::attempt_id attempt;
  base::node_uid node;
  bool yes = false;
  bool moved = false; ///< refused because the node's facts are not those of the plan
  base::pod_uid short_pod;
  base::shortage lacking;
  std::vector<base::attempt_id> holders;
  base::footprint free;
};

/// shard → node: give back what the attempt holds here; `pods` empty = all of it.
struct let_go {
  base::attempt_id attempt;
  std::vector<base::pod_uid> pods;
};

/// shard → node: first message to a new node actor: its facts, the pods on it, the live
/// reservations.
struct node_begin {
  node_facts_ptr facts;
  struct resident {
    base::pod_uid pod;
    base::footprint takes;

    friend bool operator==(const resident&, const resident&) = default;
  };
  std::vector<resident> residents;
  std::vector<hold> reservations;
};

/// shard → node: the node changed.
struct node_changed {
  node_facts_ptr facts;
};

/// shard → node: `pod` is bound here (again with another footprint: it was resized), or gone.
struct pod_arrived {
  base::node_uid node;
  base::pod_uid pod;
  base::footprint takes;
  ties_ptr ties{}; ///< null = not told
  /// Of the root of its group, if it has one: who is below it may not evict it.
  std::int32_t priority = 0;
};
struct pod_left {
  base::node_uid node;
  base::pod_uid pod;
};

/// node → shard: what is free now, after anything but a `hold` changed it.
struct room {
  base::node_uid node;
  base::footprint free;
};

/// gang → node, just before Bindings: is everything really on you plus these pods within
/// allocatable (S1b)? Answered by `may_bind_answer`; allowed pods count as really there from then
/// on.
struct may_bind {
  base::attempt_id attempt;
  base::node_uid node;
  std::vector<base::pod_uid> pods;
};
struct may_bind_answer {
  base::attempt_id attempt;
  base::node_uid node;
  std::vector<base::pod_uid> allowed;
  std::vector<base::pod_uid> refused; ///< now; asked again when room comes, until cancelled
  bool is_gone = false;               ///< the node does not exist any more: never POST
};

// ---------------------------------------------------------------- shard → topology, queue

/// One node in a view delta. `facts` is null if they did not change since the last delta.
struct node_view {
  base::node_uid uid;
  node_facts_ptr facts;
  base::resources free;
  base::port_list ports_taken;
  bool is_gone = false;
  /// All that are bound or promised here and have ties, whoever schedules them.
  std::vector<base::tied_pods> tied{};
};

/// The versions of one guard: of its last committed use, and of its last exclusive one.
struct guard_view {
  guard_id id;
  guard_version any;
  guard_version exclusive;
};

/// shard → topology: what changed since the delta before. `settled` attempts are now held or
/// released here, so that their tentative marks on this shard end. Versions of one shard ascend by
/// one; a gap, or a new incarnation, asks for `view_wanted`. A guard that was never listed in this
/// life has the version (`guards_from`, 0).
struct view_delta {
  base::shard_id shard;
  base::incarnation_no incarnation;
  std::uint64_t version = 0;
  bool is_whole = false; ///< replaces all that was known of the shard
  std::vector<node_view> nodes;
  std::vector<base::attempt_id> settled;
  std::vector<guard_view> guards;
  base::epoch_no guards_from;
  /// With this delta the topology knows every guard that the shard knows: what `slice` quotes.
  guard_version guards_known{};
};

/// topology → shard: send everything. Shard → mirror: I began anew, tell me everything. Queue →
/// mirror: the same. Queue → partition: the same, answered by `gangs_kept`. Status → queue: what
/// was to be written may be lost, say again what people must know. Partition → mirror: I began;
/// tell me my `fence_found` if it was told before.
struct view_wanted {
  /// Shard → mirror: I was another's. What is told must be read after this was asked: a list, not
  /// what the watches have brought so far (2.7, shard takeover).
  bool after_a_list = false;
};

// ---------------------------------------------------------------- bridge: facts

/// mirror → shards: a Node as it is now; or gone.
struct node_seen {
  node_facts_ptr facts;
};
struct node_gone {
  base::node_uid uid;
};

/// mirror → shard: by its rack label the node belongs to another shard now. Keep it for what is
/// promised on it, promise nothing more there, and say `node_idle` once nothing is. A `node_seen`
/// takes this back. `move` names this telling.
struct node_leaves {
  node_facts_ptr facts;
  std::uint64_t move = 0;
};
/// shard → mirror: nothing is promised here any more on the node that `move` told to leave, nor
/// will be. Answered by `node_gone`, and the other shard sees the node.
struct node_idle {
  base::node_uid node;
  std::uint64_t move = 0;
};
/// shard → mirror: the nodes on which something is promised here, whatever their labels say now.
/// The answer to a `view_trust` that begins anew; no node is told to anybody before all shards have
/// answered once.
struct nodes_held {
  base::shard_id shard;
  std::vector<base::node_uid> nodes;
};

/// shard → mirror: room is held for these pods, which were not seen since. Answered by `pod_left`
/// for each that has finished, is gone or runs elsewhere, once the view is complete and fresh; not
/// at all for the others, and not before: it is asked again.
struct pods_awaited {
  base::shard_id shard;
  std::vector<pod_left> pods;
};

/// mirror → shards: pods anywhere in the cluster have terms that need these guards, whether they
/// are bound or wait. Told before the nodes of a telling, and of new ones before the pod that has
/// them.
struct guards_seen {
  std::vector<guard_id> guards;
};

/// mirror → shards and queue: the view of nodes and pods is complete and fresh, or not to be
/// trusted (S12).
struct view_trust {
  bool fresh = false;
  /// With fresh = false: everything of this shard, or everything for the queue, is told again from
  /// here on; what has not been told when `fresh` comes (to the queue: `facts_synced`) is gone. A
  /// restarted mirror says it, and one that answers `view_wanted`.
  bool is_anew = false;
};

/// mirror → queue.
struct pod_seen {
  pod_facts pod;
};
struct pod_gone {
  base::pod_uid uid;
};
struct group_seen {
  group_facts group;
};
struct group_gone {
  std::string uid;
  object_name name;
};
/// mirror → queue: everything has been told since the last `view_trust` with `is_anew`.
struct facts_synced {};

/// mirror → partition, with the first full list of pods: the highest fence of this partition that
/// stands on any of them; 0 = none. An owner begins above it (2.7).
struct fence_found {
  base::epoch_no highest;
};

// ---------------------------------------------------------------- gang ↔ binder, evictor; → status

/// gang → binder: POST this Binding with both preconditions. Answered by `bind_answer`.
struct bind {
  base::attempt_id attempt;
  object_name pod;
  base::pod_uid uid;
  std::string resource_version;
  base::node_name node;
  base::partition_id partition;
  base::epoch_no fence; ///< of the sender: written beside attempt and epoch
  std::vector<before_bind_write> before;
};

enum class bind_verdict : std::uint8_t {
  bound, ///< on our node now (also when found so by reading back)
  moved, ///< the resourceVersion was stale; unbound, same uid: look at the record, retry with the
         ///< new one
  elsewhere, ///< bound to another node by somebody else
  gone,      ///< no such pod, or being deleted
  replaced,  ///< the name belongs to another uid now
  gated,     ///< has scheduling gates again
  forbidden, ///< no right to bind
  refused    ///< the server calls our request invalid: our bug, terminal
};
std::string_view name_of(bind_verdict v);

struct bind_answer {
  base::attempt_id attempt;
  base::pod_uid uid;
  bind_verdict verdict = bind_verdict::bound;
  std::string resource_version; ///< of the pod as last read or written; may be empty
  base::node_name node;         ///< where it is bound, if it is
};

/// gang → binder: read this pod; answered by `pod_read`.
struct read_pod {
  base::attempt_id attempt;
  object_name pod;
  base::pod_uid uid;
};

/// gang → binder: patch the pod with the fence so that any Binding prepared earlier is refused
/// (rule 7b). Answered by `pod_read` with `touched`.
struct touch {
  base::attempt_id attempt;
  object_name pod;
  base::pod_uid uid;
  base::partition_id partition;
  base::epoch_no fence;
};

enum class pod_state : std::uint8_t { pending, bound, gone, replaced, terminal };

struct pod_read {
  base::attempt_id attempt;
  base::pod_uid uid;
  pod_state state = pod_state::pending;
  bool touched = false;
  std::string resource_version;
  base::node_name node;
};

/// gang → evictor: mark, then delete, with UID and the version the mark returned. Answered by
/// `victim_gone` once it really is; not at all if the victim was reprieved.
struct evict {
  base::attempt_id attempt;
  object_name gang;
  victim who;
  base::epoch_no fence{}; ///< of the sender; 0 = the attempt's own
  std::string why{};      ///< in the pod's condition; empty = room for a gang of higher priority
  std::string event{}; ///< text of the Event on the pod, once its removal is accepted; empty = none
  bool is_for_pod = false; ///< a lone one: for the words of the condition
};
struct victim_gone {
  base::attempt_id attempt;
  base::pod_uid pod;
};
/// gang → evictor: stop; touch what is not deleted yet, then answer `eviction_stopped`.
struct stop_evicting {
  base::attempt_id attempt;  ///< what is asked of it after this is not obeyed
  std::vector<victim> who{}; ///< all victims of the plan: an earlier life of the evictor may have
                             ///< been asked about more than this one knows
  base::epoch_no fence{};    ///< of the sender; 0 = the attempt's own
};
struct eviction_stopped {
  base::attempt_id attempt;
};

/// gang, queue → status: what the API shall say about a group or pod. Written only if it differs;
/// a group's True is never taken back.
struct set_condition {
  object_name name;
  bool is_pod = false;
  std::string uid;
  std::string type; ///< PodScheduled, PodGroupInitiallyScheduled, tutti.dev/Degraded
  bool status = false;
  std::string reason; ///< Scheduled, Unschedulable, SchedulerError
  std::string message;
};

/// gang, queue → status: one Kubernetes Event.
struct emit_event {
  object_name about;
  bool is_pod = false;
  std::string uid;
  bool is_warning = false;
  std::string reason;
  std::string action;
  std::string text;
};

// ---------------------------------------------------------------- degraded gangs, operators

/// queue → partition: the API server shows this gang as degraded, and the operator's policy is that
/// such gangs go: have these members evicted, unless something of the gang is under way. Said again
/// until they are seen gone.
struct evict_degraded {
  base::gang_uid gang;
  object_name name;
  std::vector<victim> members;
  std::string why;
};

/// admin → partition → gang: an operator takes back what is under way: the attempt while it is
/// undecided, afterwards the members of its plan that are not bound (rule 7). Answered by
/// `gang_cancelled`, by the gang to its partition and by that one to who asked.
struct cancel_gang {
  std::uint64_t id = 0;
  base::gang_uid gang;
  object_name name;
  bool is_lone_pod = false;
  std::vector<std::string> pods; ///< names; empty = all that can be given up
  std::string reason;            ///< of the operator, for people
};
struct gang_cancelled {
  std::uint64_t id = 0;
  base::gang_uid gang;
  bool is_done = false;
  std::string text; ///< what was done, or why nothing was
};

// ---------------------------------------------------------------- preemption

/// gang → preemption: may this gang get room by evicting others? Answered by `victims_answer`; a
/// second copy, while the answer is sought, by that one.
struct victims_wanted {
  base::attempt_id attempt;
  gang_ptr who;
  base::explanation why_not;
};
struct victims_answer {
  base::attempt_id attempt;
  plan_ptr placement; ///< null: not allowed or of no use
  base::reason_code refusal = base::reason_code::preemption_not_allowed;
  /// With a refusal: what the search found, in numbers; primary `none` if it has nothing to add.
  base::explanation why{};
};

/// preemption → mirror: who runs below this priority, or is leaving anyway? Answered by `offers`.
struct offers_wanted {
  base::attempt_id attempt;
  std::int32_t below = 0;
};

/// A running pod as a victim that could be.
struct evictable {
  base::pod_uid pod;
  object_name name;
  base::node_uid node;
  base::footprint takes;
  ties_ptr ties;               ///< null = not told
  std::int64_t started_ms = 0; ///< on the wall clock; 0 = not known
  std::int64_t grace_ms = 0;
  std::vector<std::uint32_t> budgets; ///< that count it: indices into `offers::budgets`
};

/// Pods that go together or not at all (P-7).
struct offer_unit {
  object_name name;        ///< of the group, or of the pod
  bool is_group = false;   ///< all that run of a group which goes whole
  bool is_leaving = false; ///< being deleted already: its room comes free by itself
  bool is_exempt = false;  ///< the operator has labelled one of its pods so that it stays
  std::int32_t priority = 0;
  base::gang_uid gang; ///< that is broken with it: the group, or the pod itself
  std::vector<evictable> pods;
};

/// A PodDisruptionBudget and what is left of it.
struct offer_budget {
  object_name name;
  std::int64_t allowed = 0;
};

/// mirror → preemption: piece `piece` of `pieces`. `budgets` come with the first. Not
/// `is_complete`: the view of the mirror is not fresh, and nobody may go by it.
struct offers {
  base::attempt_id attempt;
  std::uint32_t piece = 0;
  std::uint32_t pieces = 1;
  bool is_complete = true;
  std::vector<offer_unit> units;
  std::vector<offer_budget> budgets;
};

/// preemption → shard: which pods are victims already, of plans that you hold?
struct named_wanted {
  base::attempt_id attempt; ///< that the question is for
};
/// shard → preemption. Their room belongs to those plans, and is not offered to anybody else.
struct named_told {
  base::attempt_id attempt;
  base::shard_id shard;
  std::vector<base::pod_uid> pods;
};

// ---------------------------------------------------------------- reading (CLI, admin)

/// admin → any: describe yourself as JSON. `what` is "gangs", "gang", "nodes", "shards", "status",
/// "quiet"; or "retry" to the queue, which has the gang `name` tried at once and describes it.
struct inspect {
  std::uint64_t id = 0;
  std::string what;
  std::string name; ///< of one object, "namespace/name"; empty = all
};
/// any → admin: `json` is empty if there is no such object.
struct inspected {
  std::uint64_t id = 0;
  std::string json;
};

// ---------------------------------------------------------------- several replicas

/// The shell of a gang or partition → decisions: its effects `decide`, `amend` and `forget`, where
/// the decision log is API objects. Answered by `slot_decided`, `slot_amended`; a forgotten gang is
/// not answered.
struct slot_decide {
  base::gang_uid gang;
  std::uint64_t ordinal = 0;
  decision_ptr what;
};
/// decisions → whoever asked: the slot is durably taken by `winner`; null: it may or may not have
/// been written, or, with `refusal`, nothing was written (its turn has not come).
struct slot_decided {
  base::gang_uid gang;
  std::uint64_t ordinal = 0;
  decision_ptr winner;
  std::string refusal;
};
struct slot_amend {
  base::gang_uid gang;
  std::uint64_t ordinal = 0;
  amendment what;
};
/// `now` is the decision as it stands; null if the slot is empty (then it is refused).
struct slot_amended {
  base::gang_uid gang;
  std::uint64_t ordinal = 0;
  bool is_refused = false;
  decision_ptr now;
};
struct slots_forget {
  base::gang_uid gang;
};

/// keeper → decisions: list what is in the log now, consistently. Answered by `slots_told`, with
/// the latest slot of every gang, also where it is finished.
struct slots_wanted {
  std::uint64_t id = 0;
};
struct slots_told {
  std::uint64_t id = 0;
  std::vector<decision> all;
};

/// gang → keeper, after its decision: read the partition map now; one read may serve many (rule 5).
struct map_wanted {
  base::attempt_id attempt;
};
/// keeper → gang: the epoch of every shard, as read after the question; acks of others do not
/// count.
struct map_told {
  base::attempt_id attempt;
  std::vector<std::uint64_t> shard_epochs;
};

using message = std::variant<
    try_gang, begin_attempt, resume_decision, attempt_over, gang_progress, last_look,
    last_look_answer, plan_request, plan_answer, plan_dropped, view_grew, prepare, vote, commit,
    ack, abort_attempt, release, released, finish, inquiry, inquiry_answer, pressure, new_epoch,
    hold, held, let_go, node_begin, node_changed, pod_arrived, pod_left, room, may_bind,
    may_bind_answer, view_delta, view_wanted, node_seen, node_gone, view_trust, pod_seen, pod_gone,
    group_seen, group_gone, facts_synced, bind, bind_answer, read_pod, touch, pod_read, evict,
    victim_gone, stop_evicting, eviction_stopped, set_condition, emit_event, victims_wanted,
    victims_answer, inspect, inspected, gang_deleted, gangs_kept, fence_found, node_leaves,
    node_idle, nodes_held, plan_order, slot_decide, slot_decided, slot_amend, slot_amended,
    slots_forget, slots_wanted, slots_told, map_wanted, map_told, evict_degraded, cancel_gang,
    gang_cancelled, pods_awaited, guards_seen, offers_wanted, offers, named_wanted, named_told>;

/// The name of the alternative, e.g. "prepare": for traces.
std::string_view name_of(const message& m);

} // namespace tutti::protocol
