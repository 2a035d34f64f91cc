// The words in which the engine's stories are told: nodes with a few letters, gangs with a few
// more.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "placement/engine/capacity_view.hpp"
#include "placement/engine/plan.hpp"
#include "placement/engine/trial.hpp"

namespace tutti::placement::engine::testing {

inline const base::symbol gpu_name{"nvidia.com/gpu"};
inline constexpr const char* rack_key = "topology/rack";
inline constexpr const char* zone_key = "topology/zone";

/// A node, or what is free on it. Amounts: cores, GiB, pieces.
struct node_words {
  std::string name = {};
  std::string rack = {};
  std::string zone = {};
  std::int64_t cpu = 64;
  std::int64_t memory_gib = 512;
  std::int64_t gpus = 8;
  std::int64_t pods = 110;
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::vector<api::taint> taints = {};
  bool unschedulable = false;
  std::int64_t cpu_used = 0;
  std::int64_t gpus_used = 0;
  base::port_list ports = {};
};

struct pod_words {
  std::int64_t cpu = 1;
  std::int64_t gpus = 0;
  std::int64_t memory_gib = 0;
  api::shape_terms terms = {};
  base::port_list ports = {};
};

inline base::shape_ptr shape_of(const pod_words& x) {
  base::footprint takes;
  takes.amounts.cpu_milli = x.cpu * 1000;
  takes.amounts.memory_bytes = x.memory_gib << 30;
  takes.amounts.pods = 1;
  takes.amounts.set(gpu_name, x.gpus);
  takes.ports = x.ports;
  return api::make_shape(x.terms, takes);
}

inline node_state state_of(const node_words& x) {
  api::class_terms terms;
  std::map<std::string, std::string> labels(x.labels.begin(), x.labels.end());
  if (!x.rack.empty())
    labels[rack_key] = x.rack;
  if (!x.zone.empty())
    labels[zone_key] = x.zone;
  terms.labels.assign(labels.begin(), labels.end());
  terms.taints = x.taints;
  terms.unschedulable = x.unschedulable;
  node_state out;
  out.info = std::make_shared<const node_info>(
      node_info{{"uid-" + x.name}, {x.name}, x.name, {x.zone, x.rack}, 7});
  out.kind = api::make_class(terms);
  out.allocatable.cpu_milli = x.cpu * 1000;
  out.allocatable.memory_bytes = x.memory_gib << 30;
  out.allocatable.ephemeral_bytes = std::int64_t{1} << 40;
  out.allocatable.pods = x.pods;
  out.allocatable.set(gpu_name, x.gpus);
  out.free = out.allocatable;
  out.free.cpu_milli -= x.cpu_used * 1000;
  out.free.set(gpu_name, x.gpus - x.gpus_used);
  out.ports = x.ports;
  return out;
}

/// A cluster with the levels zone and rack.
struct cluster {
  capacity_view view{{zone_key, rack_key}};
  workspace memory;
  options bounds;

  bool node(const node_words& x) { return view.upsert(state_of(x)); }
  void nodes(const std::string& prefix, int n, node_words like) {
    for (int i = 0; i < n; ++i) {
      like.name = prefix + std::to_string(i);
      node(like);
    }
  }
  node_ref at(const std::string& name) { return *view.find(base::node_name{name}); }
  answer ask(const gang_spec& what) { return plan(view.now(), what, bounds, memory); }

  /// "pod0 on n1" as pairs, or nothing if refused.
  std::map<std::string, std::string> seats(const gang_spec& what) {
    std::map<std::string, std::string> out;
    const auto got = ask(what);
    if (const auto* p = std::get_if<placement>(&got))
      for (const auto& s : p->seats)
        out[what.members[s.member].name] = view.now().node(s.node).name.value;
    return out;
  }
  std::size_t placed(const gang_spec& what) { return seats(what).size(); }
  base::explanation refusal(const gang_spec& what) {
    const auto got = ask(what);
    const auto* x = std::get_if<base::explanation>(&got);
    return x ? *x : base::explanation{};
  }
};

/// Builds gangs: `gang().all(8, {.gpus = 8}).in(rack_key)`.
struct gang_words {
  gang_spec what;

  explicit gang_words(std::uint32_t min_count = 1, std::string key = {}) {
    what.groups.push_back({"group0", min_count, std::move(key)});
  }
  gang_words& group(std::uint32_t min_count, std::string key = {}) {
    what.groups.push_back(
        {"group" + std::to_string(what.groups.size()), min_count, std::move(key)});
    return *this;
  }
  gang_words& pods(int n, const pod_words& like) {
    const auto kind = shape_of(like);
    for (int i = 0; i < n; ++i)
      what.members.push_back({"pod" + std::to_string(what.members.size()),
                              static_cast<std::uint32_t>(what.groups.size() - 1),
                              kind,
                              member_spec::state::pending,
                              {}});
    return *this;
  }
  gang_words& bound(node_ref where, const pod_words& like = {}) {
    pods(1, like);
    what.members.back().is = member_spec::state::bound;
    what.members.back().node = where;
    return *this;
  }
  gang_words& bound_elsewhere() {
    pods(1, {});
    what.members.back().is = member_spec::state::bound_elsewhere;
    return *this;
  }
  operator const gang_spec&() const { return what; }
};

/// `n` equal pods that are placed all or not at all.
inline gang_words gang_of(int n, const pod_words& like, std::string key = {}) {
  gang_words out{static_cast<std::uint32_t>(n), std::move(key)};
  return out.pods(n, like);
}

inline std::int64_t nodes_for(const base::explanation& x, const std::string& cause) {
  for (const auto& r : x.rejected)
    if (r.cause == cause)
      return r.nodes;
  return 0;
}

} // namespace tutti::placement::engine::testing
