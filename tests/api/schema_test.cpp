// What the embedded documents say about fields and kinds.
#include "api/schema.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "api/openapi.hpp"

namespace tutti::api {
namespace {

std::vector<field_error> check(release r, std::string_view text) {
  return check_fields(r, boost::json::parse(text).get_object());
}

TEST(Schema, has_a_document_for_each_group_version_of_each_release) {
  for (auto r : releases)
    for (auto group_version : group_versions(r)) {
      auto text = openapi_document(r, group_version);
      EXPECT_TRUE(boost::json::parse(text).is_object()) << name_of(r) << " " << group_version;
    }
  for (auto r : releases)
    EXPECT_TRUE(boost::json::parse(discovery_document(r)).is_object());
  EXPECT_EQ(openapi_document("1.37", "scheduling.k8s.io/v1alpha2"), "");
  EXPECT_EQ(openapi_document("1.12", "v1"), "");
  EXPECT_NE(openapi_document("1.37.2", "v1"), "");
}

TEST(Schema, knows_which_kinds_a_release_has) {
  EXPECT_TRUE(find_kind(release::v1_35, "scheduling.k8s.io/v1alpha1", "Workload"));
  EXPECT_FALSE(find_kind(release::v1_35, "scheduling.k8s.io/v1alpha2", "PodGroup"));
  EXPECT_TRUE(find_kind(release::v1_36, "scheduling.k8s.io/v1alpha2", "PodGroup"));
  EXPECT_FALSE(find_kind(release::v1_36, "scheduling.k8s.io/v1beta1", "PodGroup"));
  EXPECT_TRUE(find_kind(release::v1_37, "scheduling.k8s.io/v1alpha3", "CompositePodGroup"));
  EXPECT_FALSE(find_kind(release::v1_37, "scheduling.k8s.io/v1beta1", "CompositePodGroup"));
  auto* group = find_kind(release::v1_37, "scheduling.k8s.io/v1beta1", "PodGroup");
  ASSERT_TRUE(group);
  EXPECT_EQ(*group, (known_kind{"scheduling.k8s.io/v1beta1", "PodGroup", "podgroups", true}));
  EXPECT_FALSE(find_kind(release::v1_37, "v1", "Node")->is_namespaced);
}

TEST(Schema, the_pod_link_belongs_to_its_release) {
  auto old_link = R"({"apiVersion":"v1","kind":"Pod","spec":{"workloadRef":{"name":"w"}}})";
  auto new_link =
      R"({"apiVersion":"v1","kind":"Pod","spec":{"schedulingGroup":{"podGroupName":"w"}}})";
  EXPECT_TRUE(check(release::v1_35, old_link).empty());
  EXPECT_FALSE(check(release::v1_35, new_link).empty());
  EXPECT_FALSE(check(release::v1_36, old_link).empty());
  EXPECT_TRUE(check(release::v1_36, new_link).empty());
}

TEST(Schema, speaks_with_the_words_of_a_server) {
  auto errors =
      check(release::v1_37, R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup",
    "spec":{"schedulingPolicy":{"gang":{"minCount":"3"},"elastic":{}},
    "disruptionMode":"PodGroup"}})");
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0].server_text,
            "json: cannot unmarshal string into Go struct field "
            "GangSchedulingPolicy.spec.schedulingPolicy.gang.minCount of type int32");
  EXPECT_EQ(errors[1].server_text, "unknown field \"spec.schedulingPolicy.elastic\"");
  EXPECT_EQ(errors[2].server_text,
            "json: cannot unmarshal string into Go struct field "
            "PodGroupSpec.spec.disruptionMode of type v1beta1.DisruptionMode");
}

TEST(Schema, leaves_values_alone_that_a_server_takes) {
  EXPECT_TRUE(check(release::v1_37, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",
    "labels":{"a":"b"},"managedFields":[{"fieldsV1":{"f:x":{}}}]},"spec":{"nodeName":null,
    "containers":[{"name":"c","resources":{"requests":{"cpu":1,"memory":"1Gi","x/y":0.5}},
    "livenessProbe":{"httpGet":{"port":"http"}},"readinessProbe":{"tcpSocket":{"port":80}}}]}})")
                  .empty());
}

TEST(Schema, an_amount_that_is_none_cannot_be_read) {
  auto errors = check(release::v1_37, R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[
    {"name":"c","resources":{"requests":{"cpu":"two"}}}]}})");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].path, "spec.containers[0].resources.requests[cpu]");
  EXPECT_EQ(errors[0].what, "\"two\" is no amount");
  EXPECT_EQ(errors[0].why, field_error::problem::wrong_type);
  EXPECT_TRUE(errors[0].server_text.starts_with("quantities must match the regular expression"));
}

TEST(Schema, drops_what_a_server_would_drop) {
  auto pod = boost::json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},
    "extra":1,"spec":{"containers":[{"name":"c","imgae":"x"}]}})")
                 .get_object();
  drop_unknown_fields(release::v1_37, pod);
  EXPECT_EQ(boost::json::value(pod),
            boost::json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},
    "spec":{"containers":[{"name":"c"}]}})"));
}

TEST(Schema, finds_the_name_that_was_meant) {
  EXPECT_EQ(nearest("minCuont", {"minCount", "maxCount"}), "minCount");
  EXPECT_EQ(nearest("schedulerNme", {"schedulerName", "schedulingGroup"}), "schedulerName");
  EXPECT_EQ(nearest("nodename", {"nodeName", "hostname"}), "nodeName");
  EXPECT_EQ(nearest("zebra", {"minCount", "maxCount"}), "");
}

} // namespace
} // namespace tutti::api
