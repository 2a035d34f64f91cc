// Lookups in columns: which row holds which resource, and a row back as amounts.
#include "placement/engine/snapshot.hpp"

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

base::resources row(const snapshot& where, const std::vector<column>& columns, std::uint32_t slot) {
  ensure(columns.size() >= first_extended, columns.size());
  base::resources out;
  out.cpu_milli = columns[cpu_dimension][slot];
  out.memory_bytes = columns[memory_dimension][slot];
  out.ephemeral_bytes = columns[ephemeral_dimension][slot];
  out.pods = columns[pods_dimension][slot];
  for (std::size_t d = first_extended; d < columns.size(); ++d)
    out.set(where.extended[d - first_extended], columns[d][slot]);
  return out;
}

} // namespace

dimension dimension_of(const snapshot& where, base::symbol extended_name) {
  for (std::size_t i = 0; i < where.extended.size(); ++i)
    if (where.extended[i] == extended_name)
      return static_cast<dimension>(first_extended + i);
  return static_cast<dimension>(where.dimensions());
}

std::string_view name_of(const snapshot& where, dimension x) {
  static constexpr std::array<std::string_view, first_extended> basic{"cpu", "memory",
                                                                      "ephemeral-storage", "pods"};
  if (x < first_extended)
    return basic[x];
  ensure(x < where.dimensions(), x);
  return where.extended[x - first_extended].text();
}

const api::string_map* snapshot::labels_of_space(std::string_view space) const {
  if (!spaces)
    return nullptr;
  const auto pos = spaces->find(space);
  return pos == spaces->end() ? nullptr : &pos->second;
}

base::resources free_of(const snapshot& where, node_ref x) {
  return row(where, where.at(x).free, x.slot);
}

base::resources allocatable_of(const snapshot& where, node_ref x) {
  return row(where, where.at(x).allocatable, x.slot);
}

} // namespace tutti::placement::engine
