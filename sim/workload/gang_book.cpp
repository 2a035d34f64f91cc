#include "sim/workload/gang_book.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::sim::workload {

namespace {

using api_server::kind_id;

constexpr std::size_t nobody = ~std::size_t{0};

/// Of "g000123-4"; `nobody` for pods of somebody else.
std::size_t gang_of(std::string_view pod) {
  const auto dash = pod.rfind('-');
  if (dash == pod.npos || pod.front() != 'g')
    return nobody;
  std::size_t out = nobody;
  const auto [end, failed] = std::from_chars(pod.data() + 1, pod.data() + dash, out);
  return failed == std::errc{} && end == pod.data() + dash ? out : nobody;
}

/// It takes room on its node.
bool sits(const api_server::object& pod) {
  return !pod.node_name.empty() && !pod.is_finished();
}

} // namespace

std::string_view name_of(gang_state x) {
  switch (x) {
  case gang_state::coming:
    return "coming";
  case gang_state::waiting:
    return "waiting";
  case gang_state::running:
    return "running";
  case gang_state::over:
    return "over";
  }
  return "?";
}

gang_state gang_life::state() const {
  if (ended == what.members)
    return gang_state::over;
  if (bound_at)
    return gang_state::running;
  return created == what.members ? gang_state::waiting : gang_state::coming;
}

std::string gang_name(std::size_t gang) {
  return fmt::format("g{:06}", gang);
}

gang_book::gang_book(world& where, const cluster_shape& shape, std::vector<arrival> arrivals)
    : where_(where), room_(shape) {
  gangs_.reserve(arrivals.size());
  auto& coming = tallies_[static_cast<std::size_t>(gang_state::coming)];
  for (auto& x : arrivals) {
    ++coming.gangs;
    coming.members += x.members;
    gangs_.push_back({.what = x});
  }
  seen_ = where_.api().plane().objects().end_event(kind_id::pods);
}

void gang_book::api_turned() {
  const auto& objects = where_.api().plane().objects();
  ensure(seen_ >= objects.first_event(kind_id::pods), seen_, objects.first_event(kind_id::pods));
  for (; seen_ < objects.end_event(kind_id::pods); ++seen_)
    take(objects.event_at(kind_id::pods, seen_));
}

void gang_book::take(const api_server::event& e) {
  const auto number = gang_of(e.now->name());
  if (number >= gangs_.size())
    return;
  auto& x = gangs_[number];
  const auto from = x.state();
  const auto now = where_.time().now();
  const bool is_there = e.what != api_server::change::deleted;
  const bool sat = e.before && sits(*e.before);
  const bool does_sit = is_there && sits(*e.now);
  if (!e.before)
    ++x.created;
  if (does_sit && !sat) {
    room_.take(node_number(e.now->node_name), x.what.each);
    if (++x.bound == x.what.members)
      x.bound_at = now;
  } else if (sat && !does_sit) {
    room_.give_back(node_number(e.before->node_name), x.what.each);
  }
  if (is_there && e.now->is_finished() && !e.before->is_finished() && ++x.ended == x.what.members)
    x.ended_at = now;
  move(x, from);
  if (from != gang_state::over && x.state() == gang_state::over && on_over_)
    on_over_(number);
}

void gang_book::move(gang_life& x, gang_state from) {
  const auto to = x.state();
  if (from == to)
    return;
  auto& old = tallies_[static_cast<std::size_t>(from)];
  ensure(old.gangs > 0 && old.members >= x.what.members, old.gangs, old.members);
  --old.gangs;
  old.members -= x.what.members;
  auto& now = tallies_[static_cast<std::size_t>(to)];
  ++now.gangs;
  now.members += x.what.members;
}

} // namespace tutti::sim::workload
