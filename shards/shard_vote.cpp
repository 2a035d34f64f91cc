// Up to the vote: the shard's own checks, holds on its nodes, PREPARED; and giving up what is
// undecided.
#include "shards/shard_role.hpp"

#include <fmt/format.h>

#include "base/attempt_text.hpp"
#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "protocol/sharding.hpp"

namespace tutti::shards {

using namespace protocol;
using base::attempt_id;

namespace {

/// Attempts given up lately that are remembered by name; older ones are below the low water, or
/// cost one hold that an inquiry ends.
constexpr std::size_t dead_kept = 4 * base::limits::attempts_in_flight;

constexpr const char* disk_is_scarce = "the scheduler's disk is nearly full";

std::uint64_t quoted_hash(const slice& asked, const base::node_uid& node) {
  for (const auto& q : asked.quotes)
    if (q.node == node)
      return q.facts_hash;
  return 0;
}

} // namespace

void shard_role::hear(const prepare& x) {
  ensure(x.asked != nullptr, to_text(x.attempt));
  if (x.asked->shard != how_.shard)
    return;
  take_in(x.coordinator, x.attempt.epoch, x.low_water);
  if (book_.find(x.attempt) != nullptr) {
    if (fences_.is_over(x.coordinator, x.attempt.epoch))
      ask_owner(x.attempt); // a paused owner's: its successor says what becomes of it
    else
      vote_yes(x.attempt); // a repeated PREPARE; or P1, after a restart
    return;
  }
  if (gatherings_.contains(x.attempt))
    return; // the vote is on its way
  if (auto no = refusal_of(x)) {
    correct_view(*x.asked);
    std::vector<guard_id> wanted;
    for (const auto& use : x.asked->guards)
      wanted.push_back(use.id);
    guards_.learn(wanted);
    vote_no(x.attempt, std::move(*no));
    return;
  }
  gather(x.attempt, {.coordinator = x.coordinator,
                     .asked = x.asked,
                     .is_decided = false,
                     .is_fast = x.fast && how_.fast_path});
}

/// All that can be known without asking a node. Upholds S8, S12, S15 and, for victims, S9.
std::optional<refusal> shard_role::refusal_of(const prepare& x) const {
  if (fences_.is_over(x.coordinator, x.attempt.epoch))
    return refuse_unavailable(fmt::format("epoch {} of partition {} is over", x.attempt.epoch.value,
                                          x.coordinator.value));
  const bool was_given_up =
      dead_.contains(x.attempt) && !base::is_planted(base::mutant::ignore_low_water);
  if (fences_.is_dead(x.coordinator, x.attempt) || was_given_up)
    return refuse_unavailable("attempt " + to_text(x.attempt) + " was given up");
  if (!nodes_.is_fresh() && !base::is_planted(base::mutant::vote_on_a_stale_view))
    return refuse_stale("the view of nodes and pods is not complete");
  if (is_disk_scarce_)
    return refuse_unavailable(disk_is_scarce);
  if (auto no = guards_.object(x.attempt, *x.asked))
    return refuse_guard(*no);
  if (auto no = refusal_of_nodes(*x.asked))
    return no;
  return refusal_of_victims(x.attempt, x.priority, *x.asked);
}

std::optional<refusal> shard_role::refusal_of_nodes(const slice& asked) const {
  for (const auto& q : asked.quotes) {
    const auto* e = nodes_.known(q.node);
    if (e == nullptr)
      return refuse_stale(fmt::format("node {} is gone", q.node.value));
    if (e->facts->facts_hash != q.facts_hash)
      return refuse_stale(fmt::format("node {} changed since it was planned", q.node.value));
  }
  for (const auto& s : asked.seats) {
    const auto* e = nodes_.known(s.node);
    if (e == nullptr)
      return refuse_stale(fmt::format("node {} is gone", s.node.value));
    if (e->is_leaving())
      return refuse_leaving(s.node);
    if (!e->is_up())
      return refuse_unavailable(fmt::format("node {} cannot answer now", s.node.value));
  }
  return std::nullopt;
}

/// A plan that quotes what is not so was made on a wrong view. Without another word it would be
/// made again and again.
void shard_role::correct_view(const slice& asked) {
  if (!nodes_.is_fresh())
    return;
  for (const auto& q : asked.quotes) {
    const auto* e = nodes_.known(q.node);
    if (e == nullptr || e->facts->facts_hash != q.facts_hash)
      nodes_.tell_again(q.node);
  }
  if (const auto old = guards_.object({}, asked); old && old->is_stale)
    guards_.tell_again(old->guard);
}

/// What the plan was made of may have changed: nobody goes who is not there, is not below, or is
/// another plan's.
std::optional<refusal> shard_role::refusal_of_victims(const attempt_id& attempt, std::int32_t below,
                                                      const slice& asked) const {
  for (const auto& v : asked.victims) {
    if (!nodes_.is_resident(v.node, v.pod))
      return refuse_stale(fmt::format("victim {} is gone from node {}", v.pod.value, v.node.value));
    if (nodes_.find(v.node)->is_leaving())
      return refuse_leaving(v.node);
    const auto priority = nodes_.priority_of(v.node, v.pod);
    if (priority >= below && !base::is_planted(base::mutant::vote_for_any_victim))
      return refuse_stale(fmt::format("victim {} has priority {}, which is not below {}",
                                      to_text(v.pod_name), priority, below));
    if (auto rival = book_.rival_for_victim(attempt, v.pod))
      return refuse_conflict(fmt::format("victim {} is named by {}", v.pod.value, to_text(*rival)),
                             {*rival});
  }
  return std::nullopt;
}

/// To whoever looks for victims: what these leave is not to be given to anybody else.
void shard_role::hear(const named_wanted& x) {
  named_told answer{x.attempt, how_.shard, {}};
  if (!base::is_planted(base::mutant::offer_the_named))
    answer.pods = book_.named_victims();
  out_.tell(from_, std::move(answer));
}

/// Asks every node of the slice at once. From here to `conclude` the attempt keeps rivals off its
/// guards and victims.
void shard_role::gather(const attempt_id& attempt, gathering what) {
  ensure(book_.find(attempt) == nullptr, to_text(attempt));
  ensure(!gatherings_.contains(attempt), to_text(attempt));
  guards_.claim(attempt, *what.asked);
  book_.name_victims(attempt, *what.asked);
  std::map<base::node_uid, hold> holds;
  for (const auto& s : what.asked->seats) {
    if (nodes_.is_resident(s.node, s.pod))
      continue; // bound already: nothing to hold
    auto [pos, is_new] = holds.try_emplace(s.node, hold{attempt, {}, {}, 0});
    if (is_new && !what.is_decided)
      pos->second.facts_hash = quoted_hash(*what.asked, s.node);
    pos->second.seats.push_back(s);
  }
  for (const auto& v : what.asked->victims)
    if (auto pos = holds.find(v.node); pos != holds.end())
      pos->second.victims.push_back(v);
  for (auto& [node, ask] : holds) {
    what.waiting.insert(node);
    out_.tell(to_node(node), std::move(ask));
  }
  gatherings_.emplace(attempt, std::move(what));
  if (holds.empty())
    conclude(attempt);
}

void shard_role::hear(const held& x) {
  nodes_.say_free(x.node, x.free);
  auto pos = gatherings_.find(x.attempt);
  if (pos == gatherings_.end() || pos->second.waiting.erase(x.node) == 0)
    return; // given up meanwhile: `let_go` followed the hold
  auto& g = pos->second;
  if (x.yes)
    g.holding.insert(x.node);
  else {
    g.refusals.push_back(x);
    nodes_.tell_again(x.node);
  }
  if (g.is_complete())
    conclude(x.attempt);
}

/// Every node has answered: promise all of it, or give back what was held and say why. The view
/// may have gone stale while they did. Upholds S12.
void shard_role::conclude(const attempt_id& attempt) {
  auto pos = gatherings_.find(attempt);
  ensure(pos != gatherings_.end(), to_text(attempt));
  const auto g = std::move(pos->second);
  gatherings_.erase(pos);
  ensure(g.is_complete(), to_text(attempt));
  const bool is_blind =
      !g.is_decided && !nodes_.is_fresh() && !base::is_planted(base::mutant::vote_on_a_stale_view);
  // Upholds S8: a later owner's word may have come while the nodes were asked.
  const bool is_old = !g.is_decided && fences_.is_over(g.coordinator, attempt.epoch);
  const bool is_full = !g.is_decided && is_disk_scarce_; // F9, and it may have become so meanwhile
  if (g.is_granted() && !is_blind && !is_old && !is_full) {
    if (g.is_decided)
      become_committed(attempt, g.coordinator, g.asked);
    else
      promise(attempt, g);
    if (g.is_finished)
      finish_attempt(attempt);
    return;
  }
  auto why = is_old     ? refuse_unavailable(fmt::format("epoch {} of partition {} is over",
                                                         attempt.epoch.value, g.coordinator.value))
             : is_blind ? refuse_stale("the view of nodes and pods is not complete any more")
             : is_full  ? refuse_unavailable(disk_is_scarce)
                        : refuse_nodes(g);
  give_back(attempt, g);
  if (g.is_finished || (g.is_decided && g.refusals.empty())) {
    // Over; or a node could not answer, which says nothing of its room: COMMIT is resent, and finds
    // the node's next life, or that it is gone.
    nodes_.settled(attempt);
    out_.add(note{"shard.commit_waits", {{"attempt", to_text(attempt)}}});
    return;
  }
  if (g.is_decided)
    refuse_commit(attempt, std::move(why));
  else
    vote_no(attempt, std::move(why));
}

void shard_role::give_back(const attempt_id& attempt, const gathering& what) {
  ensure(book_.find(attempt) == nullptr, to_text(attempt));
  guards_.drop(attempt, *what.asked, false);
  book_.drop_victims(attempt, *what.asked);
  if (base::is_planted(base::mutant::keep_after_a_no))
    return;
  for (const auto* nodes : {&what.holding, &what.waiting})
    for (const auto& node : *nodes)
      out_.tell(to_node(node), let_go{attempt, {}});
}

/// Upholds S1a: every node has said "held" for its part. The vote is this incarnation's word: it
/// does not wait for the disk.
void shard_role::promise(const attempt_id& attempt, const gathering& what) {
  auto& r = book_.prepare(attempt, what.coordinator, what.asked);
  r.is_fast = what.is_fast;
  r.since = now_;
  out_.add(fault{"P0"});
  if (!what.is_fast && !base::is_planted(base::mutant::promise_and_ack_before_sync)) {
    out_.add(
        append{prepared_record{attempt, what.coordinator, what.asked}, append::durability::lazy});
    if (auto low_water = fences_.overdue(what.coordinator))
      out_.add(append{*low_water, append::durability::lazy});
  }
  for (const auto& s : what.asked->seats)
    if (nodes_.is_resident(s.node, s.pod))
      book_.settle(attempt, s.pod);
  tell_ties(*what.asked);
  out_.add(fault{"P1"});
  vote_yes(attempt);
  out_.add(fault{"P2"});
  watch_over(attempt);
}

void shard_role::vote_yes(const attempt_id& attempt) {
  nodes_.settled(attempt);
  out_.tell(to_gang(attempt.gang), vote{.attempt = attempt,
                                        .shard = how_.shard,
                                        .shard_epoch = epoch_,
                                        .incarnation = incarnation_,
                                        .yes = true,
                                        .why_not = {},
                                        .holders = {}});
}

void shard_role::vote_no(const attempt_id& attempt, refusal why) {
  ensure(book_.find(attempt) == nullptr, to_text(attempt));
  nodes_.settled(attempt);
  out_.add(note{"shard.refused",
                {{"shard", std::int64_t{how_.shard.value}},
                 {"attempt", to_text(attempt)},
                 {"reason", std::string{name_of(why.why.primary)}},
                 {"detail", why.why.detail}}});
  out_.tell(to_gang(attempt.gang), vote{.attempt = attempt,
                                        .shard = how_.shard,
                                        .shard_epoch = epoch_,
                                        .incarnation = incarnation_,
                                        .yes = false,
                                        .why_not = std::move(why.why),
                                        .holders = std::move(why.holders)});
}

void shard_role::hear(const abort_attempt& x) {
  const auto coordinator = partition_of(x.attempt.gang);
  take_in(coordinator, x.attempt.epoch, x.low_water);
  if (fences_.is_over(coordinator, x.attempt.epoch)) {
    // Nothing of an older epoch is obeyed (S8): its successor says what became of the attempt.
    if (const auto* r = book_.find(x.attempt); r != nullptr && r->is_in_doubt())
      ask_owner(x.attempt);
    return;
  }
  bury(x.attempt);
  give_up(x.attempt);
}

/// The oldest is forgotten first: its overtaken PREPARE, if there ever was one, has come by now.
void shard_role::bury(const attempt_id& attempt) {
  if (!dead_.insert(attempt).second)
    return;
  dead_in_order_.push_back(attempt);
  if (dead_in_order_.size() <= dead_kept)
    return;
  dead_.erase(dead_in_order_.front());
  dead_in_order_.pop_front();
}

/// The coordinator's word that the attempt is undecided for ever; also the only way in which a
/// fast-path yes is taken back.
void shard_role::give_up(const attempt_id& attempt) {
  if (auto pos = gatherings_.find(attempt); pos != gatherings_.end()) {
    if (pos->second.is_decided)
      return; // overtaken: it was decided
    const auto g = std::move(pos->second);
    gatherings_.erase(pos);
    give_back(attempt, g);
    nodes_.settled(attempt);
    return;
  }
  const auto* r = book_.find(attempt);
  if (r == nullptr)
    return;
  if (!r->is_in_doubt()) {
    out_.add(note{"shard.abort_after_commit", {{"attempt", to_text(attempt)}}, true});
    return;
  }
  out_.add(fault{"P6"});
  if (!r->is_fast)
    out_.add(append{released_record{attempt, {}}, append::durability::lazy});
  forget(attempt);
}

} // namespace tutti::shards
