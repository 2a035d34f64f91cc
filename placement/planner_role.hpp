// One of the workers that take long searches off the topology's hands.
#pragma once

#include <cstdint>

#include "placement/engine/workspace.hpp"
#include "placement/search_board.hpp"
#include "protocol/role.hpp"

namespace tutti::placement {

/// Steps of the full search that a planner may spend on one gang: some hundred milliseconds.
inline constexpr std::uint64_t long_search_steps = 2'000'000;
/// Domains in which it tries a mixed gang.
inline constexpr std::uint32_t long_search_domains = 4096;

struct planner_options {
  search_board_ptr board; ///< never null
  std::uint32_t shards = 1;
};

/// Hears `plan_request` from the topology, takes the search from the board, and answers the
/// topology with `plan_answer`. Owns nothing; a search that is not on the board any more is not
/// answered.
class planner_role final : public protocol::role {
public:
  explicit planner_role(planner_options how);
  [[nodiscard]] protocol::effects on(const protocol::event& e, base::time_point now) override;

private:
  planner_options how_;
  engine::workspace memory_;
};

} // namespace tutti::placement
