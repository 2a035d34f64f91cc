// Objects that are large, hold nulls, or say what nobody knows, on a genuine API server.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/commands/judge.hpp"
#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::look_at;
using commands::manifest;
using commands::nodes_in_racks;

class Odd : public Live {};

/// A server takes 256 KiB of annotations per object, and a ConfigMap that nobody schedules is not
/// even looked at.
TEST_F(Odd, objects_hold_nobody_up) {
  control_plane on;
  const std::string large(250 * 1024, 'x');
  on.create(nodes_in_racks(3));
  const std::string pods = "/api/v1/namespaces/default/pods",
                    groups = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
  const auto annotations = R"("annotations": {"a": ")" + large + R"("})";
  EXPECT_EQ(on.api()
                .post(groups, R"({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
                       "metadata": {"name": "odd", "labels": null, )"
                                  + annotations + R"(},
                       "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "unheardOf": [1]}})")
                .status,
            201);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(on.api()
                  .post(pods, fmt::format(R"({{"apiVersion": "v1", "kind": "Pod",
                         "metadata": {{"name": "odd-{}", "ownerReferences": null,
                                      "finalizers": null, {}}},
                         "spec": {{"schedulerName": "tutti", "tolerations": null,
                                  "initContainers": null, "nodeSelector": null, "volumes": null,
                                  "unheardOf": {{"a": null}},
                                  "schedulingGroup": {{"podGroupName": "odd"}},
                                  "containers": [{{"name": "m", "image": "w", "ports": null,
                                    "resources": {{"limits": null,
                                                  "requests": {{"cpu": "3"}}}}}}]}}}})",
                                          i, annotations))
                  .status,
              201)
        << i;
  for (const char* node : {"node-0", "node-1"})
    EXPECT_EQ(on.api()
                  .merge(std::string{"/api/v1/nodes/"} + node,
                         R"({"metadata": {)" + annotations
                             + R"(}, "spec": {"taints": null, "unheardOf": true}})")
                  .status,
              200);
  auto scheduler = start_scheduler(on);
  expect_bound(scheduler, "odd");
  on.create(manifest(our_gang("plain", 3, 1)));
  expect_bound(scheduler, "plain");
  scheduler.stop();
  EXPECT_EQ(look_at(on.api()).bound_of("odd"), 3);
}

} // namespace
} // namespace tutti::live
