// Sums over the view for `tutti get nodes` and `tutti get racks`; nothing is decided by them.
#include "placement/report.hpp"

#include <map>
#include <vector>

#include <boost/json.hpp>

namespace tutti::placement {
namespace {

namespace json = boost::json;

json::object amounts_of(const base::resources& x) {
  json::object out{{"cpu_milli", x.cpu_milli},
                   {"memory_bytes", x.memory_bytes},
                   {"ephemeral_bytes", x.ephemeral_bytes},
                   {"pods", x.pods}};
  for (const auto& e : x.extended)
    out[e.name.text()] = e.amount;
  return out;
}

std::string_view name_of(api::taint_effect x) {
  switch (x) {
  case api::taint_effect::no_schedule:
    return "NoSchedule";
  case api::taint_effect::prefer_no_schedule:
    return "PreferNoSchedule";
  case api::taint_effect::no_execute:
    return "NoExecute";
  }
  return "?";
}

json::object domains_of(const engine::snapshot& where, const engine::topology_path& path) {
  json::object out;
  for (std::size_t i = 0; i < where.levels.size() && i < path.size(); ++i)
    if (path[i])
      out[where.levels[i]] = *path[i];
  return out;
}

json::object describe(view_feed& feed, engine::node_ref at) {
  const auto& where = feed.view().now();
  const auto& b = where.at(at);
  const auto& info = where.node(at);
  const auto& kind = (*where.classes)[b.classes[at.slot]];
  const auto allocatable = engine::allocatable_of(where, at);
  const auto free = engine::free_of(where, at);
  json::array taints;
  json::object labels;
  bool is_cordoned = false;
  if (kind.terms) {
    for (const auto& t : kind.terms->taints)
      taints.push_back(
          json::object{{"key", t.key}, {"value", t.value}, {"effect", name_of(t.effect)}});
    for (const auto& [key, value] : kind.terms->labels)
      labels[key] = value;
    is_cordoned = kind.terms->unschedulable;
  }
  const auto* known = feed.find(info.uid);
  return {{"name", info.name.value},
          {"uid", info.uid.value},
          {"shard", known ? known->shard.value : 0},
          {"domains", domains_of(where, b.path)},
          {"labels", std::move(labels)},
          {"taints", std::move(taints)},
          {"schedulable", kind.terms != nullptr && !is_cordoned},
          {"allocatable", amounts_of(allocatable)},
          {"free", amounts_of(free)},
          {"pods", allocatable.pods - free.pods}};
}

struct rack_sums {
  std::int64_t nodes = 0;
  base::resources allocatable;
  base::resources free;
};

json::object describe(const engine::snapshot& where, const engine::topology_path& path,
                      const rack_sums& x) {
  json::object out{{"level", where.levels.empty() ? std::string{} : where.levels.back()},
                   {"name", path.empty() ? std::string{} : path.back().value_or("")},
                   {"domains", domains_of(where, path)},
                   {"nodes", x.nodes},
                   {"allocatable", amounts_of(x.allocatable)},
                   {"used", amounts_of(x.allocatable - x.free)}};
  std::int64_t gpus = 0;
  std::int64_t gpus_free = 0;
  for (const auto& e : x.allocatable.extended)
    if (e.name.text().ends_with("/gpu")) {
      gpus += e.amount;
      gpus_free += x.free.of(e.name);
    }
  out["gpus"] = gpus;
  out["gpus_used"] = gpus - gpus_free;
  return out;
}

} // namespace

std::string describe_nodes(view_feed& feed, const std::string& name) {
  if (!name.empty()) {
    const auto at = feed.view().find(base::node_name{name});
    return at ? json::serialize(describe(feed, *at)) : std::string{};
  }
  const auto& where = feed.view().now();
  std::map<base::node_name, engine::node_ref> by_name;
  for (auto number : where.index->in_order)
    for (auto slot : where.blocks[number]->by_name)
      by_name.emplace(where.blocks[number]->nodes[slot]->name, engine::node_ref{number, slot});
  json::array out;
  for (const auto& [_, at] : by_name)
    out.push_back(describe(feed, at));
  return json::serialize(out);
}

std::string describe_racks(view_feed& feed, const std::string& name) {
  const auto& where = feed.view().now();
  std::map<engine::topology_path, rack_sums> racks;
  for (auto number : where.index->in_order) {
    const auto& b = *where.blocks[number];
    if (b.by_name.empty())
      continue;
    auto& sums = racks[b.path];
    for (auto slot : b.by_name) {
      ++sums.nodes;
      sums.allocatable += engine::allocatable_of(where, {number, slot});
      sums.free += engine::free_of(where, {number, slot});
    }
  }
  json::array out;
  for (const auto& [path, sums] : racks) {
    if (name.empty())
      out.push_back(describe(where, path, sums));
    else if (!path.empty() && path.back() == name)
      return json::serialize(describe(where, path, sums));
  }
  return name.empty() ? json::serialize(out) : std::string{};
}

} // namespace tutti::placement
