// Who keeps whom out, which quoted version is too old, and who has not heard of a guard.
#include "shards/guards.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::shards {

using base::attempt_id;
using protocol::guard_id;
using protocol::guard_use;
using protocol::guard_version;
using protocol::slice;

namespace {

/// A guard of this namespace may mean the pods of every gang.
constexpr std::string_view everywhere = "*";

} // namespace

bool guard_table::may_mean(const guard_id& guard, const slice& asked) {
  return asked.space.empty() || guard.space == everywhere || guard.space == asked.space;
}

bool guard_table::uses(const slice& asked, const guard_id& guard) {
  return std::any_of(asked.guards.begin(), asked.guards.end(),
                     [&](const guard_use& x) { return x.id == guard; });
}

std::optional<guard_table::objection>
guard_table::rivals(const attempt_id& attempt, const guard_id& guard, bool is_exclusive) const {
  objection found{guard, false, false, {}};
  if (auto pos = uses_.find(guard); pos != uses_.end())
    for (const auto& [other, is_others] : pos->second)
      if (other.gang != attempt.gang && (is_others || is_exclusive)
          && !base::is_planted(base::mutant::share_an_exclusive_guard))
        found.holders.push_back(other);
  if (auto pos = unaware_.find(guard); pos != unaware_.end() && is_exclusive)
    for (const auto& other : pos->second)
      if (other.gang != attempt.gang && !base::is_planted(base::mutant::let_the_unaware_be))
        found.holders.push_back(other);
  if (found.holders.empty())
    return std::nullopt;
  return found;
}

std::optional<guard_table::objection> guard_table::crowded(const attempt_id& attempt,
                                                           const slice& asked) const {
  for (const auto& wanted : asked.guards)
    if (auto found = rivals(attempt, wanted.id, wanted.is_exclusive))
      return found;
  // Between its decision and the list another owner may have granted, and finished, what is in its
  // way: of that nothing is listed.
  if (listed_.contains(attempt)) {
    if (!asked.guards.empty())
      return objection{asked.guards.front().id, true, false, {}};
    if (const auto unheard = unheard_by(asked); !unheard.empty())
      return objection{unheard.front(), true, false, {}};
  }
  return std::nullopt;
}

std::optional<guard_table::objection> guard_table::object(const attempt_id& attempt,
                                                          const slice& asked) const {
  if (auto found = crowded(attempt, asked))
    return found;
  for (const auto& wanted : asked.guards)
    if (!raised_.contains(wanted.id))
      return objection{wanted.id, true, true, {}};
  if (const auto* news = news_for(asked))
    return objection{*news, true, false, {}};
  for (const auto& wanted : asked.guards) {
    const auto now = quote_of(wanted.id, raised_.at(wanted.id));
    if (wanted.seen < (wanted.is_exclusive ? now.any : now.exclusive)
        && !base::is_planted(base::mutant::believe_an_old_version))
      return objection{wanted.id, true, false, {}};
  }
  return std::nullopt;
}

/// A guard that may mean the plan's pods, and that it had not heard of; null if there is none.
const guard_id* guard_table::news_for(const slice& asked) const {
  if (!(asked.guards_known < known_) || base::is_planted(base::mutant::overlook_new_guards))
    return nullptr;
  for (const auto& space : {asked.space, std::string{everywhere}})
    if (auto pos = learned_.find(space);
        pos != learned_.end() && asked.guards_known < pos->second.at)
      return &pos->second.last;
  return asked.space.empty() ? &learned_.begin()->second.last : nullptr;
}

/// A life of this shard that said yes has forgotten it. What no use has raised since then is as the
/// plan saw it; of a guard that it did not know it is a shared user.
std::optional<guard_table::objection> guard_table::overtaken(const attempt_id& attempt,
                                                             const slice& asked) const {
  auto wanted = asked.guards;
  for (const auto& guard : unheard_by(asked))
    wanted.push_back({guard, false, asked.guards_known});
  for (const auto& use : wanted) {
    if (auto found = rivals(attempt, use.id, use.is_exclusive))
      return found;
    const auto pos = raised_.find(use.id);
    if (pos != raised_.end()
        && use.seen < (use.is_exclusive ? pos->second.any : pos->second.exclusive))
      return objection{use.id, true, false, {}};
    if (use.seen.epoch < floor_.value)
      return objection{use.id, true, false, {}};
  }
  return std::nullopt;
}

std::vector<guard_id> guard_table::unheard_by(const slice& asked) const {
  std::vector<guard_id> out;
  if (!(asked.guards_known < known_))
    return out;
  for (const auto& [guard, since] : since_)
    if (asked.guards_known < since && may_mean(guard, asked) && !uses(asked, guard))
      out.push_back(guard);
  return out;
}

void guard_table::learn(const std::vector<guard_id>& guards) {
  for (const auto& guard : guards)
    if (!since_.contains(guard))
      know(guard);
}

void guard_table::know(const guard_id& guard) {
  raised_.try_emplace(guard, versions{{floor_.value, 0}, {floor_.value, 0}});
  known_ = next();
  since_[guard] = known_;
  learned_[guard.space] = {known_, guard};
  news_.insert(guard);
  std::set<attempt_id> unaware;
  const auto users = uses_.find(guard);
  for (const auto& [attempt, space] : live_)
    if ((space.empty() || guard.space == everywhere || guard.space == space)
        && (users == uses_.end() || !users->second.contains(attempt)))
      unaware.insert(attempt);
  if (!unaware.empty())
    unaware_[guard] = std::move(unaware);
}

void guard_table::claim(const attempt_id& attempt, const slice& asked) {
  live_[attempt] = asked.space;
  for (const auto& wanted : asked.guards) {
    uses_[wanted.id][attempt] |= wanted.is_exclusive;
    if (!since_.contains(wanted.id))
      know(wanted.id);
  }
  for (const auto& guard : unheard_by(asked))
    unaware_[guard].insert(attempt);
}

void guard_table::adopt(const attempt_id& attempt, const slice& asked) {
  claim(attempt, asked);
  raise(attempt, asked);
  listed_.insert(attempt);
}

void guard_table::drop(const attempt_id& attempt, const slice& asked, bool was_told) {
  if (was_told)
    raise(attempt, asked);
  live_.erase(attempt);
  listed_.erase(attempt);
  for (const auto& used : asked.guards) {
    auto pos = uses_.find(used.id);
    if (pos == uses_.end())
      continue;
    pos->second.erase(attempt);
    if (pos->second.empty())
      uses_.erase(pos);
  }
  for (auto pos = unaware_.begin(); pos != unaware_.end();) {
    pos->second.erase(attempt);
    pos = pos->second.empty() ? unaware_.erase(pos) : std::next(pos);
  }
}

void guard_table::raise(const attempt_id& attempt, const slice& asked) {
  for (const auto& used : asked.guards)
    lift(used.id, used.is_exclusive);
  for (const auto& [guard, unaware] : unaware_)
    if (unaware.contains(attempt))
      lift(guard, false);
}

void guard_table::lift(const guard_id& guard, bool is_exclusive) {
  auto& now =
      raised_.try_emplace(guard, versions{{floor_.value, 0}, {floor_.value, 0}}).first->second;
  const auto before = now.any;
  now.any = next();
  ensure(before < now.any, before.counter, now.any.counter);
  if (is_exclusive)
    now.exclusive = now.any;
  news_.insert(guard);
}

guard_version guard_table::next() {
  counter_ = std::max(counter_, life_) + 1;
  return {std::max(floor_.value, std::uint64_t{1}), counter_};
}

void guard_table::begin(base::epoch_no epoch) {
  ensure(floor_ < epoch, floor_.value, epoch.value);
  if (!base::is_planted(base::mutant::restart_a_guards_version))
    floor_ = epoch;
  counter_ = 0;
  raised_.clear();
  since_.clear();
  learned_.clear();
  known_ = {};
}

void guard_table::begin_life(base::incarnation_no incarnation) {
  life_ = incarnation.value << 32;
  for (const auto& [guard, raised] : raised_)
    know(guard);
}

guard_table::quote guard_table::quote_of(const guard_id& guard, const versions& raised) const {
  const auto pos = since_.find(guard);
  const auto since = pos == since_.end() ? guard_version{} : pos->second;
  return {std::max(raised.any, since), std::max(raised.exclusive, since)};
}

std::vector<protocol::guard_view> guard_table::take_news(bool is_whole) {
  std::vector<protocol::guard_view> out;
  const auto add = [&](const auto& known) {
    const auto quoted = quote_of(known.first, known.second);
    out.push_back({known.first, quoted.any, quoted.exclusive});
  };
  const auto news = std::exchange(news_, {});
  if (is_whole)
    for (const auto& known : raised_)
      add(known);
  else
    for (const auto& guard : news)
      if (auto pos = raised_.find(guard); pos != raised_.end())
        add(*pos);
  return out;
}

void guard_table::tell_again(const guard_id& guard) {
  if (raised_.contains(guard))
    news_.insert(guard);
}

void guard_table::restore(base::epoch_no floor, std::uint64_t counter, raised_versions raised) {
  floor_ = floor;
  counter_ = counter;
  raised_ = std::move(raised);
}

} // namespace tutti::shards
