// A block is counted anew when its version has changed, and shares its result until then.
#include "placement/engine/workspace.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

/// Shapes remembered: 8 bytes per node each, so 50,000 nodes cost 25 MB at most.
constexpr std::size_t shapes_max = 64;
/// Flat label keys remembered.
constexpr std::size_t flat_keys_max = 16;
/// Ties of members remembered: members of an indexed job are all different.
constexpr std::size_t ties_max = 16'384;

} // namespace

void shape_memory::reuse(const base::shape_ptr& kind) {
  view = shape_view{kind};
  for (auto& of_measure : known_)
    for (auto& b : of_measure)
      b.version = 0;
}

const slot_counts& shape_memory::slots(const snapshot& where, std::uint32_t block_number,
                                       const std::vector<need>& needs, measure by) {
  auto& known = known_[static_cast<std::size_t>(by)];
  if (known.size() < where.blocks.size())
    known.resize(where.blocks.size());
  const auto& b = *where.blocks[block_number];
  const auto version = by == measure::allocatable ? b.layout_version : b.version;
  auto& mine = known[block_number];
  if (mine.version != version) {
    count_slots(where, b, columns_of(b, by), needs, by, view, mine.counts);
    mine.version = version;
  }
  return mine.counts;
}

void workspace::follow(const snapshot& where) {
  if (view_life_ == where.view_life)
    return;
  *this = workspace{};
  view_life_ = where.view_life;
}

std::shared_ptr<shape_memory> workspace::shape(const base::shape_ptr& kind) {
  ensure(kind != nullptr);
  auto pos = shapes_.find(kind->id);
  // Equal ids of unequal shapes do not happen by chance, but an answer must not rest on it.
  if (pos != shapes_.end() && !(pos->second->view.kind() == *kind)) {
    shapes_.erase(pos);
    pos = shapes_.end();
  }
  if (pos == shapes_.end()) {
    auto made = fresh(kind);
    pos = shapes_.emplace(kind->id, std::move(made)).first;
  }
  pos->second->last_used = ++clock_;
  return pos->second;
}

/// A new memory, or that of the shape not used for longest: the buffers are large, and making them
/// anew would cost more than counting.
std::shared_ptr<shape_memory> workspace::fresh(const base::shape_ptr& kind) {
  if (shapes_.size() < shapes_max)
    return std::make_shared<shape_memory>(kind);
  auto oldest = std::min_element(shapes_.begin(), shapes_.end(), [](auto& a, auto& b) {
    return a.second->last_used < b.second->last_used;
  });
  auto out = std::move(oldest->second);
  shapes_.erase(oldest);
  if (out.use_count() != 1) // a plan under way still reads it
    return std::make_shared<shape_memory>(kind);
  out->reuse(kind);
  return out;
}

void workspace::trim() {
  if (flat_keys_.size() >= flat_keys_max)
    flat_keys_.clear();
}

std::vector<domain_view> workspace::domains(const snapshot& where, const std::string& key) {
  std::vector<domain_view> out;
  if (const int level = level_of(where, key); level >= 0) {
    const auto& of_level = where.index->domains[static_cast<std::size_t>(level)];
    out.reserve(of_level.size());
    for (const auto& d : of_level)
      out.push_back({d.name, d.blocks, {}});
    return out;
  }
  auto pos = flat_keys_.find(key);
  if (pos == flat_keys_.end()) {
    pos = flat_keys_.emplace(key, std::make_unique<flat_key>()).first;
  }
  auto& known = *pos->second;
  if (known.layout_version != where.layout_version) {
    std::map<std::string, flat_domain, std::less<>> by_value;
    std::string text;
    for (auto number : where.index->in_order)
      for (auto slot : where.blocks[number]->by_name) {
        const auto value = joined_value(where, {number, slot}, key, text);
        if (!value.has)
          continue;
        auto d = by_value.find(value.value);
        if (d == by_value.end())
          d = by_value.emplace(std::string{value.value}, flat_domain{}).first;
        auto& mine = d->second;
        if (mine.blocks.empty() || mine.blocks.back() != number) {
          mine.blocks.push_back(number);
          mine.masks.emplace_back();
        }
        mine.masks.back().set(slot);
      }
    known.domains.clear();
    for (auto& [name, d] : by_value) {
      d.name = name;
      known.domains.push_back(std::move(d));
    }
    known.layout_version = where.layout_version;
  }
  for (const auto& d : known.domains)
    out.push_back({d.name, d.blocks, d.masks});
  return out;
}

std::shared_ptr<const place_map> workspace::places(const snapshot& where) {
  if (keys_version_ != where.layout_version || !places_) {
    keys_.clear();
    places_ = places_of(where);
    keys_version_ = where.layout_version;
  }
  return places_;
}

std::shared_ptr<const key_map> workspace::key(const snapshot& where, const std::string& key) {
  const auto all = places(where);
  if (keys_.size() >= flat_keys_max && !keys_.contains(key))
    keys_.clear();
  auto& known = keys_[key];
  if (!known)
    known = map_key(where, key, all);
  return known;
}

workspace::tied_memory& workspace::ties(const base::ties& kind) {
  if (ties_.size() >= ties_max && !ties_.contains(kind.id))
    ties_.clear();
  auto [pos, is_new] = ties_.try_emplace(kind.id);
  auto& mine = pos->second;
  if (!is_new)
    return mine;
  auto decoded = api::decode_ties(kind.blob);
  if (!decoded)
    return mine;
  auto labels = std::exchange(decoded->labels, {});
  mine.asks = api::make_ties(*decoded)->id;
  decoded->labels = std::move(labels);
  mine.terms = std::make_shared<const api::pod_ties>(std::move(*decoded));
  return mine;
}

const std::vector<tied_kind_ptr>& workspace::askers(const snapshot& where) {
  if (askers_version_ == where.asking_version)
    return askers_;
  askers_version_ = where.asking_version;
  askers_.clear();
  if (where.asking)
    askers_ = *where.asking;
  std::stable_sort(
      askers_.begin(), askers_.end(),
      [](const tied_kind_ptr& a, const tied_kind_ptr& b) { return a->asks < b->asks; });
  askers_.erase(std::unique(askers_.begin(), askers_.end(),
                            [](const tied_kind_ptr& a, const tied_kind_ptr& b) {
                              return a->asks == b->asks;
                            }),
                askers_.end());
  return askers_;
}

domain_view whole(const snapshot& where) {
  return {{}, where.index->in_order, {}};
}

api::label_value joined_value(const snapshot& where, node_ref node, std::string_view key,
                              std::string& memory) {
  if (key.find(key_joint) == std::string_view::npos)
    return value_of(where, node, key);
  memory.clear();
  for (std::size_t at = 0; at <= key.size();) {
    const auto end = std::min(key.find(key_joint, at), key.size());
    const auto value = value_of(where, node, key.substr(at, end - at));
    if (!value.has)
      return {};
    if (at > 0)
      memory += '/';
    memory += value.value;
    at = end + 1;
  }
  return {true, memory};
}

int level_of(const snapshot& where, std::string_view key) {
  for (std::size_t i = 0; i < where.levels.size(); ++i)
    if (where.levels[i] == key)
      return static_cast<int>(i);
  return -1;
}

api::label_value value_of(const snapshot& where, node_ref node, std::string_view key) {
  const auto& b = where.at(node);
  if (const int level = level_of(where, key); level >= 0) {
    const auto at = static_cast<std::size_t>(level);
    if (at >= b.path.size() || !b.path[at])
      return {};
    return {true, *b.path[at]};
  }
  const auto& entry = (*where.classes)[b.classes[node.slot]];
  if (!entry.terms)
    return {};
  return api::label_of(*entry.terms, b.nodes[node.slot]->host_name, key);
}

} // namespace tutti::placement::engine
