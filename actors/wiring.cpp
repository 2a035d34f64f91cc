#include "actors/wiring.hpp"

#include "api/dialect.hpp"
#include "base/limits.hpp"
#include "bridge/binder_role.hpp"
#include "bridge/evictor_role.hpp"
#include "bridge/mirror_role.hpp"
#include "bridge/status_role.hpp"
#include "placement/planner_role.hpp"
#include "placement/preemption_role.hpp"
#include "placement/topology_role.hpp"
#include "protocol/gang_role.hpp"
#include "protocol/partition_role.hpp"
#include "queue/queue_role.hpp"
#include "shards/node_role.hpp"
#include "shards/shard_role.hpp"

namespace tutti::actors {

namespace {

using protocol::role_kind;
using protocol::to;

bool is_before_1_37(const scheduler_options& how) {
  return how.kubernetes != "1.37";
}

/// Empty where groups are no objects.
std::string group_condition(const scheduler_options& how) {
  if (how.kubernetes == "1.35")
    return {};
  return is_before_1_37(how) ? "PodGroupScheduled" : "PodGroupInitiallyScheduled";
}

api::dialect dialect_of(const scheduler_options& how) {
  if (how.kubernetes == "1.35")
    return api::dialect::v1alpha1;
  return how.kubernetes == "1.36" ? api::dialect::v1alpha2 : api::dialect::v1beta1;
}

protocol::role_ptr make_queue(const scheduler_options& how) {
  queue::options o;
  o.schedulers = how.scheduler_names;
  o.group_condition = group_condition(how);
  o.refuses_mixed_priorities = !is_before_1_37(how);
  return std::make_unique<queue::queue_role>(o);
}

protocol::role_ptr make_mirror(const scheduler_options& how) {
  bridge::mirror_role::options o;
  o.shards = how.shards;
  o.levels = how.levels;
  o.scheduler_names = how.scheduler_names;
  o.spoken = dialect_of(how);
  o.streams_lists = !how.lists_plainly;
  return std::make_unique<bridge::mirror_role>(o);
}

protocol::role_ptr make_evictor(const scheduler_options& how, base::wall_time wall_at_zero) {
  bridge::evictor_role::options o;
  o.scheduler_name = how.scheduler_names.front();
  o.wall_at_zero = wall_at_zero;
  return std::make_unique<bridge::evictor_role>(o);
}

protocol::role_ptr make_status(const scheduler_options& how, base::wall_time wall_at_zero) {
  bridge::status_role::options o;
  o.scheduler_name = how.scheduler_names.front();
  o.spoken = dialect_of(how);
  o.wall_at_zero = wall_at_zero;
  return std::make_unique<bridge::status_role>(o);
}

/// The topology, the workers that take long searches off its hands, and the preemption coordinator.
void add_placement(std::vector<founder>& out, const scheduler_options& how) {
  auto board = std::make_shared<placement::search_board>();
  out.push_back({to(role_kind::topology),
                 std::make_unique<placement::topology_role>(
                     placement::topology_options{how.levels, how.shards, how.planners, board})});
  for (std::uint32_t p = 0; p < how.planners; ++p)
    out.push_back(
        {{role_kind::planner, p, {}},
         std::make_unique<placement::planner_role>(placement::planner_options{board, how.shards})});
  out.push_back({to(role_kind::preemption), std::make_unique<placement::preemption_role>()});
}

} // namespace

std::vector<founder> make_founders(const scheduler_options& how, base::wall_time wall_at_zero) {
  std::vector<founder> out;
  for (std::uint32_t s = 0; s < how.shards; ++s)
    out.push_back({protocol::to_shard({s}),
                   std::make_unique<shards::shard_role>(shards::shard_role::options{
                       .shard = {s}, .shards = how.shards, .fast_path = how.fast_path}),
                   true});
  add_placement(out, how);
  out.push_back({to(role_kind::queue), make_queue(how), true});
  out.push_back({to(role_kind::binder), std::make_unique<bridge::binder_role>()});
  out.push_back({to(role_kind::evictor), make_evictor(how, wall_at_zero)});
  out.push_back({to(role_kind::status), make_status(how, wall_at_zero)});
  for (std::uint32_t p = 0; p < base::limits::partitions; ++p)
    out.push_back(
        {protocol::to_partition({p}), std::make_unique<protocol::partition_role>(
                                          protocol::partition_role::options{{p}, how.shards})});
  out.push_back({to(role_kind::mirror), make_mirror(how)});
  return out;
}

protocol::role_ptr make_hosted_role(const protocol::address& where, const scheduler_options& how) {
  if (where.kind == role_kind::node)
    return std::make_unique<shards::node_role>(base::node_uid{where.key});
  if (where.kind == role_kind::gang)
    return std::make_unique<protocol::gang_role>(
        protocol::gang_role::options{.fast_path = how.fast_path,
                                     .writes_pod_events = how.writes_pod_events,
                                     .started_condition = group_condition(how)});
  return nullptr;
}

} // namespace tutti::actors
