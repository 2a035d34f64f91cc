// The list of planted bugs: what each is, and within how many worlds the swarm must find it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tutti::base {
enum class mutant : std::uint8_t;
} // namespace tutti::base

namespace tutti::chaos {

struct planted_bug {
  base::mutant id;
  std::string_view name; ///< "bind-before-decision"
  std::string_view what; ///< what is done wrong
  /// Found in one of the seeds 1 to this number, at the latest.
  std::uint64_t within;
};

/// All of them; none in a program that was built without TUTTI_MUTANTS.
const std::vector<planted_bug>& planted_bugs();
/// Null if there is none of this name.
const planted_bug* find_bug(std::string_view name);

/// A bug that no world shows, and the small model does: with decisions as objects and one fault.
struct exhausted_bug {
  base::mutant id;
  std::string_view name;
  std::string_view what;
  std::string_view fault;  ///< its name in `tutti chaos exhaust --kinds`
  std::string_view breaks; ///< the promise that is seen broken
  /// Looked at behind each fault, the old owner being slow; 0 = all, in the usual order.
  std::uint64_t states_per_fault = 0;
};
const std::vector<exhausted_bug>& exhausted_bugs();

/// A bug that no world can show yet, and why.
struct hidden_bug {
  std::string_view name;
  std::string_view why;
};
const std::vector<hidden_bug>& hidden_bugs();

} // namespace tutti::chaos
