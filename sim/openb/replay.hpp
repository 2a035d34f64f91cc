// The published experiment: pods of the trace come one by one, in an order that is drawn, until
// more has come than the cluster holds; how much of its GPUs is in use then?
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/openb/trace.hpp"

namespace tutti::sim::openb {

/// A node in the course of the experiment.
struct busy_node {
  placement::engine::node_room room;
  /// Pods there by what they take: a share of a GPU, then 1 … 15 whole ones.
  std::array<std::uint32_t, 16> company{};
};

/// What decides: a policy of the engine, or one of those it is compared with.
struct contestant {
  /// Of which GPU a share is taken.
  enum class gpu_choice : std::uint8_t { by_score, fullest, any };
  std::string name;
  std::string published;     ///< what the publication calls it; empty = it is not in there
  double published_mean = 0; ///< per cent in use when 130 per cent have come; 0 = not in there
  gpu_choice gpu = gpu_choice::by_score;
  /// Higher is better; among equals the first in an order of nodes that is drawn once. Null: any
  /// node.
  std::function<std::int64_t(const busy_node&, const placement::engine::seat_view&)> score;
};

/// Those of the publication, then the policies of the engine; `least-fragmentation` is in both.
std::vector<contestant> contestants();
std::optional<contestant> find_contestant(std::string_view name);

struct replay_options {
  std::uint64_t seed = 42;
  double arrival = 1.3; ///< GPUs asked for, as a share of those that there are
};

struct replay_result {
  std::size_t came = 0;
  std::size_t refused = 0;
  double came_share = 0;    ///< thousandths of GPUs asked for, as a share of those that there are
  double in_use = 0;        ///< … that are in use at the end
  double in_use_at_100 = 0; ///< … when as much had come as there is

  friend bool operator==(const replay_result&, const replay_result&) = default;
};

/// All pods of the trace once, and drawn ones as often as needed until `arrival` is reached (or
/// only some, if the trace alone has more), in a drawn order. A pod that does not fit is refused
/// and does not come again; nobody leaves. Equal options give equal results.
replay_result replay(const trace& of, const std::vector<placement::engine::usual_pod>& usual,
                     const contestant& who, const replay_options& how);

} // namespace tutti::sim::openb
