// Steps that disturb: processes, network, clocks, and gangs that stand still at a point.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sim/scenario/stage.hpp"

namespace tutti::sim::scenario {

namespace {

constexpr auto everything = std::numeric_limits<std::size_t>::max();
/// A torn disk keeps any number of unsynced batches up to this.
constexpr std::uint64_t torn_most = 8;

template <class M>
const M* heard(const protocol::event& e) {
  const auto* r = std::get_if<protocol::received>(&e);
  return r ? std::get_if<M>(&r->what) : nullptr;
}

/// The gang's actor stands still before it hears what would carry it past the point.
bool is_at(stop_point point, const protocol::event& e) {
  switch (point) {
  case stop_point::planning:
    return heard<protocol::plan_answer>(e) != nullptr;
  case stop_point::planned: {
    const auto* answer = heard<protocol::plan_answer>(e);
    return answer && answer->placement;
  }
  case stop_point::refused: {
    const auto* answer = heard<protocol::plan_answer>(e);
    const auto* vote = heard<protocol::vote>(e);
    return (answer && !answer->placement) || (vote && !vote->yes);
  }
  case stop_point::prepared:
    return heard<protocol::vote>(e) != nullptr;
  case stop_point::voted:
    return heard<protocol::last_look_answer>(e) != nullptr;
  case stop_point::decided:
    return std::holds_alternative<protocol::decided>(e);
  case stop_point::committed:
    return heard<protocol::may_bind_answer>(e) != nullptr;
  case stop_point::binding:
    return heard<protocol::bind_answer>(e) != nullptr;
  }
  return false;
}

} // namespace

process& stage::need_process(const std::string& word) {
  auto* found = scene_->process_named(word);
  if (!found)
    give_up(fmt::format("there is a process {}", word), "there is none");
  return *found;
}

// ---------------------------------------------------------------- standing still

std::string stage::uid_of_gang(const std::string& word) const {
  if (const auto group = scene_->is_group(word) ? scene_->group(word) : nullptr)
    return group->uid;
  const auto pod = scene_->pod(word);
  return pod ? pod->uid : std::string{};
}

void stage::perform(const hold_step& x) {
  holds_.push_back({x.gang, x.at, x.how_long, nullptr, {}});
  for (std::size_t n = 0; n < world_->processes(); ++n) {
    auto& who = world_->at(n);
    who.stops_where([this, &who](const protocol::address& where, const protocol::event& e) {
      return stops_here(who, where, e);
    });
  }
}

bool stage::stops_here(process& who, const protocol::address& where, const protocol::event& e) {
  if (where.kind != protocol::role_kind::gang)
    return false;
  for (auto& hold : holds_) {
    const auto uid = hold.who ? std::string{} : uid_of_gang(hold.gang);
    if (uid.empty() || !where.key.starts_with(uid) || !is_at(hold.at, e))
      continue;
    hold.who = &who;
    hold.where = where;
    scene_->set_held(hold.gang, true);
    counts_->note(fmt::format("{} stands still", hold.gang));
    counts_->note_activity();
    if (hold.how_long)
      world_->time().after(*hold.how_long, [this, gang = hold.gang] { let_go(gang); });
    return true;
  }
  return false;
}

void stage::let_go(const std::string& gang) {
  for (auto& hold : holds_)
    if (hold.gang == gang && hold.who) {
      hold.who->go_on(hold.where);
      scene_->set_held(gang, false);
      counts_->note(fmt::format("{} goes on", gang));
      counts_->note_activity();
    }
  std::erase_if(holds_, [&](const live_hold& h) { return h.gang == gang && h.who; });
}

void stage::perform(const release_step& x) {
  for (const auto& gang : x.gangs) {
    if (!scene_->is_held(gang))
      give_up(fmt::format("{} stands still", gang), "it does not");
    let_go(gang);
  }
}

// ---------------------------------------------------------------- the API server

void stage::perform(const api_step& x) {
  if (!x.rule) {
    faults_->clear_rules();
    return;
  }
  auto rule = *x.rule;
  if (!rule.process.empty())
    rule.process = need_process(rule.process).name();
  faults_->add(rule);
}

void stage::perform(const watch_step& x) {
  if (!faults_->perform(x))
    give_up("the event can come again", "it has never come");
}

// ---------------------------------------------------------------- processes

void stage::perform(const crash_step& x) {
  auto& who = need_process(x.process);
  if (!who.is_up())
    give_up(fmt::format("{} is up", who.name()), "it is down");
  const auto kept = x.disk == disk_fate::intact
                        ? everything
                        : static_cast<std::size_t>(world_->chance().disk.below(torn_most));
  if (x.disk == disk_fate::lost)
    disks_lose(who.name());
  if (x.at.empty())
    who.crash(kept);
  else
    who.arm(x.at, 1, kept);
}

void stage::perform(const start_step& x) {
  auto& who = need_process(x.process);
  if (who.is_up())
    return;
  if (const auto done = who.start(); !done)
    give_up(fmt::format("{} starts", who.name()), done.error().message());
}

void stage::perform(const pause_step& x) {
  auto& who = need_process(x.process);
  who.pause();
  ++paused_;
  world_->time().after(x.how_long, [this, &who] {
    who.resume();
    --paused_;
    counts_->note_activity();
  });
}

void stage::perform(const network_step& x) {
  const auto is_api = [](const std::string& end) { return end == "api"; };
  if (x.cut.empty())
    return heal_network();
  if (std::none_of(x.cut.begin(), x.cut.end(), is_api)) {
    const auto& from = need_process(x.cut.front()).name();
    const auto& to = need_process(x.cut.back()).name();
    world_->links().cut(from, to, true);
    if (!x.is_one_way)
      world_->links().cut(to, from, true);
    return;
  }
  for (const auto& end : x.cut)
    if (!is_api(end))
      world_->api().cut_off(need_process(end).name(), true);
}

void stage::heal_network() {
  for (std::size_t n = 0; n < world_->processes(); ++n) {
    world_->api().cut_off(world_->at(n).name(), false);
    for (std::size_t other = 0; other < world_->processes(); ++other)
      world_->links().cut(world_->at(n).name(), world_->at(other).name(), false);
  }
}

void stage::perform(const clock_step& x) {
  need_process(x.process).jump_wall_clock(x.jump);
}

} // namespace tutti::sim::scenario
