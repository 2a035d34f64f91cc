// The beat of a replica: its Lease, a look at the others, the map; and its orderly end.
#include "bridge/keeper_role.hpp"

#include <algorithm>
#include <chrono>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "bridge/limits.hpp"
#include "bridge/verdicts.hpp"

namespace tutti::bridge {

using protocol::role_kind;

keeper_role::keeper_role(options o)
    : how_(std::move(o)), like_(empty_map(how_.shards, how_.partitions)),
      lease_(
          {.replica = how_.replica, .holder = how_.holder, .link = how_.link, .times = how_.times}),
      watch_(how_.times.duration) {
  ensure(how_.times.are_sound(), how_.replica);
  ensure(!how_.replica.empty());
  ensure(!how_.holder.empty(), how_.replica);
}

protocol::effects keeper_role::on(const protocol::event& e, base::time_point now) {
  ensure(now >= now_);
  now_ = now;
  out_ = {};
  if (is_over_)
    return {};
  if (const auto* x = std::get_if<protocol::started>(&e)) {
    seed_ = x->seed;
    beat();
  } else if (const auto* m = std::get_if<protocol::received>(&e)) {
    hear(*m);
  } else if (const auto* a = std::get_if<protocol::answered>(&e)) {
    on_answer(a->id, a->status, a->body);
  } else if (const auto* u = std::get_if<protocol::answer_unknown>(&e)) {
    on_answer(u->id, 0, {});
  } else if (const auto* died = std::get_if<protocol::child_died>(&e)) {
    // Whatever it had promised or begun is fenced by the next epoch.
    if (map_ && is_mine(died->where))
      anew_[died->where] = {map_->at(died->where).epoch.value + 1};
  } else if (const auto* t = std::get_if<protocol::timer_fired>(&e)) {
    if (t->timer.kind == beat_timer)
      beat();
    else if (t->timer.kind == stop_timer)
      is_stopping_ = true;
  }
  settle();
  return std::move(out_);
}

void keeper_role::beat() {
  for (auto which : {channel::lease, channel::list, channel::map}) {
    auto& x = open_[static_cast<std::size_t>(which)];
    if (x.id == 0 || now_ - x.asked < limits::keeper_patience)
      continue;
    out_.add(protocol::hang_up{std::exchange(x.id, 0)});
    on_answer(which, 0, {});
  }
  pump_lease();
  if (open_[static_cast<std::size_t>(channel::list)].id == 0 && !is_stopping_)
    ask(channel::list,
        {.method = "GET",
         .target = fmt::format("{}?labelSelector={}", leases_path(), "tutti.dev%2Freplica"),
         .body = {},
         .content_type = {}});
  must_read_ = true; // others change it, too
  if (listing_ && !listing_->said && now_ - listing_->asked >= limits::keeper_patience)
    listing_.reset(); // whoever was asked has died with the question
  out_.add(protocol::arm{{beat_timer, 0}, how_.times.renewal});
}

void keeper_role::ask(channel which, protocol::http_request what) {
  auto& x = open_[static_cast<std::size_t>(which)];
  ensure(x.id == 0, what.target);
  what.is_urgent = true; // few, and all else waits for them
  x = {++last_id_, now_};
  out_.add(protocol::exchange{x.id, std::move(what)});
}

void keeper_role::on_answer(std::uint64_t id, int status, const std::string& body) {
  for (auto which : {channel::lease, channel::list, channel::map})
    if (auto& x = open_[static_cast<std::size_t>(which)]; x.id == id && id != 0) {
      x.id = 0;
      on_answer(which, status, body);
      return;
    }
}

void keeper_role::on_answer(channel which, int status, const std::string& body) {
  switch (which) {
  case channel::lease:
    if (lease_.answer(status, body, now_))
      pump_lease();
    return;
  case channel::list:
    if (judge(operation::read, status, body) == verdict::done)
      watch_.take(body, open_[static_cast<std::size_t>(which)].asked, now_);
    return;
  case channel::map:
    on_map_answer(status, body);
    return;
  }
}

void keeper_role::pump_lease() {
  if (auto what = lease_.next(now_, wall_now()))
    ask(channel::lease, std::move(*what));
}

void keeper_role::hear(const protocol::received& x) {
  if (const auto* wanted = std::get_if<protocol::map_wanted>(&x.what)) {
    waiting_.push_back({x.from, wanted->attempt});
  } else if (const auto* told = std::get_if<protocol::slots_told>(&x.what)) {
    hear(*told);
  } else if (const auto* higher = std::get_if<protocol::new_epoch>(&x.what)) {
    const auto unit = protocol::to_partition(higher->partition);
    if (map_ && is_mine(unit) && map_->at(unit).epoch < higher->epoch)
      anew_[unit] = higher->epoch;
  } else if (const auto* asked = std::get_if<protocol::inspect>(&x.what)) {
    out_.tell(x.from, protocol::inspected{asked->id, describe()});
  }
}

/// What follows from the state, whatever the event was.
void keeper_role::settle() {
  if (is_stopping_) {
    stop_step();
    return;
  }
  const bool is_held = lease_.is_held(now_);
  if (is_held != has_lease_) {
    has_lease_ = is_held;
    out_.add(protocol::note{is_held ? "replica.lease_held" : "replica.lease_lost",
                            {{"replica", how_.replica}}});
    if (is_held) {
      begins_anew_ = must_read_ = true;
    } else {
      listed_.clear();
      listing_.reset();
    }
  }
  if (is_held && lease_.held_until() != armed_for_) {
    armed_for_ = lease_.held_until();
    out_.add(protocol::arm{{lease_timer, 0}, armed_for_ - now_});
  }
  if (lease_.is_name_in_use() != has_told_rival_) {
    has_told_rival_ = lease_.is_name_in_use();
    if (has_told_rival_)
      out_.add(protocol::note{
          "replica.name_in_use", {{"replica", how_.replica}, {"why", lease_.problem()}}, true});
  }
  pump_map();
  tell_owned({});
}

/// Everything ended, then handed over, then the Lease released: whoever sees it released finds the
/// map in order. What fails here is what a crash would leave.
void keeper_role::stop_step() {
  listed_.clear();
  listing_.reset();
  tell_owned({});
  if (step_ != map_step::idle)
    return;
  const bool may_hand_over = lease_.is_held(now_) && map_ && !must_read_;
  if (!std::exchange(has_handed_over_, true) && may_hand_over && change_map())
    return;
  lease_.release();
  pump_lease();
  if (lease_.is_over()) {
    is_over_ = true;
    out_.add(protocol::note{"replica.stopped", {{"replica", how_.replica}}});
    out_.add(protocol::retire{});
    return;
  }
  out_.add(protocol::arm{{beat_timer, 0}, limits::lease_retry}); // not for long
}

base::wall_time keeper_role::wall_now() const {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch());
  return {how_.wall_at_zero.unix_ms + since.count()};
}

std::string keeper_role::describe() const {
  namespace json = boost::json;
  const auto ms = [&](base::time_point since) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now_ - since).count();
  };
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> shares;
  json::array units;
  if (map_)
    for (const auto& unit : map_->units()) {
      const auto& o = map_->at(unit);
      const bool is_shard = unit.kind == role_kind::shard;
      ++(is_shard ? shares[o.replica].first : shares[o.replica].second);
      units.push_back({{"unit", to_text(unit)},
                       {"replica", o.replica},
                       {"epoch", o.epoch.value},
                       {"runsHere", listed_.contains(unit)}});
    }
  json::array replicas;
  for (const auto& [name, x] : watch_.all()) {
    const bool is_self = name == how_.replica;
    replicas.push_back({{"name", name},
                        {"holder", x.holder},
                        {"alive", is_self ? has_lease_ : watch_.is_live(name)},
                        {"self", is_self},
                        {"lastChangeMs", ms(x.changed)},
                        {"shards", shares[name].first},
                        {"partitions", shares[name].second}});
  }
  const json::object out{{"replica", how_.replica},
                         {"holder", how_.holder},
                         {"leaseHeld", has_lease_},
                         {"nameInUse", lease_.is_name_in_use()},
                         {"problem", lease_.problem().empty() ? map_problem_ : lease_.problem()},
                         {"running", listed_.size()},
                         {"unowned", shares[""].first + shares[""].second},
                         {"replicas", std::move(replicas)},
                         {"units", std::move(units)}};
  return json::serialize(out);
}

std::uint64_t keeper_role::state_hash() const {
  auto h = base::hash_of(std::uint64_t{has_lease_});
  for (const auto& [unit, epoch] : listed_)
    h = base::hash_combine(h,
                           base::hash_combine(std::hash<protocol::address>{}(unit), epoch.value));
  h = base::hash_combine(h, base::hash_of(map_version_));
  return base::hash_combine(h, waiting_.size() + asking_.size());
}

} // namespace tutti::bridge
