// Runs stories with their seeds and says what became of each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sim/scenario/stage.hpp"
#include "sim/scenario/story.hpp"

namespace tutti::sim::scenario {

struct run_options {
  std::optional<std::uint32_t> seeds; ///< this many instead of what the story says
  std::optional<std::uint64_t> seed;  ///< this one alone
  planner plans;                      ///< for the fact `plan`; empty = the fact never holds
};

enum class outcome : std::uint8_t {
  passed,
  failed,
  failed_as_expected, ///< listed in expected_failures.yaml
  passed_unexpectedly,
  not_supported
};
std::string_view name_of(outcome x);
/// `failed` and `passed_unexpectedly` fail the run.
bool is_good(outcome x);

struct story_result {
  std::string file, id, title;
  outcome how = outcome::passed;
  std::vector<std::string> lacking;  ///< not supported: what is missing
  std::vector<std::string> left_out; ///< played without that: it cannot be seen there
  std::string expected;              ///< the reason in expected_failures.yaml; empty = not listed
  std::uint32_t seeds = 0;           ///< that were run
  std::uint64_t failed_seed = 0;
  std::optional<failure> why;
  std::int64_t took_ms = 0; ///< of real time
  bool is_live = false;     ///< played on a live cluster: there are no seeds
};

/// Ids that are known to fail, with the reason.
using expected_failures = std::map<std::string, std::string>;
/// From the `expected_failures.yaml` beside the file, or in the nearest folder above that has one;
/// empty if there is none. The error if it cannot be read.
base::result<expected_failures> read_expected_failures(const std::string& story_file);

/// All seeds of one story, until one fails.
story_result run_story(const story& what, const run_options& how, const expected_failures& known);

} // namespace tutti::sim::scenario
