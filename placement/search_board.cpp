// A snapshot is taken once, by the planner for whom it was put there.
#include "placement/search_board.hpp"

#include <utility>

namespace tutti::placement {

void search_board::put(const base::attempt_id& attempt, long_search what) {
  const std::lock_guard lock{guard_};
  open_.insert_or_assign(attempt, std::move(what));
}

std::optional<long_search> search_board::take(const base::attempt_id& attempt) {
  const std::lock_guard lock{guard_};
  auto found = open_.extract(attempt);
  return found.empty() ? std::nullopt : std::optional{std::move(found.mapped())};
}

void search_board::drop(const base::attempt_id& attempt) {
  const std::lock_guard lock{guard_};
  open_.erase(attempt);
}

} // namespace tutti::placement
