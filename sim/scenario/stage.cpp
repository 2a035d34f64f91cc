#include "sim/scenario/stage.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace tutti::sim::scenario {

namespace {

using namespace std::chrono_literals;

/// A healthy scheduler has its view long before.
constexpr auto start_patience = 30s;
/// Between two steps passes a moment of any length up to this: sometimes the scheduler sees what
/// one step did before the next one, sometimes it does not. None passes behind `until`.
constexpr auto moment_longest = 4ms;

bool says_again(const std::vector<step>& steps) {
  for (const auto& s : steps) {
    if (s.text.find("again") != std::string::npos)
      return true;
  }
  return false;
}

/// What follows goes on from the moment at which the facts hold.
bool waits_for_facts(const step& x) {
  return !x.what.empty() && std::holds_alternative<until_step>(x.what.back());
}

world::options options_for(const story& what, std::uint64_t seed) {
  world::options out;
  out.seed = seed;
  out.replicas = what.replicas;
  out.restarts_armed = false;
  out.scheduler.shards = what.shards;
  out.scheduler.spoken = api::newest_dialect_of(what.speaks.kubernetes);
  out.scheduler.scheduler_names = {what.speaks.scheduler};
  out.scheduler.seed = seed;
  out.scheduler.lease = what.lease;
  if (what.has_api_log) {
    out.scheduler.log = actors::decision_log::objects;
    out.scheduler.fast_path = false;
  }
  if (!what.levels.empty())
    out.scheduler.levels = what.levels;
  out.api.plane.kubernetes = what.speaks.kubernetes;
  out.api.plane.default_scheduler = what.speaks.scheduler;
  out.api.plane.seed = seed;
  return out;
}

} // namespace

/// A process whose disk is to be lost finds nothing once it has ended.
class stage::disk_loser final : public observer {
public:
  void lose(const std::string& process) { lost_.insert(process); }
  void stepped(process&, const protocol::address&, const protocol::event&,
               const protocol::effects&) override {}
  void arrives(std::string_view, const protocol::http_request&) override {}
  void api_turned() override {}
  void durable(process&, const persistence::batch&) override {}
  void began(process&) override {}
  void ended(process& who, std::string_view) override {
    if (lost_.erase(who.name()) > 0)
      who.disk() = {};
  }

private:
  std::set<std::string> lost_;
};

stage::stage(const story& what, std::uint64_t seed, planner plans)
    : story_(what), world_(std::make_unique<world>(options_for(what, seed))),
      counts_(std::make_unique<tally>(*world_)),
      faults_(std::make_unique<faults>(*world_, *counts_, says_again(what.steps))),
      safety_(make_safety(*world_, *counts_)),
      scene_(std::make_unique<scene>(*world_, *counts_, what.speaks.kubernetes, std::move(plans))),
      disks_(std::make_unique<disk_loser>()) {
  world_->add(*counts_);
  world_->add(*safety_);
  world_->add(*disks_);
}

stage::~stage() {
  world_.reset(); // its processes speak to the end, and are observed
}

void stage::disks_lose(const std::string& process) {
  disks_->lose(process);
}

void stage::give_up(std::string what, std::string found) {
  failure out;
  if (current_) {
    out.line = current_->line;
    out.step = current_->text;
  }
  out.what = std::move(what);
  out.found = std::move(found);
  out.last_events = counts_->last_events();
  failure_ = std::move(out);
  throw stopped{};
}

std::optional<failure> stage::play() {
  try {
    world_->start();
    run_until(now() + start_patience, [this] { return is_running(); });
    play_all(story_.steps, false);
    check_safety();
  } catch (const stopped&) {
  } catch (const bad_story& wrong) { // of steps that are read again in a repeat
    failure_ = failure{wrong.line, {}, wrong.message, {}, counts_->last_events()};
  }
  return failure_;
}

void stage::play_all(const std::vector<step>& steps, bool is_batch) {
  for (const auto& s : steps) {
    play_one(s);
    if (!is_batch && !waits_for_facts(s))
      pause_between_steps();
  }
}

void stage::pause_between_steps() {
  auto& dice = world_->chance().workload;
  if (dice.chance(1, 2))
    run_until(now() + draw(dice, 0ms, moment_longest), {});
}

void stage::play_one(const step& x) {
  const auto* outer = std::exchange(current_, &x);
  counts_->note(fmt::format("step {}: {}", x.line, x.text.substr(0, 100)));
  counts_->note_activity();
  for (const auto& what : x.what)
    std::visit([this](const auto& one) { perform(one); }, what);
  check_safety();
  current_ = outer;
}

// ---------------------------------------------------------------- time and facts

void stage::perform(const advance_step& x) {
  run_until(now() + x.by, {});
}

void stage::perform(const settle_step& x) {
  if (!run_until(now() + x.within, [this] { return is_settled(); }))
    give_up("settle",
            fmt::format("not settled after {} s",
                        std::chrono::duration_cast<std::chrono::seconds>(x.within).count()));
  safety_->settled();
  check_safety();
}

/// Facts that only objects of the API can change are looked at when one has.
void stage::perform(const until_step& x) {
  std::optional<broken_fact> broken;
  auto seen = scene_->objects().last() + 1;
  const bool is_of_api = std::all_of(x.what.begin(), x.what.end(),
                                     [](const fact_ptr& f) { return f->is_of_api_alone(); });
  const auto holds = [&] {
    if (is_of_api && seen == scene_->objects().last())
      return false;
    seen = scene_->objects().last();
    broken = first_broken(x.what, *scene_);
    return !broken;
  };
  if (!run_until(now() + x.within, holds))
    give_up(fmt::format("until {}", broken->what->text()), broken->found);
}

void stage::perform(const mark_step& x) {
  const auto asks = [](const step& s) { return s.text.find("memory") != s.text.npos; };
  scene_->set_mark(x.name, std::any_of(story_.steps.begin(), story_.steps.end(), asks));
}

void stage::perform(const expect_step& x) {
  if (auto broken = first_broken(x.what, *scene_))
    give_up(broken->what->text(), broken->found);
}

void stage::perform(const eventually_step& x) {
  run_until(now() + x.within, {});
  perform(expect_step{x.what});
}

void stage::perform(const always_step& x) {
  live_always out{x.what, current_->line, current_->text, {}};
  if (x.how_long)
    out.until = now() + *x.how_long;
  always_.push_back(std::move(out));
  looked_at_ = 0;
  check_always();
}

void stage::perform(const batch_step& x) {
  play_all(x.steps, true);
}

void stage::perform(const repeat_step& x) {
  const step_context how{story_.speaks, std::filesystem::path{story_.file}.parent_path().string()};
  for (std::uint64_t n = 1; n <= x.times; ++n) {
    const auto round_ends = now() + x.every;
    const auto steps = read_steps(with_replaced(x.steps, x.word, fmt::format("{}", n)), how);
    play_all(steps, false);
    if (now() < round_ends)
      run_until(round_ends, {});
  }
}

} // namespace tutti::sim::scenario
