// One attempt of a gang at a time is under way, so its messages are told apart by the gang alone.
#include "actors/metrics_meter.hpp"

#include <algorithm>

namespace tutti::actors {

void histogram::add(base::duration x) {
  const auto seconds = std::max(0.0, std::chrono::duration<double>(x).count());
  ++count_;
  sum_seconds_ += seconds;
  for (std::size_t i = 0; i < bucket_count; ++i)
    if (seconds <= bound(i)) {
      ++in_[i];
      return;
    }
}

std::uint64_t histogram::at_most(std::size_t bucket) const {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i <= bucket; ++i)
    out += in_.at(i);
  return out;
}

std::string_view result_of(protocol::attempt_outcome x) {
  using enum protocol::attempt_outcome;
  switch (x) {
  case bound:
    return "scheduled";
  case refused:
  case conflict:
    return "unschedulable";
  case withdrawn:
  case degraded:
  case stopped:
    return "error";
  }
  return "error";
}

void meter::sees(const protocol::address& to, const protocol::message& what, base::time_point now) {
  using protocol::role_kind;
  const std::lock_guard lock{mutex_};
  if (const auto* a = std::get_if<protocol::begin_attempt>(&what))
    under_way_.insert_or_assign(a->attempt.gang, attempt{.begun = now});
  else if (const auto* r = std::get_if<protocol::plan_request>(&what))
    hear(*r, now);
  else if (const auto* p = std::get_if<protocol::plan_answer>(&what))
    hear(*p, now);
  else if (const auto* g = std::get_if<protocol::gang_progress>(&what))
    hear(*g, now);
  else if (const auto* o = std::get_if<protocol::attempt_over>(&what);
           o != nullptr && to.kind == role_kind::queue) // the partition was told the same before
    hear(*o, now);
  else if (const auto* v = std::get_if<protocol::vote>(&what))
    hear(*v);
  else if (const auto* b = std::get_if<protocol::bind_answer>(&what))
    hear(*b);
  else if (const auto* e = std::get_if<protocol::new_epoch>(&what))
    all_.epoch = std::max(all_.epoch, e->epoch);
  else if (const auto* d = std::get_if<protocol::gang_deleted>(&what))
    under_way_.erase(d->gang);
}

/// Two clocks that disagree make no time negative.
void meter::sees(const protocol::note& what, base::wall_time now) {
  if (what.what != "queue.bound")
    return;
  for (const auto& [name, value] : what.fields)
    if (const auto* created = std::get_if<std::int64_t>(&value);
        created != nullptr && name == "created_ms") {
      const std::lock_guard lock{mutex_};
      const auto took_ms = std::max<std::int64_t>(now.unix_ms - *created, 0);
      all_.time_to_bound.add(std::chrono::milliseconds{took_ms});
    }
}

void meter::hear(const protocol::plan_request& x, base::time_point now) {
  if (const auto pos = under_way_.find(x.attempt.gang); pos != under_way_.end()) {
    pos->second.asked = now;
    pos->second.is_asking = true;
  }
}

void meter::hear(const protocol::plan_answer& x, base::time_point now) {
  const auto pos = under_way_.find(x.attempt.gang);
  if (pos == under_way_.end() || !pos->second.is_asking)
    return;
  pos->second.is_asking = false;
  all_.planning_duration.add(now - pos->second.asked);
}

void meter::hear(const protocol::gang_progress& x, base::time_point now) {
  const auto pos = under_way_.find(x.attempt.gang);
  if (pos == under_way_.end() || (pos->second.has_phase && pos->second.at == x.at))
    return;
  auto& a = pos->second;
  if (a.has_phase)
    all_.phase_duration[{std::string{name_of(a.at)}}].add(now - a.phase_at);
  a.at = x.at;
  a.phase_at = now;
  a.has_phase = true;
}

void meter::hear(const protocol::attempt_over& x, base::time_point now) {
  ++all_.attempts[{std::string{name_of(x.outcome)}, std::string{base::name_of(x.why.primary)}}];
  const auto& gang = x.attempt.gang;
  if (const auto pos = under_way_.find(gang); pos != under_way_.end()) {
    const auto& a = pos->second;
    all_.attempt_duration[{std::string{result_of(x.outcome)}}].add(now - a.begun);
    if (a.has_phase)
      all_.phase_duration[{std::string{name_of(a.at)}}].add(now - a.phase_at);
    under_way_.erase(pos);
  }
}

void meter::hear(const protocol::vote& x) {
  ++all_.votes[{x.yes ? "yes" : "no", std::string{base::name_of(x.why_not.primary)}}];
}

void meter::hear(const protocol::bind_answer& x) {
  ++all_.bindings[{std::string{name_of(x.verdict)}}];
}

void meter::decided(base::duration took) {
  const std::lock_guard lock{mutex_};
  all_.decision_duration.add(took);
}

measures meter::now() const {
  const std::lock_guard lock{mutex_};
  return all_;
}

std::size_t meter::remembered() const {
  const std::lock_guard lock{mutex_};
  return under_way_.size();
}

} // namespace tutti::actors
