#include "cli/exhaust_verbs.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "chaos/invariant.hpp"
#include "chaos/small/exhaust.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

namespace small = chaos::small;
using clock = std::chrono::steady_clock;

constexpr int broken = 1;

struct flags {
  std::string log = "store"; ///< objects
  std::string path = "both"; ///< fast, long
  std::vector<std::string> kinds;
  std::uint32_t faults = 1;
  std::uint32_t budget_seconds = 60;
};

/// One line per row of the crash table that was reached, so many to a line that it stays readable.
void print_rows(const small::exhaust_result& r) {
  constexpr std::size_t columns = 6;
  std::size_t n = 0;
  for (const auto& id : small::all_rows()) {
    const auto of = [&](const auto& counts) {
      const auto pos = counts.find(id);
      return pos == counts.end() ? std::uint64_t{0} : pos->second;
    };
    if (of(r.passed) + of(r.crashed) > 0)
      fmt::print("{:>5} {:>9}/{:<9}{}", id, of(r.passed), of(r.crashed),
                 ++n % columns == 0 ? "\n" : "");
  }
  fmt::print("\n");
}

small::log_kind log_of(const flags& how) {
  return how.log == "objects" ? small::log_kind::objects : small::log_kind::store;
}

/// Empty = all.
std::vector<small::fault_kind> kinds_of(const flags& how) {
  std::vector<small::fault_kind> out;
  for (int n = 0; n < small::fault_kind_count; ++n)
    if (const auto kind = static_cast<small::fault_kind>(n);
        std::find(how.kinds.begin(), how.kinds.end(), small::name_of(kind)) != how.kinds.end())
      out.push_back(kind);
  return out;
}

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> out;
  for (int n = 0; n < small::fault_kind_count; ++n)
    out.emplace_back(small::name_of(static_cast<small::fault_kind>(n)));
  return out;
}

/// Two faults are searched pair of kinds by pair of kinds, so that an end that comes early has seen
/// something of each.
bool search(const flags& how, bool is_fast, std::uint32_t searches) {
  const auto begin = clock::now();
  const std::chrono::duration<double> budget{static_cast<double>(how.budget_seconds) / searches};
  const auto log = log_of(how);
  small::exhaust_options options{
      .of = {.fast_path = is_fast, .log = log}, .faults = how.faults, .kinds = kinds_of(how)};
  auto until = begin + budget;
  options.may_go_on = [&until] { return clock::now() < until; };
  small::exhaust_result r;
  if (how.faults < 2 || !options.kinds.empty()) {
    r = small::exhaust(options);
  } else {
    const auto pairs = small::pairs_of_kinds(log);
    for (std::size_t n = 0; n < pairs.size() && !r.broken; ++n) {
      const auto left = begin + budget - clock::now();
      until = clock::now() + left / static_cast<long>(pairs.size() - n);
      options.kinds = pairs[n];
      small::add(r, small::exhaust(options));
    }
  }
  const std::chrono::duration<double> took = clock::now() - begin;
  fmt::print("{}, {} path, {} fault{}: {} states, {} steps, {} ends, longest path {}, {:.1f} s{}\n",
             how.log, is_fast ? "fast" : "long", how.faults, how.faults == 1 ? "" : "s", r.states,
             r.steps, r.ends, r.longest, took.count(),
             r.broken        ? ""
             : r.is_complete ? ": all of them"
                             : ": the budget is spent");
  print_rows(r);
  if (!r.broken)
    return true;
  const auto* known = chaos::find_invariant(r.broken->id);
  fmt::print("{}: {}: {}\n", r.broken->id,
             known != nullptr ? known->sentence : std::string_view{"It comes to rest"},
             r.broken->what);
  for (const auto& line : r.path)
    fmt::print("  {}\n", line);
  return false;
}

/// The fast path writes its records in one batch with the decision: only the store has batches.
int exhaust(const flags& how) {
  for (const auto kind : kinds_of(how))
    if (!small::can_happen(kind, log_of(how))) {
      print_error(
          {base::code::bad_input,
           fmt::format("--kinds: {} cannot happen with --log {}", small::name_of(kind), how.log),
           "docs/internals/small_model.md says which kinds go with which log"});
      return wrong_usage;
    }
  if (how.log == "objects")
    return search(how, false, 1) ? done : broken;
  const std::uint32_t searches = how.path == "both" ? 2 : 1;
  bool holds = true;
  if (how.path != "fast")
    holds &= search(how, false, searches);
  if (how.path != "long")
    holds &= search(how, true, searches);
  return holds ? done : broken;
}

} // namespace

void add_exhaust_verb(CLI::App& chaos, std::function<int()>& run) {
  auto how = std::make_shared<flags>();
  const std::string name = "exhaust";
  auto* verb = chaos.add_subcommand(name, "Try every order of events of a very small world");
  verb->footer("Examples:\n  tutti chaos exhaust --path long --faults 2 --budget 600\n"
               "  tutti chaos exhaust --log objects --kinds takeover --budget 600\n"
               "\nExit codes: 0 nothing broke · 1 a promise was broken · 2 wrong usage");
  verb->add_option("--log", how->log,
                   "where decisions are kept: store (default), or objects, beside other processes")
      ->check(CLI::IsMember({"store", "objects"}));
  verb->add_option("--path", how->path, "fast, long, or both (default); with objects always long")
      ->check(CLI::IsMember({"fast", "long", "both"}));
  verb->add_option("--kinds", how->kinds,
                   fmt::format("only these kinds of faults: {}", fmt::join(names_of_kinds(), ", ")))
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_kinds()));
  verb->add_option("--faults", how->faults, "at most so many on one path (default 1)")
      ->check(CLI::Range(0, 2));
  verb->add_option("--budget", how->budget_seconds, "stop after so many seconds (default 60)")
      ->check(CLI::PositiveNumber);
  verb->callback([&run, how] { run = [how] { return exhaust(*how); }; });
}

} // namespace tutti::cli
