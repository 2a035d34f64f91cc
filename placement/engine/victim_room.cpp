// Versions come from a range that no capacity view reaches: caches must not take one for the other.
#include "placement/engine/victim_room.hpp"

#include <algorithm>
#include <atomic>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

/// One for each state of a block that anybody sees, whatever room it is of.
std::uint64_t next_version() {
  static std::atomic<std::uint64_t> last{std::uint64_t{1} << 62};
  return ++last;
}

void summarise(block& b) {
  if (b.by_name.empty())
    return;
  for (std::size_t d = 0; d < b.free.size(); ++d) {
    const auto& values = b.free[d];
    auto most = values[b.by_name.front()];
    auto least = most;
    for (const auto slot : b.by_name) {
      most = std::max(most, values[slot]);
      least = std::min(least, values[slot]);
    }
    b.most_free[d] = most;
    b.least_free[d] = least;
  }
}

/// Of what no node of the block has any left there may be no column yet.
void add_columns(block& b, dimension up_to) {
  while (b.free.size() <= up_to) {
    b.free.emplace_back(b.size(), 0);
    b.most_free.push_back(0);
    b.least_free.push_back(0);
  }
}

} // namespace

victim_room::victim_room(const snapshot& where)
    : before_(where), state_(where), mine_(where.blocks.size()),
      is_written_(where.blocks.size(), false) {}

block& victim_room::writable(std::uint32_t number) {
  ensure(number < mine_.size(), number);
  auto& mine = mine_[number];
  if (!mine) {
    mine = std::make_shared<block>(*before_.blocks[number]);
    state_.blocks[number] = mine;
  }
  if (!is_written_[number]) {
    is_written_[number] = true;
    written_.push_back(number);
  }
  return *mine;
}

void victim_room::change(const disruption_unit& x, std::int64_t sign) {
  for (const auto& pod : x.pods) {
    auto& b = writable(pod.node.block);
    const auto slot = pod.node.slot;
    ensure(slot < b.size(), pod.node.block, slot);
    const auto& a = pod.takes.amounts;
    b.free[cpu_dimension][slot] += sign * a.cpu_milli;
    b.free[memory_dimension][slot] += sign * a.memory_bytes;
    b.free[ephemeral_dimension][slot] += sign * a.ephemeral_bytes;
    b.free[pods_dimension][slot] += sign * a.pods;
    for (const auto& e : a.extended)
      if (const auto d = dimension_of(state_, e.name); d < state_.dimensions()) {
        add_columns(b, d);
        b.free[d][slot] += sign * e.amount;
      }
    auto& ports = b.ports[slot];
    for (const auto& p : pod.takes.ports) {
      if (sign < 0)
        ports.push_back(p);
      else if (const auto pos = std::find(ports.begin(), ports.end(), p); pos != ports.end())
        ports.erase(pos);
    }
    if (pod.ties)
      change_ties(b, pod.node, *pod.ties, sign);
  }
}

/// Rows keep their kinds when the last pod goes: it may come back. A pod that the view does not
/// show (its news are on their way) leaves no row below zero, and brings none above what was shown.
void victim_room::change_ties(block& b, node_ref node, const base::ties& kind, std::int64_t sign) {
  if (b.tied.empty() || !b.tied[node.slot])
    return;
  auto rows = std::make_shared<tied_rows>(*b.tied[node.slot]);
  const auto& shown = *before_.tied(node);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    auto& row = (*rows)[i];
    if (row.kind->id != kind.id)
      continue;
    const auto left = std::int64_t{row.count} - sign;
    row.count = static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 0, shown[i].count));
  }
  b.tied[node.slot] = std::move(rows);
}

const snapshot& victim_room::now() {
  for (const auto number : written_) {
    auto& b = *mine_[number];
    summarise(b);
    b.version = next_version();
    b.tied_version = b.tied.empty() ? b.tied_version : b.version;
    is_written_[number] = false;
  }
  if (!written_.empty())
    state_.version = next_version();
  written_.clear();
  return state_;
}

} // namespace tutti::placement::engine
