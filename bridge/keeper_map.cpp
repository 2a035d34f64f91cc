// The partition map: read, changed by compare-and-set, and what of it this replica may run.
#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "bridge/backoff.hpp"
#include "bridge/json_read.hpp"
#include "bridge/keeper_role.hpp"
#include "bridge/limits.hpp"
#include "bridge/verdicts.hpp"
#include "protocol/sharding.hpp"

namespace tutti::bridge {

using protocol::address;
using protocol::role_kind;

namespace {

constexpr const char* maps_path = "/apis/tutti.dev/v1alpha1/partitionmaps";
constexpr const char* map_name = "tutti";

} // namespace

bool keeper_role::is_mine(const address& unit) const {
  const auto& owners = unit.kind == role_kind::shard ? map_->shards : map_->partitions;
  const bool is_unit = unit.kind == role_kind::shard || unit.kind == role_kind::partition;
  return is_unit && unit.index < owners.size() && owners[unit.index].replica == how_.replica;
}

/// A change goes before a question, so that many questions do not keep it waiting for ever.
void keeper_role::pump_map() {
  if (step_ != map_step::idle)
    return;
  const bool may_change = has_lease_ && watch_.has_looked() && !must_read_ && !begins_anew_;
  if (may_change && map_ && change_map())
    return;
  if (must_read_ || !waiting_.empty())
    read_map();
}

void keeper_role::read_map() {
  if (map_failures_ > 0 && now_ < map_retry_)
    return;
  must_read_ = false;
  step_ = map_step::reading;
  asking_ = std::exchange(waiting_, {});
  ask(channel::map, {.method = "GET",
                     .target = fmt::format("{}/{}", maps_path, map_name),
                     .body = {},
                     .content_type = {}});
}

/// True if a write is on its way.
bool keeper_role::change_map() {
  ensure(step_ == map_step::idle && map_, how_.replica);
  const bool is_new = map_version_.empty();
  map_change change;
  if (is_stopping_) {
    change = map_without(*map_, how_.replica);
  } else {
    auto live = watch_.live();
    live.insert(how_.replica);
    if (!is_new && is_settled(*map_, how_.replica, live, anew_))
      return false;
    change = next_map(*map_, how_.replica, live, anew_);
  }
  if ((change.is_empty() && !is_new) || !map_problem_.empty())
    return false;
  if (base::is_planted(base::mutant::list_before_epoch)) {
    std::map<address, base::epoch_no> early;
    for (const auto& unit : change.taken)
      early[unit] = change.next.at(unit).epoch;
    ask_list(std::move(early));
  }
  // What is given up is ended before anybody can begin it elsewhere, and here only anew.
  for (const auto& unit : change.given) {
    listed_.erase(unit);
    anew_[unit] = {map_->at(unit).epoch.value + 1};
  }
  boost::json::object meta{{"name", map_name}};
  if (!is_new)
    meta["resourceVersion"] = map_version_;
  const boost::json::object body{{"apiVersion", "tutti.dev/v1alpha1"},
                                 {"kind", "PartitionMap"},
                                 {"metadata", std::move(meta)},
                                 {"spec", spec_of(change.next)}};
  out_.add(protocol::note{"replica.map_change",
                          {{"taken", static_cast<std::int64_t>(change.taken.size())},
                           {"given", static_cast<std::int64_t>(change.given.size())}}});
  step_ = is_new ? map_step::creating : map_step::writing;
  ask(channel::map, {.method = is_new ? "POST" : "PUT",
                     .target = is_new ? maps_path : fmt::format("{}/{}", maps_path, map_name),
                     .body = boost::json::serialize(body),
                     .content_type = {}});
  return true;
}

void keeper_role::on_map_answer(int status, const std::string& body) {
  const auto was = std::exchange(step_, map_step::idle);
  ensure(was != map_step::idle, how_.replica);
  const auto v = judge(was == map_step::reading ? operation::read : operation::patch, status, body);
  if (v == verdict::done) {
    if (!take_map(body))
      return;
    map_failures_ = 0;
    if (was == map_step::reading)
      answer_questions();
    return;
  }
  if (was == map_step::reading && v == verdict::gone) {
    map_failures_ = 0;
    map_version_.clear();
    map_problem_.clear();
    map_is(map_ ? *map_ : like_); // deleted by somebody: it comes back as it was
    if (!has_lease_) {
      map_failed("there is no PartitionMap");
      return;
    }
    waiting_.insert(waiting_.begin(), asking_.begin(), asking_.end());
    asking_.clear();
    return;
  }
  must_read_ = true; // lost the race, or nobody knows: what stands there now?
  if (v == verdict::look || (v == verdict::gone && was == map_step::writing))
    return;
  map_failed(status == 0 ? "the API server does not answer about the PartitionMap"
                         : fmt::format("the API server answers {} about the PartitionMap", status));
}

void keeper_role::map_failed(std::string why) {
  out_.add(protocol::note{"replica.map_failed", {{"why", why}}});
  must_read_ = true;
  waiting_.insert(waiting_.begin(), asking_.begin(), asking_.end());
  asking_.clear();
  const auto wait = backoff({limits::reconnect_first, how_.times.renewal}, map_failures_, seed_,
                            static_cast<std::uint64_t>(channel::map));
  ++map_failures_;
  map_retry_ = now_ + wait;
  out_.add(protocol::arm{{map_timer, 0}, wait});
}

/// False if the object makes no sense: then nothing of it is believed, and nothing written over it.
bool keeper_role::take_map(const std::string& body) {
  if (body == last_read_.body) { // as nearly always
    map_problem_.clear();
    map_version_ = last_read_.version;
    map_is(last_read_.map);
    return true;
  }
  const parsed_json parsed{body};
  const auto* object = parsed.object();
  const auto* meta = object ? object_at(*object, "metadata") : nullptr;
  const auto* spec = object ? object_at(*object, "spec") : nullptr;
  auto read =
      spec ? read_spec(*spec, like_)
           : base::result<partition_map>{base::error{base::code::bad_input, "spec is no object"}};
  if (!meta || !read) {
    const auto why = "PartitionMap: " + (read ? "metadata is no object" : read.error().message());
    if (why != map_problem_)
      out_.add(protocol::note{"replica.bad_map", {{"why", why}}, true});
    map_problem_ = why;
    map_failed(why);
    return false;
  }
  map_problem_.clear();
  map_version_ = text_at(*meta, "resourceVersion");
  last_read_ = {body, map_version_, *read};
  map_is(std::move(*read));
  return true;
}

/// What stands in the object now.
void keeper_role::map_is(partition_map map) {
  const auto before = std::exchange(map_, std::move(map));
  const bool is_all_anew = begins_anew_ && has_lease_;
  begins_anew_ = begins_anew_ && !is_all_anew;
  for (const auto& unit : map_->units()) {
    const auto epoch = map_->at(unit).epoch;
    if (!is_mine(unit))
      continue;
    if (is_all_anew)
      anew_[unit] = {epoch.value + 1};
    if (before && epoch < before->at(unit).epoch) // somebody has put an old map there
      anew_[unit] = {before->at(unit).epoch.value + 1};
  }
  std::erase_if(anew_, [this](const auto& x) {
    return !is_mine(x.first) || map_->at(x.first).epoch >= x.second;
  });
  std::erase_if(listed_, [this](const auto& x) {
    return !is_mine(x.first) || map_->at(x.first).epoch != x.second;
  });
  if (listing_ && listing_->said)
    end_list();
  begin_list();
}

void keeper_role::answer_questions() {
  std::vector<std::uint64_t> epochs;
  for (const auto& o : map_->shards)
    epochs.push_back(o.epoch.value);
  for (auto& q : std::exchange(asking_, {}))
    out_.tell(q.from, protocol::map_told{q.attempt, epochs});
}

// ---------------------------------------------------------------- lists

/// For what the map says is ours since its last change, and nobody runs yet. Upholds S1a: only what
/// is listed after the epoch was set is known to be all.
void keeper_role::begin_list() {
  if (!has_lease_ || begins_anew_ || is_stopping_ || listing_)
    return;
  std::map<address, base::epoch_no> of;
  for (const auto& unit : map_->units())
    if (is_mine(unit) && !listed_.contains(unit) && !anew_.contains(unit))
      of[unit] = map_->at(unit).epoch;
  if (!of.empty())
    ask_list(std::move(of));
}

void keeper_role::ask_list(std::map<address, base::epoch_no> of) {
  listing_ = listing{++last_list_, now_, std::move(of), std::nullopt};
  out_.tell(protocol::to(role_kind::decisions), protocol::slots_wanted{last_list_});
}

void keeper_role::hear(const protocol::slots_told& x) {
  if (x.id == 0) {
    pass_on(x);
    return;
  }
  if (!listing_ || x.id != listing_->id || listing_->said)
    return;
  listing_->said.emplace();
  for (const auto& d : x.all)
    listing_->said->push_back(std::make_shared<const protocol::decision>(d));
  if (map_ && step_ != map_step::writing && step_ != map_step::creating)
    end_list();
}

/// Unfinished decisions, unasked: partitions that run here may not know of them.
void keeper_role::pass_on(const protocol::slots_told& x) {
  for (const auto& d : x.all) {
    const auto partition = protocol::partition_of(d.by.gang);
    const auto unit = protocol::to_partition(partition);
    if (const auto runs = listed_.find(unit); runs != listed_.end() && has_lease_)
      out_.tell(unit, protocol::resume_decision{std::make_shared<const protocol::decision>(d),
                                                runs->second, partition, 0});
  }
}

/// What is still ours, under the epoch for which it was asked, may begin.
void keeper_role::end_list() {
  const auto done = *std::exchange(listing_, std::nullopt);
  for (const auto& [unit, epoch] : done.of)
    if (has_lease_ && is_mine(unit) && map_->at(unit).epoch == epoch)
      listed_[unit] = epoch;
  tell_owned(*done.said);
  begin_list();
}

/// What the shell may run, in place of what the map says of the unit.
const std::string& keeper_role::run_by(const address& unit) const {
  static const std::string nobody;
  const auto& o = map_->at(unit);
  const bool is_early = o.replica == how_.replica && (!has_lease_ || !listed_.contains(unit));
  return is_early ? nobody : o.replica;
}

/// Brings `told_` up to date; true if that changed anything. Asked after every event, so it copies
/// only what is new.
bool keeper_role::update_told() {
  bool is_news = false;
  const auto set = [&is_news](auto& before, const auto& now) {
    if (before == now)
      return;
    before = now;
    is_news = true;
  };
  if (told_.self.empty()) {
    told_ = {how_.replica, like_.shards, like_.partitions, {}};
    is_news = true;
  }
  std::size_t peers = 0;
  for (const auto& [name, x] : watch_.all())
    if (name != how_.replica && watch_.is_live(name)) {
      if (peers == told_.live.size())
        told_.live.emplace_back();
      auto& o = told_.live[peers++];
      set(o.replica, name);
      set(o.reached_at, x.link);
    }
  is_news |= peers < told_.live.size();
  told_.live.resize(peers);
  if (map_)
    for (const auto& unit : map_->units()) {
      auto& o = (unit.kind == role_kind::shard ? told_.shards : told_.partitions)[unit.index];
      set(o.epoch, map_->at(unit).epoch);
      set(o.replica, run_by(unit));
    }
  return is_news;
}

/// Says so if anything changed since it was last said.
void keeper_role::tell_owned(std::vector<protocol::decision_ptr> open) {
  if (!update_told())
    return;
  out_.add(protocol::note{"replica.owns", {{"units", static_cast<std::int64_t>(listed_.size())}}});
  out_.add(protocol::own{std::make_shared<const protocol::ownership>(told_), std::move(open)});
}

} // namespace tutti::bridge
