// Gangs of unlike members on tight clusters, drawn from a seed, and what an integer program says of
// them: nothing here shares code with the engine's search.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/placement/engine/cluster.hpp"

namespace tutti::placement::engine::testing {

/// What is free on a node.
struct drawn_node {
  std::string rack, zone;
  std::int64_t cpu = 0, memory = 0, gpus = 0, pods = 0;
  bool has_disk = false; ///< has the label that some members ask for
};

/// Equal members of one group.
struct drawn_lot {
  std::size_t group = 0;
  int members = 0;
  std::int64_t cpu = 0, memory = 0, gpus = 0;
  bool wants_disk = false;
  bool takes_port = false; ///< all that do take the same
  std::size_t app = 0;
};

/// What pods of one app ask of each other.
struct drawn_app {
  std::string apart; ///< by which label none may be together; empty = they may
  std::string near;  ///< by which label all must be together
  std::string even;  ///< by which label they must be spread
  int skew = 1;
};

struct drawn_gang {
  std::vector<drawn_node> nodes;
  std::vector<drawn_lot> lots;
  std::vector<drawn_app> apps;
  std::vector<std::string> keys; ///< per group: topology key, or empty
  std::vector<int> minimum;      ///< per group
};

/// How large; and whether apps ask anything.
enum class drawn_size : std::uint8_t { small, medium };
drawn_gang draw_gang(std::uint64_t seed, drawn_size size, bool has_terms);

/// The same for the engine.
void build(const drawn_gang& in, cluster& c, gang_spec& what);
/// For people.
std::string words_of(const drawn_gang& in);

/// Members of each lot on each node.
using drawn_counts = std::vector<std::vector<int>>; // [lot][node]
/// The first rule that is broken, or nothing.
std::optional<std::string> broken_rule(const drawn_gang& in, const drawn_counts& at);
/// What the engine placed, counted.
drawn_counts counts_of(const drawn_gang& in, cluster& c, const placement& found);

/// An integer program that has a solution if and only if the gang can be placed.
std::string program_of(const drawn_gang& in);
/// Asks CBC; nothing if it did not end in time. Needs `has_solver`.
std::optional<bool> can_be_placed(const drawn_gang& in);
bool has_solver();

} // namespace tutti::placement::engine::testing
