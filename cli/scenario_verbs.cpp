#include "cli/scenario_verbs.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/scenario.hpp"

namespace tutti::cli {

namespace {

const char* const scenario_exit_codes =
    "\nExit codes: 0 all passed · 1 some failed · 2 wrong usage · 3 a file is wrong";

} // namespace

void add_scenario_verbs(CLI::App& app, std::function<int()>& run) {
  auto* scenario = app.add_subcommand("scenario", "Play stories from files in a simulated world");
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
  play->add_option("--kubeconfig", how->kubeconfig, "a real cluster: not in this build");
  play->add_option("--scheduler-name", how->scheduler, "another scheduler: not in this build");
  play->footer(std::string{"Examples:\n  tutti scenario run tests/scenarios --summary\n"
                           "  tutti scenario run a-01.yaml --seed 7"}
               + scenario_exit_codes);
  play->callback([&run, how] { run = [how] { return run_scenarios(*how); }; });
  auto* list = scenario->add_subcommand("list", "Show id and title of each");
  list->add_option("places", how->files, "scenario files, or folders of them")->required();
  list->footer(std::string{"Example:\n  tutti scenario list tests/scenarios"}
               + scenario_exit_codes);
  list->callback([&run, how] { run = [how] { return list_scenarios(how->files); }; });
}

} // namespace tutti::cli
