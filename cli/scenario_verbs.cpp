#include "cli/scenario_verbs.hpp"

#include <chrono>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/scenario.hpp"
#include "cli/scenario_compare.hpp"

namespace tutti::cli {

namespace {

const char* const scenario_exit_codes =
    "\nExit codes: 0 all passed · 1 some failed · 2 wrong usage · 3 a file is wrong";

void add_seconds(CLI::App& verb, const std::string& flag, base::duration& into, double by_default,
                 const std::string& what) {
  const auto set = [&into](double seconds) {
    into = std::chrono::duration_cast<base::duration>(std::chrono::duration<double>{seconds});
  };
  set(by_default);
  verb.add_option_function<double>(flag, set, fmt::format("{} (default: {})", what, by_default))
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
}

void add_live_options(CLI::App& verb, scenario_options& how) {
  verb.add_option("--kubeconfig", how.kubeconfig,
                  "play them on that cluster, in real time, and judge its scheduler");
  verb.add_option("--context", how.context,
                  "of --kubeconfig, else of $KUBECONFIG or ~/.kube/config (default: the current)");
  verb.add_option("--scheduler-name", how.scheduler,
                  "whom pods are for, on a live cluster (default: tutti)");
  verb.add_option(
      "--server", how.server,
      "admin address of the scheduler on the live cluster: it says itself whether it has "
      "settled, and --rest may be short");
  add_seconds(verb, "--rest", how.rest, 20,
              "a live cluster has settled when nothing was written for so long: twice the longest "
              "back-off of its scheduler");
  add_seconds(verb, "--patience", how.patience, 120,
              "the longest wait for one thing on a live cluster");
  add_seconds(verb, "--longest", how.longest, 120,
              "leave out what takes more real time by its own words");
  verb.add_flag("--loosely", how.is_loose,
                "on a live cluster, leave out facts about the scheduler's memory and play batches "
                "step by step; results say so");
  verb.add_flag("--among-others", how.among_others,
                "play them although nodes or pods of others are there");
}

void add_compare(CLI::App& scenario, std::function<int()>& run) {
  auto how = std::make_shared<compare_options>();
  auto* verb = scenario.add_subcommand("compare", "Show results of two schedulers as a page");
  verb->add_option("ours", how->ours, "what `run -o json` has printed, or a folder of such files")
      ->required();
  verb->add_option("theirs", how->theirs, "the same of another scheduler")->required();
  verb->add_option("--our-name", how->our_name, "of the first (default: tutti)");
  verb->add_option("--their-name", how->their_name, "of the second (default: kube-scheduler)");
  verb->footer(std::string{"Example:\n  tutti scenario compare tutti.json kube-scheduler.json"}
               + scenario_exit_codes);
  verb->callback([&run, how] { run = [how] { return compare_scenarios(*how); }; });
}

} // namespace

void add_scenario_verbs(CLI::App& app, std::function<int()>& run) {
  auto* scenario = app.add_subcommand("scenario", "Play stories, simulated or on a live cluster");
  scenario->require_subcommand(1);
  scenario->footer(std::string{"Example:\n  tutti scenario run tests/scenarios --summary"}
                   + scenario_exit_codes);
  auto how = std::make_shared<scenario_options>();
  auto* play = scenario->add_subcommand("run", "Play them with all their seeds");
  play->add_option("files", how->files, "scenario files, or folders of them")->required();
  auto* seeds = play->add_option("--seeds", how->seeds, "so many seeds, whatever the file says")
                    ->check(CLI::PositiveNumber);
  play->add_option("--seed", how->seed, "this seed alone")->excludes(seeds);
  play->add_option("--id", how->id, "the scenario of this id alone");
  play->add_option("-o,--output", how->format, "json")->check(CLI::IsMember({"json"}));
  play->add_flag("--summary", how->only_summary, "print failures and the four counts only");
  add_live_options(*play, *how);
  play->footer(std::string{"Examples:\n  tutti scenario run tests/scenarios --summary\n"
                           "  tutti scenario run a-01.yaml --seed 7\n"
                           "  tutti scenario run a-01.yaml --kubeconfig ~/.kube/config\n"
                           "  tutti scenario run a-01.yaml --kubeconfig ~/.kube/config "
                           "--scheduler-name default-scheduler"}
               + scenario_exit_codes);
  play->callback([&run, how] { run = [how] { return run_scenarios(*how); }; });
  add_compare(*scenario, run);
  auto* list = scenario->add_subcommand("list", "Show id and title of each");
  list->add_option("places", how->files, "scenario files, or folders of them")->required();
  list->footer(std::string{"Example:\n  tutti scenario list tests/scenarios"}
               + scenario_exit_codes);
  list->callback([&run, how] { run = [how] { return list_scenarios(how->files); }; });
}

} // namespace tutti::cli
