#include "cli/exhaust_verbs.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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
constexpr int column_width = 12;

struct flags {
  std::string log = "store"; ///< objects
  std::string path = "both"; ///< fast, long
  std::vector<std::string> kinds;
  std::uint32_t faults = 1;
  std::size_t gangs = 1;
  std::uint32_t lost_before = 0;
  std::optional<std::uint32_t> retries_at_once;
  std::uint64_t states_per_fault = 0; ///< 0 = all
  std::uint64_t shuffle = 0;
  bool has_victim = false;
  bool begins_with_collision = false;
  bool is_old_owner_slow = false;
  bool is_every_world = false;
  std::uint32_t budget_seconds = 60;
};

/// A column of the table of rows: a search, and what of it was reached.
struct column {
  std::string name;
  small::world::options of;
  small::exhaust_result found;
};

std::uint64_t hits(const small::exhaust_result& r, const std::string& row) {
  std::uint64_t out = 0;
  for (const auto* counts : {&r.passed, &r.crashed})
    if (const auto pos = counts->find(row); pos != counts->end())
      out += pos->second;
  return out;
}

/// Row of the crash table → how often a step passed its point or a crash was tried right behind it,
/// for each search. "–" where the row cannot occur; why is said below.
void print_rows(const std::vector<column>& all) {
  fmt::print("\n{:<6}", "row");
  for (const auto& c : all)
    fmt::print("{:>{}}", c.name, column_width);
  fmt::print("\n");
  std::map<std::string, std::vector<std::string>> reasons; // by reason: rows
  for (const auto& row : small::all_rows()) {
    fmt::print("{:<6}", row);
    for (const auto& c : all) {
      const auto n = hits(c.found, row);
      const auto excuses = small::unreachable_rows(c.of);
      const auto excuse = excuses.find(row);
      fmt::print("{:>{}}", n == 0 && excuse != excuses.end() ? "–" : fmt::format("{}", n),
                 column_width);
      if (excuse == excuses.end() || n > 0)
        continue;
      auto& rows = reasons[excuse->second];
      if (std::find(rows.begin(), rows.end(), row) == rows.end())
        rows.push_back(row);
    }
    fmt::print("\n");
  }
  for (const auto& [reason, rows] : reasons)
    fmt::print("– {}: {}\n", fmt::join(rows, ", "), reason);
}

small::log_kind log_of(const flags& how) {
  return how.log == "objects" ? small::log_kind::objects : small::log_kind::store;
}

/// Empty = all.
std::vector<small::fault_kind> kinds_of(const flags& how) {
  std::vector<small::fault_kind> out;
  for (const auto& name : how.kinds)
    out.push_back(small::find_fault_kind(name).value()); // other names are refused before
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
column search(const flags& how, bool is_fast, std::uint32_t searches) {
  const auto begin = clock::now();
  const std::chrono::duration<double> budget{static_cast<double>(how.budget_seconds) / searches};
  const auto log = log_of(how);
  small::exhaust_options options{
      .of = {.fast_path = is_fast,
             .log = log,
             .gangs = how.gangs,
             .has_victim = how.has_victim,
             .lost_before = how.lost_before,
             .retries_at_once = how.retries_at_once.value_or(how.gangs > 1 ? 0 : 1)},
      .faults = how.faults,
      .kinds = kinds_of(how)};
  options.shuffle = how.shuffle;
  options.is_old_owner_slow = how.is_old_owner_slow;
  options.begins_with_collision = how.begins_with_collision;
  if (how.states_per_fault > 0)
    options.states_per_fault = how.states_per_fault;
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
  fmt::print("{}, {} path, {} fault{}{}{}: {} states, {} steps, {} ends, longest path {}, {:.1f} "
             "s{}\n",
             how.log, is_fast ? "fast" : "long", how.faults, how.faults == 1 ? "" : "s",
             how.gangs > 1 ? ", two gangs" : "", how.has_victim ? ", a victim" : "", r.states,
             r.steps, r.ends, r.longest, took.count(),
             r.broken        ? ""
             : r.is_complete ? ": all of them"
                             : ": the budget is spent");
  if (r.broken) {
    const auto* known = chaos::find_invariant(r.broken->id);
    fmt::print("{}: {}: {}\n", r.broken->id,
               known != nullptr ? known->sentence : std::string_view{"It comes to rest"},
               r.broken->what);
    for (const auto& line : r.path)
      fmt::print("  {}\n", line);
  }
  return {is_fast ? "fast" : how.log == "objects" ? "objects" : "long", options.of, std::move(r)};
}

/// A world with its name in the table.
struct named_flags {
  const char* name;
  flags with;
};

/// One fault, and two where a row needs them.
std::vector<named_flags> every_world(const flags& how) {
  const auto with = [&how](auto change) {
    auto out = how;
    out.faults = 1;
    out.states_per_fault = how.states_per_fault > 0 ? how.states_per_fault : 100;
    change(out);
    return out;
  };
  const auto with_objects = [&with](auto change) {
    return with([&change](flags& x) {
      x.log = "objects";
      change(x);
    });
  };
  return {
      {"long", with([](flags& x) { x.path = "long"; })},
      {"fast", with([](flags& x) { x.path = "fast"; })},
      {"objects", with_objects([](flags&) {})},
      {"victim", with([](flags& x) { x.has_victim = true; })},
      {"victim/obj", with_objects([](flags& x) { x.has_victim = true; })},
      {"rivals", with([](flags& x) { x.gangs = 2; })},
      {"rivals/obj", with_objects([](flags& x) { x.gangs = 2; })},
      {"collision", with_objects([](flags& x) {
         x.gangs = 2;
         x.begins_with_collision = true;
       })},
      {"death+del", with([](flags& x) {
         x.faults = 2;
         x.kinds = {"actor", "removal"};
         x.states_per_fault *= 4;
       })},
      {"taken", with_objects([](flags& x) {
         x.kinds = {"takeover"};
         x.is_old_owner_slow = true;
         x.states_per_fault *= 4;
       })},
      {"taken+del", with_objects([](flags& x) {
         x.faults = 2;
         x.kinds = {"takeover", "removal"};
         x.is_old_owner_slow = true;
         x.states_per_fault *= 4;
       })},
  };
}

/// Every world with its share of the budget, as one table. Rows that none of them has reached are
/// told, and break nothing: a budget may be too small.
int search_every_world(const flags& how) {
  const auto worlds = every_world(how);
  std::vector<column> all;
  for (const auto& each : worlds) {
    all.push_back(
        search(each.with, each.with.path == "fast", static_cast<std::uint32_t>(worlds.size())));
    all.back().name = each.name;
  }
  print_rows(all);
  for (const auto& row : small::all_rows())
    if (std::all_of(all.begin(), all.end(), [&](const auto& c) { return hits(c.found, row) == 0; }))
      fmt::print("{}: not reached by any of them\n", row);
  const bool holds =
      std::none_of(all.begin(), all.end(), [](const auto& c) { return c.found.broken; });
  return holds ? done : broken;
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
  if (how.begins_with_collision && (how.log != "objects" || how.gangs != 2)) {
    print_error({base::code::bad_input, "--collision needs two gangs whose shards change owners",
                 "add --log objects --gangs 2"});
    return wrong_usage;
  }
  if (how.is_every_world)
    return search_every_world(how);
  std::vector<column> all;
  const std::uint32_t searches = how.path == "both" && how.log == "store" ? 2 : 1;
  if (how.path != "fast" || how.log == "objects")
    all.push_back(search(how, false, searches));
  if (how.path != "long" && how.log == "store")
    all.push_back(search(how, true, searches));
  print_rows(all);
  const bool holds =
      std::none_of(all.begin(), all.end(), [](const auto& c) { return c.found.broken; });
  return holds ? done : broken;
}

} // namespace

void add_exhaust_verb(CLI::App& chaos, std::function<int()>& run) {
  auto how = std::make_shared<flags>();
  const std::string name = "exhaust";
  auto* verb = chaos.add_subcommand(name, "Try every order of events of a very small world");
  verb->footer("Examples:\n  tutti chaos exhaust --path long --faults 2 --budget 600\n"
               "  tutti chaos exhaust --log objects --kinds takeover --budget 600\n"
               "  tutti chaos exhaust --victim --faults 1\n"
               "  tutti chaos exhaust --gangs 2 --faults 0\n"
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
  verb->add_option("--gangs", how->gangs, "1 (default), or 2 that compete for the same room")
      ->check(CLI::Range(1, 2));
  verb->add_option("--lost-before", how->lost_before,
                   "as if each gang had lost so often before (default 0); from 3 on its shards are "
                   "asked one after the other")
      ->check(CLI::Range(0, 9));
  verb->add_option("--retries-at-once", how->retries_at_once,
                   "so many tries follow without a wait (default 1, of two gangs 0)")
      ->check(CLI::Range(0, 3));
  verb->add_flag("--victim", how->has_victim, "a pod runs where a member is to go");
  verb->add_flag("--every", how->is_every_world,
                 "all worlds, one after the other, and one table of what each has reached");
  verb->add_flag("--slow-old-owner", how->is_old_owner_slow,
                 "what a process says and hears that has lost something comes last");
  verb->add_flag(
      "--collision", how->begins_with_collision,
      "two gangs are decided and were promised the same room (with --log objects --gangs "
      "2)");
  verb->add_option("--shuffle", how->shuffle,
                   "another order for each number: a budget sees other parts (default: none)");
  verb->add_option("--states-per-fault", how->states_per_fault,
                   "look at so many new states behind each fault (default: all)")
      ->check(CLI::PositiveNumber);
  verb->add_option("--budget", how->budget_seconds, "stop after so many seconds (default 60)")
      ->check(CLI::PositiveNumber);
  verb->callback([&run, how] { run = [how] { return exhaust(*how); }; });
}

} // namespace tutti::cli
