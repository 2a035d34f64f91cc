// Stories on a live cluster: whose scheduler is asked, and what the cluster is.
#include <functional>
#include <memory>

#include <boost/json/object.hpp>
#include <fmt/core.h>

#include "api/dialect.hpp"
#include "cli/cluster_door.hpp"
#include "cli/daemon.hpp"
#include "cli/scenario_player.hpp"
#include "sim/scenario/live_runner.hpp"

namespace tutti::cli {

namespace {

namespace scenario = sim::scenario;

constexpr const char* our_name = "tutti";

/// A controller manager makes one in every namespace.
constexpr const char* made_by_controllers = "/api/v1/namespaces/default/serviceaccounts/default";

base::result<scenario::live_cluster> cluster_of(cluster_door& door, const std::string& scheduler) {
  const auto& facts = door.facts();
  const auto kubernetes = api::release_of(facts.kubernetes);
  if (!kubernetes)
    return base::error{base::code::bad_input,
                       fmt::format("{} is Kubernetes {}", door.name(), facts.kubernetes),
                       "scenarios are told for 1.35, 1.36 and 1.37"};
  if (const auto spoken = facts.spoken(); !spoken || spoken == api::dialect::own)
    return base::error{base::code::bad_input,
                       fmt::format("{} serves no groups of pods of its own", door.name()),
                       "scenarios need those of scheduling.k8s.io: see docs/start/cluster.md"};
  scenario::live_cluster out;
  out.kubernetes = *kubernetes;
  out.scheduler = scheduler.empty() ? our_name : scheduler;
  out.is_ours = out.scheduler == our_name;
  out.has_controllers = door.ask({.method = "GET", .target = made_by_controllers}).status == 200;
  return out;
}

/// Says whether the scheduler behind an admin address has nothing left to do. One that does not
/// answer has.
std::function<bool()> idle_asker(const std::string& server) {
  if (server.empty())
    return {};
  return [from = daemon_at(server)] {
    const auto said = from("/api/settled");
    const auto* settled = said ? said->if_contains("settled") : nullptr;
    return settled == nullptr || !settled->is_bool() || settled->get_bool();
  };
}

} // namespace

base::result<scenario_player> live_player(const scenario_options& how) {
  static const base::system_clock clock; // the door's threads may outlive whoever plays
  auto opened = cluster_door::open({.kubeconfig = how.kubeconfig, .context = how.context}, clock);
  if (!opened)
    return opened.error();
  const std::shared_ptr<cluster_door> door{std::move(*opened)};
  auto cluster = cluster_of(*door, how.scheduler);
  if (!cluster)
    return cluster.error();
  const scenario::live_options live{.cluster = std::move(*cluster),
                                    .times = {how.rest, how.patience, idle_asker(how.server)},
                                    .longest = how.longest,
                                    .among_others = how.among_others,
                                    .is_loose = how.is_loose};
  if (auto ok = scenario::look_before(*door, live); !ok)
    return ok.error();
  return scenario_player{[door, live](const scenario::story& what,
                                      const scenario::expected_failures& known) {
    // Others fail at other things.
    return scenario::run_live_story(what, *door, live,
                                    live.cluster.is_ours ? known : scenario::expected_failures{});
  }};
}

} // namespace tutti::cli
