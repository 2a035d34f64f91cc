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
    const json::object amounts{{"cpu", std::to_string(cpus)}, {"memory", "64Gi"}, {"pods", "110"}};
    apply({{"apiVersion", "v1"},
           {"kind", "Node"},
           {"metadata",
            {{"name", name},
             {"labels", {{"example.com/rack", rack}, {"kubernetes.io/hostname", name}}}}},
           {"status",
            {{"capacity", amounts},
             {"allocatable", amounts},
             {"conditions", json::array{{{"type", "Ready"}, {"status", "True"}}}}}}});
  }
  /// A PodGroup and as many pods as its minimum, each of `cpus`.
  void gang(const std::string& name, int members, int cpus) {
    apply({{"apiVersion", "scheduling.k8s.io/v1beta1"},
           {"kind", "PodGroup"},
           {"metadata", {{"name", name}, {"namespace", "default"}}},
           {"spec", {{"schedulingPolicy", {{"gang", {{"minCount", members}}}}}}}});
    for (int n = 0; n < members; ++n)
      pod(fmt::format("{}-{}", name, n), name, cpus);
  }
  void pod(const std::string& name, const std::string& group, int cpus) {
    json::object main{{"name", "main"},
                      {"image", "i"},
                      {"resources", {{"requests", {{"cpu", std::to_string(cpus)}}}}}};
    apply({{"apiVersion", "v1"},
           {"kind", "Pod"},
           {"metadata", {{"name", name}, {"namespace", "default"}}},
           {"spec",
            {{"schedulerName", "tutti"},
             {"schedulingGroup", {{"podGroupName", group}}},
             {"containers", json::array{std::move(main)}}}}});
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
  void apply(json::object object) {
    const auto done = it.api().plane().apply({std::move(object)});
    ensure(done.has_value(), done ? std::string{} : done.error().message());
    it.api().turn();
  }
};

} // namespace tutti::sim::testing
