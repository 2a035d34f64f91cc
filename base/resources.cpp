// Sums stop at the largest amount rather than wrap, and amounts are shown as people write them.
#include "base/resources.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

namespace tutti::base {
namespace {

auto find_in(resources::extended_list& list, symbol name) {
  return std::lower_bound(list.begin(), list.end(), name,
                          [](const auto& x, symbol wanted) { return x.name < wanted; });
}

std::int64_t checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_sub_overflow(a, b, &out))
    return out;
  return b > 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

template <class Combine>
void combine(resources& a, const resources& b, Combine with) {
  a.cpu_milli = with(a.cpu_milli, b.cpu_milli);
  a.memory_bytes = with(a.memory_bytes, b.memory_bytes);
  a.ephemeral_bytes = with(a.ephemeral_bytes, b.ephemeral_bytes);
  a.pods = with(a.pods, b.pods);
  for (const auto& x : b.extended)
    a.set(x.name, with(a.of(x.name), x.amount));
}

std::string binary_text(std::int64_t bytes) {
  static constexpr std::array units{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, units[unit]);
}

} // namespace

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out))
    return out;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

std::int64_t resources::of(symbol name) const {
  for (const auto& x : extended)
    if (x.name == name)
      return x.amount;
  return 0;
}

void resources::set(symbol name, std::int64_t amount) {
  auto pos = find_in(extended, name);
  bool is_there = pos != extended.end() && pos->name == name;
  if (is_there && amount == 0)
    extended.erase(pos);
  else if (is_there)
    pos->amount = amount;
  else if (amount != 0)
    extended.insert(pos, {name, amount});
}

resources& resources::operator+=(const resources& x) {
  combine(*this, x, checked_add);
  return *this;
}

resources& resources::operator-=(const resources& x) {
  combine(*this, x, checked_subtract);
  return *this;
}

shortage first_shortage(const resources& need, const resources& room) {
  auto lacks = [](std::int64_t wanted, std::int64_t there) { return wanted > 0 && wanted > there; };
  if (lacks(need.pods, room.pods))
    return {"pods", need.pods, room.pods};
  if (lacks(need.cpu_milli, room.cpu_milli))
    return {"cpu", need.cpu_milli, room.cpu_milli};
  if (lacks(need.memory_bytes, room.memory_bytes))
    return {"memory", need.memory_bytes, room.memory_bytes};
  if (lacks(need.ephemeral_bytes, room.ephemeral_bytes))
    return {"ephemeral-storage", need.ephemeral_bytes, room.ephemeral_bytes};
  for (const auto& x : need.extended)
    if (auto there = room.of(x.name); lacks(x.amount, there))
      return {x.name.text(), x.amount, there};
  return {};
}

bool fits(const resources& need, const resources& room) {
  return first_shortage(need, room).fits();
}

std::string amount_text(std::string_view name, std::int64_t amount) {
  if (name == "cpu")
    return amount % 1000 == 0 ? fmt::format("{}", amount / 1000) : fmt::format("{}m", amount);
  if (name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-"))
    return binary_text(amount);
  return fmt::format("{}", amount);
}

std::string to_text(const resources& x) {
  std::string out;
  auto add = [&out](std::string_view name, std::int64_t amount) {
    if (amount == 0)
      return;
    if (!out.empty())
      out += ", ";
    out += fmt::format("{} {}", name, amount_text(name, amount));
  };
  add("cpu", x.cpu_milli);
  add("memory", x.memory_bytes);
  add("ephemeral-storage", x.ephemeral_bytes);
  add("pods", x.pods);
  for (const auto& e : x.extended)
    add(e.name.text(), e.amount);
  return out.empty() ? "nothing" : out;
}

bool collide(const host_port& a, const host_port& b) {
  if (a.port != b.port || a.protocol != b.protocol)
    return false;
  auto is_any = [](symbol ip) { return ip.empty() || ip.text() == "0.0.0.0"; };
  return is_any(a.ip) || is_any(b.ip) || a.ip == b.ip;
}

} // namespace tutti::base
