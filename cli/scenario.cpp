#include "cli/scenario.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/core.h>

#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/plan.hpp"
#include "cli/scenario_player.hpp"
#include "sim/scenario/report.hpp"
#include "sim/scenario/runner.hpp"

namespace tutti::cli {

namespace {

namespace fs = std::filesystem;
using sim::scenario::story;

/// Files as given, folders as the scenario files below them, by name.
base::result<std::vector<std::string>> files_at(const std::vector<std::string>& places) {
  std::vector<std::string> out;
  for (const auto& place : places) {
    std::error_code failed;
    if (!fs::is_directory(place, failed)) {
      out.push_back(place);
      continue;
    }
    std::vector<std::string> below;
    for (const auto& entry : fs::recursive_directory_iterator{place, failed}) {
      const auto& path = entry.path();
      if (path.extension() == ".yaml" && path.filename() != "expected_failures.yaml")
        below.push_back(path.string());
    }
    if (below.empty())
      return base::error{base::code::not_found, fmt::format("{}: no *.yaml in there", place)};
    std::sort(below.begin(), below.end());
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

/// All stories, or the first file that is wrong: nothing runs then.
base::result<std::vector<story>> read_all(const std::vector<std::string>& places,
                                          const std::string& scheduler) {
  const auto files = files_at(places);
  if (!files)
    return files.error();
  std::vector<story> out;
  for (const auto& file : *files) {
    auto some = sim::scenario::read_stories(file, scheduler.empty() ? "tutti" : scheduler);
    if (!some)
      return some.error();
    std::move(some->begin(), some->end(), std::back_inserter(out));
  }
  return out;
}

sim::scenario::planner planner_for(const story& x) {
  return [spoken = x.speaks.kubernetes,
          levels = x.levels](sim::api_server::control_plane& api,
                             const std::string& key) -> std::optional<sim::scenario::planned> {
    for (const auto& gang : plan_on(api, spoken, levels))
      if (protocol::to_text(gang.name) == key)
        return sim::scenario::planned{gang.fits, std::string{base::name_of(gang.reason)}};
    return std::nullopt;
  };
}

} // namespace

int list_scenarios(const std::vector<std::string>& places) {
  const auto all = read_all(places, {});
  if (!all) {
    print_error(all.error());
    return wrong_file;
  }
  for (const auto& x : *all)
    fmt::print("{:10} {}\n", x.id, x.title);
  return done;
}

namespace {

base::result<scenario_player> simulated_player(const scenario_options& how) {
  return scenario_player{[&how](const story& x, const sim::scenario::expected_failures& known) {
    return base::result<sim::scenario::story_result>{sim::scenario::run_story(
        x, {.seeds = how.seeds, .seed = how.seed, .plans = planner_for(x)}, known)};
  }};
}

/// What a live cluster cannot do with them, or what it takes to play them there.
std::optional<base::error> wrong_flags(const scenario_options& how) {
  if (how.is_live() && (how.seeds || how.seed))
    return base::error{base::code::bad_input, "--seeds and --seed: a live cluster knows no seeds",
                       "leave the flag out"};
  if (!how.is_live() && !how.scheduler.empty())
    return base::error{base::code::bad_input,
                       "--scheduler-name: the simulator knows our scheduler only",
                       "name a live cluster with --kubeconfig or --context"};
  return std::nullopt;
}

} // namespace

int run_scenarios(const scenario_options& how) {
  if (const auto wrong = wrong_flags(how)) {
    print_error(*wrong);
    return wrong_usage;
  }
  const auto all = read_all(how.files, how.scheduler);
  if (!all) {
    print_error(all.error());
    return wrong_file;
  }
  const auto play = how.is_live() ? live_player(how) : simulated_player(how);
  if (!play) {
    print_error(play.error());
    return failed;
  }
  std::vector<sim::scenario::story_result> results;
  for (const auto& x : *all) {
    if (!how.id.empty() && how.id != x.id)
      continue;
    auto known = sim::scenario::read_expected_failures(x.file);
    if (!known) {
      print_error(known.error());
      return wrong_file;
    }
    auto result = (*play)(x, *known);
    if (!result) {
      print_error(result.error());
      return failed;
    }
    results.push_back(std::move(*result));
    if (how.format.empty() && (!how.only_summary || !is_good(results.back().how))) {
      std::fputs(sim::scenario::result_text(results.back()).c_str(), stdout);
      std::fflush(stdout);
    }
  }
  if (results.empty()) {
    print_error({base::code::not_found, fmt::format("no scenario has the id {}", how.id)});
    return wrong_usage;
  }
  if (how.format == "json")
    std::fputs(pretty_json(sim::scenario::results_json(results)).c_str(), stdout);
  else
    std::fputs(sim::scenario::summary_text(results).c_str(), stdout);
  const bool is_fine =
      std::all_of(results.begin(), results.end(), [](const auto& x) { return is_good(x.how); });
  return is_fine ? done : failed;
}

} // namespace tutti::cli
