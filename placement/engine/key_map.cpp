// Made once per layout of the cluster; see `workspace::key`.
#include "placement/engine/key_map.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include "placement/engine/workspace.hpp"

namespace tutti::placement::engine {

std::shared_ptr<const place_map> places_of(const snapshot& where) {
  auto out = std::make_shared<place_map>();
  for (const auto& b : where.blocks) {
    out->first.push_back(out->places);
    out->places += static_cast<std::uint32_t>(b->size());
  }
  return out;
}

std::shared_ptr<const key_map> map_key(const snapshot& where, std::string_view key,
                                       const std::shared_ptr<const place_map>& places) {
  auto out = std::make_shared<key_map>();
  out->places = places;
  out->of_place.assign(places->places, no_domain);
  boost::unordered_flat_map<std::string_view, std::uint32_t> number_of;
  std::vector<std::string_view> names;
  for (auto number : where.index->in_order)
    for (auto slot : where.blocks[number]->by_name) {
      const node_ref node{number, slot};
      const auto value = value_of(where, node, key);
      if (!value.has)
        continue;
      const auto [pos, is_new] =
          number_of.try_emplace(value.value, static_cast<std::uint32_t>(names.size()));
      if (is_new)
        names.push_back(value.value);
      else
        out->is_per_node = false;
      out->of_place[places->of(node)] = pos->second;
    }
  out->names.assign(names.begin(), names.end());
  return out;
}

} // namespace tutti::placement::engine
