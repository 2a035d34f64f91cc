#include "sim/scenario/live_stage.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace tutti::sim::scenario {

namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 100ms;
/// As many as a person reads.
constexpr std::size_t notes_kept = 40;

} // namespace

live_stage::live_stage(const story& what, live_door& door, const live_times& times)
    : story_(what), door_(door), times_(times), hands_(door, what.speaks.kubernetes),
      copy_(door, what.speaks.kubernetes), kubelet_(door, hands_, copy_),
      safety_(copy_, what.speaks.scheduler), scene_(copy_.objects(), copy_, what.speaks.kubernetes),
      began_(door.now()) {
  copy_.tell([this](std::string change) { note(std::move(change)); });
}

void live_stage::note(std::string what) {
  notes_.push_back(
      fmt::format("{:9.3f}s  {}", std::chrono::duration<double>(now() - began_).count(), what));
  if (notes_.size() > notes_kept)
    notes_.pop_front();
}

void live_stage::give_up(std::string what, std::string found) {
  failure out;
  if (current_) {
    out.line = current_->line;
    out.step = current_->text;
  }
  out.what = std::move(what);
  out.found = std::move(found);
  out.last_events = {notes_.begin(), notes_.end()};
  failure_ = std::move(out);
  throw stopped{};
}

std::optional<failure> live_stage::play() {
  try {
    look(cluster_copy::extent::all);
    copy_.restart();
    play_all(story_.steps);
    look(cluster_copy::extent::core);
  } catch (const stopped&) {
  } catch (const bad_story& wrong) { // of steps that are read again in a repeat
    failure_ = failure{wrong.line, {}, wrong.message, {}, {notes_.begin(), notes_.end()}};
  }
  return failure_;
}

void live_stage::play_all(const std::vector<step>& steps) {
  for (const auto& s : steps)
    play_one(s);
}

void live_stage::play_one(const step& x) {
  const auto* outer = std::exchange(current_, &x);
  note(fmt::format("step {}: {}", x.line, x.text.substr(0, 100)));
  acted_at_ = now();
  for (const auto& what : x.what)
    std::visit([this](const auto& one) { perform(one); }, what);
  current_ = outer;
}

// ---------------------------------------------------------------- time

void live_stage::look(cluster_copy::extent which) {
  if (auto ok = copy_.read(which); !ok)
    give_up("the API server answers", ok.error().message());
  kubelet_.react();
  replace_deleted();
  if (auto wrong = safety_.look())
    give_up("invariant", *wrong);
}

bool live_stage::run_until(base::time_point deadline, const std::function<bool()>& is_enough) {
  for (;;) {
    look(always_.empty() ? cluster_copy::extent::core : cluster_copy::extent::all);
    check_always();
    if (is_enough && is_enough())
      return true;
    if (now() >= deadline)
      return false;
    door_.pause(std::min<base::duration>(look_interval, deadline - now()));
  }
}

void live_stage::check_always() {
  std::erase_if(always_, [this](const live_always& x) { return x.until && *x.until < now(); });
  for (const auto& x : always_)
    if (auto broken = first_broken(x.what, scene_)) {
      const auto what = fmt::format("always {} (line {})", broken->what->text(), x.line);
      always_.clear();
      give_up(what, broken->found);
    }
}

bool live_stage::is_settled() {
  if (kubelet_.ending() > 0)
    return false;
  if (now() - std::max(copy_.changed_at(), acted_at_) < times_.rest)
    return false;
  if (!times_.is_idle || times_.is_idle())
    return true;
  acted_at_ = now(); // it rests from here on at the earliest
  return false;
}

/// Stories give virtual time freely.
base::time_point live_stage::at_most(base::duration within) const {
  return now() + std::min(within, times_.patience);
}

void live_stage::perform(const settle_step& x) {
  if (!run_until(at_most(x.within), [this] { return is_settled(); }))
    give_up("settle", "objects are written again and again");
  if (auto wrong = safety_.settled())
    give_up("invariant", *wrong);
}

void live_stage::perform(const advance_step& x) {
  run_until(now() + x.by, {});
}

void live_stage::perform(const until_step& x) {
  std::optional<broken_fact> broken;
  const auto holds = [&] {
    look(cluster_copy::extent::all);
    broken = first_broken(x.what, scene_);
    return !broken;
  };
  if (!run_until(at_most(x.within), holds))
    give_up(fmt::format("until {}", broken->what->text()), broken->found);
}

void live_stage::perform(const mark_step&) {
  look(cluster_copy::extent::all);
  copy_.restart();
}

void live_stage::perform(const expect_step& x) {
  look(cluster_copy::extent::all);
  if (auto broken = first_broken(x.what, scene_))
    give_up(broken->what->text(), broken->found);
}

void live_stage::perform(const eventually_step& x) {
  run_until(now() + x.within, {});
  perform(expect_step{x.what});
}

void live_stage::perform(const always_step& x) {
  live_always out{x.what, current_->line, {}};
  if (x.how_long)
    out.until = now() + *x.how_long;
  always_.push_back(std::move(out));
  look(cluster_copy::extent::all);
  check_always();
}

/// Others see each step: no story with one is played here but loosely.
void live_stage::perform(const batch_step& x) {
  play_all(x.steps);
}

void live_stage::perform(const repeat_step& x) {
  const step_context how{story_.speaks, std::filesystem::path{story_.file}.parent_path().string()};
  for (std::uint64_t n = 1; n <= x.times; ++n) {
    const auto round_ends = now() + x.every;
    play_all(read_steps(with_replaced(x.steps, x.word, fmt::format("{}", n)), how));
    if (now() < round_ends)
      run_until(round_ends, {});
  }
}

template <class Step>
void live_stage::perform(const Step&) {
  give_up("the step can be done on a live cluster", "it cannot"); // nobody should have begun
}

} // namespace tutti::sim::scenario
