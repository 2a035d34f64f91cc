// Short words for the stories that the tests of this folder tell.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "protocol/facts.hpp"
#include "protocol/plan.hpp"

namespace tutti::shards::words {

inline base::resources cpus(std::int64_t n) {
  base::resources out;
  out.cpu_milli = n * 1000;
  return out;
}

inline base::footprint taking(std::int64_t cpu) {
  return {cpus(cpu), {}};
}

inline base::footprint taking(std::int64_t cpu, std::int32_t port) {
  return {cpus(cpu), {{base::symbol{""}, base::symbol{"TCP"}, port}}};
}

inline base::pod_uid pod(const std::string& name) {
  return {name};
}

inline base::node_uid node(const std::string& name) {
  return {"uid-" + name};
}

/// The `n`-th try for the gang.
inline base::attempt_id attempt(const std::string& gang, std::uint64_t n = 1,
                                std::uint64_t epoch = 1) {
  return {.gang = {gang}, .ordinal = 1, .epoch = {epoch}, .try_no = n};
}

inline protocol::seat seat(const std::string& who, const std::string& where,
                           base::footprint takes) {
  return {.pod = {who},
          .pod_name = who,
          .group = 0,
          .node = node(where),
          .node_name = {where},
          .takes = std::move(takes),
          .before_bind = {}};
}

inline protocol::victim victim(const std::string& who, const std::string& where) {
  return {.pod = {who},
          .pod_name = {"default", who},
          .node = node(where),
          .unit = 0,
          .priority = 0,
          .grace_ms = 0};
}

/// A node of so many CPUs in no rack; `labels` changes its facts.
inline protocol::node_facts_ptr facts(const std::string& name, std::int64_t cpu,
                                      const std::string& labels = {}) {
  protocol::node_facts out;
  out.uid = node(name);
  out.name = {name};
  out.allocatable = cpus(cpu);
  out.facts_hash =
      base::hash_combine(base::hash_of(name + labels), static_cast<std::uint64_t>(cpu));
  return std::make_shared<const protocol::node_facts>(std::move(out));
}

} // namespace tutti::shards::words
