// The command line of tutti: parses, hands over to one verb, turns its result into an exit code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/time.hpp"
#include "cli/bridge_verbs.hpp"
#include "cli/cancel.hpp"
#include "cli/chaos_verbs.hpp"
#include "cli/completion.hpp"
#include "cli/config_file.hpp"
#include "cli/daemon.hpp"
#include "cli/exit_codes.hpp"
#include "cli/local.hpp"
#include "cli/output.hpp"
#include "cli/plan.hpp"
#include "cli/reading.hpp"
#include "cli/scenario_verbs.hpp"
#include "cli/scheduler_pods.hpp"
#include "cli/sim_verbs.hpp"

namespace {

using namespace tutti;

const char* const exit_codes =
    "\n\nExit codes: 0 done · 1 error (one line on stderr says which, a hint says "
    "what to do) · 2 wrong usage";

/// What the verbs have in common, filled by the parser.
struct arguments {
  std::string server;
  cli::scheduler_flags behind; ///< a scheduler in a cluster, read through its API server
  cli::read_options reading;
  std::string noun, what;
  cli::wait_options waiting;
  cli::cancel_options cancelling;
  cli::local_options local;
  std::string config, write_config_to; ///< files of `scheduler`
  cli::plan_options plan;
  bool client_only = false;
  base::system_clock clock;
  std::function<int()> run;
};

int exit_code_of(const base::result<void>& how) {
  if (how)
    return cli::done;
  cli::print_error(how.error());
  return cli::failed;
}

int wrong_usage(const base::error& e) {
  cli::print_error(e);
  return cli::wrong_usage;
}

void add_server(CLI::App& verb, arguments& a) {
  verb.add_option("--server", a.server,
                  "admin address of the scheduler (default $TUTTI_SERVER, else 127.0.0.1:10451)");
  verb.add_option("--kubeconfig", a.behind.cluster.kubeconfig,
                  "instead: the scheduler in the cluster of this file, through its API server");
  verb.add_option("--context", a.behind.cluster.context,
                  "of --kubeconfig, else of $KUBECONFIG or ~/.kube/config");
  verb.add_option("--scheduler-namespace", a.behind.space,
                  fmt::format("of its pods there (default {})", cli::default_scheduler_space));
  verb.add_option("--scheduler-pod", a.behind.pod, "this replica alone (default: all of them)");
}

/// Two ways to a scheduler at once, or half of one.
base::result<void> check_way(const arguments& a) {
  const auto& there = a.behind;
  const bool names_pods = !there.pod.empty() || !there.space.empty();
  const bool names_cluster = !there.cluster.kubeconfig.empty() || !there.cluster.context.empty();
  if (!a.server.empty() && (names_cluster || names_pods))
    return base::error{base::code::bad_input,
                       "--server names an admin address, --kubeconfig, --context, "
                       "--scheduler-namespace and --scheduler-pod lead into a cluster",
                       "leave one of them out"};
  if (names_pods && !there.cluster.names_config())
    return base::error{
        base::code::bad_input,
        "--scheduler-namespace and --scheduler-pod are about a scheduler in a cluster",
        "say which cluster: --kubeconfig or --context"};
  return {};
}

/// As a plugin of kubectl the program asks in the cluster that kubectl would ask.
void be_kubectl_plugin(arguments& a) {
  a.behind.cluster.as_kubectl = true;
  a.plan.cluster.as_kubectl = true;
}

bool is_asked_behind(const arguments& a) {
  return a.server.empty() && a.behind.cluster.names_config();
}
cli::reader scheduler_of(const arguments& a) {
  return is_asked_behind(a) ? cli::scheduler_behind(a.behind, a.clock) : cli::daemon_at(a.server);
}
cli::reader scheduler_to_change(const arguments& a) {
  return is_asked_behind(a) ? cli::scheduler_behind_to_change(a.behind, a.clock)
                            : cli::daemon_to_change(a.server);
}

void add_output(CLI::App& verb, std::string& format, const std::vector<std::string>& formats) {
  verb.add_option("-o,--output", format, fmt::format("{}", fmt::join(formats, ", ")))
      ->check(CLI::IsMember(formats))
      ->type_name("FORMAT");
}

void add_space(CLI::App& verb, arguments& a) {
  verb.add_option("-n,--namespace", a.reading.space, "namespace (default \"default\")");
}

/// A verb about one gang: `tutti VERB gang NAME`.
void add_gang_verb(CLI::App& app, arguments& a, const char* name, const char* help,
                   const char* example,
                   base::result<void> (*run)(const cli::reader&, const std::string&,
                                             const cli::read_options&)) {
  auto* verb = app.add_subcommand(name, help);
  add_server(*verb, a);
  add_output(*verb, a.reading.format, {"table", "json", "yaml", "name"});
  add_space(*verb, a);
  verb->add_option("noun", a.noun, "gang")->required()->check(CLI::IsMember({"gang"}));
  verb->add_option("name", a.what, "NAME or NAMESPACE/NAME")->required();
  verb->footer(std::string{"Example:\n  "} + example + exit_codes);
  verb->callback([&a, run] {
    a.run = [&a, run] { return exit_code_of(run(scheduler_of(a), a.what, a.reading)); };
  });
}

void add_retry(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("retry", "Try a gang now, and free it if it is quarantined");
  add_server(*verb, a);
  add_output(*verb, a.reading.format, {"table", "json", "yaml", "name"});
  add_space(*verb, a);
  verb->add_option("noun", a.noun, "gang")->required()->check(CLI::IsMember({"gang"}));
  verb->add_option("name", a.what, "NAME or NAMESPACE/NAME")->required();
  verb->footer(std::string{"Example:\n  tutti retry gang ring"} + exit_codes);
  verb->callback([&a] {
    a.run = [&a] {
      return exit_code_of(cli::retry_gang(scheduler_to_change(a), a.what, a.reading));
    };
  });
}

void add_get(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("get", "List gangs, nodes, shards, replicas or reservations");
  add_server(*verb, a);
  add_output(*verb, a.reading.format, {"table", "wide", "json", "yaml", "name"});
  add_space(*verb, a);
  verb->add_flag("-A,--all-namespaces", a.reading.all_spaces, "every namespace");
  verb->add_flag("-w,--watch", a.reading.watches, "gangs: go on, and print what changes");
  verb->add_option("noun", a.noun, "gangs, nodes, shards, replicas or reservations")
      ->required()
      ->check(CLI::IsMember({"gangs", "gang", "g", "nodes", "node", "no", "shards", "shard",
                             "replicas", "replica", "reservations", "reservation"}));
  verb->add_option("name", a.reading.name, "this gang alone: NAME or NAMESPACE/NAME");
  verb->footer(std::string{"Examples:\n  tutti get gangs -A\n  tutti get gangs -w\n"
                           "  tutti get gang ring\n"
                           "  tutti get nodes -o json\n"
                           "  tutti get reservations -o wide"}
               + exit_codes);
  verb->callback([&a] {
    a.run = [&a] { return exit_code_of(cli::get(scheduler_of(a), a.noun, a.reading, a.clock)); };
  });
}

void add_cluster_verbs(CLI::App& app, arguments& a) {
  auto* status = app.add_subcommand("status", "One screen: view, gangs by phase, oldest pending");
  add_server(*status, a);
  add_output(*status, a.reading.format, {"table", "json", "yaml"});
  status->footer(std::string{"Example:\n  tutti status"} + exit_codes);
  status->callback([&a] {
    a.run = [&a] { return exit_code_of(cli::print_status(scheduler_of(a), a.reading)); };
  });
  auto* top = app.add_subcommand("top", "Heat map of the racks");
  add_server(*top, a);
  add_output(*top, a.reading.format, {"table", "json", "yaml", "name"});
  top->add_option("noun", a.noun, "racks")->required()->check(CLI::IsMember({"racks"}));
  top->footer(std::string{"Example:\n  tutti top racks"} + exit_codes);
  top->callback(
      [&a] { a.run = [&a] { return exit_code_of(cli::top_racks(scheduler_of(a), a.reading)); }; });
}

void add_wait(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("wait", "Wait until a gang is bound or degraded");
  add_server(*verb, a);
  add_space(*verb, a);
  verb->add_option("name", a.what, "gang/NAME (not for settled)");
  verb->add_option("--for", a.waiting.until, "bound, degraded or settled")
      ->check(CLI::IsMember({"bound", "degraded", "settled"}));
  verb->add_option("--timeout", a.waiting.timeout_s,
                   "seconds (default 60), also while nobody answers yet")
      ->check(CLI::NonNegativeNumber);
  verb->footer(std::string{"Examples:\n  tutti wait gang/ring --for bound --timeout 30\n"
                           "  tutti wait --for settled"}
               + exit_codes);
  verb->callback([&a] {
    if (a.waiting.until != "settled" && a.what.empty())
      throw CLI::RequiredError("name");
    a.run = [&a] {
      if (a.waiting.until == "settled")
        return exit_code_of(cli::wait_until_settled(scheduler_of(a), a.waiting, a.clock));
      return exit_code_of(
          cli::wait_for_gang(scheduler_of(a), a.what, a.reading, a.waiting, a.clock));
    };
  });
}

void add_cancel(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("cancel", "Take back what is under way of a gang");
  add_server(*verb, a);
  add_space(*verb, a);
  verb->add_option("noun", a.noun, "gang")->required()->check(CLI::IsMember({"gang"}));
  verb->add_option("name", a.what, "NAME or NAMESPACE/NAME")->required();
  verb->add_option("--member", a.cancelling.members,
                   "a pod of a decided plan, not bound yet; may be repeated (default: all such)")
      ->allow_extra_args(false);
  verb->add_option("--reason", a.cancelling.reason, "why, for the gang's event")->required();
  verb->footer(std::string{"Examples:\n  tutti cancel gang ring --reason \"its node is on fire\"\n"
                           "  tutti cancel gang ring --member ring-3 --reason \"bad disk\"\n\n"
                           "Its members go back to the queue; to stop a gang, delete its pods."}
               + exit_codes);
  verb->callback([&a] {
    a.run = [&a] {
      return exit_code_of(
          cli::cancel_gang(scheduler_to_change(a), a.what, a.reading, a.cancelling));
    };
  });
}

void add_kubeconfig(CLI::App& verb, cli::local_options& o) {
  verb.add_option("--kubeconfig", o.elsewhere.kubeconfig,
                  "the API server that this file names: run the scheduler alone");
  verb.add_option("--context", o.elsewhere.context,
                  "of --kubeconfig, else of $KUBECONFIG or ~/.kube/config (default: the current)");
}

/// What every scheduler may be told, whatever API server it works for.
void add_scheduling(CLI::App& verb, cli::local_options& o) {
  verb.add_option("--topology", o.levels, "label keys, outermost first; the last is the rack")
      ->delimiter(',');
  verb.add_option("--shards", o.shards, "shards of a new store (default 8)")
      ->check(CLI::Range(1u, 1024u));
  verb.add_option("--disk-reserve", o.disk_reserve,
                  "free space below which nothing new is begun, e.g. 1Gi (default 128Mi; 0 = do "
                  "not look)")
      ->transform(CLI::AsSizeValue(false));
  verb.add_flag("--long-path", o.long_path, "promises reach the disk before the decision");
  verb.add_option("--repair-deadline", o.repair_deadline_s,
                  "seconds that a started gang may be below its minimum (default 60)")
      ->check(CLI::Range(1u, 86400u));
  verb.add_flag("--evict-degraded", o.evicts_degraded,
                "evict the members of a gang that could not be repaired in time");
  verb.add_flag("--step-events", o.step_events,
                "Events for each step of an attempt: GangReserved and GangCommitted, too");
}

int run_scheduler(arguments& a) {
  const char* fault = std::getenv("TUTTI_FAULT");
  if (auto ok = cli::check_local(a.local, fault != nullptr ? fault : ""); !ok)
    return wrong_usage(ok.error());
  return exit_code_of(cli::run_local(a.local));
}

void add_local(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("local", "Run the scheduler on an API server inside the process");
  auto& o = a.local;
  verb->add_option("-f,--filename", o.files, "manifests to apply first (file, directory or -)");
  verb->add_option("--until", o.until, "settled: stop when nothing is left to do")
      ->check(CLI::IsMember({"settled"}));
  verb->add_option("--listen", o.listen, "serve the Kubernetes API here, for kubectl (HOST:PORT)");
  verb->add_option("--admin", o.admin,
                   "address for get, explain, … (default 127.0.0.1:10451; \"\" = none)");
  verb->add_option("--data-dir", o.data_dir, "keep both stores here (default: temporary)");
  verb->add_option(
          "--kubernetes", o.kubernetes,
          "API to serve: 1.37 (default), 1.36 or 1.35; with --server it must be that one's")
      ->check(CLI::IsMember({"1.37", "1.36", "1.35"}));
  verb->add_option("--server", o.elsewhere.server,
                   "an API server elsewhere (HOST:PORT or https://…): run the scheduler alone");
  add_kubeconfig(*verb, o);
  verb->add_flag("--serve-only", o.serve_only, "run the API server alone");
  verb->add_option("--seed", o.seed, "what a new cluster's uids are made of (default: drawn)");
  add_scheduling(*verb, o);
  verb->add_flag("-q,--quiet", o.quiet, "print errors only");
  verb->footer(std::string{"Examples:\n"
                           "  tutti local -f examples/small --until settled\n"
                           "  tutti local --listen 127.0.0.1:8001 --data-dir ~/tutti\n"
                           "  tutti local --server 127.0.0.1:8001 --data-dir ~/tutti\n"
                           "  tutti local --kubeconfig ~/.kube/config --context kind-test"}
               + exit_codes);
  verb->callback([&a] { a.run = [&a] { return run_scheduler(a); }; });
}

/// Flags go before environment variables, those before the file, and that before defaults.
int run_cluster_scheduler(arguments& a, const CLI::App& verb) {
  a.local.is_replica = true;
  const auto is_given = [&verb](std::string_view flag) {
    return verb.get_option(std::string{flag})->count() > 0;
  };
  if (!a.config.empty())
    if (auto ok = cli::read_config(a.config, is_given, a.local); !ok)
      return exit_code_of(ok);
  if (a.local.data_dir.empty())
    return wrong_usage({base::code::bad_input, "it is not said where the store is",
                        "give --data-dir DIR, or store.dataDir in the file of --config"});
  if (!a.write_config_to.empty())
    return exit_code_of(cli::write_config(a.local, a.write_config_to));
  return run_scheduler(a);
}

void add_replica(CLI::App& verb, cli::replica_flags& o) {
  verb.add_option("--bridge", o.bridge,
                  "reach the API server through the `tutti bridge` at this address (HOST:PORT)")
      ->envname("TUTTI_BRIDGE");
  verb.add_option("--replica", o.name, "its name among several that share the cluster")
      ->envname("TUTTI_REPLICA");
  verb.add_option("--link", o.link, "hear the other replicas here (HOST:PORT)");
  verb.add_option("--link-address", o.address,
                  "as they reach it (HOST:PORT; default: that of --link)")
      ->envname("TUTTI_LINK_ADDRESS");
  verb.add_option("--link-tls", o.tls_dir,
                  "directory of tls.crt, tls.key and ca.crt: both sides show certificates");
  verb.add_option("--link-name", o.certificate_name,
                  "a name in each certificate (default: its replica's)");
  verb.add_flag("--link-plain", o.is_plain, "no TLS, though other machines reach the link");
  verb.add_option("--lease-duration", o.lease_s,
                  "seconds without a sign of life until others take over (default 15; the same for "
                  "all)")
      ->check(CLI::Range(2u, 600u));
}

void add_scheduler(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("scheduler", "Run the scheduler for a cluster");
  auto& o = a.local;
  verb->add_option("--config", a.config, "settings; flags go before them")->envname("TUTTI_CONFIG");
  verb->add_option("--write-config-to", a.write_config_to,
                   "write the settings in force as such a file (- = here), and end");
  add_kubeconfig(*verb, o);
  verb->add_option("--data-dir", o.data_dir, "keep its store here: what it has promised")
      ->envname("TUTTI_DATA_DIR");
  verb->add_option("--admin", o.admin,
                   "address for get, explain, … (default 127.0.0.1:10451; \"\" = none)");
  verb->add_option("--qps", o.qps, "writes per second to the API server (default: no limit)");
  verb->add_option("--burst", o.burst, "writes at once (default: as many as --qps)");
  add_scheduling(*verb, o);
  add_replica(*verb, o.replica);
  verb->add_flag("-q,--quiet", o.quiet, "print errors only");
  verb->footer(std::string{"Examples:\n"
                           "  tutti scheduler --kubeconfig ~/.kube/config --data-dir ~/tutti\n"
                           "  tutti scheduler --data-dir ~/tutti     # in a pod, by its service "
                           "account\n"
                           "  tutti scheduler --config /etc/tutti/config.yaml\n"
                           "  tutti scheduler --data-dir ~/a --replica a --link 127.0.0.1:10452\n"
                           "  tutti scheduler --data-dir ~/tutti --bridge 127.0.0.1:10453"}
               + exit_codes);
  verb->callback([&a, verb] { a.run = [&a, verb] { return run_cluster_scheduler(a, *verb); }; });
}

void add_plan(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("plan", "Say where gangs would go, or why not; change nothing");
  verb->add_option("-f,--filename", a.plan.files, "nodes, pods and groups (file, directory or -)");
  verb->add_option("--kubeconfig", a.plan.cluster.kubeconfig,
                   "on what the cluster of this file has now; -f comes on top");
  verb->add_option("--context", a.plan.cluster.context,
                   "of --kubeconfig, else of $KUBECONFIG or ~/.kube/config");
  add_output(*verb, a.plan.format, {"table", "json", "yaml", "name"});
  verb->add_option("--topology", a.plan.levels, "label keys, outermost first; the last is the rack")
      ->delimiter(',');
  verb->footer("Examples:\n  tutti plan -f examples/small\n"
               "  tutti plan -f cluster.yaml -f gangs.yaml -o json\n"
               "  tutti plan --kubeconfig ~/.kube/config -f gangs.yaml"
               "\n\nExit codes: 0 all fit · 10 something fits once others are evicted · 11 "
               "something does not "
               "fit now · "
               "12 something never fits on this cluster · 1 error · 2 wrong usage");
  verb->callback([&a] {
    if (a.plan.files.empty() && !a.plan.cluster.names_config())
      throw CLI::RequiredError("--filename");
    a.run = [&a] { return cli::run_plan(a.plan, a.clock); };
  });
}

void add_version(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("version", "Versions of this program and of the scheduler");
  add_server(*verb, a);
  add_output(*verb, a.reading.format, {"table", "json", "yaml"});
  verb->add_flag("--client", a.client_only, "do not ask the scheduler");
  verb->footer(std::string{"Examples:\n  tutti version\n  tutti version --client -o json"}
               + exit_codes);
  verb->callback([&a] {
    a.run = [&a] {
      return exit_code_of(
          cli::print_version(a.client_only ? cli::reader{} : scheduler_of(a), a.reading));
    };
  });
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(verb->get_name());
  return out;
}

int unknown_verb(const CLI::App& app, const std::string& word) {
  const auto verbs = verbs_of(app);
  const auto near = cli::nearest(word, verbs);
  return wrong_usage({base::code::bad_input, fmt::format("there is no verb \"{}\"", word),
                      near.empty() ? fmt::format("there are {}", fmt::join(verbs, ", "))
                                   : fmt::format("did you mean `tutti {}`?", near)});
}

void add_completion(CLI::App& app, arguments& a) {
  auto* verb =
      app.add_subcommand("completion", "Completion for a shell: put it into its start file");
  verb->add_option("shell", a.what, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->footer(std::string{"Examples:\n  source <(tutti completion bash)\n"
                           "  tutti completion fish | source"}
               + exit_codes);
  verb->callback([&a] {
    a.run = [&a] {
      auto script = cli::completion_script(a.what);
      if (!script)
        return wrong_usage(script.error());
      std::fputs(script->c_str(), stdout);
      return static_cast<int>(cli::done);
    };
  });
}

/// What a shell may offer for the word that is being typed; one candidate a line.
int complete(const CLI::App& app, const std::vector<std::string>& typed) {
  for (const auto& word : cli::completions(app, typed, cli::daemon_at({})))
    fmt::print("{}\n", word);
  return exit_code_of(cli::flush_output());
}

void add_help(CLI::App& app, arguments& a) {
  auto* verb = app.add_subcommand("help", "The help of a verb");
  verb->add_option("verb", a.what, "VERB; without one the list of verbs");
  verb->footer(std::string{"Example:\n  tutti help plan"} + exit_codes);
  verb->callback([&app, &a] {
    a.run = [&app, &a]() -> int {
      const auto verbs = verbs_of(app);
      if (!a.what.empty() && std::find(verbs.begin(), verbs.end(), a.what) == verbs.end())
        return unknown_verb(app, a.what);
      app.clear(); // the help of a verb that was called leaves the program's out
      std::fputs(a.what.empty() ? app.help().c_str()
                                : app.get_subcommand(a.what)->help("tutti").c_str(),
                 stdout);
      return cli::done;
    };
  });
}

/// Runs the verb that was parsed; what it printed must have got out.
int run_verb(const arguments& a) {
  int code = cli::failed;
  try {
    code = a.run();
  } catch (const std::system_error&) {
    // The formatter's way of saying that stdout takes no more; `flush_output` says it in words.
  }
  if (auto out = cli::flush_output(); !out)
    return exit_code_of(out);
  return code;
}

} // namespace

int main(int argc, char** argv) {
  arguments a;
  CLI::App app{"tutti schedules groups of pods on Kubernetes: together or not at all.", "tutti"};
  app.set_version_flag("--version", std::string{"tutti "} + TUTTI_VERSION);
  app.require_subcommand(1);
  app.footer(std::string{"Start here:\n  tutti local -f examples/small --until settled\n"
                         "  tutti VERB --help"}
             + exit_codes);
  add_plan(app, a);
  add_local(app, a);
  add_scheduler(app, a);
  cli::add_bridge_verb(app, a.run);
  add_get(app, a);
  add_gang_verb(app, a, "describe", "Everything about one gang", "tutti describe gang ring",
                cli::describe_gang);
  add_gang_verb(app, a, "explain", "Why a gang waits, with numbers", "tutti explain gang too-wide",
                cli::explain_gang);
  add_gang_verb(app, a, "trace", "What happened to a gang, step by step", "tutti trace gang ring",
                cli::trace_gang);
  add_retry(app, a);
  add_cluster_verbs(app, a);
  add_wait(app, a);
  add_cancel(app, a);
  cli::add_chaos_verbs(app, a.run);
  cli::add_scenario_verbs(app, a.run);
  cli::add_sim_verbs(app, a.run);
  add_version(app, a);
  add_completion(app, a);
  add_help(app, a);
  if (argc > 1 && std::string_view{argv[1]} == cli::complete_verb)
    return complete(app, {argv + 2, argv + argc});
  if (std::filesystem::path{argc > 0 ? argv[0] : ""}.filename() == "kubectl-tutti")
    be_kubectl_plugin(a);
  const auto verbs = verbs_of(app);
  const std::string first = argc > 1 ? argv[1] : "";
  const bool is_verb = std::find(verbs.begin(), verbs.end(), first) != verbs.end();
  if (!first.empty() && !first.starts_with('-') && !is_verb)
    return unknown_verb(app, first);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    app.exit(e); // --help, --version
    return exit_code_of(cli::flush_output());
  } catch (const CLI::ParseError& e) {
    return wrong_usage({base::code::bad_input, e.what(),
                        is_verb ? fmt::format("tutti {} --help", first) : "tutti --help"});
  }
  if (auto ok = check_way(a); !ok)
    return wrong_usage(ok.error());
  return run_verb(a);
}
