#include "cli/chaos_verbs.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "chaos/action.hpp"
#include "chaos/schedule.hpp"
#include "cli/chaos.hpp"
#include "cli/exhaust_verbs.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

const char* const chaos_exit_codes =
    "\nExit codes: 0 nothing broke · 1 a promise was broken · 2 wrong usage · 3 a file is wrong";

/// Years of worlds.
constexpr std::uint64_t seeds_most = 1'000'000'000;

std::vector<std::string> names_of_faults() {
  std::vector<std::string> out;
  for (const auto& kind : chaos::action_kinds())
    if (chaos::is_fault(kind))
      out.emplace_back(kind.what);
  return out;
}

using verb_run = int (*)(const chaos_options&);

CLI::App* add(CLI::App& to, std::function<int()>& run, const std::shared_ptr<chaos_options>& how,
              const char* name, const char* help, const char* example, verb_run does) {
  auto* verb = to.add_subcommand(name, help);
  verb->footer(std::string{"Example:\n  "} + example + chaos_exit_codes);
  verb->callback([&run, how, does] {
    run = [how, does] {
      if (const auto ok = switch_on_mutant(*how); !ok) {
        print_error(ok.error());
        return static_cast<int>(wrong_usage);
      }
      return does(*how);
    };
  });
  return verb;
}

void add_first_seed(CLI::App& verb, chaos_options& how) {
  verb.add_option("--first-seed", how.first_seed, "seed of the first (default 1)");
}

void add_seeds(CLI::App& verb, chaos_options& how) {
  verb.add_option("--seeds", how.seeds, "how many runs (default 300)")
      ->check(CLI::Range(std::uint64_t{1}, seeds_most));
  add_first_seed(verb, how);
  verb.add_flag("-q,--quiet", how.is_quiet, "no progress");
}

void add_replicas(CLI::App& verb, chaos_options& how) {
  verb.add_option("--replicas", how.replicas,
                  "scheduler processes that share the cluster of a seed's world (default 1)")
      ->check(CLI::Range(std::uint32_t{1}, chaos::replicas_most));
}

void add_faults(CLI::App& verb, chaos_options& how) {
  add_replicas(verb, how);
  verb.add_option("--faults", how.faults,
                  "only these fail, e.g. crash,api (see `tutti chaos list`)")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_faults()));
}

void add_mutant(CLI::App& verb, chaos_options& how) {
  verb.add_option("--mutant", how.mutant,
                  "a planted bug is switched on (see `tutti chaos mutants`)");
}

} // namespace

void add_chaos_verbs(CLI::App& app, std::function<int()>& run) {
  auto* chaos = app.add_subcommand("chaos", "Try to break a promise, in a simulated world");
  chaos->require_subcommand(1);
  chaos->footer(std::string{"Example:\n  tutti chaos run --seeds 300"} + chaos_exit_codes);
  auto how = std::make_shared<chaos_options>();
  auto* all = add(*chaos, run, how, "run", "Run many worlds, each drawn from its seed",
                  "tutti chaos run --seeds 1000 --first-seed 5000", chaos_run);
  add_seeds(*all, *how);
  add_faults(*all, *how);
  add_mutant(*all, *how);
  auto* again =
      add(*chaos, run, how, "replay", "Run one world again", "tutti chaos replay 17", chaos_replay);
  again->add_option("what", how->what, "a seed or a schedule file")->required();
  again->add_flag("--long", how->is_long, "print every event");
  add_faults(*again, *how);
  add_mutant(*again, *how);
  auto* small = add(*chaos, run, how, "shrink", "Find the smallest schedule that breaks the same",
                    "tutti chaos shrink 17 --save lost-member.schedule", chaos_shrink);
  small->add_option("what", how->what, "a seed or a schedule file")->required();
  small->add_option("--save", how->save, "write it here as well");
  add_faults(*small, *how);
  add_mutant(*small, *how);
  auto* diff = add(*chaos, run, how, "diff-trace", "The first event in which two runs differ",
                   "tutti chaos diff-trace 17 lost-member.schedule", chaos_diff);
  diff->add_option("a", how->what, "a seed or a schedule file")->required();
  diff->add_option("b", how->other, "a seed or a schedule file")->required();
  add_faults(*diff, *how);
  auto* cells = add(*chaos, run, how, "coverage", "How often each fault met each state",
                    "tutti chaos coverage --seeds 300", chaos_coverage);
  add_seeds(*cells, *how);
  add_faults(*cells, *how);
  auto* silence = add(*chaos, run, how, "outage",
                      "How long nothing is decided when something fails, fault by fault",
                      "tutti chaos outage --seeds 10 --replicas 3", chaos_outage);
  silence->add_option("--seeds", how->runs, "runs of each fault (default 20)")
      ->check(CLI::Range(std::uint64_t{1}, seeds_most));
  add_first_seed(*silence, *how);
  add_replicas(*silence, *how);
  silence->add_option("--only", how->only, "rows whose names contain this text");
  silence->add_flag("--markdown", how->is_markdown, "the table as a page has it");
  add_exhaust_verb(*chaos, run);
  auto* bugs = add(*chaos, run, how, "mutants", "Plant bugs, one at a time: each must be found",
                   "tutti chaos mutants --seeds 200 release-without-touch", chaos_mutants);
  add_seeds(*bugs, *how);
  bugs->add_option("names", how->mutants, "which; all if none is named");
  bugs->add_option("--save", how->save, "write the smallest schedule that finds each here");
  add(*chaos, run, how, "list", "The promises, and what can happen in a schedule",
      "tutti chaos list", [](const chaos_options&) { return chaos_list(); });
}

} // namespace tutti::cli
