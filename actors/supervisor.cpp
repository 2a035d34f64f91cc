// Deaths, restarts and quarantine: who is told, who is waited for, who is made anew.
#include "actors/supervisor.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <caf/all.hpp>
#include <fmt/core.h>

#include "actors/job.hpp"
#include "actors/log_reader.hpp"
#include "actors/role_actor.hpp"
#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "protocol/sharding.hpp"

namespace tutti::actors {

namespace {

/// Restoring a role takes milliseconds: neither the store's thread nor a dying actor may do it.
caf::behavior builder(caf::event_based_actor* self, services* around) {
  self->set_exception_handler([around](std::exception_ptr&) -> caf::error {
    around->fatal({base::code::internal, "a role could not be made anew",
                   "restart the scheduler; if it comes again, report it"});
    return caf::exit_reason::unhandled_exception;
  });
  return {[](const job& what) { (*what)(); }};
}

void kill(const caf::actor& who) {
  caf::anon_send_exit(who, caf::exit_reason::kill);
}

} // namespace

supervisor::supervisor(services& around, caf::actor_system& system, founder_maker make,
                       base::incarnation_no last)
    : around_(around), system_(system), make_(std::move(make)),
      builder_(system.spawn(builder, &around)), last_(last) {}

// ---------------------------------------------------------------- bringing up

base::result<void> supervisor::found(const protocol::address& where,
                                     persistence::recovered_role left) {
  base::incarnation_no incarnation;
  {
    const std::lock_guard lock{mutex_};
    incarnation = {++last_.value};
  }
  if (!base::is_planted(base::mutant::reuse_epoch) || left.epoch.value == 0)
    ++left.epoch.value;
  return begin_life(where, incarnation, std::move(left));
}

/// Upholds S11: what a role knows when it begins is a function of what is durable.
base::result<void> supervisor::begin_life(const protocol::address& where,
                                          base::incarnation_no incarnation,
                                          persistence::recovered_role left) {
  auto f = make_(where);
  ensure(f.where == where, protocol::to_text(where));
  if (!left.left.checkpoint.empty())
    if (auto ok = f.role->restore(left.left.checkpoint); !ok)
      return ok.error().in("checkpoint of " + protocol::to_text(where));
  std::vector<protocol::event> first;
  for (auto& [index, record] : left.left.records)
    first.push_back(protocol::replayed{std::move(record)});
  if (base::is_planted(base::mutant::drop_last_record) && !first.empty())
    first.pop_back();
  protocol::started begin{.epoch = {1}, .incarnation = incarnation, .seed = around_.seed};
  if (where.kind == protocol::role_kind::partition) {
    begin.epoch = left.epoch;
    begin.open = std::move(left.decisions);
  } else if (!left.decisions.empty()) {
    ensure(where.kind == protocol::role_kind::shard, protocol::to_text(where));
    begin.open = std::move(left.decisions);
  }
  begin.is_takeover = around_.list_log && begins_with_log(where);
  const auto applied =
      left.left.records.empty() ? left.left.applied : left.left.records.back().first;
  const std::lock_guard lock{mutex_};
  begin.quarantined = quarantined_in(where);
  first.push_back(std::move(begin));
  if (!is_resting_)
    spawn(std::move(f), incarnation, {}, applied, std::move(first));
  return {};
}

void supervisor::bring_up(const protocol::address& where, base::incarnation_no parent) {
  auto role = around_.make_role(where);
  ensure(role != nullptr, protocol::to_text(where));
  const std::lock_guard lock{mutex_};
  const auto host = lives_.find(parent);
  if (is_over_ || host == lives_.end())
    return;
  if (where.kind == protocol::role_kind::node)
    around_.routes.put_parent(where, host->second.where);
  const base::incarnation_no incarnation{++last_.value};
  protocol::started first{.epoch = {1}, .incarnation = incarnation, .seed = around_.seed};
  spawn({where, std::move(role), false}, incarnation, parent, 0,
        {protocol::event{std::move(first)}});
}

void supervisor::spawn(founder who, base::incarnation_no incarnation, base::incarnation_no parent,
                       persistence::journal_index applied, std::vector<protocol::event> first) {
  const auto where = who.where;
  auto actor =
      system_.spawn<role_actor>(&around_, std::move(who.role),
                                role_actor::options{where, incarnation, who.keeps_checkpoints,
                                                    applied, std::move(first), who.keeps_journal});
  auto& here = places_[where];
  if (const auto former = lives_.find(here.last); former != lives_.end())
    kill(former->second.who);
  lives_[incarnation] = {where, parent, actor};
  here.last = incarnation;
  here.has_begun = false;
  ++here.alive;
  around_.routes.put(where, std::move(actor));
  if (has_opened_ && here.alive == 1)
    begin(here);
}

void supervisor::begin(place& where) {
  ensure(!where.has_begun, where.last.value);
  where.has_begun = true;
  caf::anon_send(lives_.at(where.last).who, make_mail(actors::begin{}));
}

/// In the order in which they were founded.
void supervisor::begin_all() {
  const std::lock_guard lock{mutex_};
  has_opened_ = true;
  for (const auto& [incarnation, x] : lives_)
    begin(places_.at(x.where));
}

// ---------------------------------------------------------------- ends

void supervisor::ended(base::incarnation_no who, const std::optional<std::string>& why) {
  std::optional<protocol::address> to_rebuild;
  std::optional<base::error> failure;
  {
    const std::lock_guard lock{mutex_};
    const auto pos = lives_.find(who);
    ensure(pos != lives_.end(), who.value);
    const auto x = std::move(pos->second);
    lives_.erase(pos);
    if (around_.own)
      tell_end(x.where);
    const bool was_last = leave_place(x, who);
    to_rebuild = children_are_gone(x, who);
    const bool is_orphan = x.parent.value != 0 && !lives_.contains(x.parent);
    const bool is_expected = is_let_go(x, who);
    if (is_expected) // whoever it still hosted after it was let go
      for (const auto& [incarnation, child] : lives_)
        if (child.parent == who)
          kill(child.who);
    if (why && was_last && !is_resting_ && !is_orphan && !is_expected) {
      around_.notes.record(x.where, protocol::note{"actor.died", {{"why", *why}}, true},
                           around_.clock.now(), around_.clock.wall_now());
      if (may_restart(x, who))
        to_rebuild = bury(x, who);
      else
        failure =
            base::error{base::code::internal,
                        fmt::format("{} has died {} times in {} seconds, the last time by: {}",
                                    protocol::to_text(x.where), restarts_max + 1,
                                    restart_window / std::chrono::seconds{1}, *why),
                        "restart the scheduler; if it comes again, report it with the output "
                        "of `tutti trace`"};
    }
    excused_.erase(who);
  }
  if (failure)
    around_.fatal(*failure);
  if (to_rebuild)
    read_again(*to_rebuild);
}

/// Several replicas: to whoever holds questions of it, or awaits its word. Behind its last word,
/// and before its successor's first.
void supervisor::tell_end(const protocol::address& where) {
  using protocol::role_kind;
  const bool may_decide = where.kind == role_kind::partition || where.kind == role_kind::gang;
  if (may_decide || where.kind == role_kind::shard)
    around_.routes.post(protocol::to(may_decide ? role_kind::decisions : role_kind::mirror),
                        make_mail(protocol::event{protocol::child_died{where}}));
}

/// True if nobody has taken the place since.
bool supervisor::leave_place(const life& x, base::incarnation_no who) {
  const auto pos = places_.find(x.where);
  ensure(pos != places_.end() && pos->second.alive > 0, protocol::to_text(x.where));
  auto& here = pos->second;
  const bool was_last = here.last == who;
  --here.alive;
  if (here.alive == 0)
    places_.erase(pos);
  else if (here.alive == 1 && !here.has_begun && lives_.contains(here.last))
    begin(here);
  return was_last;
}

/// The dead founder whose last child this was.
std::optional<protocol::address> supervisor::children_are_gone(const life& x,
                                                               base::incarnation_no who) {
  const auto pos = dead_.find(x.parent);
  if (pos == dead_.end() || pos->second.children.erase(who) == 0 || !pos->second.children.empty())
    return std::nullopt;
  auto where = std::move(pos->second.where);
  dead_.erase(pos);
  return where;
}

std::size_t supervisor::deaths_of(const protocol::address& where) {
  const auto now = around_.clock.now();
  auto& times = deaths_[where];
  while (!times.empty() && times.front() + restart_window <= now)
    times.pop_front();
  times.push_back(now);
  return times.size();
}

/// A gang that kills its actor is not to take the process with it, nor the partition that dies
/// after it: that one is not counted, and does not host the gang again once it is quarantined.
bool supervisor::may_restart(const life& x, base::incarnation_no who) {
  if (x.where.kind == protocol::role_kind::gang) {
    excused_.insert(x.parent);
    if (deaths_of(x.where) >= gang_deaths_max && quarantined_.insert({x.where.key}).second)
      around_.notes.record(x.where, protocol::note{"gang.quarantined", {}, true},
                           around_.clock.now(), around_.clock.wall_now());
    return true;
  }
  return excused_.contains(who) || deaths_of(x.where) <= restarts_max;
}

std::vector<base::gang_uid> supervisor::quarantined_in(const protocol::address& where) const {
  std::vector<base::gang_uid> out;
  for (const auto& gang : quarantined_)
    if (protocol::to_partition(protocol::partition_of(gang)) == where)
      out.push_back(gang);
  return out;
}

/// What the gang had decided is read from the log by the new life, and carried on.
bool supervisor::free_gang(const base::gang_uid& gang) {
  const std::lock_guard lock{mutex_};
  if (quarantined_.erase(gang) == 0)
    return false;
  deaths_.erase(protocol::to_gang(gang));
  around_.notes.record(protocol::to_gang(gang), protocol::note{"gang.freed", {}},
                       around_.clock.now(), around_.clock.wall_now());
  const auto here = places_.find(protocol::to_partition(protocol::partition_of(gang)));
  if (here == places_.end())
    return true; // it is being made anew, and will be told nothing of the gang
  excused_.insert(here->second.last);
  kill(lives_.at(here->second.last).who);
  return true;
}

/// A child's parent is told; a founder's children are ended, and it is made anew after them.
std::optional<protocol::address> supervisor::bury(const life& x, base::incarnation_no who) {
  if (x.parent.value != 0) {
    caf::anon_send(lives_.at(x.parent).who,
                   make_mail(protocol::event{protocol::child_died{x.where}}));
    return std::nullopt;
  }
  bereaved left{x.where, {}};
  for (const auto& [incarnation, child] : lives_)
    if (child.parent == who) {
      left.children.insert(incarnation);
      kill(child.who);
    }
  if (left.children.empty())
    return x.where;
  dead_.emplace(who, std::move(left));
  return std::nullopt;
}

// ---------------------------------------------------------------- what several replicas share out

/// Not a word to anybody: whoever else owns it now was told by the map.
void supervisor::begin_owned(const protocol::address& where, base::epoch_no epoch,
                             std::vector<protocol::decision_ptr> open) {
  auto who = make_(where);
  ensure(who.where == where, protocol::to_text(where));
  protocol::started first{.epoch = epoch,
                          // No other life of it has this epoch, on whichever replica.
                          .incarnation = {epoch.value},
                          .seed = around_.seed,
                          .open = std::move(open),
                          .is_takeover = true};
  const std::lock_guard lock{mutex_};
  if (where.kind == protocol::role_kind::partition)
    first.quarantined = quarantined_in(where);
  if (!is_resting_)
    spawn(std::move(who), {++last_.value}, {}, 0, {protocol::event{std::move(first)}});
}

void supervisor::end_owned(const protocol::address& where) {
  const std::lock_guard lock{mutex_};
  const auto pos = places_.find(where);
  if (pos == places_.end() || !lives_.contains(pos->second.last))
    return;
  const auto last = pos->second.last;
  let_go_.insert(last);
  for (const auto& [incarnation, x] : lives_)
    if (incarnation == last || x.parent == last) {
      around_.routes.drop(x.where, x.who.address());
      kill(x.who);
    }
}

bool supervisor::is_let_go(const life& x, base::incarnation_no who) const {
  return let_go_.contains(who) || let_go_.contains(x.parent);
}

void supervisor::replace(const protocol::address& where) {
  auto who = make_(where);
  const std::lock_guard lock{mutex_};
  if (is_resting_)
    return;
  const base::incarnation_no incarnation{++last_.value};
  protocol::started first{.epoch = {1}, .incarnation = incarnation, .seed = around_.seed};
  spawn(std::move(who), incarnation, {}, 0, {protocol::event{std::move(first)}});
}

// ---------------------------------------------------------------- making anew

/// Nothing of the dead life and its children can reach the store any more when this is called. A
/// partition's new epoch is durable before its log is read (protocol/README.md, "Fast path").
void supervisor::read_again(const protocol::address& where) {
  if (around_.own && is_shared_out(where)) {
    around_.routes.post(protocol::to(protocol::role_kind::keeper),
                        make_mail(protocol::event{protocol::child_died{where}}));
    return;
  }
  base::incarnation_no incarnation;
  {
    const std::lock_guard lock{mutex_};
    if (is_resting_)
      return;
    incarnation = {++last_.value};
  }
  auto ignore = [](const base::result<persistence::outcome>&) {}; // the read after it says it all
  around_.store.submit(persistence::retire_request{where, incarnation}, ignore);
  if (where.kind != protocol::role_kind::partition) {
    read(where, [this, where, incarnation](auto left) {
      build_again(where, incarnation, std::move(left));
    });
    return;
  }
  read(where, [this, where, incarnation, ignore](auto left) {
    if (!left) {
      build_again(where, incarnation, std::move(left));
      return;
    }
    const base::epoch_no epoch{left->epoch.value + 1};
    around_.store.submit(persistence::append_request{where, incarnation,
                                                     protocol::life_record{epoch, incarnation},
                                                     true},
                         ignore);
    read(where, [this, where, incarnation](auto again) {
      build_again(where, incarnation, std::move(again));
    });
  });
}

/// Where the log is elsewhere, partitions and shards begin with what stands there.
supervisor::reader supervisor::with_listed(const protocol::address& where, reader then) {
  return [this, where, then = std::move(then)](base::result<persistence::recovered_role> left) {
    if (!left) {
      then(std::move(left));
      return;
    }
    around_.list_log([to = builder_, where, then, left = std::move(*left)](
                         const std::vector<protocol::decision_ptr>& all) mutable {
      add_log(where, all, left);
      caf::anon_send(to, std::make_shared<std::function<void()>>(
                             [then, left = std::move(left)] { then(left); }));
    });
  };
}

/// `then` runs on the builder's thread.
void supervisor::read(const protocol::address& where, reader then) {
  if (around_.list_log && begins_with_log(where))
    then = with_listed(where, std::move(then));
  around_.store.submit(
      persistence::recover_request{where},
      [to = builder_, then = std::move(then)](base::result<persistence::outcome> how) {
        auto found =
            how ? base::result<persistence::recovered_role>{std::get<persistence::recovered_role>(
                std::move(*how))}
                : base::result<persistence::recovered_role>{how.error()};
        caf::anon_send(to, std::make_shared<std::function<void()>>(
                               [then, found = std::move(found)] { then(found); }));
      });
}

void supervisor::build_again(const protocol::address& where, base::incarnation_no incarnation,
                             base::result<persistence::recovered_role> left) {
  if (!left) {
    around_.fatal(left.error().in("making " + protocol::to_text(where) + " anew"));
    return;
  }
  const auto records = static_cast<std::int64_t>(left->left.records.size());
  if (auto ok = begin_life(where, incarnation, std::move(*left)); !ok) {
    around_.fatal(ok.error());
    return;
  }
  around_.notes.record(
      where,
      protocol::note{
          "actor.made_anew",
          {{"incarnation", static_cast<std::int64_t>(incarnation.value)}, {"records", records}}},
      around_.clock.now(), around_.clock.wall_now());
}

// ---------------------------------------------------------------- the end

void supervisor::rest() {
  const std::lock_guard lock{mutex_};
  is_resting_ = true;
}

void supervisor::end_all() {
  const std::lock_guard lock{mutex_};
  is_resting_ = is_over_ = true;
  for (const auto& [incarnation, x] : lives_)
    kill(x.who);
  kill(builder_);
}

std::size_t supervisor::alive() const {
  const std::lock_guard lock{mutex_};
  return lives_.size();
}

} // namespace tutti::actors
