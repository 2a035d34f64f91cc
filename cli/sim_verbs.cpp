#include "cli/sim_verbs.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/sim.hpp"
#include "cli/sim_openb.hpp"
#include "sim/workload/cluster_shape.hpp"
#include "sim/workload/generator.hpp"

namespace tutti::cli {

namespace {

const char* const sim_exit_codes = "\n\nExit codes: 0 done · 1 error (one line on stderr says "
                                   "which) · 2 wrong usage · 3 the trace "
                                   "is wrong: file, row and column are said, and nothing has run";

constexpr double load_most = 1'000;
constexpr double compress_most = 1e6;

void add_cluster(CLI::App& verb, sim_options& how) {
  verb.add_option("--nodes", how.nodes, "nodes of the cluster (default 1000)")
      ->check(CLI::Range(std::uint32_t{1}, sim::workload::nodes_most));
  verb.add_option("--topology", how.topology,
                  "levels, innermost first (default rack:16,block:32), or a name of `tutti sim "
                  "topologies`");
  verb.add_option("--gpus-per-node", how.gpus_per_node, "(default 8)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{64}));
  verb.add_option("--cpus-per-node", how.cpus_per_node, "(default 112)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{4'096}));
  verb.add_option("--shards", how.shards, "shards of the scheduler (default 8)")
      ->check(CLI::Range(1u, 1024u));
}

void add_workload(CLI::App& verb, sim_options& how) {
  verb.add_option("--trace", how.trace, "gangs of this table: CSV, plain or gzip");
  verb.add_option("--generate", how.generate, "gangs drawn from published distributions: philly")
      ->check(CLI::IsMember(sim::workload::generated_workloads()));
  verb.add_option("--load", how.load,
                  "of --generate: GPU time asked for, per cent of the cluster's (default: gangs "
                  "come as often per GPU as in the original)")
      ->check(CLI::Range(0.001, load_most));
  verb.add_option("--from", how.from, "of --trace: begin at this time of it, such as 30d");
  verb.add_option("--compress", how.compress, "of --trace: gangs come so many times as fast")
      ->check(CLI::Range(0.001, compress_most));
  verb.add_flag("--whole-nodes", how.whole_nodes, "of --trace: every member takes a whole node");
  verb.add_flag("--strict", how.is_strict,
                "of --trace: a gang too large for the cluster is an error (else it is counted)");
  verb.add_option("--within", how.within,
                  "a level: a gang that fits into one such domain must stay in one");
}

void add_openb(CLI::App& sim, std::function<int()>& run) {
  auto how = std::make_shared<openb_options>();
  auto* verb = sim.add_subcommand("openb", "Replay the published experiment with shared GPUs");
  verb->add_option("--data", how->data, "folder of the published tables")->required();
  verb->add_option("--policy", how->policies, "names with commas (default: all)");
  verb->add_option("--workload", how->workloads,
                   "lists of pods, names with commas (default: default)");
  verb->add_option("--seeds", how->seeds, "FIRST-LAST, one run each (default 42-51)");
  verb->add_option("--arrival", how->arrival,
                   "GPUs that pods ask for, as a share of those that there are (default 1.3)")
      ->check(CLI::Range(0.01, 10.0));
  verb->add_option("-o,--output", how->format, "json: for programs")
      ->check(CLI::IsMember({"json"}));
  verb->footer(
      std::string{"Examples:\n  tutti sim openb --data openb --policy random,least-fragmentation\n"
                  "  tutti sim openb --data openb --policy least-stranded --seeds 52-71"}
      + sim_exit_codes);
  verb->callback([&run, how] { run = [how] { return run_openb(*how); }; });
}

} // namespace

void add_sim_verbs(CLI::App& app, std::function<int()>& run) {
  auto* sim = app.add_subcommand("sim", "Run a cluster and a workload in virtual time");
  sim->require_subcommand(1);
  sim->footer(std::string{"Examples:\n  tutti sim run --nodes 2000 --generate philly --until 24h\n"
                          "  tutti sim topologies"}
              + sim_exit_codes);
  auto how = std::make_shared<sim_options>();
  auto* one = sim->add_subcommand("run", "Play a trace or a generated workload; write a report");
  add_cluster(*one, *how);
  add_workload(*one, *how);
  one->add_option("--until", how->until,
                  "virtual time, such as 36h or 7d (default 24h); drained: until all have ended");
  one->add_option("--sample", how->sample, "time between samples (default 1m, more in long runs)");
  one->add_option("--seed", how->seed, "of everything that is drawn (default 1)");
  one->add_option("--report", how->report, "write the page here (default tutti-sim.html)");
  one->add_option("--csv", how->csv,
                  "write the tables into this folder (default: the page's name without .html)");
  one->add_option("-o,--output", how->format, "json: the summary for programs")
      ->check(CLI::IsMember({"json"}));
  one->add_flag("-q,--quiet", how->is_quiet, "no progress");
  one->footer(
      std::string{
          "Examples:\n"
          "  tutti sim run --nodes 2000 --generate philly --load 80 --until 24h\n"
          "  tutti sim run --nodes 312 --trace examples/traces/philly_day.csv --until drained\n"
          "  tutti sim run --nodes 49152 --gpus-per-node 0 --trace mira.csv.gz "
          "--until 2d --report mira.html"}
      + sim_exit_codes);
  one->callback([&run, how] { run = [how] { return run_sim(*how); }; });
  add_openb(*sim, run);
  auto* known = sim->add_subcommand("topologies", "The topologies that --topology knows by name");
  known->footer(std::string{"Example:\n  tutti sim topologies"} + sim_exit_codes);
  known->callback([&run] { run = [] { return list_topologies(); }; });
}

} // namespace tutti::cli
