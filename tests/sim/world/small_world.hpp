// A small cluster in a simulated world, in few words.
#pragma once

#include <string>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sim/world/world.hpp"

namespace tutti::sim::testing {

namespace json = boost::json;
using namespace std::chrono_literals;

/// A world with nodes and gangs, and short questions about them.
class small_world {
public:
  explicit small_world(world::options how = {}) : it(std::move(how)) { it.start(); }

  void node(const std::string& name, int cpus, const std::string& rack) {
    apply(fmt::format(
        R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","labels":{{"example.com/rack":"{2}","kubernetes.io/hostname":"{0}"}}}},
            "status":{{"capacity":{{"cpu":"{1}","memory":"64Gi","pods":"110"}},"allocatable":{{"cpu":"{1}","memory":"64Gi","pods":"110"}},
            "conditions":[{{"type":"Ready","status":"True"}}]}}}})",
        name, cpus, rack));
  }
  /// A PodGroup and as many pods as its minimum, each of `cpus`.
  void gang(const std::string& name, int members, int cpus) {
    apply(fmt::format(
        R"({{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{{"name":"{}","namespace":"default"}},
            "spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}})",
        name, members));
    for (int n = 0; n < members; ++n)
      pod(fmt::format("{}-{}", name, n), name, cpus);
  }
  void pod(const std::string& name, const std::string& group, int cpus) {
    apply(fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"default"}},
            "spec":{{"schedulerName":"tutti","schedulingGroup":{{"podGroupName":"{}"}},
            "containers":[{{"name":"main","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
        name, group, cpus));
  }
  /// Bound pods whose name begins so.
  std::size_t bound(const std::string& prefix) {
    std::size_t n = 0;
    for (const auto& [key, pod] : it.api().plane().objects().all(api_server::kind_id::pods))
      if (pod->name().starts_with(prefix) && !pod->node_name.empty())
        ++n;
    return n;
  }

  world it;

private:
  void apply(const std::string& text) {
    const auto done = it.api().plane().apply({json::parse(text).as_object()});
    ensure(done.has_value(), text, done ? std::string{} : done.error().message());
    it.api().turn();
  }
};

} // namespace tutti::sim::testing
