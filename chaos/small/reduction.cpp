// Partial-order reduction: which orders need not be tried, and why.
//
// A delivery changes the role that hears it and adds to what is under way. So two deliveries to
// different roles commute, and so do they with the API server's work for another pod. A delivery d
// may therefore be made at once, and nothing else be tried in its place, if whatever can happen
// before d on some path commutes with d. It does if no other item for the same role can come first,
// or if the role does the same with both in either order. Faults are tried in any case before d is
// made. A crash or the role's death after d leaves what the same crash leaves before d: of what d
// did only the roles' memory and messages between them are left, which end with them, and requests,
// which may as well never arrive.
//
// Each rule below names why nothing can come first. What is not named waits for its turn in every
// order: all messages between coordinators and shards, a node's word to its shard, its leave, all
// requests to the API server, the binder's answers, views of shards, and answers of the store.
#include <algorithm>

#include "chaos/small/steps.hpp"
#include "protocol/gang_role.hpp"
#include "shards/node_role.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos::small {

using protocol::role_kind;

namespace {

const protocol::message* message_of(const item& x) {
  const auto* r = std::get_if<protocol::received>(&x.event);
  return x.what == item::kind::message && r != nullptr ? &r->what : nullptr;
}

/// True if `wanted` holds for something else that is under way.
template <class Wanted>
bool any_other(const world& x, std::size_t n, Wanted wanted) {
  for (std::size_t i = 0; i < x.under_way().size(); ++i)
    if (i != n && wanted(*x.under_way()[i]))
      return true;
  return false;
}

/// The first word to a new coordinator stands in its mailbox before anybody can know of it; and
/// until it has a plan, the word of the planner and of preemption is all that it hears. But what
/// those say depends on whether the pod in the way still runs, when they are asked: a plan that is
/// on its way does not.
bool is_first_word(const world& x, const protocol::message& m) {
  const bool is_asking = std::holds_alternative<protocol::begin_attempt>(m)
                         || std::holds_alternative<protocol::plan_answer>(m);
  if (is_asking)
    return x.api().all()[the_victim].is_gone;
  return std::holds_alternative<protocol::resume_decision>(m)
         || std::holds_alternative<protocol::victims_answer>(m);
}

/// A question to the binder, if no other one about the same pod is on its way: what the binder
/// hears otherwise are answers of the API server, to its own earlier requests. Those for another
/// pod are another job's. One for the same pod belongs to a job that this question either does not
/// touch or, being a touch, stops; and a request that arrives before the stop, with its answer
/// after it, is the same as one that arrives after the stop, for the API server's work and the stop
/// commute. Where a coordinator died, two of them may ask under different fences: then order
/// counts.
bool is_lone_question(const world& x, std::size_t n, const protocol::message& m) {
  const auto pod_of = [](const protocol::message& what) {
    return std::visit(
        [](const auto& question) -> base::pod_uid {
          if constexpr (requires {
                          question.uid.value;
                          question.pod.space;
                        })
            return base::pod_uid{question.uid};
          else
            return {};
        },
        what);
  };
  const auto& it = *x.under_way()[n];
  return it.to.kind == role_kind::binder && !x.had_death() && !any_other(x, n, [&](const item& y) {
           const auto* other = message_of(y);
           return other != nullptr && y.to.kind == role_kind::binder && pod_of(*other) == pod_of(m);
         });
}

/// What is free on a node, once its shard has heard of it before: it is below zero only where two
/// decisions collide, and else a shard passes it on to the topology and asks only whether the node
/// has spoken at all.
bool is_more_of_the_same(const world& x, const item& it, const protocol::message& m) {
  const auto* told = std::get_if<protocol::room>(&m);
  if (told == nullptr || told->free.amounts.cpu_milli < 0)
    return false;
  const auto* shard = static_cast<const shards::shard_role*>(x.find(it.to));
  const auto* e = shard != nullptr ? shard->nodes().known(told->node) : nullptr;
  return e != nullptr && e->is_up() && e->free->amounts.cpu_milli >= 0;
}

/// Everything that a node hears from its shard comes in order; what else it hears are questions for
/// leave (`may_bind`), which only a coordinator asks that has decided and heard this shard's ack.
/// So, with none under way, nothing can come first
/// - while there is no decision, or when it is done;
/// - before the coordinator binds, for the word with which a node begins: its shard acks nothing
///   before the node has spoken, and, if no actor has died, has not acked before;
/// - that makes a difference, for the word that a pod is here which the asking attempt holds: it
///   may bind before and after, and counts as being here after either.
bool is_before_any_question(const world& x, const shards::node_role& node,
                            const protocol::message& m) {
  const auto* gang =
      static_cast<const protocol::gang_role*>(x.find(protocol::to_gang(the_gang(0))));
  const auto* live = x.live_decision(0); // it alone asks nodes for leave
  if (gang == nullptr || live == nullptr || !protocol::is_decided(gang->state())
      || gang->state() >= protocol::attempt_state::finishing)
    return true;
  if (std::holds_alternative<protocol::node_begin>(m))
    return gang->state() == protocol::attempt_state::committing && !x.had_death();
  return std::holds_alternative<protocol::pod_arrived>(m) && node.ledger().holds(live->by);
}

/// Where there is more than one gang, one of them may decide and ask while what is told of another
/// is on its way; and where a pod is in the way, its end may be known to the coordinator before it
/// is known here. But nobody asks a node that holds nothing, unless an actor has died: the shard
/// acks only what the node holds, and its holds come behind this word.
bool is_alone_with_its_node(const world& x, std::size_t n, const protocol::message& m) {
  const auto& it = *x.under_way()[n];
  if (it.from.kind != role_kind::shard || it.to.kind != role_kind::node)
    return false;
  const auto* node = static_cast<const shards::node_role*>(x.find(it.to));
  if (node == nullptr)
    return false; // its shard hears for it: another channel
  const bool is_asked = any_other(x, n, [&](const item& y) {
    const auto* other = message_of(y);
    return other != nullptr && y.to == it.to && std::holds_alternative<protocol::may_bind>(*other);
  });
  if (is_asked)
    return false;
  if (x.gangs() == 1 && !x.how().has_victim)
    return is_before_any_question(x, *node, m);
  const auto holds_any = [&](std::size_t gang) {
    const auto* live = x.live_decision(gang);
    return node->ledger().holds(x.begun(gang))
           || (live != nullptr && node->ledger().holds(live->by));
  };
  return !x.had_death() && !holds_any(0) && !(x.gangs() > 1 && holds_any(1));
}

/// What is said about an attempt that is past for ever. No coordinator listens to it. Whoever asks
/// its partition what became of it hears "aborted" whenever he asks, and the partition does not
/// change. A shard that holds nothing for it has nothing to give back, and gets nothing to hold,
/// for the process has begun anew since then and no question of the former one is under way.
bool is_about_the_past(const world& x, const item& it, const protocol::message& m) {
  const auto* named = std::visit(
      [](const auto& what) -> const base::attempt_id* {
        if constexpr (requires { base::attempt_id{what.attempt}; })
          return &what.attempt;
        else
          return nullptr;
      },
      m);
  if (named == nullptr || !x.is_past(*named))
    return false;
  if (it.to.kind == role_kind::gang || std::holds_alternative<protocol::inquiry>(m))
    return true;
  const auto* shard = std::holds_alternative<protocol::inquiry_answer>(m) && !x.had_death()
                          ? static_cast<const shards::shard_role*>(x.find(it.to))
                          : nullptr;
  return shard != nullptr && named->epoch < x.begun(gang_number(named->gang)).epoch
         && shard->reservations().find(*named) == nullptr;
}

/// With objects a node is asked for leave by its shard, too: so all that it hears is in one order.
/// Of what else is known above, what is said of former owners does not hold there: they may live.
/// And a process that has not heard of a takeover may end its roles at any time, in the place of
/// whatever it hears.
std::size_t find_harmless_beside_others(const world& x) {
  for (std::size_t n = 0; n < x.under_way().size(); ++n) {
    const auto& it = *x.under_way()[n];
    const auto* m = message_of(it);
    if (m == nullptr || !x.is_deliverable(n) || x.has_news(it.to.in))
      continue;
    const bool is_to_node = it.to.kind == role_kind::node && x.find(it.to) != nullptr;
    if ((it.to.kind == role_kind::gang && is_first_word(x, *m)) || is_to_node
        || is_lone_question(x, n, *m) || is_more_of_the_same(x, it, *m))
      return n;
  }
  return npos;
}

} // namespace

std::size_t find_harmless(const world& x) {
  if (x.has_objects())
    return find_harmless_beside_others(x);
  for (std::size_t n = 0; n < x.under_way().size(); ++n) {
    const auto& it = *x.under_way()[n];
    const auto* m = message_of(it);
    if (m == nullptr || !x.is_deliverable(n))
      continue;
    if ((it.to.kind == role_kind::gang && is_first_word(x, *m)) || is_lone_question(x, n, *m)
        || is_more_of_the_same(x, it, *m) || is_about_the_past(x, it, *m)
        || is_alone_with_its_node(x, n, *m))
      return n;
  }
  return npos;
}

} // namespace tutti::chaos::small
