#include "cli/chaos.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "chaos/coverage.hpp"
#include "chaos/run.hpp"
#include "chaos/schedule.hpp"
#include "chaos/shrink.hpp"
#include "chaos/swarm.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/terminal_line.hpp"

namespace tutti::cli {

namespace {

constexpr int broken = 1;
constexpr int bad_file = 3;

chaos::swarm_options swarm_of(const chaos_options& how) {
  chaos::swarm_options out;
  out.replicas = how.replicas;
  out.faults.insert(how.faults.begin(), how.faults.end());
  return out;
}

/// A number is a seed; anything else is a file.
base::result<chaos::schedule> schedule_of(const std::string& what, const chaos_options& how) {
  std::uint64_t seed = 0;
  const auto* end = what.data() + what.size();
  if (const auto [rest, ec] = std::from_chars(what.data(), end, seed);
      ec == std::errc{} && rest == end)
    return chaos::draw_schedule(seed, swarm_of(how));
  std::ifstream file{what};
  if (!file)
    return base::error{base::code::not_found, what + ": there is no such file",
                       "give a seed or a schedule file"};
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return chaos::read_schedule(bytes.str(), what);
}

void print_failure(const std::string& what, const chaos::run_result& r, const std::string& flags) {
  fmt::print("{}\n", chaos::to_text(*r.broken));
  fmt::print("the last {} events of trace {:016x}:\n", r.trace.size(), r.trace_hash);
  for (const auto& line : r.trace)
    fmt::print("  {}\n", line);
  fmt::print("replay:  tutti chaos replay {}{}\nshrink:  tutti chaos shrink {}{}\n", what, flags,
             what, flags);
}

/// What a seed needs besides to be the same world again.
std::string drawing_flags(const chaos_options& how) {
  std::string out = how.replicas > 1 ? fmt::format(" --replicas {}", how.replicas) : std::string{};
  std::string sep = " --faults ";
  for (const auto& f : how.faults)
    out += std::exchange(sep, ",") + f;
  if (!how.mutant.empty())
    out += " --mutant " + how.mutant;
  return out;
}

/// How often the line of progress is written anew.
constexpr auto progress_pause = std::chrono::milliseconds{200};

/// How far the seeds are, on a line that is gone when all are through.
class progress {
public:
  explicit progress(const chaos_options& how) : how_(how) {}

  void done(std::uint64_t runs, std::uint64_t failures) {
    const auto now = std::chrono::steady_clock::now();
    if (how_.is_quiet || !line_.is_seen() || now - last_ < progress_pause)
      return;
    last_ = now;
    const double rate = static_cast<double>(runs) / std::max(seconds(), 0.001);
    line_.show(fmt::format("{} of {} seeds, {} broke something, {:.1f}/s, {:.0f} s left", runs,
                           how_.seeds, failures, rate,
                           static_cast<double>(how_.seeds - runs) / rate));
  }
  /// Before anything else is printed.
  void clear() { line_.clear(); }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

private:
  const chaos_options& how_;
  terminal_line line_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

} // namespace

int chaos_run(const chaos_options& how) {
  const auto swarm = swarm_of(how);
  progress shown{how};
  std::map<std::string, std::vector<std::uint64_t>> failures;
  std::uint64_t deliveries = 0;
  for (std::uint64_t n = 0; n < how.seeds; ++n) {
    const auto seed = how.first_seed + n;
    const auto r = chaos::run(chaos::draw_schedule(seed, swarm), {.lines = 0});
    deliveries += r.deliveries;
    if (r.broken) {
      auto& of = failures[r.broken->id];
      of.push_back(seed);
      if (of.size() == 1) { // the first of each kind is told whole
        const auto again = chaos::run(chaos::draw_schedule(seed, swarm), {});
        shown.clear();
        print_failure(std::to_string(seed), again, drawing_flags(how));
      }
    }
    // Some runs are made twice: the same seed must take the same steps.
    constexpr std::uint64_t one_in = 20;
    if (seed % one_in == 0
        && chaos::run(chaos::draw_schedule(seed, swarm), {.lines = 0}).trace_hash != r.trace_hash) {
      shown.clear();
      fmt::print("seed {} takes other steps the second time\n", seed);
      failures["determinism"].push_back(seed);
    }
    std::uint64_t broke = 0;
    for (const auto& [id, seeds] : failures)
      broke += seeds.size();
    shown.done(n + 1, broke);
  }
  shown.clear();
  for (const auto& [id, seeds] : failures) {
    fmt::print("{}: {} of {} seeds:", id, seeds.size(), how.seeds);
    for (std::size_t n = 0; n < std::min<std::size_t>(seeds.size(), 20); ++n)
      fmt::print(" {}", seeds[n]);
    fmt::print("\n");
  }
  fmt::print("{} seeds from {}, {} deliveries, {:.1f} s: {}\n", how.seeds, how.first_seed,
             deliveries, shown.seconds(),
             failures.empty() ? "nothing broke" : "promises were broken");
  return failures.empty() ? done : broken;
}

int chaos_replay(const chaos_options& how) {
  const auto what = schedule_of(how.what, how);
  if (!what) {
    print_error(what.error());
    return bad_file;
  }
  const auto r = chaos::run(*what, {.keeps_all = how.is_long});
  if (how.is_long)
    for (const auto& line : r.trace)
      fmt::print("{}\n", line);
  if (r.broken) {
    if (how.is_long)
      fmt::print("{}\n", chaos::to_text(*r.broken));
    else
      print_failure(how.what, r, drawing_flags(how));
    return broken;
  }
  fmt::print("nothing broke in {} of virtual time, {} deliveries, trace {:016x}\n",
             chaos::duration_text(r.virtual_time), r.deliveries, r.trace_hash);
  return done;
}

int chaos_shrink(const chaos_options& how) {
  const auto what = schedule_of(how.what, how);
  if (!what) {
    print_error(what.error());
    return bad_file;
  }
  const auto first = chaos::run(*what, {.lines = 0});
  if (!first.broken) {
    fmt::print("nothing broke: there is nothing to shrink\n");
    return done;
  }
  auto failing = *what;
  failing.breaks = first.broken->id;
  auto found = chaos::shrink(failing, [&](const chaos::schedule& x) {
    const auto r = chaos::run(x, {.lines = 0});
    return r.broken && r.broken->id == failing.breaks;
  });
  const auto text = chaos::write_schedule(found.least);
  fmt::print("# {} of {} actions are left after {} runs\n{}", found.least.actions.size(),
             failing.actions.size(), found.runs, text);
  fmt::print("# {}\n", chaos::to_text(*chaos::run(found.least, {.lines = 0}).broken));
  if (!how.save.empty() && !(std::ofstream{how.save} << text)) {
    print_error({base::code::io, "cannot write " + how.save, "choose another place with --save"});
    return bad_file;
  }
  return broken;
}

int chaos_diff(const chaos_options& how) {
  std::deque<std::string> traces[2];
  for (int n = 0; n < 2; ++n) {
    const auto what = schedule_of(n == 0 ? how.what : how.other, how);
    if (!what) {
      print_error(what.error());
      return bad_file;
    }
    traces[n] = chaos::run(*what, {.keeps_all = true}).trace;
  }
  const auto [a, b] =
      std::mismatch(traces[0].begin(), traces[0].end(), traces[1].begin(), traces[1].end());
  if (a == traces[0].end() && b == traces[1].end()) {
    fmt::print("{} events, the same in both\n", traces[0].size());
    return done;
  }
  fmt::print("event {} is the first that differs:\n< {}\n> {}\n", a - traces[0].begin() + 1,
             a == traces[0].end() ? "(the end)" : *a, b == traces[1].end() ? "(the end)" : *b);
  return broken;
}

namespace {

/// One part of the matrix: a row per fault, "-" for what cannot meet.
void print_cells(const chaos::coverage_matrix& hits, const std::vector<std::string_view>& faults,
                 const chaos::state_group& columns) {
  const auto width = [](std::string_view state) {
    constexpr std::size_t digits = 5;
    return std::max<std::size_t>(state.size(), digits) + 2;
  };
  fmt::print("{:<15}", columns.name);
  for (const auto state : columns.states)
    fmt::print("{:>{}}", state, width(state));
  fmt::print("\n");
  for (const auto fault : faults) {
    fmt::print("{:<15}", fault);
    for (const auto state : columns.states) {
      const auto pos = hits.find({std::string{fault}, std::string{state}});
      const auto n = pos == hits.end() ? 0 : pos->second;
      const bool is_impossible = n == 0 && chaos::find_impossible(fault, state) != nullptr;
      fmt::print("{:>{}}", is_impossible ? "-" : std::to_string(n), width(state));
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

} // namespace

int chaos_coverage(const chaos_options& how) {
  chaos::coverage_matrix sum;
  const auto swarm = swarm_of(how);
  progress shown{how};
  for (std::uint64_t n = 0; n < how.seeds; ++n) {
    const auto r = chaos::run(chaos::draw_schedule(how.first_seed + n, swarm),
                              {.is_judged = false, .lines = 0});
    for (const auto& [cell, hits] : r.coverage)
      sum[cell] += hits;
    shown.done(n + 1, 0);
  }
  shown.clear();
  const auto faults = chaos::covered_faults(swarm);
  for (const auto& columns : chaos::covered_states())
    print_cells(sum, faults, columns);
  const auto empty = chaos::empty_cells(sum, faults);
  fmt::print("{} cells could have been hit and were not", empty.size());
  std::string sep = ": ";
  for (const auto& [fault, state] : empty)
    fmt::print("{}{} x {}", std::exchange(sep, ", "), fault, state);
  fmt::print("\n");
  return done;
}

int chaos_list() {
  fmt::print("Promises:\n");
  for (const auto& i : chaos::invariants())
    fmt::print("  {:<4} {}\n", i.id, i.sentence);
  fmt::print("\nActions of a schedule:\n");
  for (const auto& k : chaos::action_kinds())
    fmt::print("  {:<12} {:<9} {:<12} {}\n", k.what, k.targets, k.fault, k.meaning);
  fmt::print("\nWords of the world of a schedule:\n");
  for (const auto& w : chaos::world_words())
    fmt::print("  {:<12} {:<13} {:<8} {}\n", w.key, w.values, w.fault, w.meaning);
  return done;
}

} // namespace tutti::cli
