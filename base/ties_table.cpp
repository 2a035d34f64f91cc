// A table of weak pointers, swept when it has doubled.
#include "base/ties_table.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace tutti::base {
namespace {

struct weak_table {
  std::mutex lock;
  boost::unordered_flat_map<std::uint64_t, std::weak_ptr<const ties>> kept;
  std::size_t next_sweep = 64;
};

weak_table& the_table() {
  static weak_table table;
  return table;
}

} // namespace

ties_ptr shared(ties x) {
  auto& table = the_table();
  const std::lock_guard held{table.lock};
  auto& place = table.kept[x.id.value];
  if (auto known = place.lock())
    return *known == x ? known : std::make_shared<const ties>(std::move(x));
  // Not made together with its counters: what a weak pointer keeps of it would be all of it.
  ties_ptr made{new ties(std::move(x))};
  place = made;
  if (table.kept.size() >= table.next_sweep) {
    boost::unordered::erase_if(table.kept,
                               [](const auto& entry) { return entry.second.expired(); });
    table.next_sweep = std::max<std::size_t>(64, table.kept.size() * 2);
  }
  return made;
}

} // namespace tutti::base
