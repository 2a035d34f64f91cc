// Which roles there are, how each is made, and in what order they begin.
#include "actors/wiring.hpp"

#include <utility>

#include "api/dialect.hpp"
#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "bridge/binder_role.hpp"
#include "bridge/decisions_role.hpp"
#include "bridge/evictor_role.hpp"
#include "bridge/keeper_role.hpp"
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

/// Empty where groups are no objects.
std::string group_api_version(const scheduler_options& how) {
  return api::has_pod_groups(how.spoken) ? std::string{api::api_version_of(how.spoken)}
                                         : std::string{};
}

protocol::role_ptr make_queue(const scheduler_options& how) {
  queue::options o;
  o.schedulers = how.scheduler_names;
  o.group_condition = api::scheduled_condition_of(how.spoken);
  o.has_group_priorities = api::has_group_priorities(how.spoken);
  o.refuses_mixed_priorities = how.spoken >= api::dialect::v1alpha3; // from 1.37 on
  o.has_others = how.has_others();
  o.burst_pause = how.burst_pause;
  o.attempts_in_flight = how.attempts_in_flight;
  o.repair_deadline = how.repair_deadline;
  o.evicts_degraded = how.evicts_degraded;
  o.may_preempt = how.preemption.is_allowed;
  return std::make_unique<queue::queue_role>(o);
}

protocol::role_ptr make_mirror(const scheduler_options& how) {
  bridge::mirror_role::options o;
  o.shards = how.shards;
  o.levels = how.levels;
  o.scheduler_names = how.scheduler_names;
  o.spoken = how.spoken;
  o.streams_lists = !how.lists_plainly;
  o.has_others = how.has_others();
  o.watches_budgets = how.preemption.is_allowed;
  if (!how.exempt_pods.empty()) {
    auto exempt = api::parse_label_selector(how.exempt_pods);
    ensure(exempt.has_value(), how.exempt_pods); // checked where it was read
    o.exempt_pods = std::move(*exempt);
  }
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
  o.spoken = how.spoken;
  o.wall_at_zero = wall_at_zero;
  return std::make_unique<bridge::status_role>(o);
}

protocol::role_ptr make_keeper(const scheduler_options& how, base::wall_time wall_at_zero) {
  return std::make_unique<bridge::keeper_role>(
      bridge::keeper_role::options{.replica = how.replica,
                                   .holder = how.replica + "_" + how.process,
                                   .link = how.link,
                                   .times = how.lease,
                                   .shards = how.shards,
                                   .partitions = base::limits::partitions,
                                   .wall_at_zero = wall_at_zero});
}

} // namespace

bool is_shared_out(const protocol::address& where) {
  return where.kind == role_kind::shard || where.kind == role_kind::partition;
}

bool keeps_checkpoints(const protocol::address& where) {
  return where.kind == role_kind::shard || where.kind == role_kind::queue;
}

founding::founding(scheduler_options how, base::wall_time wall_at_zero)
    : how_(std::move(how)), wall_at_zero_(wall_at_zero),
      board_(std::make_shared<placement::search_board>()) {}

std::vector<protocol::address> founding::all() const {
  std::vector<protocol::address> out;
  for (std::uint32_t s = 0; s < how_.shards && !how_.has_others(); ++s)
    out.push_back(protocol::to_shard({s}));
  out.push_back(to(role_kind::topology));
  for (std::uint32_t p = 0; p < how_.planners; ++p)
    out.push_back({role_kind::planner, p, {}});
  for (auto kind : {role_kind::preemption, role_kind::queue, role_kind::binder, role_kind::evictor,
                    role_kind::status})
    out.push_back(to(kind));
  if (how_.log == decision_log::objects)
    out.push_back(to(role_kind::decisions));
  for (std::uint32_t p = 0; p < base::limits::partitions && !how_.has_others(); ++p)
    out.push_back(protocol::to_partition({p}));
  out.push_back(to(role_kind::mirror));
  if (how_.has_others())
    out.push_back(to(role_kind::keeper));
  return out;
}

founder founding::make(const protocol::address& where) const {
  auto role = make_role(where);
  ensure(role != nullptr, protocol::to_text(where));
  if (how_.has_others() && is_shared_out(where))
    return {where, std::move(role), false, false};
  return {where, std::move(role), keeps_checkpoints(where), true};
}

protocol::role_ptr founding::make_role(const protocol::address& where) const {
  switch (where.kind) {
  case role_kind::shard:
    return std::make_unique<shards::shard_role>(
        shards::shard_role::options{.shard = {where.index},
                                    .shards = how_.shards,
                                    .fast_path = how_.fast_path,
                                    .has_others = how_.has_others()});
  case role_kind::topology:
    return std::make_unique<placement::topology_role>(
        placement::topology_options{how_.levels, how_.shards, how_.planners, board_});
  case role_kind::planner:
    return std::make_unique<placement::planner_role>(
        placement::planner_options{board_, how_.shards});
  case role_kind::preemption:
    return std::make_unique<placement::preemption_role>(
        placement::preemption_role::options{.how = how_.preemption,
                                            .board = board_,
                                            .shards = how_.shards,
                                            .wall_at_zero = wall_at_zero_});
  case role_kind::queue:
    return make_queue(how_);
  case role_kind::binder:
    return std::make_unique<bridge::binder_role>(how_.bindings_in_flight);
  case role_kind::evictor:
    return make_evictor(how_, wall_at_zero_);
  case role_kind::status:
    return make_status(how_, wall_at_zero_);
  case role_kind::partition:
    return std::make_unique<protocol::partition_role>(protocol::partition_role::options{
        {where.index}, how_.shards, how_.log == decision_log::objects});
  case role_kind::mirror:
    return make_mirror(how_);
  case role_kind::keeper:
    return make_keeper(how_, wall_at_zero_);
  case role_kind::node:
  case role_kind::gang:
  case role_kind::admin:
    return nullptr;
  case role_kind::decisions:
    return std::make_unique<bridge::decisions_role>(bridge::decisions_role::options{
        .roots = {group_api_version(how_)}, .has_others = how_.has_others()});
  }
  return nullptr;
}

std::vector<founder> make_founders(const scheduler_options& how, base::wall_time wall_at_zero) {
  const founding all{how, wall_at_zero};
  std::vector<founder> out;
  for (const auto& where : all.all())
    out.push_back(all.make(where));
  return out;
}

protocol::role_ptr make_hosted_role(const protocol::address& where, const scheduler_options& how) {
  if (where.kind == role_kind::node)
    return std::make_unique<shards::node_role>(base::node_uid{where.key});
  if (where.kind == role_kind::gang)
    return std::make_unique<protocol::gang_role>(protocol::gang_role::options{
        .fast_path = how.fast_path,
        .asks_by_shard = how.has_others(),
        .reads_map = how.has_others(),
        .writes_pod_events = how.writes_pod_events,
        .writes_step_events = how.writes_step_events,
        .repair_deadline = how.repair_deadline,
        .started_condition = std::string{api::scheduled_condition_of(how.spoken)}});
  return nullptr;
}

} // namespace tutti::actors
