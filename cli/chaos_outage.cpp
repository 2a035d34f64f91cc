// `tutti chaos outage`: how long nothing is decided when something fails.
#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "chaos/outage.hpp"
#include "cli/chaos.hpp"
#include "cli/exit_codes.hpp"

namespace tutti::cli {

namespace {

constexpr int broken = 1;

std::string seconds(base::duration x) {
  return fmt::format("{:.2f} s", std::chrono::duration<double>(x).count());
}

} // namespace

int chaos_outage(const chaos_options& how) {
  const chaos::outage_options options{
      .replicas = how.replicas, .first_seed = how.first_seed, .runs = how.runs};
  const char* const row = how.is_markdown ? "| {} | {} | {} | {} | {} | {} |\n"
                                          : "{:<48} {:<5} {:>9} {:>9} {:>9} {:>9}\n";
  fmt::print(fmt::runtime(row), "what fails", "", "silence", "longest", "wait", "limit");
  if (how.is_markdown)
    fmt::print("|---|---|---|---|---|---|\n");
  bool holds = true;
  for (const auto& what : chaos::outage_cases(how.replicas)) {
    if (what.name.find(how.only) == std::string::npos)
      continue;
    const auto r = chaos::measure_outage(what, options);
    fmt::print(fmt::runtime(row), r.name, r.fault, seconds(r.usual_silence), seconds(r.silence),
               seconds(r.wait), seconds(r.limit));
    if (!r.holds())
      fmt::print("{}MISSED: {}\n", how.is_markdown ? "" : "  ",
                 r.undecided > 0
                     ? fmt::format("{} of {} gangs were never decided", r.undecided, r.gangs)
                     : std::string{"a gang waited for longer than the limit"});
    holds = holds && r.holds();
    std::fflush(stdout);
  }
  return holds ? done : broken;
}

} // namespace tutti::cli
