// Division is the cost of this loop: it multiplies by a reciprocal and corrects by one.
#include "placement/engine/slots.hpp"

#include <algorithm>
#include <limits>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

/// Above this a double does not hold every integer, and the fast division is not exact.
constexpr std::int64_t exact_in_double = std::int64_t{1} << 52;

/// Below this, `most_slots` pods of the amount do not wrap.
constexpr std::int64_t product_safe = std::numeric_limits<std::int64_t>::max() / 2 / most_slots;

/// floor(have / amount), within 0..most_slots. One multiplication and a correction by one instead
/// of a division: the quotient is below 2^20, so the rounding error is far below 1.
std::uint32_t quotient(std::int64_t have, std::int64_t amount, double one_by_amount) {
  auto guess = static_cast<double>(have) * one_by_amount;
  guess = std::min(std::max(guess, 0.0), static_cast<double>(most_slots));
  auto q = static_cast<std::int64_t>(static_cast<std::int32_t>(guess));
  q -= static_cast<std::int64_t>(q * amount > have);
  q += static_cast<std::int64_t>((q + 1) * amount <= have);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(q, 0, most_slots));
}

std::uint32_t exact_quotient(std::int64_t have, std::int64_t amount) {
  return have <= 0 ? 0
                   : static_cast<std::uint32_t>(std::min<std::int64_t>(have / amount, most_slots));
}

/// out[i] = min(out[i], floor(values[i] / amount)). A node that has enough for what the other needs
/// leave is not divided for.
void lower_by(const column& values, std::int64_t most, std::int64_t amount,
              std::vector<std::uint32_t>& out) {
  const auto n = out.size();
  ensure(values.size() == n && amount > 0, values.size(), n, amount);
  const auto* have = values.data();
  auto* slots = out.data();
  if (most >= exact_in_double || amount >= product_safe) {
    for (std::size_t i = 0; i < n; ++i)
      slots[i] = std::min(slots[i], exact_quotient(have[i], amount));
    return;
  }
  if (amount == 1) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto s = static_cast<std::int64_t>(slots[i]);
      slots[i] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(have[i], 0, s));
    }
    return;
  }
  const double one_by_amount = 1.0 / static_cast<double>(amount);
  for (std::size_t i = 0; i < n; ++i)
    if (static_cast<std::int64_t>(slots[i]) * amount > have[i])
      slots[i] = quotient(have[i], amount, one_by_amount);
}

/// The most slots that any node of the block can have, by the summaries alone.
std::uint32_t bound_of(const block_columns& columns, const std::vector<need>& needs) {
  auto bound = most_slots;
  for (const auto& n : needs)
    bound = n.what < columns.most->size()
                ? std::min(bound, exact_quotient((*columns.most)[n.what], n.amount))
                : 0;
  return bound;
}

/// Counts by the columns only. A need that even the poorest node of the block meets `bound` times
/// limits nobody: its column is not read.
void count_by_columns(const block& b, const block_columns& columns, const std::vector<need>& needs,
                      std::uint32_t bound, std::vector<std::uint32_t>& slots) {
  slots.assign(b.size(), bound);
  for (const auto& n : needs)
    if (exact_quotient((*columns.least)[n.what], n.amount) < bound)
      lower_by((*columns.values)[n.what], (*columns.most)[n.what], n.amount, slots);
  if (b.by_name.size() < b.size())
    for (std::size_t i = 0; i < b.size(); ++i)
      if (b.classes[i] == no_class)
        slots[i] = 0;
}

/// Zeroes the nodes that the shape may not use. False if that is all of them.
bool apply_static(const snapshot& where, const block& b, shape_view& shape, bool with_ports,
                  std::vector<std::uint32_t>& slots) {
  if (b.only_class != many_classes && !shape.depends_on_name()) {
    if (!shape.allows(where, b, b.by_name.front()))
      return false;
  } else {
    for (auto slot : b.by_name)
      if (slots[slot] > 0 && !shape.allows(where, b, slot))
        slots[slot] = 0;
  }
  const auto& wanted = shape.kind().takes.ports;
  if (wanted.empty())
    return true;
  for (auto slot : b.by_name)
    if (slots[slot] > 0)
      slots[slot] = with_ports && ports_collide(b.ports[slot], wanted) ? 0 : 1;
  return true;
}

} // namespace

block_columns columns_of(const block& b, measure by) {
  return by == measure::allocatable
             ? block_columns{&b.allocatable, &b.most_allocatable, &b.least_allocatable}
             : block_columns{&b.free, &b.most_free, &b.least_free};
}

bool ports_collide(const base::port_list& taken, const base::port_list& wanted) {
  return std::any_of(taken.begin(), taken.end(), [&](const base::host_port& x) {
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const base::host_port& y) { return base::collide(x, y); });
  });
}

void count_slots(const snapshot& where, const block& b, const block_columns& columns,
                 const std::vector<need>& needs, measure by, shape_view& shape, slot_counts& out) {
  out.total = 0;
  out.nodes = 0;
  out.slots.clear();
  if (b.by_name.empty() || !shape.is_readable())
    return;
  // Summary first: a block whose freest node cannot take one pod is not read at all.
  const auto bound = bound_of(columns, needs);
  if (bound == 0)
    return;
  count_by_columns(b, columns, needs, bound, out.slots);
  if (by == measure::free_anyhow) {
    if (!shape.kind().takes.ports.empty())
      for (auto& s : out.slots)
        s = std::min<std::uint32_t>(s, 1);
  } else if (!apply_static(where, b, shape, by == measure::free, out.slots)) {
    out.slots.clear();
    return;
  }
  for (auto s : out.slots) {
    out.total += s;
    out.nodes += static_cast<std::uint32_t>(s > 0);
  }
  if (out.total == 0)
    out.slots.clear();
}

} // namespace tutti::placement::engine
