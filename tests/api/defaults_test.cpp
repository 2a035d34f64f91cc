// What a server fills in, and what it refuses by looking at other objects.
#include "api/defaults.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "api/admission.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;

json::object object(std::string_view text) {
  return json::parse(text).get_object();
}

json::object defaulted(std::string_view text, const default_options& options = {}) {
  auto filled = object(text);
  apply_defaults(filled, options);
  return filled;
}

TEST(Defaults, a_pod_gets_what_a_server_gives_it) {
  auto pod = defaulted(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
    "spec":{"containers":[{"name":"c","image":"pause:3.10","ports":[{"containerPort":80}]}]}})");
  EXPECT_EQ(pod["spec"], json::parse(R"({"containers":[{"name":"c","image":"pause:3.10",
    "ports":[{"containerPort":80,"protocol":"TCP"}],"terminationMessagePath":"/dev/termination-log",
    "terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","resources":{}}],
    "restartPolicy":"Always","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler",
    "terminationGracePeriodSeconds":30,"enableServiceLinks":true,"securityContext":{}})"));
  EXPECT_EQ(pod["status"], json::parse(R"({"phase":"Pending","qosClass":"BestEffort"})"));
}

TEST(Defaults, the_quality_of_service_follows_from_requests_and_limits) {
  auto qos = [](std::string_view resources) {
    auto pod = object(R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c"}]}})");
    pod["spec"].at("containers").at(0).get_object()["resources"] = json::parse(resources);
    apply_defaults(pod);
    return pod.at("status").at("qosClass");
  };
  EXPECT_EQ(qos(R"({"requests":{"example.com/gpu":1}})"), "BestEffort");
  EXPECT_EQ(qos(R"({"requests":{"cpu":1}})"), "Burstable");
  EXPECT_EQ(qos(R"({"limits":{"cpu":1,"memory":"1Gi"}})"), "Guaranteed");
  EXPECT_EQ(qos(R"({"limits":{"cpu":1,"memory":"1024"},"requests":{"memory":"1Ki"}})"),
            "Guaranteed");
  EXPECT_EQ(qos(R"({"limits":{"cpu":1,"memory":"1Gi"},"requests":{"cpu":"500m"}})"), "Burstable");
}

TEST(Defaults, applied_twice_change_nothing_the_second_time) {
  for (auto text : {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{
      "hostNetwork":true,"volumes":[{"name":"v"},{"name":"s","secret":{"secretName":"x"}}],
      "containers":[{"name":"c","image":"a","ports":[{"containerPort":80}],
      "livenessProbe":{"httpGet":{"port":1}},"resources":{"limits":{"cpu":"1000m"}}}]}})",
                    R"({"apiVersion":"v1","kind":"Node","status":{"capacity":{"cpu":"4000m"}}})",
                    R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})",
                    R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup"})"}) {
    auto once = defaulted(text);
    auto twice = once;
    apply_defaults(twice);
    EXPECT_EQ(twice, once);
  }
}

TEST(Defaults, what_is_limited_is_requested) {
  auto pod = defaulted(R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c",
    "resources":{"limits":{"cpu":2,"memory":"1024Mi","example.com/gpu":"1"},
                 "requests":{"memory":"512Mi"}}}]}})");
  EXPECT_EQ(pod.at("spec").at("containers").at(0).at("resources"), json::parse(R"({
    "limits":{"cpu":"2","memory":"1Gi","example.com/gpu":"1"},
    "requests":{"memory":"512Mi","cpu":"2","example.com/gpu":"1"}})"));
}

TEST(Defaults, a_pod_level_limit_is_a_request_only_where_no_container_asks) {
  auto pod = defaulted(R"({"apiVersion":"v1","kind":"Pod","spec":{"resources":{"limits":{"cpu":"4",
    "memory":"8Gi"}},"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
  EXPECT_EQ(pod.at("spec").at("resources").at("requests"), json::parse(R"({"memory":"8Gi"})"));
}

TEST(Defaults, the_scheduler_of_a_silent_pod_is_an_option) {
  auto text = R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[]}})";
  EXPECT_EQ(defaulted(text, {release::v1_37, "tutti"}).at("spec").at("schedulerName"), "tutti");
}

TEST(Defaults, images_without_a_tag_are_pulled_always) {
  auto policy = [](std::string_view image) {
    auto pod = object(R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c"}]}})");
    pod["spec"].at("containers").at(0).get_object()["image"] = json::value(image);
    apply_defaults(pod);
    return pod.at("spec").at("containers").at(0).at("imagePullPolicy");
  };
  EXPECT_EQ(policy("registry:5000/a"), "Always");
  EXPECT_EQ(policy("a:latest"), "Always");
  EXPECT_EQ(policy("registry:5000/a:1"), "IfNotPresent");
  EXPECT_EQ(policy("a@sha256:00"), "IfNotPresent");
}

TEST(Defaults, groups_of_each_release_have_their_own) {
  auto spec = [](release r, const char* version) {
    auto group = object(R"({"kind":"PodGroup"})");
    group["apiVersion"] = std::string{"scheduling.k8s.io/"} + version;
    apply_defaults(group, {r, ""});
    return group.at("spec");
  };
  EXPECT_EQ(spec(release::v1_36, "v1alpha2"), json::parse(R"({"disruptionMode":"Pod"})"));
  EXPECT_EQ(spec(release::v1_37, "v1beta1"), json::parse(R"({"disruptionMode":{"single":{}},
    "preemptionPolicy":"PreemptLowerPriority"})"));
}

/// A cluster with three priority classes.
struct Admission : testing::Test {
  cluster_lookup cluster;
  std::optional<priority_class> standard;

  Admission() {
    cluster.class_named = [](std::string_view name) -> std::optional<priority_class> {
      if (name == "high")
        return made("high", 1000, false);
      if (name == "meek")
        return made("meek", 10, true);
      return std::nullopt;
    };
    cluster.default_class = [this] { return standard; };
  }
  static priority_class made(const std::string& name, std::int32_t value, bool never) {
    priority_class one;
    one.meta.name = name;
    one.value = value;
    one.never_preempts = never;
    return one;
  }
  /// The message of a refusal, or the spec that would be stored.
  std::string admit(std::string_view kind, std::string_view spec, release r = release::v1_37) {
    auto version = kind == "Pod"         ? "v1"
                   : r == release::v1_36 ? "scheduling.k8s.io/v1alpha2"
                                         : "scheduling.k8s.io/v1beta1";
    auto one = object(R"({"metadata":{"name":"x"}})");
    one["apiVersion"] = version;
    one["kind"] = json::value(kind);
    one["spec"] = json::parse(spec);
    auto refused = admit_priority(one, r, cluster);
    return refused ? std::to_string(refused->code) + " " + refused->message
                   : json::serialize(one["spec"]);
  }
};

TEST_F(Admission, takes_value_and_preemption_from_the_class) {
  EXPECT_EQ(admit("Pod", R"({"priorityClassName":"meek"})"),
            R"({"priorityClassName":"meek","priority":10,"preemptionPolicy":"Never"})");
  EXPECT_EQ(admit("PodGroup", R"({"priorityClassName":"high"})", release::v1_36),
            R"({"priorityClassName":"high","priority":1000})");
  EXPECT_EQ(admit("Pod", R"({"priorityClassName":"system-node-critical"})"),
            R"({"priorityClassName":"system-node-critical","priority":2000001000,)"
            R"("preemptionPolicy":"PreemptLowerPriority"})");
}

TEST_F(Admission, falls_back_to_the_global_default_and_then_to_zero) {
  EXPECT_EQ(admit("Pod", "{}"), R"({"priority":0,"preemptionPolicy":"PreemptLowerPriority"})");
  standard = made("normal", 5, false);
  EXPECT_EQ(admit("PodGroup", "{}"), R"({"priorityClassName":"normal","priority":5,)"
                                     R"("preemptionPolicy":"PreemptLowerPriority"})");
}

TEST_F(Admission, refuses_what_contradicts_the_class) {
  EXPECT_EQ(admit("Pod", R"({"priorityClassName":"nope"})"),
            "403 pods \"x\" is forbidden: no PriorityClass with name nope was found");
  EXPECT_EQ(
      admit("Pod", R"({"priority":7})"),
      "403 pods \"x\" is forbidden: the integer value of priority (7) must not be provided in "
      "pod spec; priority admission controller computed 0 from the given PriorityClass name");
  EXPECT_EQ(
      admit("PodGroup", R"({"priorityClassName":"meek",
    "preemptionPolicy":"PreemptLowerPriority"})"),
      "403 podgroups.scheduling.k8s.io \"x\" is forbidden: the string value of "
      "PreemptionPolicy (PreemptLowerPriority) must not be provided in pod group spec; priority "
      "admission controller computed Never from the given PriorityClass name");
}

TEST_F(Admission, keeps_the_priority_of_a_pod_that_is_updated_without_it) {
  auto old = object(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
    "spec":{"containers":[{"name":"c","image":"a"}]}})");
  ASSERT_FALSE(admit_new(old, {}, cluster));
  auto now = object(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},
    "spec":{"containers":[{"name":"c","image":"b"}]},"status":{"phase":"Failed"}})");
  auto refused = admit_update(old, now, object_part::main, {});
  EXPECT_FALSE(refused) << refused->message;
  EXPECT_EQ(now.at("spec").at("priority"), 0);
  EXPECT_EQ(now.at("status").at("phase"), "Pending") << "status is the other half";
}

} // namespace
} // namespace tutti::api
