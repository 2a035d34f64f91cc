// Questions, offers, one search, and the proposal's way through the topology.
#include "placement/preemption_role.hpp"

#include <algorithm>
#include <variant>

#include <fmt/core.h>

#include "base/attempt_text.hpp"
#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "placement/convert.hpp"
#include "placement/engine/plan.hpp"
#include "placement/engine/victims.hpp"
#include "placement/planner_role.hpp"

namespace tutti::placement {

using base::reason_code;
using protocol::role_kind;
using protocol::to;

namespace {

/// Whoever does not answer within this has died or hangs.
constexpr auto patience = base::limits::prepare_timeout;
/// By then the shards have been asked to promise, or never will be.
constexpr auto given_for = 2 * base::limits::prepare_timeout;
constexpr base::duration window_length = std::chrono::minutes{1};

base::explanation passing(reason_code code, std::string detail) {
  base::explanation out;
  out.primary = code;
  out.detail = std::move(detail);
  return out;
}

/// Members of each group, and those of them that are bound.
struct head_count {
  std::vector<std::uint32_t> all;
  std::vector<std::uint32_t> bound;
};

head_count count(const engine::gang_spec& x) {
  head_count out{std::vector<std::uint32_t>(x.groups.size()),
                 std::vector<std::uint32_t>(x.groups.size())};
  for (const auto& m : x.members) {
    ++out.all.at(m.group);
    if (m.is != engine::member_spec::state::pending)
      ++out.bound.at(m.group);
  }
  return out;
}

/// Whose minimum runs already asks for the others (C-22): for all of them if that can be, else for
/// one more, and again once that one runs. Everybody else asks for the minimum.
engine::eviction_answer seek(const long_search& x, const engine::eviction_spec& how,
                             engine::workspace& memory) {
  const auto heads = count(x.what);
  bool has_minimum = true;
  for (std::size_t g = 0; g < x.what.groups.size(); ++g)
    has_minimum &= heads.bound[g] >= x.what.groups[g].min_count;
  if (!has_minimum)
    return engine::plan_with_victims(x.where, x.what, how, memory);
  auto more = x.what;
  for (std::size_t g = 0; g < more.groups.size(); ++g)
    more.groups[g].min_count = heads.all[g];
  auto found = engine::plan_with_victims(x.where, more, how, memory);
  const auto* why = std::get_if<base::explanation>(&found);
  if (why == nullptr || why->primary == reason_code::waiting_for_victims)
    return found;
  more = x.what;
  for (std::size_t g = 0; g < more.groups.size(); ++g) {
    if (heads.all[g] == heads.bound[g])
      continue;
    more.groups[g].min_count = heads.bound[g] + 1;
    break;
  }
  return engine::plan_with_victims(x.where, more, how, memory);
}

} // namespace

preemption_role::preemption_role(options how) : how_(std::move(how)) {
  ensure(how_.shards > 0);
  ensure(how_.board != nullptr || !how_.how.is_allowed);
}

protocol::effects preemption_role::on(const protocol::event& e, base::time_point now) {
  now_ = now;
  if (const auto* heard = std::get_if<protocol::received>(&e)) {
    hear(heard->from, heard->what);
  } else if (const auto* fired = std::get_if<protocol::timer_fired>(&e)) {
    const auto due = timers_.extract(fired->timer.key);
    const auto pos = due.empty() ? rounds_.end() : rounds_.find(due.mapped());
    if (pos != rounds_.end()
        && fired->timer.kind == static_cast<std::uint32_t>(timer::window_opens))
      begin(pos->first, pos->second);
    else if (pos != rounds_.end())
      late(pos->first);
  }
  return std::exchange(out_, {});
}

void preemption_role::hear(const protocol::address& from, const protocol::message& what) {
  if (const auto* wanted = std::get_if<protocol::victims_wanted>(&what))
    take_question(from, *wanted);
  else if (const auto* offers = std::get_if<protocol::offers>(&what))
    take_offers(*offers);
  else if (const auto* named = std::get_if<protocol::named_told>(&what))
    take_named(*named);
  else if (const auto* view = std::get_if<protocol::plan_request>(&what))
    search(*view);
  else if (const auto* proposal = std::get_if<protocol::plan_answer>(&what))
    take_proposal(*proposal);
  else if (const auto* question = std::get_if<protocol::inspect>(&what))
    out_.tell(from, protocol::inspected{question->id, fmt::format(R"({{"rounds":{},"given":{}}})",
                                                                  rounds_.size(), given_.size())});
}

// ---------------------------------------------------------------- asking

void preemption_role::take_question(const protocol::address& from,
                                    const protocol::victims_wanted& x) {
  if (rounds_.contains(x.attempt))
    return; // a second copy; the answer is under way
  const bool may = how_.how.is_allowed && x.who && !x.who->never_preempts; // P-3
  if (!may) {
    refuse(from, x.attempt, reason_code::preemption_not_allowed, {});
    return;
  }
  drop_older(x.attempt);
  auto& r = rounds_[x.attempt];
  r.asker = from;
  r.who = x.who;
  begin(x.attempt, r);
}

/// A gang has one live attempt: nobody waits for the answers to older ones.
void preemption_role::drop_older(const base::attempt_id& attempt) {
  const auto first = base::attempt_id{attempt.gang, 0, {}, 0};
  for (auto pos = rounds_.lower_bound(first); pos != rounds_.end() && pos->first < attempt;) {
    const auto next = std::next(pos);
    out_.tell(to(role_kind::topology), protocol::plan_dropped{pos->first});
    end(pos);
    pos = next;
  }
  given_.erase(given_.lower_bound(first), given_.lower_bound(attempt));
}

void preemption_role::begin(const base::attempt_id& attempt, round& r) {
  if (left_of_window() == 0) {
    wait_for_window(attempt, r);
    return;
  }
  r.at = step::asking;
  r.found = {};
  r.victims.clear();
  r.pieces.clear();
  r.shards_heard.clear();
  out_.tell(to(role_kind::mirror), protocol::offers_wanted{attempt, r.who->priority});
  r.timer_key = ++last_key_;
  timers_.emplace(r.timer_key, attempt);
  out_.add(
      protocol::arm{{static_cast<std::uint32_t>(timer::round_is_late), r.timer_key}, patience});
}

void preemption_role::take_offers(const protocol::offers& x) {
  const auto pos = rounds_.find(x.attempt);
  if (pos == rounds_.end() || pos->second.at != step::asking)
    return;
  auto& r = pos->second;
  if (!x.is_complete) {
    refuse(r.asker, x.attempt, reason_code::none,
           passing(reason_code::view_stale, "the view of running pods is not fresh"));
    end(pos);
    return;
  }
  if (!r.pieces.insert(x.piece).second)
    return;
  r.found.units.insert(r.found.units.end(), x.units.begin(), x.units.end());
  r.found.budgets.insert(r.found.budgets.end(), x.budgets.begin(), x.budgets.end());
  if (r.pieces.size() < x.pieces)
    return;
  if (!r.found.units.empty()) {
    ask_shards(x.attempt, r);
    return;
  }
  refuse(r.asker, x.attempt, reason_code::preemption_would_not_help, {}); // nothing to add
  end(pos);
}

void preemption_role::ask_shards(const base::attempt_id& attempt, round& r) {
  r.at = step::naming;
  for (std::uint32_t s = 0; s < how_.shards; ++s)
    out_.tell(protocol::to_shard({s}), protocol::named_wanted{attempt});
}

/// The view comes last, so that it is the newest of all.
void preemption_role::take_named(const protocol::named_told& x) {
  const auto pos = rounds_.find(x.attempt);
  if (pos == rounds_.end() || pos->second.at != step::naming)
    return;
  auto& r = pos->second;
  r.shards_heard.insert(x.shard);
  r.found.named.insert(x.pods.begin(), x.pods.end());
  if (r.shards_heard.size() < how_.shards)
    return;
  r.at = step::planning;
  out_.tell(to(role_kind::topology), protocol::plan_request{x.attempt, r.who});
}

void preemption_role::late(const base::attempt_id& attempt) {
  const auto pos = rounds_.find(attempt);
  const auto& r = pos->second;
  auto why = passing(reason_code::view_stale, "the view of the cluster did not come in time");
  if (r.at == step::naming)
    why = passing(reason_code::shard_unavailable,
                  fmt::format("{} of {} shards did not say whose victims run there",
                              how_.shards - r.shards_heard.size(), how_.shards));
  else if (r.at == step::asking)
    why.detail = "the mirror did not say in time who runs";
  out_.tell(to(role_kind::topology), protocol::plan_dropped{attempt});
  refuse(r.asker, attempt, reason_code::none, std::move(why));
  end(pos);
}

// ---------------------------------------------------------------- the search

void preemption_role::search(const protocol::plan_request& x) {
  const auto pos = rounds_.find(x.attempt);
  auto view = how_.board->take(x.attempt);
  if (pos == rounds_.end() || pos->second.at != step::planning || !view)
    return;
  auto& r = pos->second;
  std::erase_if(given_, [this](const auto& g) { return g.second.until <= now_; });
  for (const auto& [other, g] : given_)
    if (other != x.attempt)
      r.found.named.insert(g.pods.begin(), g.pods.end());
  auto asked = eviction_spec_of(r.found, r.who->priority, view->where, how_.how, wall_now());
  asked.bounds = {long_search_steps, long_search_domains};
  protocol::plan_answer answer{x.attempt, nullptr, {}};
  r.at = step::proposed;
  if (auto fits = engine::plan(view->where, view->what, asked.bounds, memory_);
      const auto* p = std::get_if<engine::placement>(&fits)) { // room has come meanwhile
    answer.placement = plan_of(*r.who, *p, view->where, how_.shards, view->view_version);
    out_.tell(to(role_kind::topology), std::move(answer));
    return;
  }
  auto found = seek(*view, asked, memory_);
  if (const auto* e = std::get_if<engine::eviction>(&found)) {
    auto plan = plan_of(*r.who, e->where, view->where, how_.shards, view->view_version);
    add_victims(*plan, r.found, e->units, view->where, how_.shards);
    for (const auto& slice : plan->slices)
      for (const auto& v : slice.victims)
        r.victims.push_back(v.pod);
    if (r.victims.size() > left_of_window() && !window_.empty()) {
      out_.tell(to(role_kind::topology), protocol::plan_dropped{x.attempt});
      wait_for_window(x.attempt, r);
      return;
    }
    note_plan(x.attempt, r, e->units.size());
    answer.placement = std::move(plan);
  } else {
    answer.why_not = std::get<base::explanation>(std::move(found));
    r.refusal = answer.why_not.primary;
  }
  out_.tell(to(role_kind::topology), std::move(answer));
}

void preemption_role::note_plan(const base::attempt_id& attempt, const round& r,
                                std::size_t units) {
  out_.add(protocol::note{"preemption.planned",
                          {{"gang", to_text(r.who->name)},
                           {"attempt", to_text(attempt)},
                           {"units", static_cast<std::int64_t>(units)},
                           {"victims", static_cast<std::int64_t>(r.victims.size())}}});
}

void preemption_role::take_proposal(const protocol::plan_answer& x) {
  const auto pos = rounds_.find(x.attempt);
  if (pos == rounds_.end())
    return;
  auto& r = pos->second;
  if (x.placement) {
    if (!r.victims.empty()) {
      given_[x.attempt] = {r.victims, now_ + given_for};
      window_.emplace_back(now_, r.victims.size());
    }
    out_.tell(r.asker, protocol::victims_answer{x.attempt, x.placement, reason_code::none, {}});
  } else {
    const bool is_search = r.at == step::proposed && r.refusal == x.why_not.primary;
    refuse(r.asker, x.attempt, is_search ? r.refusal : reason_code::none, x.why_not);
  }
  end(pos);
}

void preemption_role::refuse(const protocol::address& asker, const base::attempt_id& attempt,
                             reason_code refusal, base::explanation why) {
  out_.add(protocol::note{
      "preemption.refused",
      {{"attempt", to_text(attempt)},
       {"reason", std::string{name_of(refusal == reason_code::none ? why.primary : refusal)}}}});
  out_.tell(asker, protocol::victims_answer{attempt, nullptr, refusal, std::move(why)});
}

void preemption_role::end(rounds::iterator pos) {
  const auto key = pos->second.timer_key;
  if (timers_.erase(key) > 0) // either kind: what is not armed is not disarmed
    for (const auto kind : {timer::round_is_late, timer::window_opens})
      out_.add(protocol::disarm{{static_cast<std::uint32_t>(kind), key}});
  rounds_.erase(pos);
}

// ---------------------------------------------------------------- how many may go

std::size_t preemption_role::left_of_window() {
  while (!window_.empty() && window_.front().first + window_length <= now_)
    window_.pop_front();
  std::size_t gone = 0;
  for (const auto& [when, pods] : window_)
    gone += pods;
  const std::size_t most = how_.how.evictions_per_minute;
  if (most == 0)
    return ~std::size_t{0};
  return most - std::min(most, gone);
}

/// The earliest of the window ends first; then it is asked anew, for much may have changed.
void preemption_role::wait_for_window(const base::attempt_id& attempt, round& r) {
  ensure(!window_.empty());
  if (timers_.erase(r.timer_key) > 0)
    out_.add(protocol::disarm{{static_cast<std::uint32_t>(timer::round_is_late), r.timer_key}});
  r.at = step::resting;
  r.timer_key = ++last_key_;
  timers_.emplace(r.timer_key, attempt);
  out_.add(protocol::arm{{static_cast<std::uint32_t>(timer::window_opens), r.timer_key},
                         window_.front().first + window_length - now_});
}

base::wall_time preemption_role::wall_now() const {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch());
  return {how_.wall_at_zero.unix_ms + since.count()};
}

std::uint64_t preemption_role::state_hash() const {
  auto h = base::hash_combine(rounds_.size(), given_.size());
  for (const auto& [attempt, r] : rounds_) {
    h = base::hash_combine(h, std::hash<base::attempt_id>{}(attempt));
    h = base::hash_combine(h, static_cast<std::uint64_t>(r.at));
    h = base::hash_combine(h, base::hash_combine(r.pieces.size(), r.shards_heard.size()));
  }
  for (const auto& [attempt, g] : given_)
    h = base::hash_combine(h, std::hash<base::attempt_id>{}(attempt));
  return base::hash_combine(h, window_.size());
}

} // namespace tutti::placement
