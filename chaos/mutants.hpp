// The list of planted bugs: what each is, and who must find it: the swarm within so many worlds,
// the small model, or a test of a role.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "chaos/small/exhaust.hpp"

namespace tutti::base {
enum class mutant : std::uint8_t;
} // namespace tutti::base

namespace tutti::chaos {

/// A bug that simulated worlds show.
struct planted_bug {
  base::mutant id;
  std::string_view name; ///< "bind-before-decision"
  std::string_view what; ///< what is done wrong
  /// Found in one of the seeds 1 to this number, at the latest. 0 = drawn worlds seldom go there:
  /// only its saved schedule is run.
  std::uint64_t within;
  std::uint32_t replicas = 1; ///< of the worlds in which it is looked for
  bool is_of_terms = false;   ///< looked for where gangs have terms among pods
};

/// All of them; none in a program that was built without TUTTI_MUTANTS.
const std::vector<planted_bug>& planted_bugs();
/// Null if there is none of this name.
const planted_bug* find_bug(std::string_view name);

/// A bug that the small model shows. Some are shown by worlds as well, or by a test of a role.
struct exhausted_bug {
  base::mutant id;
  std::string_view name;
  std::string_view what;
  std::string_view breaks; ///< the promise that is seen broken
  /// Finds it within so many states; without the bug nothing breaks there.
  small::exhaust_options search;
};
const std::vector<exhausted_bug>& exhausted_bugs();

/// A bug that one test of a role shows: it fails with the bug and passes without.
struct role_bug {
  base::mutant id;
  std::string_view name;
  std::string_view what;
  std::string_view test; ///< as ctest names it: "shards.Guards.versions_survive_a_restart"
  std::string_view why;  ///< no world shows it
};
const std::vector<role_bug>& role_bugs();

} // namespace tutti::chaos
