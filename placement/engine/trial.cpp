// A block is copied when a seat first touches it; undoing gives the amounts back.
#include "placement/engine/trial.hpp"

#include <algorithm>
#include <array>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

/// Nodes with more slots than this count as equally roomy: it only orders them.
constexpr std::uint32_t buckets = 1024;

std::uint32_t bucket_of(std::uint32_t slots) {
  return std::min(slots, buckets - 1);
}

} // namespace

const slot_counts& trial::slots(std::uint32_t shape, std::uint32_t block_number) {
  apply();
  auto& use = shapes_[shape];
  if (overlay_of_[block_number] == none) {
    const auto& counts = use.memory->slots(where_, block_number, use.needs, by_);
    return has_caps(shape) ? capped(shape, block_number, counts) : counts;
  }
  auto& mine = *overlays_[overlay_of_[block_number]];
  if (mine.by_shape.size() <= shape)
    mine.by_shape.resize(shapes_.size());
  auto& known = mine.by_shape[shape];
  if (known.version == mine.version)
    return known.counts;
  count_slots(where_, *where_.blocks[block_number], {&mine.values, &mine.most, &mine.least},
              use.needs, by_, use.memory->view, known.counts);
  const auto& wanted = use.memory->view.kind().takes.ports;
  if (!wanted.empty() && !known.counts.empty())
    for (const auto& [slot, port] : mine.ports) {
      auto& here = known.counts.slots[slot];
      if (here == 0 || !ports_collide({port}, wanted))
        continue;
      known.counts.total -= here;
      --known.counts.nodes;
      here = 0;
    }
  if (has_caps(shape))
    apply_caps(shape, block_number, known.counts);
  known.version = mine.version;
  return known.counts;
}

/// What the snapshot's cache says, less what ties forbid. Counted once in the life of the trial.
const slot_counts& trial::capped(std::uint32_t shape, std::uint32_t block_number,
                                 const slot_counts& counts) {
  if (capped_.size() <= shape)
    capped_.resize(shapes_.size());
  auto& blocks = capped_[shape];
  if (blocks.empty())
    blocks.resize(where_.blocks.size());
  auto& known = blocks[block_number];
  if (!known) {
    known = std::make_unique<slot_counts>(counts);
    apply_caps(shape, block_number, *known);
  }
  return *known;
}

void trial::apply_caps(std::uint32_t shape, std::uint32_t block_number, slot_counts& counts) const {
  const auto& caps = *shapes_[shape].caps;
  const auto& of_place = by_ == measure::allocatable ? caps.empty : caps.now;
  const auto first = caps.places->first[block_number];
  const auto number = overlay_of_[block_number];
  const auto* used = number == none || overlays_[number]->used.size() <= shape
                             || overlays_[number]->used[shape].empty()
                         ? nullptr
                         : &overlays_[number]->used[shape];
  counts.total = 0;
  counts.nodes = 0;
  for (std::uint32_t slot = 0; slot < counts.slots.size(); ++slot) {
    auto& here = counts.slots[slot];
    const auto cap = of_place[first + slot];
    if (cap != node_caps::unlimited)
      here = std::min<std::uint32_t>(
          here, used && (*used)[slot] >= cap ? 0 : cap - (used ? (*used)[slot] : 0));
    counts.total += here;
    counts.nodes += static_cast<std::uint32_t>(here > 0);
  }
  if (counts.total == 0)
    counts.slots.clear();
}

std::int32_t trial::taste_of(std::uint32_t shape, node_ref node) const {
  if (!has_caps(shape) || shapes_[shape].caps->taste.empty())
    return 0;
  return shapes_[shape].caps->taste[shapes_[shape].caps->places->of(node)];
}

std::uint64_t trial::slots_in(std::uint32_t shape, const domain_view& domain) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < domain.blocks.size(); ++i) {
    const auto& counts = slots(shape, domain.blocks[i]);
    if (domain.masks.empty() || counts.empty()) {
      total += counts.total;
      continue;
    }
    for (std::uint32_t slot = 0; slot < counts.slots.size(); ++slot)
      if (domain.masks[i].test(slot))
        total += counts.slots[slot];
  }
  return total;
}

std::uint32_t trial::slots_on(std::uint32_t shape, node_ref node) {
  const auto& counts = slots(shape, node.block);
  return counts.empty() ? 0 : counts.slots[node.slot];
}

trial::overlay& trial::writable(std::uint32_t block_number) {
  auto& number = overlay_of_[block_number];
  if (number == none) {
    const auto columns = columns_of(*where_.blocks[block_number], by_);
    auto fresh = std::make_unique<overlay>();
    fresh->values = *columns.values;
    fresh->most = *columns.most;
    fresh->least = *columns.least;
    number = static_cast<std::uint32_t>(overlays_.size());
    overlays_.push_back(std::move(fresh));
  }
  return *overlays_[number];
}

void trial::change(const run& x, std::int64_t sign) {
  auto& mine = writable(x.node.block);
  const auto& use = shapes_[x.shape];
  for (const auto& n : use.needs) {
    auto& left = mine.values[n.what][x.node.slot];
    left += sign * n.amount * x.count;
    mine.least[n.what] = std::min(mine.least[n.what], left);
  }
  if (use.caps) {
    mine.used.resize(shapes_.size());
    auto& used = mine.used[x.shape];
    used.resize(where_.blocks[x.node.block]->size(), 0);
    used[x.node.slot] = static_cast<std::uint32_t>(used[x.node.slot] - sign * x.count);
  }
  const auto& ports = use.memory->view.kind().takes.ports;
  if (sign < 0)
    for (const auto& p : ports)
      mine.ports.emplace_back(x.node.slot, p);
  else
    mine.ports.resize(mine.ports.size() - ports.size()); // last in, first out
  ++mine.version;
}

void trial::take(const run& x) {
  ensure_slow(x.count <= slots_on(x.shape, x.node), x.count, x.node.block, x.node.slot);
  taken_.push_back(x);
}

void trial::apply() {
  for (; applied_ < taken_.size(); ++applied_)
    change(taken_[applied_], -1);
}

void trial::undo(std::size_t keep) {
  ensure(keep <= taken_.size(), keep, taken_.size());
  while (taken_.size() > keep) {
    if (applied_ == taken_.size()) {
      change(taken_.back(), +1);
      --applied_;
    }
    taken_.pop_back();
  }
}

std::uint64_t trial::fill(std::uint32_t lot, std::uint32_t shape, std::uint64_t want,
                          const domain_view& domain, node_order order) {
  if (order == node_order::by_policy)
    return fill_by_policy(lot, shape, want, domain);
  std::array<std::uint64_t, buckets> slots_of{}; // slots per bucket
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < domain.blocks.size(); ++i) {
    const auto& counts = slots(shape, domain.blocks[i]);
    for (std::uint32_t slot = 0; slot < counts.slots.size(); ++slot)
      if (const auto s = counts.slots[slot]; s > 0 && domain.has(i, slot)) {
        slots_of[bucket_of(s)] += s;
        total += s;
      }
  }
  const auto goal = std::min(want, total);
  if (goal == 0)
    return 0;
  // All nodes on the near side of one bucket are filled, and as many of that bucket as are needed.
  cut at{0, 0, goal, order};
  for (std::uint32_t step = 1; step < buckets; ++step) {
    at.bucket = order == node_order::tightest ? step : buckets - step;
    if (slots_of[at.bucket] >= at.from_bucket)
      break;
    at.before_bucket += slots_of[at.bucket];
    at.from_bucket -= slots_of[at.bucket];
  }
  choose(shape, domain, at);
  std::uint64_t got = 0;
  for (const auto& c : chosen_) {
    if (got == goal)
      break;
    const auto count = std::min<std::uint64_t>(c.slots, goal - got);
    take({lot, shape, c.node, static_cast<std::uint32_t>(count)});
    got += count;
  }
  ensure(got == goal, got, goal);
  return got;
}

void trial::choose(std::uint32_t shape, const domain_view& domain, const cut& at) {
  auto& view = shapes_[shape].memory->view;
  const bool has_taste = tastes_matter(shape);
  std::vector<choice> last; // of the bucket that is cut
  std::uint64_t before = 0;
  std::uint64_t of_last = 0;
  chosen_.clear();
  for (std::size_t i = 0; i < domain.blocks.size(); ++i) {
    if (before == at.before_bucket && of_last >= at.from_bucket && !has_taste)
      break;
    const auto number = domain.blocks[i];
    const auto& counts = slots(shape, number);
    if (counts.empty())
      continue;
    const auto& b = *where_.blocks[number];
    for (auto slot : b.by_name) {
      const auto s = counts.slots[slot];
      if (s == 0 || !domain.has(i, slot))
        continue;
      const auto bucket = bucket_of(s);
      if (bucket == at.bucket) {
        if (of_last < at.from_bucket || has_taste)
          last.push_back(
              {has_taste ? view.judge(where_, b, slot).preference + taste_of(shape, {number, slot})
                         : 0,
               {number, slot},
               s});
        of_last += s;
      } else if ((bucket < at.bucket) == (at.order == node_order::tightest)) {
        chosen_.push_back({0, {number, slot}, s});
        before += s;
      }
    }
  }
  if (has_taste)
    std::stable_sort(last.begin(), last.end(),
                     [](const choice& a, const choice& b) { return a.preference > b.preference; });
  chosen_.insert(chosen_.end(), last.begin(), last.end());
}

bool trial::tastes_matter(std::uint32_t shape) const {
  return by_ != measure::free_anyhow
         && (where_.soft_classes > 0 || !shapes_[shape].memory->view.terms().preferred.empty()
             || (has_caps(shape) && !shapes_[shape].caps->taste.empty()));
}

std::int64_t trial::amount(dimension what, node_ref node) {
  apply();
  const auto number = overlay_of_[node.block];
  const auto& columns =
      number == none ? *columns_of(where_.at(node), by_).values : overlays_[number]->values;
  return what < columns.size() ? columns[what][node.slot] : 0;
}

base::port_list trial::ports_taken(node_ref node) {
  apply();
  base::port_list out;
  if (const auto number = overlay_of_[node.block]; number != none)
    for (const auto& [slot, port] : overlays_[number]->ports)
      if (slot == node.slot)
        out.push_back(port);
  return out;
}

} // namespace tutti::placement::engine
