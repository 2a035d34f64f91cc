// Requests wait for a view that is complete; what is offered is marked until its shard settles it.
#include "placement/topology_role.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "placement/convert.hpp"
#include "placement/engine/plan.hpp"
#include "placement/report.hpp"
#include "protocol/sharding.hpp"

namespace tutti::placement {
namespace {

using protocol::role_kind;

/// What the topology itself spends on one gang: about a millisecond.
constexpr engine::options short_search{5'000, 16};
/// Without planners somebody must do it: some ten milliseconds, for hard mixed gangs only.
constexpr engine::options only_search{20'000, 64};
/// How long a request waits for shards that are just beginning; longer, and people are told.
constexpr auto view_may_be_late = base::limits::prepare_timeout;
/// A proposal that no shard settled in this time was never prepared, or its gang is gone.
constexpr auto offer_lives = 2 * base::limits::prepare_timeout;

} // namespace

topology_role::topology_role(topology_options how)
    : how_(std::move(how)), feed_(how_.levels, how_.shards), guards_(how_.levels) {
  ensure(how_.shards > 0);
  ensure(how_.planners == 0 || how_.board != nullptr, how_.planners);
}

protocol::effects topology_role::on(const protocol::event& e, base::time_point) {
  if (std::holds_alternative<protocol::started>(e))
    start();
  else if (const auto* heard = std::get_if<protocol::received>(&e))
    hear(heard->from, heard->what);
  else if (const auto* fired = std::get_if<protocol::timer_fired>(&e))
    expire(fired->timer);
  plan_in_turn();
  return std::exchange(out_, {});
}

void topology_role::start() {
  for (std::uint32_t i = 0; i < how_.shards; ++i)
    if (!feed_.is_in_step({i}))
      want_view({i});
}

void topology_role::hear(const protocol::address& from, const protocol::message& what) {
  if (const auto* delta = std::get_if<protocol::view_delta>(&what))
    take_delta(*delta);
  else if (const auto* request = std::get_if<protocol::plan_request>(&what))
    take_request(from, *request);
  else if (const auto* order = std::get_if<protocol::plan_order>(&what))
    take_order(*order);
  else if (const auto* dropped = std::get_if<protocol::plan_dropped>(&what))
    drop(dropped->attempt);
  else if (const auto* searched = std::get_if<protocol::plan_answer>(&what))
    take_searched(*searched);
  else if (const auto* question = std::get_if<protocol::inspect>(&what))
    describe(from, *question);
}

// ---------------------------------------------------------------- the view

void topology_role::take_delta(const protocol::view_delta& x) {
  const auto done = feed_.apply(x);
  if (done.wants_whole)
    want_view(x.shard);
  else if (done.is_applied)
    out_.add(protocol::disarm{{static_cast<std::uint32_t>(timer::view_missing), x.shard.value}});
  for (const auto shard : done.others_to_ask)
    want_view(shard);
  if (done.is_applied)
    forget_settled(x.settled);
  announce(done);
  if (done.is_applied && is_waiting_for_view_ && feed_.shards_heard() == how_.shards)
    plan_early();
}

/// Asks, and asks again until the shard answers: the question may be lost with a dying shard.
void topology_role::want_view(base::shard_id shard) {
  out_.tell(protocol::to_shard(shard), protocol::view_wanted{});
  out_.add(protocol::arm{{static_cast<std::uint32_t>(timer::view_missing), shard.value},
                         base::limits::resend_longest});
}

void topology_role::announce(const view_feed::outcome& x) {
  if (x.grown > 0)
    out_.tell(protocol::to(role_kind::queue),
              protocol::view_grew{feed_.version(), x.grown, x.most_free});
}

void topology_role::forget_settled(const std::vector<base::attempt_id>& settled) {
  for (const auto& attempt : settled) {
    auto pos = offers_.find(attempt);
    if (pos == offers_.end() || feed_.view().has_marks(attempt))
      continue;
    disarm_expiry(pos->second.timer_key);
    offers_.erase(pos);
  }
}

// ---------------------------------------------------------------- proposals

void topology_role::take_request(const protocol::address& from, const protocol::plan_request& x) {
  ensure(x.who != nullptr);
  const bool is_coordinator = from.kind == role_kind::preemption;
  if (searches_.contains(x.attempt)) {
    if (!is_coordinator)
      return;        // a second copy; the answer is under way
    drop(x.attempt); // its earlier life has taken the view with it
  }
  if (const auto known = offers_.find(x.attempt); known != offers_.end()) {
    out_.tell(from,
              protocol::plan_answer{x.attempt, known->second.placement, known->second.left_out});
    return;
  }
  drop_older(x.attempt);
  const bool has_view = feed_.shards_heard() == how_.shards;
  if (is_coordinator) {
    if (has_view)
      hand_over(from, x.attempt, x.who, {}, from);
    else
      refuse(from, x.attempt, view_is_not_whole());
    return;
  }
  if (!has_view)
    wait_for_view();
  if (turns_.keep({x.attempt, from, x.who}))
    return;
  if (has_view)
    plan(from, x.attempt, x.who, how_.planners > 0);
  else
    early_.push_back({x.attempt, from, x.who});
}

/// Upholds Q-12 among gangs that are tried at the same moment.
void topology_role::take_order(const protocol::plan_order& x) {
  const auto batch = turns_.open(x.gangs);
  out_.add(protocol::arm{{static_cast<std::uint32_t>(timer::turn_is_late), batch},
                         planning_turns::patience});
}

void topology_role::plan_in_turn() {
  if (feed_.shards_heard() < how_.shards)
    return;
  const auto is_searched = [this](const auto& attempt) { return searches_.contains(attempt); };
  while (const auto x = turns_.next(is_searched))
    plan(x->asker, x->attempt, x->who, how_.planners > 0);
  for (const auto batch : turns_.take_over())
    out_.add(protocol::disarm{{static_cast<std::uint32_t>(timer::turn_is_late), batch}});
}

void topology_role::wait_for_view() {
  if (!std::exchange(is_waiting_for_view_, true))
    out_.add(protocol::arm{{static_cast<std::uint32_t>(timer::view_is_late), 0}, view_may_be_late});
}

void topology_role::drop_early(const base::attempt_id& first, const base::attempt_id& last) {
  std::erase_if(early_, [&](const auto& x) { return first <= x.attempt && x.attempt <= last; });
}

void topology_role::plan_early() {
  is_waiting_for_view_ = false;
  out_.add(protocol::disarm{{static_cast<std::uint32_t>(timer::view_is_late), 0}});
  for (const auto& x : std::exchange(early_, {}))
    plan(x.asker, x.attempt, x.who, how_.planners > 0);
}

base::explanation topology_role::view_is_not_whole() const {
  base::explanation why;
  why.primary = base::reason_code::view_stale;
  why.detail =
      fmt::format("{} of {} shards have told their nodes", feed_.shards_heard(), how_.shards);
  return why;
}

void topology_role::refuse_early() {
  is_waiting_for_view_ = false;
  const auto why = view_is_not_whole();
  auto all = std::exchange(early_, {});
  for (auto& x : turns_.take_all())
    all.push_back(std::move(x));
  for (const auto& x : all)
    refuse(x.asker, x.attempt, why);
}

/// A gang has one live attempt: what older ones were offered is free again.
void topology_role::drop_older(const base::attempt_id& attempt) {
  std::vector<base::attempt_id> older;
  const auto first = base::attempt_id{attempt.gang, 0, {}, 0};
  for (auto pos = offers_.lower_bound(first); pos != offers_.end() && pos->first < attempt; ++pos)
    older.push_back(pos->first);
  for (auto pos = searches_.lower_bound(first); pos != searches_.end() && pos->first < attempt;
       ++pos)
    older.push_back(pos->first);
  drop_early(first, attempt);
  for (const auto& x : older)
    drop(x);
}

void topology_role::plan(const protocol::address& asker, const base::attempt_id& attempt,
                         const protocol::gang_ptr& who, bool may_search) {
  const auto spec = spec_of(*who, feed_.view());
  const auto& where = feed_.view().now();
  auto found = engine::plan(where, spec, may_search ? short_search : only_search, memory_);
  if (const auto* p = std::get_if<engine::placement>(&found)) {
    propose(asker, attempt, *who, plan_of(*who, *p, where, how_.shards, feed_.version()),
            guards_.quotes_of(*who, feed_));
    return;
  }
  auto& why = std::get<base::explanation>(found);
  if (may_search && why.primary == base::reason_code::undecided)
    hand_over(asker, attempt, who, std::move(why),
              {role_kind::planner, next_planner_++ % how_.planners, {}});
  else
    refuse(asker, attempt, std::move(why));
}

void topology_role::propose(const protocol::address& asker, const base::attempt_id& attempt,
                            const protocol::gang& who, std::shared_ptr<protocol::plan> found,
                            const guard_quotes& guards) {
  plan_guards::add_to(*found, guards);
  feed_.view().mark(attempt, seats_of(*found));
  auto why = why_left_out(who, *found);
  offers_[attempt] = {found, why, arm_expiry(attempt)};
  out_.tell(asker, protocol::plan_answer{attempt, std::move(found), std::move(why)});
}

/// What the next attempt would be told if nothing changed: with the found seats taken and their
/// members counted as bound. Nothing if everybody has a seat, if there is one more seat after all,
/// or if that is not known for certain.
base::explanation topology_role::why_left_out(const protocol::gang& who,
                                              const protocol::plan& found) {
  auto then = who;
  std::map<base::pod_uid, base::node_name> seats;
  for (const auto& slice : found.slices)
    for (const auto& s : slice.seats)
      seats.emplace(s.pod, s.node_name);
  bool is_whole = true;
  for (auto& m : then.members) {
    if (const auto seat = seats.find(m.uid); seat != seats.end())
      m.node = seat->second;
    is_whole &= !m.node.value.empty();
  }
  if (is_whole)
    return {};
  auto next = engine::plan(feed_.view().now(), spec_of(then, feed_.view()), short_search, memory_);
  auto* why = std::get_if<base::explanation>(&next);
  if (why == nullptr || why->primary == base::reason_code::undecided)
    return {};
  why->view_version = feed_.version();
  return std::move(*why);
}

void topology_role::refuse(const protocol::address& asker, const base::attempt_id& attempt,
                           base::explanation why) {
  why.view_version = feed_.version();
  out_.tell(asker, protocol::plan_answer{attempt, nullptr, std::move(why)});
}

void topology_role::drop(const base::attempt_id& attempt) {
  drop_early(attempt, attempt);
  turns_.drop(attempt);
  if (auto pos = searches_.find(attempt); pos != searches_.end()) {
    how_.board->drop(attempt);
    disarm_expiry(pos->second.timer_key);
    searches_.erase(pos);
  }
  if (auto pos = offers_.find(attempt); pos != offers_.end()) {
    disarm_expiry(pos->second.timer_key);
    offers_.erase(pos);
  }
  announce(feed_.unmark(attempt));
}

// ---------------------------------------------------------------- long searches

/// To a planner, or to the preemption coordinator, who both asks and searches. Either answers with
/// `plan_answer`.
void topology_role::hand_over(const protocol::address& asker, const base::attempt_id& attempt,
                              const protocol::gang_ptr& who, base::explanation so_far,
                              const protocol::address& worker) {
  ensure(how_.board != nullptr);
  how_.board->put(attempt, {feed_.view().now(), spec_of(*who, feed_.view()), feed_.version()});
  searches_[attempt] = {asker, who, std::move(so_far), guards_.quotes_of(*who, feed_),
                        arm_expiry(attempt)};
  out_.tell(worker, protocol::plan_request{attempt, who});
}

/// The view went on while the planner searched: what it found is checked against the view of now.
void topology_role::take_searched(const protocol::plan_answer& x) {
  auto pos = searches_.find(x.attempt);
  if (pos == searches_.end())
    return; // dropped, or answered when its time was up
  const auto mine = std::move(pos->second);
  disarm_expiry(mine.timer_key);
  searches_.erase(pos);
  const bool has_victims = x.placement
                           && std::any_of(x.placement->slices.begin(), x.placement->slices.end(),
                                          [](const auto& s) { return !s.victims.empty(); });
  if (has_victims) {
    propose_with_victims(mine, x);
    return;
  }
  if (x.placement && still_fits(*x.placement))
    propose(mine.asker, x.attempt, *mine.who, std::make_shared<protocol::plan>(*x.placement),
            mine.guards);
  else if (x.placement)
    plan(mine.asker, x.attempt, mine.who, false);
  else
    refuse(mine.asker, x.attempt, x.why_not);
}

/// What is free here says little of it: victims make the room. Their shards know what they take.
void topology_role::propose_with_victims(const search& mine, const protocol::plan_answer& x) {
  if (are_quotes_true(*x.placement)) {
    propose(mine.asker, x.attempt, *mine.who, std::make_shared<protocol::plan>(*x.placement),
            mine.guards);
    return;
  }
  base::explanation why;
  why.primary = base::reason_code::view_stale;
  why.detail = "nodes changed while victims were sought";
  refuse(mine.asker, x.attempt, std::move(why));
}

bool topology_role::are_quotes_true(const protocol::plan& x) const {
  for (const auto& slice : x.slices)
    for (const auto& quote : slice.quotes) {
      const auto* node = feed_.find(quote.node);
      if (!node || node->facts->facts_hash != quote.facts_hash)
        return false;
    }
  return true;
}

bool topology_role::still_fits(const protocol::plan& x) {
  if (!are_quotes_true(x))
    return false;
  std::map<base::node_uid, base::footprint> asked;
  for (const auto& slice : x.slices) {
    for (const auto& s : slice.seats) {
      auto& sum = asked[s.node];
      sum.amounts += s.takes.amounts;
      sum.ports.insert(sum.ports.end(), s.takes.ports.begin(), s.takes.ports.end());
    }
  }
  const auto& where = feed_.view().now();
  return std::all_of(asked.begin(), asked.end(), [&](const auto& entry) {
    const auto at = feed_.view().find(entry.first);
    return at && base::fits(entry.second.amounts, engine::free_of(where, *at))
           && !engine::ports_collide(where.at(*at).ports[at->slot], entry.second.ports);
  });
}

// ---------------------------------------------------------------- time, people

std::uint64_t topology_role::arm_expiry(const base::attempt_id& attempt) {
  const auto key = ++last_key_;
  expiries_.emplace(key, attempt);
  out_.add(protocol::arm{{static_cast<std::uint32_t>(timer::offer_expires), key}, offer_lives});
  return key;
}

void topology_role::disarm_expiry(std::uint64_t key) {
  if (expiries_.erase(key) > 0)
    out_.add(protocol::disarm{{static_cast<std::uint32_t>(timer::offer_expires), key}});
}

void topology_role::expire(const protocol::timer_id& which) {
  if (which.kind == static_cast<std::uint32_t>(timer::view_missing)) {
    const base::shard_id shard{static_cast<std::uint32_t>(which.key)};
    if (!feed_.is_in_step(shard))
      want_view(shard);
    return;
  }
  if (which.kind == static_cast<std::uint32_t>(timer::view_is_late)) {
    refuse_early();
    return;
  }
  if (which.kind == static_cast<std::uint32_t>(timer::turn_is_late)) {
    turns_.give_up(which.key);
    return;
  }
  auto due = expiries_.extract(which.key);
  if (due.empty())
    return;
  const auto attempt = due.mapped();
  if (auto pos = searches_.find(attempt); pos != searches_.end())
    refuse(pos->second.asker, attempt, pos->second.so_far);
  drop(attempt);
}

void topology_role::describe(const protocol::address& from, const protocol::inspect& x) {
  protocol::inspected answer{x.id, {}};
  if (x.what == "nodes")
    answer.json = describe_nodes(feed_, x.name);
  else if (x.what == "racks")
    answer.json = describe_racks(feed_, x.name);
  else if (x.what == "marks")
    answer.json = describe_marks();
  out_.tell(from, std::move(answer));
}

/// How many proposals are not settled everywhere yet, and how many seats they mark.
std::string topology_role::describe_marks() const {
  std::size_t seats = 0;
  for (const auto& [attempt, mine] : offers_)
    seats += mine.placement->seat_count();
  return fmt::format(R"({{"offers":{},"seats":{}}})", offers_.size(), seats);
}

std::uint64_t topology_role::state_hash() const {
  auto h = base::hash_combine(feed_.version(), offers_.size());
  for (const auto& [attempt, mine] : offers_)
    h = base::hash_combine(h, std::hash<base::attempt_id>{}(attempt));
  for (const auto& [attempt, mine] : searches_)
    h = base::hash_combine(h, std::hash<base::attempt_id>{}(attempt));
  for (const auto& x : early_)
    h = base::hash_combine(h, std::hash<base::attempt_id>{}(x.attempt));
  h = base::hash_combine(h, turns_.hash());
  return base::hash_combine(h, feed_.shards_in_step());
}

} // namespace tutti::placement
