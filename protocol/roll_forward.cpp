// Counts who is bound, alive and acked, group by group.
#include "protocol/roll_forward.hpp"

#include <algorithm>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::protocol {

roll_forward::roll_forward(decision_ptr what) : what_(std::move(what)) {
  ensure(what_ != nullptr);
  ensure(what_->what == verdict::committed, what_->by.gang.value);
  for (std::size_t i = 0; i < what_->chosen.slices.size(); ++i) {
    const auto& s = what_->chosen.slices[i];
    slices_.push_back({.asked = slice_ptr{what_, &s}});
    for (const auto& where : s.seats) {
      index_.emplace(where.pod.value, seats_.size());
      seats_.push_back({.where = &where, .slice = i});
    }
  }
  ensure(index_.size() == seats_.size(), index_.size(), seats_.size());
  for (std::size_t i = 0; i < seats_.size() && i < what_->seat_versions.size(); ++i)
    seats_[i].resource_version = what_->seat_versions[i];
  for (const auto& pod : what_->cancelled)
    if (auto* s = find(pod))
      s->was_cancelled = true;
}

seat_progress* roll_forward::find(const base::pod_uid& pod) {
  auto pos = index_.find(pod.value);
  return pos == index_.end() ? nullptr : &seats_[pos->second];
}

slice_progress* roll_forward::find(base::shard_id shard) {
  auto pos = std::find_if(slices_.begin(), slices_.end(),
                          [shard](const auto& s) { return s.asked->shard == shard; });
  return pos == slices_.end() ? nullptr : &*pos;
}

template <class Counts>
bool roll_forward::reaches_minimum(Counts counts) const {
  std::vector<std::uint32_t> reached = what_->bound_already;
  reached.resize(what_->groups.size());
  for (const auto& s : seats_)
    if (s.state == seat_state::bound || (is_alive(s.state) && counts(slices_[s.slice])))
      ++reached.at(s.where->group);
  for (std::size_t g = 0; g < reached.size(); ++g)
    if (reached[g] < what_->groups[g].min_count)
      return false;
  return true;
}

bool roll_forward::is_covered() const {
  const bool bare_acked = std::all_of(slices_.begin(), slices_.end(), [](const auto& s) {
    return s.acked || !s.asked->is_without_members();
  });
  return (bare_acked || base::is_planted(base::mutant::bind_before_a_guards_ack))
         && reaches_minimum([](const slice_progress& s) { return s.acked; });
}

bool roll_forward::can_be_covered() const {
  const bool bare_possible = std::none_of(slices_.begin(), slices_.end(), [](const auto& s) {
    return s.refused && s.asked->is_without_members();
  });
  return bare_possible && reaches_minimum([](const slice_progress& s) { return !s.refused; });
}

bool roll_forward::can_reach_minimum() const {
  return reaches_minimum([](const slice_progress&) { return true; });
}

std::uint32_t roll_forward::bound_count() const {
  return static_cast<std::uint32_t>(std::count_if(
      seats_.begin(), seats_.end(), [](const auto& s) { return s.state == seat_state::bound; }));
}

std::uint32_t roll_forward::bound_in_all() const {
  std::uint32_t n = bound_count();
  for (auto before : what_->bound_already)
    n += before;
  return n;
}

bool roll_forward::is_abandoned(const slice_progress& s) const {
  if (s.asked->is_without_members())
    return false;
  return std::none_of(seats_.begin(), seats_.end(), [&](const auto& seat) {
    return &slices_[seat.slice] == &s && is_alive(seat.state);
  });
}

bool roll_forward::has_minimum_bound() const {
  std::vector<std::uint32_t> reached = what_->bound_already;
  reached.resize(what_->groups.size());
  for (const auto& s : seats_)
    if (s.state == seat_state::bound)
      ++reached.at(s.where->group);
  for (std::size_t g = 0; g < reached.size(); ++g)
    if (reached[g] < what_->groups[g].min_count)
      return false;
  return true;
}

bool roll_forward::had_minimum_bound() const {
  for (std::size_t g = 0; g < what_->groups.size(); ++g) {
    const auto before = g < what_->bound_already.size() ? what_->bound_already[g] : 0;
    if (before < what_->groups[g].min_count)
      return false;
  }
  return true;
}

bool roll_forward::all_settled() const {
  return std::all_of(seats_.begin(), seats_.end(),
                     [](const auto& s) { return is_settled(s.state); });
}

} // namespace tutti::protocol
