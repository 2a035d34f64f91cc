// How long nothing is decided when something fails: a steady stream of gangs, one fault, and the
// longest silence after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chaos/schedule.hpp"

namespace tutti::chaos {

/// One kind of fault, as the actions that make it happen around an instant.
struct outage_case {
  std::string name;            ///< as the table has it
  std::string fault;           ///< "F8", or empty
  base::duration limit{};      ///< what a gang may have to wait, at worst
  std::vector<action> actions; ///< their times count from the fault
  std::uint32_t window = 0;    ///< of the world, from its beginning; 0 = as usual
};

/// All that can be tried with so many processes, "nothing fails" first.
std::vector<outage_case> outage_cases(std::uint32_t replicas);

struct outage_options {
  std::uint32_t replicas = 1; ///< several share the shards, and decisions are objects
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 20; ///< of each case; each has another seed, and its fault another instant
};

/// What the runs of one case have come to, in virtual time. Gangs come five times a second, so that
/// a silence of less than 200 ms says nothing.
struct outage_row {
  std::string name;
  std::string fault;
  base::duration limit{};         ///< of `wait`, as the case has it
  base::duration silence{};       ///< longest time without any decision, after the fault
  base::duration usual_silence{}; ///< the median over the runs
  base::duration wait{};       ///< longest from a gang's creation to its decision, after the fault
  std::uint64_t undecided = 0; ///< gangs without a decision at the end of a run: none, if right
  std::uint64_t gangs = 0;     ///< of all runs
  bool holds() const { return undecided == 0 && wait <= limit; }
};

/// The run of `seed` of this case.
schedule outage_schedule(const outage_case& what, const outage_options& how, std::uint64_t seed);

/// A function of its arguments alone.
outage_row measure_outage(const outage_case& what, const outage_options& how);

} // namespace tutti::chaos
