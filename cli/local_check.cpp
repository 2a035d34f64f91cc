// What `tutti local` refuses to begin with: flags and faults that make no sense.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "actors/admin_api.hpp"
#include "actors/http_listener.hpp"
#include "cli/local.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

using base::code;
using base::error;

/// Rows of the crash table at which the process can be made to die.
constexpr std::array<std::string_view, 27> fault_points{
    "C0",  "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12", "C13",
    "C14", "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P8", "B0", "B1",  "B2",  "B3"};

error wrong(std::string what, std::string hint) {
  return {code::bad_input, std::move(what), std::move(hint)};
}

/// The first of `given` that stands beside `flag`, as an error; `cure` says what is allowed.
base::result<void> excludes(const char* flag,
                            std::initializer_list<std::pair<const char*, bool>> given,
                            const char* cure) {
  for (const auto& [other, is_given] : given)
    if (is_given)
      return wrong(fmt::format("{} has no meaning with {}", other, flag), cure);
  return {};
}

base::result<void> check_server(const std::string& server) {
  if (server.empty())
    return {};
  auto read = read_server(server);
  return read ? base::result<void>{} : read.error();
}

/// The flag that sends the scheduler to a server elsewhere; null if none does.
const char* elsewhere_flag(const local_options& how) {
  return !how.elsewhere.server.empty()       ? "--server"
         : !how.elsewhere.kubeconfig.empty() ? "--kubeconfig"
         : !how.elsewhere.context.empty()    ? "--context"
                                             : nullptr;
}

base::result<void> check_combination(const local_options& how) {
  const bool has_admin = !how.admin.empty() && how.admin != default_server;
  if (how.serve_only) {
    if (how.listen.empty())
      return wrong("--serve-only without --listen serves nobody",
                   "give --listen, for example --listen 127.0.0.1:8001");
    return excludes("--serve-only",
                    {{"--server", !how.elsewhere.server.empty()},
                     {"--kubeconfig", !how.elsewhere.kubeconfig.empty()},
                     {"--context", !how.elsewhere.context.empty()},
                     {"--until", !how.until.empty()},
                     {"--admin", has_admin},
                     {"--topology", !how.levels.empty()},
                     {"--shards", how.shards != 0},
                     {"--long-path", how.long_path},
                     {"--repair-deadline", how.repair_deadline_s != 0},
                     {"--evict-degraded", how.evicts_degraded},
                     {"--step-events", how.step_events}},
                    "it runs the API server alone: -f, --listen, --data-dir, --kubernetes, --seed "
                    "and --quiet go with it");
  }
  if (const char* flag = elsewhere_flag(how); flag != nullptr)
    return excludes(flag,
                    {{"-f", !how.files.empty()},
                     {"--listen", !how.listen.empty()},
                     {"--until", !how.until.empty()},
                     {"--seed", how.seed.has_value()}},
                    "it runs the scheduler alone: --server, --kubeconfig, --context, --admin, "
                    "--data-dir, --kubernetes, --topology, "
                    "--shards, --long-path, --repair-deadline, --evict-degraded, --step-events and "
                    "--quiet go with it; apply files with kubectl");
  return {};
}

base::result<void> check_fault(const std::string& fault) {
  if (fault.empty())
    return {};
  const auto id = fault.substr(0, fault.rfind(':'));
  if (std::find(fault_points.begin(), fault_points.end(), id) == fault_points.end())
    return wrong(fmt::format("TUTTI_FAULT: there is no fault point \"{}\"", id),
                 fmt::format("there are {}", fmt::join(fault_points, " ")));
  const auto times = id.size() == fault.size() ? "1" : fault.substr(id.size() + 1);
  const bool is_number = !times.empty() && times.size() < 10
                         && times.find_first_not_of('0') != times.npos
                         && times.find_first_not_of("0123456789") == times.npos;
  if (!is_number)
    return wrong(fmt::format("TUTTI_FAULT: \"{}\" is no number of passes", times),
                 "ID or ID:N, for example TUTTI_FAULT=C4:20");
  return {};
}

base::result<void> check_budget(const local_options& how) {
  if (how.burst > 0 && how.qps == 0)
    return wrong("--burst needs --qps", "without a number of writes per second there is no limit");
  return {};
}

/// Who speaks by way of a bridge has neither credentials nor a budget of its own.
base::result<void> check_bridged(const local_options& how) {
  if (how.replica.bridge.empty())
    return {};
  return excludes("--bridge",
                  {{"--kubeconfig", !how.elsewhere.kubeconfig.empty()},
                   {"--context", !how.elsewhere.context.empty()},
                   {"--qps", how.qps != 0}},
                  "the bridge has the connection to the API server: give it to `tutti bridge`");
}

base::result<void> in(const char* flag, base::result<void> x) {
  return x ? x : x.error().in(flag);
}

} // namespace

base::result<void> check_address(const std::string& text) {
  if (text.empty())
    return {};
  auto read = actors::parse_host_port(text);
  return read ? base::result<void>{} : read.error();
}

base::result<void> check_levels(const std::vector<std::string>& levels) {
  std::set<std::string> seen;
  for (const auto& key : levels)
    if (key.empty() || !seen.insert(key).second)
      return wrong(key.empty() ? "a label key is empty" : fmt::format("{} stands there twice", key),
                   "for example topology.kubernetes.io/zone,example.com/rack");
  return {};
}

base::result<void> check_local(const local_options& how, const std::string& fault) {
  for (const auto& found :
       {check_fault(fault), check_server(how.elsewhere.server),
        in("--listen", check_address(how.listen)), in("--admin", check_address(how.admin)),
        check_combination(how), in("--topology", check_levels(how.levels)), check_budget(how),
        check_bridged(how), check_replica(how.replica)})
    if (!found)
      return found;
  return {};
}

/// The API server takes its port after it has opened its store; so the port is tried before.
base::result<void> try_listen(const local_options& how) {
  if (how.listen.empty())
    return {};
  const auto where = actors::parse_host_port(how.listen);
  if (!where)
    return where.error().in("--listen");
  auto nobody = [](const std::string&, const std::string& target) {
    return actors::answer_starting(target);
  };
  auto tried = actors::http_listener::open(where->host, where->port, nobody);
  return tried ? base::result<void>{} : tried.error().in("--listen");
}

/// Whoever reaches an address of ours may read all and change everything.
void warn_of_strangers(const local_options& how) {
  for (const auto& [flag, text] : {std::pair{"--listen", how.listen}, {"--admin", how.admin}}) {
    const auto where = actors::parse_host_port(text);
    if (text.empty() || !where || actors::is_loopback(where->host))
      continue;
    print_warning({code::bad_input,
                   fmt::format("{} {}: other machines can reach this address, and nobody is asked "
                               "who they are: there is no authentication",
                               flag, text),
                   "listen on 127.0.0.1, and let others in through a proxy that knows them"});
  }
}

} // namespace tutti::cli
