#include "cli/bridge_verbs.hpp"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/bridge.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

int run_checked(const bridge_options& how) {
  if (const auto ok = check_bridge(how); !ok) {
    print_error(ok.error());
    return wrong_usage;
  }
  const auto ended = run_bridge(how);
  if (ended)
    return done;
  print_error(ended.error());
  return failed;
}

} // namespace

void add_bridge_verb(CLI::App& app, std::function<int()>& run) {
  const char* const help = "Watch the API server once, and write to it, for several schedulers";
  auto* verb = app.add_subcommand("bridge", help);
  const auto how = std::make_shared<bridge_options>();
  verb->add_option("--listen", how->listen,
                   "hear schedulers here (HOST:PORT; default 127.0.0.1:10453)")
      ->envname("TUTTI_BRIDGE_LISTEN");
  verb->add_option("--link-tls", how->tls_dir,
                   "directory of tls.crt, tls.key and ca.crt: both sides show certificates");
  verb->add_option("--link-name", how->certificate_name,
                   "a name in each scheduler's certificate (default: its replica's)");
  verb->add_flag("--link-plain", how->is_plain, "no TLS, though other machines reach the bridge");
  verb->add_option("--kubeconfig", how->elsewhere.kubeconfig,
                   "the API server that this file names (default: $KUBECONFIG, else the pod's)");
  verb->add_option("--context", how->elsewhere.context,
                   "of --kubeconfig, else of $KUBECONFIG or ~/.kube/config (default: the current)");
  verb->add_option("--server", how->elsewhere.server,
                   "this API server (HOST:PORT for plain HTTP, or https://…)");
  verb->add_option("--qps", how->qps,
                   "writes per second to the API server, of all schedulers (default: no limit)");
  verb->add_option("--burst", how->burst, "writes at once (default: as many as --qps)");
  verb->add_option("--admin", how->admin,
                   "address of health and metrics (default 127.0.0.1:10454; \"\" = none)");
  verb->add_flag("-q,--quiet", how->quiet, "print errors and warnings only");
  verb->footer("Examples:\n"
               "  tutti bridge --kubeconfig ~/.kube/config --qps 200\n"
               "  tutti bridge --listen 0.0.0.0:10453 --link-tls /etc/tutti/link   # in a pod\n"
               "  tutti scheduler --data-dir ~/tutti --bridge 127.0.0.1:10453"
               "\n\nExit codes: 0 told to stop · 1 error (one line on stderr says which, a hint "
               "says what to do) · 2 wrong usage");
  verb->callback([how, &run] { run = [how] { return run_checked(*how); }; });
}

} // namespace tutti::cli
