// Watches: resuming, bookmarks, streaming lists, selectors and the end of the window.
#include "tests/sim/api_server_fixture.hpp"

namespace tutti::sim::api_server::testing {

using Watch = ApiServer;
using names = std::vector<std::string>;
using namespace std::chrono_literals;

TEST_F(Watch, resumes_behind_the_version_it_names) {
  auto a = make_pod("a");
  make_pod("b");
  auto r = get("/api/v1/pods?watch=true&resourceVersion=" + a.revision());
  ASSERT_TRUE(r.stream);
  EXPECT_EQ(shown(*r.stream), (names{"ADDED b"}));
  bind("a", "n1");
  remove(pod_path("b"));
  EXPECT_EQ(shown(*r.stream), (names{"MODIFIED a", "DELETED b"}));
  EXPECT_EQ(shown(*r.stream), names{});
}

TEST_F(Watch, without_a_version_begins_with_everything) {
  make_pod("a");
  auto r = get(std::string{pods} + "?watch=1");
  EXPECT_EQ(shown(*r.stream), (names{"ADDED a"}));
}

TEST_F(Watch, a_streaming_list_ends_with_its_bookmark) {
  make_pod("a");
  auto r = get(std::string{pods}
               + "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
                 "&resourceVersionMatch=NotOlderThan");
  auto got = events(*r.stream);
  ASSERT_EQ(got.size(), 2u);
  auto& mark = got[1].as_object()["object"].as_object();
  EXPECT_EQ(text_at(mark, {"kind"}), "Pod");
  EXPECT_EQ(text_at(mark, {"metadata", "annotations", "k8s.io/initial-events-end"}), "true");
  EXPECT_EQ(text_at(mark, {"metadata", "resourceVersion"}),
            std::to_string(plane->objects().last()));
  make_pod("b");
  EXPECT_EQ(shown(*r.stream), (names{"ADDED b"}));
  EXPECT_EQ(get(std::string{pods} + "?watch=true&sendInitialEvents=true").status, 422);
}

TEST_F(Watch, of_a_future_version_is_504) {
  auto r = get("/api/v1/pods?watch=true&resourceVersion=999999999");
  EXPECT_EQ(r.status, 504);
  EXPECT_EQ(r.message(), "Timeout: Too large resource version: 999999999, current: "
                             + std::to_string(plane->objects().last()));
}

TEST_F(Watch, from_before_the_window_is_an_error_event_of_410) {
  control_plane::options o;
  o.keeps.events_max = 3;
  start(o);
  auto a = make_pod("a");
  for (auto name : {"b", "c", "d", "e"})
    make_pod(name);
  auto r = get("/api/v1/pods?watch=true&resourceVersion=" + a.revision());
  auto got = events(*r.stream);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(text_at(got[0].as_object(), {"type"}), "ERROR");
  EXPECT_EQ(text_at(got[0].as_object(), {"object", "reason"}), "Expired");
  EXPECT_TRUE(r.stream->is_over());
}

TEST_F(Watch, that_falls_behind_the_window_ends_with_410) {
  control_plane::options o;
  o.keeps.events_max = 3;
  start(o);
  auto r =
      get("/api/v1/pods?watch=true&resourceVersion=" + std::to_string(plane->objects().last()));
  for (auto name : {"a", "b", "c", "d", "e"})
    make_pod(name);
  EXPECT_EQ(shown(*r.stream), (names{"ERROR"}));
  EXPECT_TRUE(r.stream->is_over());
}

TEST_F(Watch, ends_at_its_timeout_with_a_last_bookmark) {
  auto r = get("/api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion="
               + std::to_string(plane->objects().last()));
  make_node("n1"); // another kind: no event, but the bookmark moves on
  EXPECT_EQ(shown(*r.stream), names{});
  pass(60s);
  EXPECT_EQ(shown(*r.stream), (names{"BOOKMARK"}));
  EXPECT_FALSE(r.stream->is_over());
  pass(30s);
  auto got = events(*r.stream);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(text_at(got[0].as_object(), {"object", "metadata", "resourceVersion"}),
            std::to_string(plane->objects().last()));
  EXPECT_TRUE(r.stream->is_over());
}

TEST_F(Watch, a_pod_that_leaves_the_selector_is_deleted_for_it) {
  make_pod("a");
  auto since = std::to_string(plane->objects().last());
  auto r = get("/api/v1/pods?watch=true&fieldSelector=status.phase%21%3DSucceeded&resourceVersion="
               + since);
  merge(pod_path("a") + "/status", R"({"status":{"phase":"Succeeded"}})");
  auto got = events(*r.stream);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(text_at(got[0].as_object(), {"type"}), "DELETED");
  EXPECT_EQ(text_at(got[0].as_object(), {"object", "metadata", "resourceVersion"}),
            std::to_string(plane->objects().last()));
  merge(pod_path("a") + "/status", R"({"status":{"phase":"Running"}})");
  EXPECT_EQ(shown(*r.stream), (names{"ADDED a"}));
}

TEST_F(Watch, a_namespace_or_a_name_narrows_it) {
  auto since = std::to_string(plane->objects().last());
  auto other = get("/api/v1/namespaces/kube-system/pods?watch=true&resourceVersion=" + since);
  auto named =
      get("/api/v1/pods?watch=true&fieldSelector=metadata.name%3Db&resourceVersion=" + since);
  make_pod("a");
  make_pod("b");
  EXPECT_EQ(shown(*other.stream), names{});
  EXPECT_EQ(shown(*named.stream), (names{"ADDED b"}));
}

TEST_F(Watch, shows_nothing_that_is_not_yet_on_disk) {
  control_plane::options o;
  o.keeps.is_durable_at_once = false;
  start(o);
  plane->objects().mark_durable(plane->objects().last());
  auto r =
      get("/api/v1/pods?watch=true&resourceVersion=" + std::to_string(plane->objects().last()));
  make_pod("a");
  auto first = plane->objects().last();
  make_pod("b");
  EXPECT_EQ(shown(*r.stream), names{});
  plane->objects().mark_durable(first);
  EXPECT_EQ(shown(*r.stream), (names{"ADDED a"}));
  plane->objects().mark_durable(plane->objects().last());
  EXPECT_EQ(shown(*r.stream), (names{"ADDED b"}));
}

TEST_F(Watch, kubectl_watches_tables) {
  auto since = std::to_string(plane->objects().last());
  auto r = send("GET", std::string{pods} + "?watch=true&resourceVersion=" + since, "", "",
                "application/json;as=Table;v=v1;g=meta.k8s.io");
  make_pod("a");
  auto got = events(*r.stream);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(text_at(got[0].as_object(), {"object", "kind"}), "Table");
}

} // namespace tutti::sim::api_server::testing
