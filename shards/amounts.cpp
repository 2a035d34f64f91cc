// Element by element, over the fixed amounts and the extended ones.
#include "shards/amounts.hpp"

#include <algorithm>

namespace tutti::shards {
namespace {

template <class Pick>
base::resources combine(const base::resources& a, const base::resources& b, Pick pick) {
  base::resources out;
  out.cpu_milli = pick(a.cpu_milli, b.cpu_milli);
  out.memory_bytes = pick(a.memory_bytes, b.memory_bytes);
  out.ephemeral_bytes = pick(a.ephemeral_bytes, b.ephemeral_bytes);
  out.pods = pick(a.pods, b.pods);
  for (const auto& x : a.extended)
    out.set(x.name, pick(x.amount, b.of(x.name)));
  for (const auto& x : b.extended)
    out.set(x.name, pick(a.of(x.name), x.amount));
  return out;
}

} // namespace

base::resources lesser(const base::resources& a, const base::resources& b) {
  return combine(a, b, [](std::int64_t x, std::int64_t y) { return std::min(x, y); });
}

base::resources greater(const base::resources& a, const base::resources& b) {
  return combine(a, b, [](std::int64_t x, std::int64_t y) { return std::max(x, y); });
}

base::resources positive(const base::resources& x) {
  return greater(x, base::resources{});
}

bool overused(const base::resources& asked, const base::resources& room) {
  if ((asked.cpu_milli > 0 && room.cpu_milli < 0)
      || (asked.memory_bytes > 0 && room.memory_bytes < 0)
      || (asked.ephemeral_bytes > 0 && room.ephemeral_bytes < 0)
      || (asked.pods > 0 && room.pods < 0))
    return true;
  return std::any_of(asked.extended.begin(), asked.extended.end(),
                     [&](const auto& x) { return x.amount > 0 && room.of(x.name) < 0; });
}

} // namespace tutti::shards
