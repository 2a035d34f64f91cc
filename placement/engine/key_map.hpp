// Which domain of a topology key each node is in, as numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "placement/engine/snapshot.hpp"

namespace tutti::placement::engine {

/// Every slot of a snapshot has a *place*: slots of all blocks in one row. What is known per node
/// is then one array.
struct place_map {
  std::vector<std::uint32_t> first; ///< by block: the place of its slot 0
  std::uint32_t places = 0;

  std::uint32_t of(node_ref x) const { return first[x.block] + x.slot; }
};
std::shared_ptr<const place_map> places_of(const snapshot& where);

/// A node without the key is in no domain.
inline constexpr std::uint32_t no_domain = ~std::uint32_t{0};

/// Domains are numbered in the order in which their first nodes come.
struct key_map {
  std::shared_ptr<const place_map> places;
  std::vector<std::uint32_t> of_place; ///< domain, or `no_domain`; also for empty slots
  std::vector<std::string> names;      ///< by domain: the value of the label
  bool is_per_node = true;             ///< no domain has two nodes, as with host names

  std::uint32_t of(node_ref x) const { return of_place[places->of(x)]; }
  std::uint32_t domains() const { return static_cast<std::uint32_t>(names.size()); }
};
std::shared_ptr<const key_map> map_key(const snapshot& where, std::string_view key,
                                       const std::shared_ptr<const place_map>& places);

} // namespace tutti::placement::engine
