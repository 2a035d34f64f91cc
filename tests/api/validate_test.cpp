// Rules that the recordings do not show: v1alpha1, and pods, nodes and classes on their own.
#include "api/validate.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace tutti::api {
namespace {

namespace json = boost::json;

json::object object(std::string_view text) {
  return json::parse(text).get_object();
}

/// What is wrong, without the words around it; empty if nothing is.
std::string fields(const std::optional<refusal>& refused) {
  std::string text;
  if (refused)
    for (auto& one : refused->causes)
      text += (text.empty() ? "" : " | ") + one.field + ": " + one.message;
  return text;
}

json::object old_workload(std::string_view spec) {
  auto one = object(R"({"apiVersion":"scheduling.k8s.io/v1alpha1","kind":"Workload",
    "metadata":{"name":"w"}})");
  one["spec"] = json::parse(spec);
  return one;
}

std::string create_old(std::string_view spec) {
  return fields(refuse_create(release::v1_35, old_workload(spec)));
}
std::string update_old(std::string_view before, std::string_view after) {
  return fields(refuse_update(release::v1_35, old_workload(before), old_workload(after)));
}

constexpr auto two = R"({"podGroups":[{"name":"a","policy":{"gang":{"minCount":2}}}]})";

TEST(Validate, a_v1alpha1_workload_has_one_to_eight_named_groups) {
  EXPECT_EQ(create_old(two), "");
  EXPECT_EQ(create_old("{}"), "spec.podGroups: Required value");
  EXPECT_EQ(create_old(R"({"podGroups":[{"name":"a","policy":{}}]})"),
            "spec.podGroups[0].policy: Invalid value: \"\": must specify one of: `basic`, `gang`");
  EXPECT_EQ(create_old(R"({"podGroups":[{"name":"A","policy":{"basic":{}}}]})").substr(0, 39),
            "spec.podGroups[0].name: Invalid value: ");
  EXPECT_EQ(
      create_old(R"({"podGroups":[{"name":"a","policy":{"gang":{"minCount":-2}}}]})"),
      "spec.podGroups[0].policy.gang.minCount: Invalid value: -2: must be greater than or equal "
      "to 1");
}

TEST(Validate, a_v1alpha1_workload_is_fixed_but_for_its_controller_once) {
  EXPECT_EQ(update_old(two, two), "");
  EXPECT_EQ(update_old(two, R"({"podGroups":[{"name":"a","policy":{"gang":{"minCount":3}}}]})"),
            "spec.podGroups: Invalid value: null: field is immutable");
  auto owned = R"({"controllerRef":{"kind":"Job","name":"j"},
    "podGroups":[{"name":"a","policy":{"gang":{"minCount":2}}}]})";
  EXPECT_EQ(update_old(two, owned), "");
  EXPECT_EQ(update_old(owned, two), "spec.controllerRef: Invalid value: null: field is immutable");
}

json::object pod(std::string_view spec) {
  auto one = object(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})");
  one["spec"] = json::parse(spec);
  return one;
}

std::string create_pod(std::string_view spec, release r = release::v1_37) {
  return fields(refuse_create(r, pod(spec)));
}

TEST(Validate, a_pod_needs_containers_with_names_and_images) {
  EXPECT_EQ(create_pod("{}"), "spec.containers: Required value");
  EXPECT_EQ(create_pod(R"({"containers":[{"name":"a","image":"i"},{"name":"a"}]})"),
            "spec.containers[1].name: Duplicate value: \"a\" | spec.containers[1].image: Required "
            "value");
}

TEST(Validate, a_request_is_not_negative_and_not_above_its_limit) {
  EXPECT_EQ(
      create_pod(R"({"containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"-1"
    }}}]})"),
      "spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater than "
      "or equal to 0");
  EXPECT_EQ(
      create_pod(R"({"containers":[{"name":"a","image":"i","resources":{
    "requests":{"cpu":"2"},"limits":{"cpu":"1500m"}}}]})"),
      "spec.containers[0].resources.requests[cpu]: Invalid value: \"2\": must be less than or "
      "equal to cpu limit of 1500m");
  EXPECT_EQ(create_pod(R"({"containers":[{"name":"a","image":"i","resources":{
    "requests":{"example.com/gpu":"2"}}}]})"),
            "spec.containers[0].resources.limits: Required value: Limit must be set for non "
            "overcommitable resources");
}

TEST(Validate, a_pod_of_1_35_names_an_entry_of_a_workload) {
  auto rest = std::string{R"("containers":[{"name":"a","image":"i"}]})"};
  EXPECT_EQ(
      create_pod(R"({"workloadRef":{"name":"w","podGroup":"g","podGroupReplicaKey":"r0"},)" + rest,
                 release::v1_35),
      "");
  EXPECT_EQ(create_pod(R"({"workloadRef":{"name":"w"},)" + rest, release::v1_35),
            "spec.workloadRef.podGroup: Required value");
}

TEST(Validate, a_gated_pod_may_lose_gates_and_become_stricter) {
  auto update = [](std::string_view before, std::string_view after) {
    auto text = fields(refuse_update(release::v1_37, pod(before), pod(after)));
    return text.substr(text.find('\n') == text.npos ? 0 : text.find('\n') + 1);
  };
  auto gated = R"({"schedulingGates":[{"name":"a"}],"nodeSelector":{"x":"y"}})";
  EXPECT_EQ(update(gated, R"({"schedulingGates":[],"nodeSelector":{"x":"y","z":"1"}})"), "");
  EXPECT_EQ(update(gated, R"({"schedulingGates":[{"name":"a"}]})"), "spec.nodeSelector");
  EXPECT_EQ(update(R"({"nodeSelector":{"x":"y"}})", R"({"nodeSelector":{"x":"y","z":"1"}})"),
            "spec.nodeSelector");
  EXPECT_EQ(update("{}", gated), "spec.nodeSelector\nspec.schedulingGates");
  EXPECT_EQ(
      update(R"({"tolerations":[{"key":"a"}]})", R"({"tolerations":[{"key":"b"},{"key":"a"}]})"),
      "");
}

TEST(Validate, labels_are_well_formed) {
  auto node = object(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n",
    "labels":{"a/b/c":"x","ok":"no spaces"}}})");
  auto text = fields(refuse_create(release::v1_37, node));
  EXPECT_NE(text.find("metadata.labels: Invalid value: \"a/b/c\": a valid label key must"),
            text.npos);
  EXPECT_NE(text.find("metadata.labels: Invalid value: \"no spaces\": a valid label must"),
            text.npos);
}

TEST(Validate, taints_have_a_known_effect_and_are_there_once) {
  auto node = object(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"taints":[
    {"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"Maybe"}
    ]}})");
  EXPECT_EQ(fields(refuse_create(release::v1_37, node)),
            "spec.taints[1]: Duplicate value: {\"key\":\"a\",\"effect\":\"NoSchedule\"} | "
            "spec.taints[2].effect: Unsupported value: \"Maybe\": supported values: \"NoExecute\", "
            "\"NoSchedule\", \"PreferNoSchedule\"");
}

TEST(Validate, a_priority_class_of_users_is_bounded_and_fixed) {
  auto made = [](std::string_view name, int value) {
    auto one = object(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
      "preemptionPolicy":"PreemptLowerPriority"})");
    one["metadata"] = json::object{{"name", json::value(name)}};
    one["value"] = value;
    return one;
  };
  EXPECT_EQ(fields(refuse_create(release::v1_37, made("high", 1'000'000'000))), "");
  EXPECT_EQ(fields(refuse_create(release::v1_37, made("system-node-critical", 2'000'001'000))), "");
  EXPECT_EQ(fields(refuse_create(release::v1_37, made("high", 1'000'000'001))),
            "value: Forbidden: maximum allowed value of a user defined priority is 1000000000");
  EXPECT_EQ(fields(refuse_update(release::v1_37, made("high", 1), made("high", 2))),
            "value: Forbidden: may not be changed in an update.");
}

TEST(Validate, a_body_of_the_wrong_type_is_a_bad_request) {
  auto refused = refuse_decode(release::v1_37, pod(R"({"containers":"none"})"), false);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, 400);
  EXPECT_EQ(refused->message,
            "Pod in version \"v1\" cannot be handled as a Pod: json: cannot "
            "unmarshal string into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container");
  EXPECT_FALSE(refuse_decode(release::v1_37, pod(R"({"extra":1})"), false));
  EXPECT_TRUE(refuse_decode(release::v1_37, pod(R"({"extra":1})"), true));
}

} // namespace
} // namespace tutti::api
