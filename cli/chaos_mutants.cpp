// `tutti chaos mutants`: the tests of the tests.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "chaos/hunt.hpp"
#include "chaos/mutants.hpp"
#include "chaos/shrink.hpp"
#include "cli/chaos.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

constexpr int survived = 1;
constexpr int bad_file = 3;
constexpr std::size_t shrink_runs_most = 400;

base::result<std::vector<const chaos::planted_bug*>> wanted(const std::vector<std::string>& names) {
  if (chaos::planted_bugs().empty())
    return base::error{base::code::bad_input, "this program has no planted bugs",
                       "build one that has: cmake --preset dev, or -DTUTTI_MUTANTS=ON"};
  std::vector<const chaos::planted_bug*> out;
  for (const auto& name : names) {
    const auto* bug = chaos::find_bug(name);
    if (bug == nullptr)
      return base::error{base::code::bad_input, name + ": there is no such planted bug",
                         "`tutti chaos mutants` names all"};
    out.push_back(bug);
  }
  if (out.empty())
    for (const auto& bug : chaos::planted_bugs())
      out.push_back(&bug);
  return out;
}

base::result<void> save(const chaos::planted_bug& bug, const chaos::hunt_result& found,
                        const std::string& folder) {
  auto failing = chaos::draw_schedule(*found.seed, chaos::worlds_of(bug));
  failing.breaks = found.found.breaks;
  const auto least = chaos::shrink(
      failing,
      [&](const chaos::schedule& x) {
        return chaos::run_apart(x, &bug).breaks == failing.breaks
               && chaos::run_apart(x, nullptr).breaks.empty();
      },
      shrink_runs_most);
  const auto path = fmt::format("{}/{}.schedule", folder, bug.name);
  std::ofstream file{path};
  if (!(file << chaos::write_schedule(least.least)))
    return base::error{base::code::io, "cannot write " + path, "choose another place with --save"};
  return {};
}

} // namespace

base::result<void> switch_on_mutant(const chaos_options& how) {
  if (how.mutant.empty())
    return {};
  const auto bugs = wanted({how.mutant});
  if (!bugs)
    return bugs.error();
  chaos::switch_on(*bugs->front());
  return {};
}

int chaos_mutants(const chaos_options& how) {
  const auto bugs = wanted(how.mutants);
  if (!bugs) {
    print_error(bugs.error());
    return wrong_usage;
  }
  fmt::print("{:<32}{:<8}{:>6}{:>8}{:>10}\n", "MUTANT", "FOUND", "SEED", "WITHIN", "REPLICAS");
  std::size_t left = 0;
  for (const auto* bug : *bugs) {
    if (bug->within == 0 && how.mutants.empty())
      continue; // of its schedule alone
    const auto r = chaos::hunt(*bug, how.first_seed, how.seeds);
    const bool is_late = bug->within > 0 && (!r.seed || *r.seed > bug->within);
    left += r.seed ? 0 : 1;
    fmt::print("{:<32}{:<8}{:>6}{:>8}{:>10}{}\n", bug->name, r.seed ? r.found.breaks : "-",
               r.seed ? std::to_string(*r.seed) : "-", bug->within, bug->replicas,
               how.first_seed == 1 && is_late ? "  too late" : "");
    std::fflush(stdout);
    if (!r.seed || how.save.empty())
      continue;
    if (auto ok = save(*bug, r, how.save); !ok) {
      print_error(ok.error());
      return bad_file;
    }
  }
  if (how.mutants.empty()) {
    fmt::print("\nFound by the small model:\n");
    for (const auto& bug : chaos::exhausted_bugs()) {
      const auto found = chaos::exhaust_with(bug).breaks;
      left += found.empty() ? 1 : 0;
      fmt::print("{:<36}{}\n", bug.name, found.empty() ? "-" : found);
    }
    fmt::print("\nFound by a saved schedule, in tests/schedules/mutants:\n");
    for (const auto& bug : chaos::planted_bugs())
      if (bug.within == 0)
        fmt::print("{:<36}{}\n", bug.name, bug.what);
    fmt::print("\nFound by a test of a role, and why by no world:\n");
    for (const auto& x : chaos::role_bugs())
      fmt::print("{:<36}{}\n{:<36}{}\n", x.name, x.test, "", x.why);
  }
  if (left > 0)
    fmt::print("{} were not found in {} seeds, or by the small model\n", left, how.seeds);
  return left == 0 ? done : survived;
}

} // namespace tutti::cli
