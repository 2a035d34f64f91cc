// A topology role and the words in which its stories are told: shards report, gangs ask.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/terms.hpp"
#include "placement/planner_role.hpp"
#include "placement/topology_role.hpp"
#include "protocol/sharding.hpp"

namespace tutti::placement::testing {

inline const base::symbol gpu_name{"nvidia.com/gpu"};
inline constexpr std::uint32_t shards = 2;

struct node_words {
  std::string name = {};
  std::string rack = "r0";
  std::int64_t gpus = 8;
  std::int64_t gpus_used = 0;
  std::vector<api::taint> taints = {};
  std::uint64_t facts_hash = 1;
  std::int64_t cpu = 64;
  bool has_empty_rack = false; ///< the label is there, and its value is empty
};

inline protocol::node_facts_ptr facts_of(const node_words& x) {
  auto out = std::make_shared<protocol::node_facts>();
  out->uid = {"uid-" + x.name};
  out->name = {x.name};
  api::class_terms kind;
  if (!x.rack.empty() || x.has_empty_rack)
    kind.labels = {{"rack", x.rack}};
  kind.taints = x.taints;
  out->kind = api::make_class(kind);
  out->allocatable.cpu_milli = x.cpu * 1000;
  out->allocatable.memory_bytes = std::int64_t{512} << 30;
  out->allocatable.pods = 110;
  out->allocatable.set(gpu_name, x.gpus);
  out->host_name = x.name;
  out->domains = {x.rack};
  out->facts_hash = x.facts_hash;
  return out;
}

inline base::resources free_of(const node_words& x) {
  auto out = facts_of(x)->allocatable;
  out.set(gpu_name, x.gpus - x.gpus_used);
  return out;
}

inline protocol::node_view seen(const node_words& x) {
  return {{"uid-" + x.name}, facts_of(x), free_of(x), {}, false};
}
inline protocol::node_view room(const node_words& x) {
  return {{"uid-" + x.name}, nullptr, free_of(x), {}, false};
}
inline protocol::node_view gone(const std::string& name) {
  return {{"uid-" + name}, nullptr, {}, {}, true};
}
inline base::shard_id home_of(const node_words& x) {
  return protocol::shard_of(*facts_of(x), shards);
}
/// A rack that belongs to the given shard.
inline std::string rack_in(std::uint32_t shard, int nth = 0) {
  for (int i = 0;; ++i) {
    const auto name = "r" + std::to_string(i);
    if (home_of({.name = "x", .rack = name}).value == shard && nth-- == 0)
      return name;
  }
}

inline base::attempt_id attempt_of(const std::string& gang, std::uint64_t try_no = 1) {
  return {{gang}, 1, {1}, try_no};
}

inline protocol::gang_ptr gang_of(const std::string& uid, int members, std::int64_t gpus,
                                  std::string key = {}) {
  auto out = std::make_shared<protocol::gang>();
  out->uid = {uid};
  out->name = {"ns", uid};
  out->groups = {{uid, uid, static_cast<std::uint32_t>(members), std::move(key)}};
  base::footprint takes;
  takes.amounts.cpu_milli = 1000;
  takes.amounts.pods = 1;
  takes.amounts.set(gpu_name, gpus);
  const auto kind = api::make_shape({}, takes);
  for (int i = 0; i < members; ++i) {
    const auto name = uid + "-" + std::to_string(i);
    out->members.push_back({{"pod-" + name}, name, 0, kind, {}, "1"});
  }
  return out;
}

/// The role, and what it said last.
struct topology_world {
  search_board_ptr board = std::make_shared<search_board>();
  topology_role role;
  protocol::effects said;
  std::map<std::uint32_t, std::uint64_t> versions; // per shard

  explicit topology_world(std::uint32_t planners = 0) : role({{"rack"}, shards, planners, board}) {}

  void on(const protocol::event& e) { said = role.on(e, {}); }
  void hear(protocol::address from, protocol::message what) {
    on(protocol::received{std::move(from), std::move(what)});
  }
  void whole(std::uint32_t shard, std::vector<protocol::node_view> nodes,
             std::uint64_t incarnation = 1, std::vector<base::attempt_id> settled = {}) {
    hear(
        protocol::to_shard({shard}),
        protocol::view_delta{
            {shard}, {incarnation}, ++versions[shard], true, std::move(nodes), std::move(settled)});
  }
  void delta(std::uint32_t shard, std::vector<protocol::node_view> nodes,
             std::vector<base::attempt_id> settled = {}) {
    hear(protocol::to_shard({shard}),
         protocol::view_delta{
             {shard}, {1}, ++versions[shard], false, std::move(nodes), std::move(settled)});
  }
  /// All shards tell their part of these nodes.
  void cluster(const std::vector<node_words>& nodes) {
    for (std::uint32_t s = 0; s < shards; ++s) {
      std::vector<protocol::node_view> mine;
      for (const auto& n : nodes)
        if (home_of(n).value == s)
          mine.push_back(seen(n));
      whole(s, std::move(mine));
    }
  }

  protocol::plan_answer ask(const protocol::gang_ptr& who, std::uint64_t try_no = 1) {
    hear(protocol::to_gang(who->uid),
         protocol::plan_request{attempt_of(who->uid.value, try_no), who});
    const auto* answer = find<protocol::plan_answer>();
    return answer ? *answer : protocol::plan_answer{};
  }
  bool fits(const protocol::gang_ptr& who, std::uint64_t try_no = 1) {
    return ask(who, try_no).placement != nullptr;
  }
  void drop(const std::string& gang, std::uint64_t try_no = 1) {
    hear(protocol::to_gang({gang}), protocol::plan_dropped{attempt_of(gang, try_no)});
  }

  /// The first message of this kind among the last effects.
  template <class M>
  const M* find(std::optional<protocol::address> to = {}) const {
    for (const auto& e : said.list())
      if (const auto* s = std::get_if<protocol::send>(&e))
        if (const auto* m = std::get_if<M>(&s->what); m && (!to || *to == s->to))
          return m;
    return nullptr;
  }
  template <class E>
  std::vector<E> effects() const {
    std::vector<E> out;
    for (const auto& e : said.list())
      if (const auto* x = std::get_if<E>(&e))
        out.push_back(*x);
    return out;
  }
};

} // namespace tutti::placement::testing
