// Beginnings and ends: the process, its roles, and what a death leaves behind.
#include <algorithm>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "bridge/binder_role.hpp"
#include "bridge/decisions_role.hpp"
#include "bridge/evictor_role.hpp"
#include "chaos/small/world.hpp"
#include "protocol/gang_role.hpp"
#include "protocol/partition_role.hpp"
#include "shards/node_role.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos::small {

using protocol::address;
using protocol::role_kind;

namespace {

constexpr std::uint64_t seed = 1;

/// As `actors/wiring` makes them: with objects there are others. Only a shard's beat is left out,
/// for nobody here reads its view.
protocol::role_ptr make_role(const place& where, const world::options& how) {
  const bool has_others = how.log == log_kind::objects;
  switch (where.kind) {
  case role_kind::node:
    return std::make_unique<shards::node_role>(base::node_uid{where.key});
  case role_kind::shard:
    return std::make_unique<shards::shard_role>(shards::shard_role::options{
        .shard = {where.index}, .shards = shards, .fast_path = how.fast_path});
  case role_kind::partition:
    return std::make_unique<protocol::partition_role>(
        protocol::partition_role::options{{where.index}, shards, has_others});
  case role_kind::gang:
    return std::make_unique<protocol::gang_role>(
        protocol::gang_role::options{.fast_path = how.fast_path,
                                     .asks_by_shard = has_others,
                                     .reads_map = has_others,
                                     .writes_pod_events = false,
                                     .writes_gang_events = false,
                                     .started_condition = {}});
  case role_kind::binder:
    return std::make_unique<bridge::binder_role>();
  case role_kind::evictor:
    return std::make_unique<bridge::evictor_role>(bridge::evictor_role::options{});
  case role_kind::topology:
  case role_kind::planner:
  case role_kind::queue:
  case role_kind::preemption:
  case role_kind::mirror:
  case role_kind::status:
  case role_kind::admin:
  case role_kind::keeper:
    break;
  case role_kind::decisions:
    return std::make_unique<bridge::decisions_role>(bridge::decisions_role::options{
        .roots = {"scheduling.k8s.io/v1beta1"}, .has_others = true});
  }
  ensure(false, to_text(where));
  return nullptr;
}

} // namespace

world::world(options how)
    : how_(how),
      api_(how.gangs, how.has_victim ? the_scene().nodes[node_of_victim]->name.value : "") {
  ensure(!has_objects() || !how_.fast_path); // its records ride on a batch of the store
  ensure(how_.gangs == 1 || how_.gangs == gangs_most, how_.gangs);
  if (has_objects())
    begin_processes();
  else
    begin_process({});
  while (!is_quiet()) // in the order in which it is said: it comes to rest before anything counts
    for (std::size_t n = 0; n < under_way_.size(); ++n)
      if (is_deliverable(n)) {
        deliver(n);
        break;
      }
  ensure(!broken_ && timers_.empty(), timers_.size());
  begin_step();
  is_open_ = true;
  for (auto& q : queues_)
    q.failed.fill(how_.lost_before);
  try_all(0);
}

// ---------------------------------------------------------------- beginnings

void world::begin_process(persistence::disk on) {
  log_ = std::make_shared<const log>(std::move(on));
  auto found_there = log_->found();
  last_life_ = found_there.last_incarnation;
  queues_[0].has_partition = true;
  const auto partition = protocol::to_partition(the_scene().partition);
  std::vector<address> all{protocol::to_shard({0}), protocol::to_shard({1}),
                           protocol::to(role_kind::binder)};
  if (how_.has_victim)
    all.push_back(protocol::to(role_kind::evictor));
  all.push_back(partition);
  for (const auto& where : all) {
    persistence::recovered_role left{std::move(found_there.roles[where]), {}, {}};
    if (where == partition) {
      left.decisions = std::move(found_there.decisions);
      left.epoch.value = found_there.partition_epochs[where.index].value + 1;
    }
    found(where, std::move(left), {++last_life_.value});
  }
}

/// A process that begins anew has its views before anything else happens in it. What a shard does
/// without one is tried where a shard alone dies: in both cases at once it would be most of what
/// there is to try.
void world::see_everything() {
  const auto is_view = [](const item& x) {
    const auto a = x.from.kind;
    const auto b = x.to.kind;
    return x.what == item::kind::list || (a == role_kind::shard && b == role_kind::node)
           || (a == role_kind::node && b == role_kind::shard);
  };
  for (std::size_t n = 0; n < under_way_.size();)
    if (is_view(*under_way_[n])) {
      hear(n);
      n = 0;
    } else {
      ++n;
    }
}

/// As the supervisor brings up a role: checkpoint, records, `started`.
void world::found(const place& where, persistence::recovered_role left, base::incarnation_no life) {
  auto role = make_role(where, how_);
  if (!left.left.checkpoint.empty()) {
    const auto ok = role->restore(left.left.checkpoint);
    ensure(ok.has_value(), ok.error().message());
  }
  const auto hash = role->state_hash();
  roles_[where] = {std::move(role), life, hash};
  for (auto& [index, record] : left.left.records)
    give(where, protocol::replayed{std::move(record)});
  protocol::started begin{.epoch = {1}, .incarnation = life, .seed = seed};
  if (where.kind == role_kind::partition || left.epoch.value > 0) {
    begin.epoch = left.epoch;
    begin.open = std::move(left.decisions);
    begin.is_takeover = has_objects();
  }
  give(where, begin);
}

/// As the supervisor does after an actor's death: nothing of the dead life gets into the store any
/// more, and a partition's new epoch is durable before its log is read.
void world::make_anew(const place& where) {
  for (std::size_t unit = 0; unit < units && has_objects(); ++unit)
    if (place{address_of(unit), where.in} == where) {
      if (map_[unit].in == where.in) // else it has ended: its successor lives elsewhere
        begin_anew(unit, {});
      return;
    }
  if (has_objects()) {
    found(where, {}, {++last_life_.value});
    return;
  }
  const base::incarnation_no life{++last_life_.value};
  const auto read = [&] {
    auto found_there = submit(persistence::recover_request{where});
    ensure(found_there.has_value());
    return std::get<persistence::recovered_role>(std::move(*found_there));
  };
  ensure(submit(persistence::retire_request{where, life}).has_value());
  auto left = read();
  if (where.kind == role_kind::partition) {
    const base::epoch_no epoch{left.epoch.value + 1};
    ensure(
        submit(persistence::append_request{where, life, protocol::life_record{epoch, life}, true})
            .has_value());
    left = read();
  }
  found(where, std::move(left), life);
}

// ---------------------------------------------------------------- ends

/// Beside others the log's role forgets what an actor has asked that has ended.
void world::end_role(const place& where) {
  const bool was_there = roles_.erase(where) > 0;
  std::erase_if(timers_, [&](const auto& t) { return t.of == where; });
  const bool may_decide = where.kind == role_kind::partition || where.kind == role_kind::gang;
  const place decisions{protocol::to(role_kind::decisions), where.in};
  if (has_objects() && was_there && may_decide && roles_.contains(decisions))
    give(decisions, protocol::child_died{where});
}

void world::bury(const place& where) {
  lose_mailbox(where);
  end_role(where);
}

void world::lose_mailbox(const place& of) {
  std::erase_if(under_way_, [&](const auto& x) {
    return x->to == of && is_ordered(*x) && x->what != item::kind::word;
  });
}

void world::kill(const place& where) {
  begin_step();
  die(where);
}

/// What is under way between processes outlives a role; what stands in a mailbox does not.
void world::die(const place& where) {
  had_death_ = true;
  if (where.kind == role_kind::partition || where.kind == role_kind::gang)
    had_new_coordinator_ = true;
  const auto child = [&where](const address& x) { return place{x, where.in}; };
  const auto parent_hears = [&](const place& parent) {
    bury(where);
    if (const auto pos = roles_.find(parent); pos != roles_.end())
      word_to(parent, pos->second.incarnation, protocol::child_died{where});
  };
  switch (where.kind) {
  case role_kind::node:
    parent_hears(child(protocol::to_shard({node_number(where.key)})));
    return;
  case role_kind::gang:
    parent_hears(child(protocol::to_partition(the_scene().partition)));
    return;
  case role_kind::partition:
    for (const auto& gang : the_scene().gangs)
      bury(child(protocol::to_gang(gang)));
    begun_ = {};
    break;
  case role_kind::shard:
    if (has_objects())
      note_lost_promises(where);
    bury(child(protocol::to_node(the_scene().nodes.at(where.index)->uid)));
    break;
  case role_kind::binder:
  case role_kind::evictor:
  case role_kind::decisions:
    orphan_requests(where);
    break;
  case role_kind::topology:
  case role_kind::planner:
  case role_kind::queue:
  case role_kind::preemption:
  case role_kind::mirror:
  case role_kind::status:
  case role_kind::admin:
  case role_kind::keeper:
    ensure(false, to_text(where));
  }
  bury(where);
  make_anew(where);
  if (where.kind == role_kind::decisions)
    lists_are_lost(where.in);
}

/// A request that has left may arrive long after its sender's death. Reads have no effect: they are
/// forgotten.
void world::orphan_requests(const place& of) {
  std::vector<item> orphans;
  for (const auto& x : under_way_)
    if (x->what == item::kind::request && (x->is_orphan || x->from == of)
        && x->request.method != "GET")
      orphans.push_back(*x);
  std::erase_if(under_way_, [&](const auto& x) {
    return x->what == item::kind::request && (x->is_orphan || x->from == of);
  });
  for (auto& x : orphans) {
    x.is_orphan = true;
    put(std::move(x));
  }
}

/// Time begins anew with the process: nothing of it is durable. The queue keeps its back-offs:
/// whoever fails now waits.
void world::crash(std::size_t kept) {
  begin_step();
  const auto before = log_;
  std::erase_if(under_way_, [](const auto& x) {
    return x->what != item::kind::request && x->what != item::kind::departure;
  });
  orphan_requests(protocol::to(role_kind::binder));
  orphan_requests(protocol::to(role_kind::evictor));
  roles_.clear();
  timers_.clear();
  now_ = {};
  begun_ = {};
  end_queue(0, 1);
  queues_[0].has_partition = true;
  begin_process(how_.has_lying_disk ? before->first() : before->crash(kept));
  see_everything();
  judge_store(*before);
}

void world::crash_in_snapshot(std::uint32_t shard, bool is_whole) {
  if (is_whole) {
    const auto where = protocol::to_shard({shard});
    const auto written = submit(
        persistence::checkpoint_request{where, log_->all().ends.last, find(where)->snapshot()});
    ensure(written.has_value(), written.error().message());
  }
  crash(log_->at_risk());
  passed_.insert(passed_.begin(), "P8");
}

} // namespace tutti::chaos::small
