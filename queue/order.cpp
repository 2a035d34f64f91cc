// The sets behind the pools, kept consistent with what each gang says of itself.
#include "queue/order.hpp"

#include <algorithm>

#include "base/ensure.hpp"

namespace tutti::queue {

namespace {

constexpr bool has_due(pool x) {
  return x != pool::queued;
}

/// The edges drawn at `pool`: row = from, column = to, in the order of the enumeration.
constexpr std::array<std::array<bool, pool_count>, pool_count> is_edge{{
    {true, true, false, true, true, false}, // gated
    {true, false, true, true, true, false}, // queued
    {true, true, false, true, true, true},  // attempting
    {true, true, false, true, true, true},  // settling
    {true, true, false, true, true, false}, // backing_off
    {true, true, false, true, true, true},  // waiting
}};

order_key key_of(const gang_entry& g) {
  return {g.priority(), g.created_ms(), g.came};
}

} // namespace

std::string_view name_of(pool x) {
  static constexpr std::array<std::string_view, pool_count> names{
      "gated", "queued", "attempting", "settling", "backing_off", "waiting"};
  return names.at(static_cast<std::size_t>(x));
}

bool tried_earlier::operator()(const gang_entry* a, const gang_entry* b) const {
  const auto &x = a->life->key, &y = b->life->key;
  if (x.priority != y.priority)
    return x.priority > y.priority;
  if (x.created_ms != y.created_ms)
    return x.created_ms < y.created_ms;
  if (x.came != y.came)
    return x.came < y.came;
  if (a == b)
    return false;
  if (const auto by_space = a->space() <=> b->space(); by_space != 0)
    return by_space < 0;
  if (const auto by_name = a->short_name() <=> b->short_name(); by_name != 0)
    return by_name < 0;
  if (a->is_lone_pod() != b->is_lone_pod())
    return b->is_lone_pod();
  return a->uid() < b->uid();
}

bool pools::due_earlier::operator()(const gang_entry* a, const gang_entry* b) const {
  if (a->life->due != b->life->due)
    return a->life->due < b->life->due;
  return tried_earlier{}(a, b);
}

void pools::enter(gang_entry& g, pool where, base::time_point due) {
  ensure(g.life != nullptr && !g.life->is_placed, protocol::to_text(g.name()));
  auto& life = *g.life;
  life.where = where;
  life.key = key_of(g);
  life.due = due;
  life.is_placed = true;
  const bool is_new = at(where).insert(&g).second;
  ensure(is_new, protocol::to_text(g.name()), name_of(where));
  if (has_due(where))
    by_due_.insert(&g);
}

void pools::leave(gang_entry& g) {
  if (!g.life || !g.life->is_placed)
    return;
  const auto where = g.life->where;
  const auto found = at(where).erase(&g);
  ensure(found == 1, protocol::to_text(g.name()), name_of(where));
  if (has_due(where))
    by_due_.erase(&g);
  g.life->is_placed = false;
}

void pools::move(gang_entry& g, pool where, base::time_point due) {
  if (g.life->is_placed) {
    const auto from = g.life->where;
    ensure(is_edge[static_cast<std::size_t>(from)][static_cast<std::size_t>(where)],
           protocol::to_text(g.name()), name_of(from), name_of(where));
    leave(g);
  }
  enter(g, where, due);
}

void pools::delay(gang_entry& g, base::time_point due) {
  ensure(g.life && g.life->is_placed && has_due(g.life->where), protocol::to_text(g.name()));
  by_due_.erase(&g);
  g.life->due = due;
  by_due_.insert(&g);
}

void pools::reorder(gang_entry& g) {
  if (!g.life || !g.life->is_placed || g.life->key == key_of(g))
    return;
  const auto where = g.life->where;
  const auto due = g.life->due;
  leave(g);
  enter(g, where, due);
}

std::optional<base::time_point> pools::next_due() const {
  if (by_due_.empty() || (*by_due_.begin())->life->due == never)
    return std::nullopt;
  return (*by_due_.begin())->life->due;
}

std::vector<gang_entry*> pools::due_at(base::time_point now) const {
  std::vector<gang_entry*> out;
  for (auto* g : by_due_) {
    if (g->life->due > now)
      break;
    out.push_back(g);
  }
  std::sort(out.begin(), out.end(), tried_earlier{});
  return out;
}

std::size_t pools::size() const {
  std::size_t all = 0;
  for (const auto& one : by_pool_)
    all += one.size();
  return all;
}

bool pools::is_consistent() const {
  std::size_t timed = 0;
  for (std::size_t i = 0; i < pool_count; ++i) {
    for (const auto* g : by_pool_[i]) {
      const auto& life = *g->life;
      if (!life.is_placed || life.where != static_cast<pool>(i))
        return false;
      if ((life.where == pool::attempting) != (life.attempt != nullptr))
        return false;
    }
    timed += has_due(static_cast<pool>(i)) ? by_pool_[i].size() : 0;
  }
  return timed == by_due_.size();
}

} // namespace tutti::queue
