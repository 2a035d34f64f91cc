// Requests in the words of access rules, and which of them are refused.
#include "actors/api_calls.hpp"

#include <gtest/gtest.h>

namespace tutti::actors {
namespace {

std::string called(const char* method, const char* target, bool is_stream = false) {
  return to_text(call_of({.method = method, .target = target, .is_stream = is_stream}));
}

protocol::event refused(const std::string& message) {
  return protocol::answered{1, 403, R"({"kind": "Status", "message": ")" + message + "\"}"};
}

const std::string no_right =
    R"(pods \"a\" is forbidden: User \"u\" cannot create resource \"pods/binding\")";

TEST(ApiCall, is_named_as_a_role_would_allow_it) {
  EXPECT_EQ(called("GET", "/api/v1/nodes?watch=true", true), "watch nodes");
  EXPECT_EQ(called("GET", "/api/v1/pods?limit=500"), "list pods");
  EXPECT_EQ(called("GET", "/api/v1/namespaces/a/pods/b"), "get pods");
  EXPECT_EQ(called("GET", "/api/v1/namespaces/kube-system"), "get namespaces");
  EXPECT_EQ(called("POST", "/api/v1/namespaces/a/pods/b/binding"), "create pods/binding");
  EXPECT_EQ(called("PATCH", "/apis/scheduling.k8s.io/v1beta1/namespaces/a/podgroups/g/status"),
            "patch podgroups/status.scheduling.k8s.io");
  EXPECT_EQ(called("POST", "/apis/events.k8s.io/v1/namespaces/a/events"),
            "create events.events.k8s.io");
  EXPECT_EQ(called("PUT", "/apis/tutti.dev/v1alpha1/partitionmaps/main"),
            "update partitionmaps.tutti.dev");
  EXPECT_EQ(called("DELETE", "/api/v1/namespaces/a/pods/b"), "delete pods");
  EXPECT_EQ(called("GET", "/version"), "get /version");
}

TEST(ApiCalls, a_right_is_missing_until_it_is_granted) {
  api_calls all;
  const api_call binds{"create", "pods/binding"};
  all.heard(binds, refused(no_right));
  ASSERT_EQ(all.missing().size(), 1u);
  EXPECT_EQ(all.missing()[0].what, binds);
  EXPECT_NE(all.missing()[0].words.find("cannot create"), std::string::npos);
  all.heard(binds, protocol::answered{2, 503, ""});
  all.heard(binds, protocol::answer_unknown{3, "cut"});
  EXPECT_EQ(all.missing().size(), 1u) << "neither says anything about rights";
  all.heard(binds, protocol::answered{4, 409, ""});
  EXPECT_TRUE(all.missing().empty());
  EXPECT_EQ((all.counts().at({binds, 403})), 1u);
  EXPECT_EQ((all.counts().at({binds, 0})), 1u);
}

TEST(ApiCalls, a_watch_that_opens_has_its_right_again) {
  api_calls all;
  const api_call watches{"watch", "nodes"};
  all.heard(watches, refused(no_right));
  all.heard(watches, protocol::stream_opened{2});
  all.heard(watches, protocol::stream_closed{2});
  EXPECT_TRUE(all.missing().empty());
  EXPECT_EQ((all.counts().at({watches, 200})), 1u) << "its end is no second answer";
}

TEST(ApiCalls, a_quota_is_no_missing_right) {
  api_calls all;
  all.heard({"create", "pods"}, refused("exceeded quota: compute"));
  EXPECT_TRUE(all.missing().empty());
}

} // namespace
} // namespace tutti::actors
