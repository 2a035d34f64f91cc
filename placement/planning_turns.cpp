// Who of a batch may be planned next.
#include "placement/planning_turns.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::placement {

planning_turns::batch_no planning_turns::open(const std::vector<base::gang_uid>& gangs) {
  auto& b = batches_[++last_];
  for (const auto& gang : gangs) {
    if (auto* older = find(gang)) {
      if (older->at == state::asked)
        continue; // its question is here, and keeps its place
      end(*older);
    }
    b.turns.push_back({gang, state::awaited, {}});
    where_[gang] = last_;
  }
  return last_;
}

planning_turns::turn* planning_turns::find(const base::gang_uid& gang) {
  const auto pos = where_.find(gang);
  if (pos == where_.end())
    return nullptr;
  auto& turns = batches_.at(pos->second).turns;
  const auto mine =
      std::find_if(turns.begin(), turns.end(), [&](const turn& t) { return t.gang == gang; });
  ensure(mine != turns.end(), gang.value);
  return &*mine;
}

bool planning_turns::keep(request x) {
  ensure(x.who != nullptr, x.attempt.gang.value);
  auto* mine = find(x.attempt.gang);
  if (!mine)
    return false;
  if (mine->at == state::asked && x.attempt < mine->asked.attempt)
    return true; // an older attempt's question that was late
  mine->at = state::asked;
  mine->asked = std::move(x);
  return true;
}

void planning_turns::end(turn& x) {
  x.at = state::over;
  x.asked = {};
  where_.erase(x.gang);
}

void planning_turns::drop(const base::attempt_id& attempt) {
  auto* mine = find(attempt.gang);
  if (mine && mine->at == state::asked && mine->asked.attempt == attempt)
    end(*mine);
}

void planning_turns::give_up(batch_no which) {
  const auto pos = batches_.find(which);
  if (pos == batches_.end())
    return;
  for (auto& t : pos->second.turns)
    if (t.at == state::awaited)
      end(t);
}

std::optional<planning_turns::request> planning_turns::next(const search_test& is_searched) {
  for (auto pos = batches_.begin(); pos != batches_.end();) {
    if (auto found = next_of(pos->second, is_searched))
      return found;
    if (pos->second.first < pos->second.turns.size()) {
      ++pos;
      continue;
    }
    over_.push_back(pos->first);
    pos = batches_.erase(pos);
  }
  return std::nullopt;
}

std::optional<planning_turns::request> planning_turns::next_of(batch& b,
                                                               const search_test& is_searched) {
  std::int64_t searched = std::numeric_limits<std::int64_t>::min(); // highest priority
  for (auto i = b.first; i < b.turns.size(); ++i) {
    auto& t = b.turns[i];
    if (t.at == state::awaited)
      return std::nullopt;
    if (t.at == state::asked) {
      if (t.asked.who->priority < searched)
        return std::nullopt;
      t.at = state::planned;
      where_.erase(t.gang);
      return t.asked;
    }
    if (t.at == state::planned && is_searched(t.asked.attempt)) {
      searched = std::max<std::int64_t>(searched, t.asked.who->priority);
      continue;
    }
    t.at = state::over;
    t.asked = {};
    b.first += i == b.first ? 1 : 0;
  }
  return std::nullopt;
}

std::vector<planning_turns::request> planning_turns::take_all() {
  std::vector<request> all;
  for (auto& [no, b] : batches_)
    for (auto& t : b.turns)
      if (t.at == state::asked) {
        all.push_back(std::move(t.asked));
        end(t);
      }
  return all;
}

std::vector<planning_turns::batch_no> planning_turns::take_over() {
  return std::exchange(over_, {});
}

bool planning_turns::has_kept() const {
  return std::any_of(batches_.begin(), batches_.end(), [](const auto& x) {
    return std::any_of(x.second.turns.begin(), x.second.turns.end(),
                       [](const turn& t) { return t.at == state::asked; });
  });
}

std::uint64_t planning_turns::hash() const {
  auto h = base::hash_of(std::uint64_t{batches_.size()});
  for (const auto& [no, b] : batches_)
    for (const auto& t : b.turns)
      h = base::hash_combine(base::hash_combine(h, base::hash_of(t.gang.value)),
                             static_cast<std::uint64_t>(t.at));
  return h;
}

} // namespace tutti::placement
