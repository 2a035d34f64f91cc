// Beginnings and ends: the process, its roles, and what a death leaves behind.
#include <algorithm>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "bridge/binder_role.hpp"
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

protocol::role_ptr make_role(const address& where, bool fast_path) {
  switch (where.kind) {
  case role_kind::node:
    return std::make_unique<shards::node_role>(base::node_uid{where.key});
  case role_kind::shard:
    return std::make_unique<shards::shard_role>(shards::shard_role::options{
        .shard = {where.index}, .shards = shards, .fast_path = fast_path});
  case role_kind::partition:
    return std::make_unique<protocol::partition_role>(
        protocol::partition_role::options{{where.index}, shards});
  case role_kind::gang:
    return std::make_unique<protocol::gang_role>(
        protocol::gang_role::options{.fast_path = fast_path,
                                     .writes_pod_events = false,
                                     .writes_gang_events = false,
                                     .started_condition = {}});
  case role_kind::binder:
    return std::make_unique<bridge::binder_role>();
  case role_kind::topology:
  case role_kind::planner:
  case role_kind::queue:
  case role_kind::preemption:
  case role_kind::mirror:
  case role_kind::evictor:
  case role_kind::status:
  case role_kind::admin:
  case role_kind::keeper:
  case role_kind::decisions:
    break;
  }
  ensure(false, protocol::to_text(where));
  return nullptr;
}

} // namespace

world::world(options how) : how_(how) {
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
  try_gang();
}

// ---------------------------------------------------------------- beginnings

void world::begin_process(persistence::disk on) {
  log_ = std::make_shared<const log>(std::move(on));
  auto found_there = log_->found();
  last_life_ = found_there.last_incarnation;
  const auto partition = protocol::to_partition(the_scene().partition);
  for (const auto& where : {protocol::to_shard({0}), protocol::to_shard({1}),
                            protocol::to(role_kind::binder), partition}) {
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
void world::found(const address& where, persistence::recovered_role left,
                  base::incarnation_no life) {
  auto role = make_role(where, how_.fast_path);
  if (!left.left.checkpoint.empty()) {
    const auto ok = role->restore(left.left.checkpoint);
    ensure(ok.has_value(), ok.error().message());
  }
  const auto hash = role->state_hash();
  roles_[where] = {std::move(role), life, hash};
  for (auto& [index, record] : left.left.records)
    give(where, protocol::replayed{std::move(record)});
  protocol::started begin{.epoch = {1}, .incarnation = life, .seed = seed};
  if (where.kind == role_kind::partition) {
    begin.epoch = left.epoch;
    begin.open = std::move(left.decisions);
  }
  give(where, begin);
}

/// As the supervisor does after an actor's death: nothing of the dead life gets into the store any
/// more, and a partition's new epoch is durable before its log is read.
void world::make_anew(const address& where) {
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

void world::end_role(const address& where) {
  roles_.erase(where);
  std::erase_if(timers_, [&](const auto& t) { return t.of == where; });
}

void world::lose_mailbox(const address& of) {
  std::erase_if(under_way_, [&](const auto& x) {
    return x->to == of && is_ordered(*x) && x->what != item::kind::word;
  });
}

void world::kill(const address& where) {
  begin_step();
  die(where);
}

/// What is under way between processes outlives a role; what stands in a mailbox does not.
void world::die(const address& where) {
  had_death_ = true;
  if (where.kind == role_kind::partition || where.kind == role_kind::gang)
    had_new_coordinator_ = true;
  const auto bury = [this](const address& x) {
    lose_mailbox(x);
    end_role(x);
  };
  const auto parent_hears = [&](const address& parent) {
    bury(where);
    if (const auto pos = roles_.find(parent); pos != roles_.end())
      word_to(parent, pos->second.incarnation, protocol::child_died{where});
  };
  switch (where.kind) {
  case role_kind::node:
    parent_hears(protocol::to_shard({node_number(where.key)}));
    return;
  case role_kind::gang:
    parent_hears(protocol::to_partition(the_scene().partition));
    return;
  case role_kind::partition:
    bury(protocol::to_gang(the_scene().gang));
    begun_ = {};
    break;
  case role_kind::shard:
    bury(protocol::to_node(the_scene().nodes.at(where.index)->uid));
    break;
  case role_kind::binder:
    orphan_requests(where);
    break;
  case role_kind::topology:
  case role_kind::planner:
  case role_kind::queue:
  case role_kind::preemption:
  case role_kind::mirror:
  case role_kind::evictor:
  case role_kind::status:
  case role_kind::admin:
  case role_kind::keeper:
  case role_kind::decisions:
    ensure(false, protocol::to_text(where));
  }
  bury(where);
  make_anew(where);
}

/// A request that has left may arrive long after its sender's death. Reads have no effect: they are
/// forgotten.
void world::orphan_requests(const address& of) {
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

/// Time begins anew with the process: nothing of it is durable.
void world::crash(std::size_t kept) {
  begin_step();
  const auto before = log_;
  std::erase_if(under_way_, [](const auto& x) { return x->what != item::kind::request; });
  orphan_requests(protocol::to(role_kind::binder));
  roles_.clear();
  timers_.clear();
  now_ = {};
  begun_ = {};
  is_trying_ = false;
  failed_ = 1; // the queue keeps its back-offs: whoever fails now waits
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
