// Objects over HTTP: create, read, change and delete with the rules of a real server.
#include "tests/sim/api_server_fixture.hpp"

namespace tutti::sim::api_server::testing {

using Handler = ApiServer;

TEST_F(Handler, a_new_cluster_has_namespaces_and_system_classes) {
  EXPECT_EQ(get("/api/v1/namespaces/default").text("/status/phase"), "Active");
  EXPECT_EQ(
      get("/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical").text("/value"),
      "2000000000");
}

TEST_F(Handler, a_created_object_gets_the_fields_that_only_the_server_sets) {
  auto r = make_pod("a");
  EXPECT_EQ(r.text("/metadata/uid").size(), 36u);
  EXPECT_EQ(r.text("/metadata/uid")[14], '4');
  EXPECT_EQ(r.text("/metadata/creationTimestamp"), "2026-11-18T11:06:40Z");
  EXPECT_EQ(r.text("/metadata/generation"), "1");
  EXPECT_EQ(r.text("/metadata/namespace"), "default");
  EXPECT_EQ(r.text("/status/phase"), "Pending");
  EXPECT_EQ(r.text("/spec/schedulerName"), "tutti");
  EXPECT_EQ(r.raw.substr(0, 30), R"({"kind":"Pod","apiVersion":"v1)");
  EXPECT_EQ(get(pod_path("a")).raw, r.raw);
}

TEST_F(Handler, an_object_is_created_once) {
  make_pod("a");
  auto r =
      post(pods, R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.text("/reason"), "AlreadyExists");
  EXPECT_EQ(r.message(), "pods \"a\" already exists");
}

TEST_F(Handler, unknown_namespaces_objects_and_paths_are_404) {
  auto space =
      post("/api/v1/namespaces/nope/pods",
           R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(space.status, 404);
  EXPECT_EQ(space.message(), "namespaces \"nope\" not found");
  auto group = get(std::string{groups} + "/x");
  EXPECT_EQ(group.status, 404);
  EXPECT_EQ(group.message(), "podgroups.scheduling.k8s.io \"x\" not found");
  EXPECT_EQ(group.text("/details/group"), "scheduling.k8s.io");
  EXPECT_EQ(get("/api/v1/namespaces/default/gadgets").status, 404);
  EXPECT_EQ(get("/apis/example.com/v1/gadgets").status, 404);
  EXPECT_EQ(
      send("PATCH", std::string{groups} + "/x/scale", "{}", "application/merge-patch+json").status,
      404);
}

TEST_F(Handler, a_dry_run_answers_like_the_real_thing_and_leaves_nothing) {
  auto r = post(std::string{pods} + "?dryRun=All",
                R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(r.status, 201);
  EXPECT_NE(r.text("/metadata/uid"), "");
  EXPECT_EQ(get(pod_path("a")).status, 404);
}

TEST_F(Handler, an_update_from_an_old_version_is_a_conflict) {
  make_group("g", 2);
  auto old = get(std::string{groups} + "/g");
  merge(std::string{groups} + "/g", R"({"metadata":{"labels":{"x":"y"}}})");
  auto r = put(std::string{groups} + "/g", old.raw);
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(
      r.message(),
      "Operation cannot be fulfilled on podgroups.scheduling.k8s.io \"g\": the object has been "
      "modified; please apply your changes to the latest version and try again");
  auto now = get(std::string{groups} + "/g");
  EXPECT_EQ(put(std::string{groups} + "/g", now.raw).revision(), now.revision())
      << "an update without a change is no write";
}

TEST_F(Handler, a_patch_may_name_the_version_that_it_was_made_from) {
  auto made = make_pod("a");
  EXPECT_EQ(
      merge(pod_path("a"), R"({"metadata":{"resourceVersion":"1","labels":{"x":"y"}}})").status,
      409);
  EXPECT_EQ(merge(pod_path("a"), R"({"metadata":{"resourceVersion":")" + made.revision()
                                     + R"(","labels":{"x":"y"}}})")
                .status,
            200);
}

TEST_F(Handler, a_patch_with_another_uid_is_invalid) {
  make_pod("a");
  auto r = strategic(pod_path("a") + "/status", R"({"metadata":{"uid":"zz"},"status":{}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.message(),
            "Pod \"a\" is invalid: metadata.uid: Invalid value: \"zz\": field is immutable");
}

TEST_F(Handler, spec_and_status_have_their_own_doors) {
  make_group("g", 2);
  auto path = std::string{groups} + "/g";
  merge(path, R"({"status":{"conditions":[]},"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(get(path).text("/status"), "{}");
  merge(path + "/status", R"({"spec":{"schedulingPolicy":{"gang":{"minCount":9}}},)"
                          R"("metadata":{"labels":{"a":"c"}},"status":{"conditions":[]}})");
  auto r = get(path);
  EXPECT_EQ(r.text("/spec/schedulingPolicy/gang/minCount"), "2");
  EXPECT_EQ(r.text("/metadata/labels/a"), "b");
  EXPECT_EQ(r.text("/status"), R"({"conditions":[]})");
}

TEST_F(Handler, conditions_are_merged_by_type) {
  make_group("g", 2);
  auto path = std::string{groups} + "/g/status";
  auto condition = [](std::string type, std::string status) {
    return R"({"status":{"conditions":[{"type":")" + type + R"(","status":")" + status
           + R"(","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})";
  };
  strategic(path, condition("PodGroupInitiallyScheduled", "False"));
  strategic(path, condition("tutti.dev/Degraded", "True"));
  auto r = strategic(path, condition("PodGroupInitiallyScheduled", "True"));
  EXPECT_EQ(r.text("/status/conditions/0/type"), "tutti.dev/Degraded") << "new ones come first";
  EXPECT_EQ(r.text("/status/conditions/1/type"), "PodGroupInitiallyScheduled");
  EXPECT_EQ(r.text("/status/conditions/1/status"), "True");
  auto gone = strategic(path, R"({"status":{"conditions":[{"$patch":"delete",)"
                              R"("type":"tutti.dev/Degraded"}]}})");
  EXPECT_EQ(gone.text("/status/conditions/1"), "");
  EXPECT_EQ(strategic(path, R"({"status":{"conditions":[{"status":"True"}]}})").status, 400);
}

TEST_F(Handler, generations_count_changes_of_a_pods_spec_only) {
  make_pod("a");
  EXPECT_EQ(
      merge(pod_path("a"), R"({"metadata":{"labels":{"x":"y"}}})").text("/metadata/generation"),
      "1");
  EXPECT_EQ(
      merge(pod_path("a"), R"({"spec":{"activeDeadlineSeconds":60}})").text("/metadata/generation"),
      "2");
  EXPECT_EQ(make_group("g").text("/metadata/generation"), "");
}

TEST_F(Handler, both_versions_of_1_37_show_the_same_groups) {
  auto made = make_group("g");
  auto other = get("/apis/scheduling.k8s.io/v1alpha3/namespaces/default/podgroups/g");
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.text("/apiVersion"), "scheduling.k8s.io/v1alpha3");
  EXPECT_EQ(other.text("/metadata/uid"), made.text("/metadata/uid"));
}

TEST_F(Handler, each_release_serves_its_own_versions) {
  control_plane::options o;
  o.kubernetes = release::v1_36;
  start(o);
  EXPECT_EQ(get("/apis/scheduling.k8s.io/v1alpha2/podgroups").status, 200);
  EXPECT_EQ(get("/apis/scheduling.k8s.io/v1beta1/podgroups").status, 404);
}

TEST_F(Handler, events_have_two_faces) {
  auto r = post("/apis/events.k8s.io/v1/namespaces/default/events",
                R"({"metadata":{"name":"a.1"},"eventTime":"2026-01-01T00:00:00.000000Z",)"
                R"("reason":"Scheduled","action":"Binding","type":"Normal","note":"hello",)"
                R"("reportingController":"tutti","reportingInstance":"tutti-0",)"
                R"("regarding":{"kind":"Pod","namespace":"default","name":"a"}})");
  EXPECT_EQ(r.status, 201) << r.raw;
  EXPECT_EQ(r.text("/note"), "hello");
  auto core = get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Da");
  EXPECT_EQ(core.text("/items/0/message"), "hello");
  EXPECT_EQ(core.text("/items/0/involvedObject/kind"), "Pod");
  EXPECT_EQ(
      get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Db").text("/items"),
      "[]");
}

TEST_F(Handler, lists_in_pages_show_one_moment) {
  for (auto name : {"a", "b", "c", "d"})
    make_pod(name);
  auto first = get(std::string{pods} + "?limit=2");
  EXPECT_EQ(first.text("/items/1/metadata/name"), "b");
  auto token = first.text("/metadata/continue");
  ASSERT_NE(token, "");
  remove(pod_path("c"));
  merge(pod_path("d"), R"({"metadata":{"labels":{"x":"y"}}})");
  make_pod("e");
  auto second = get(std::string{pods} + "?limit=5&continue=" + token);
  EXPECT_EQ(second.revision(), first.revision());
  EXPECT_EQ(second.text("/items/0/metadata/name"), "c") << "it was there when the list began";
  EXPECT_EQ(second.text("/items/1/metadata/labels"), "") << "as it was when the list began";
  EXPECT_EQ(second.text("/items/2"), "");
  EXPECT_EQ(second.text("/metadata/continue"), "");
}

TEST_F(Handler, a_page_too_old_is_410_with_a_way_on) {
  control_plane::options o;
  o.keeps.events_max = 2;
  start(o);
  for (auto name : {"a", "b", "c"})
    make_pod(name);
  auto token = get(std::string{pods} + "?limit=1").text("/metadata/continue");
  for (auto name : {"d", "e", "f"})
    make_pod(name);
  auto r = get(std::string{pods} + "?limit=9&continue=" + token);
  EXPECT_EQ(r.status, 410);
  EXPECT_EQ(r.text("/reason"), "Expired");
  auto rest = get(std::string{pods} + "?limit=9&continue=" + r.text("/metadata/continue"));
  EXPECT_EQ(rest.text("/items/4/metadata/name"), "f");
}

TEST_F(Handler, selectors_choose) {
  make_pod("a", "", R"(,"labels":{"app":"x","rank":"1"})");
  make_pod("b", R"(,"schedulerName":"other")", R"(,"labels":{"app":"y"})");
  bind("a", "n1");
  auto names = [&](std::string query) {
    auto r = get(std::string{pods} + "?" + query);
    std::string out;
    for (const auto& x : r.body.as_object().at("items").as_array())
      out += text_at(x.get_object(), {"metadata", "name"});
    return out;
  };
  EXPECT_EQ(names("labelSelector=app%3Dx"), "a");
  EXPECT_EQ(names("labelSelector=app+in+(x,y),rank"), "a");
  EXPECT_EQ(names("labelSelector=!rank"), "b");
  EXPECT_EQ(names("fieldSelector=spec.nodeName%3Dn1"), "a");
  EXPECT_EQ(names("fieldSelector=spec.schedulerName%3Dother"), "b");
  EXPECT_EQ(names("fieldSelector=status.phase%21%3DPending"), "");
  EXPECT_EQ(names("fieldSelector=metadata.name%3Db"), "b");
  EXPECT_EQ(get(std::string{pods} + "?fieldSelector=spec.color%3Dred").status, 400);
}

TEST_F(Handler, a_delete_keeps_its_preconditions) {
  auto made = make_pod("a");
  auto r = remove(pod_path("a"), R"({"preconditions":{"uid":"zz"}})");
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.message(), "Operation cannot be fulfilled on Pod \"a\": the UID in the precondition "
                         "(zz) does not match the UID in record ("
                             + made.text("/metadata/uid")
                             + "). The object might have been deleted and then recreated");
  EXPECT_EQ(
      remove(pod_path("a"), R"({"preconditions":{"uid":")" + made.text("/metadata/uid") + R"("}})")
          .status,
      200);
  EXPECT_EQ(remove(pod_path("a")).status, 404);
}

TEST_F(Handler, leases_are_raced_for_by_version) {
  auto path = std::string{"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"};
  auto made = post(path, R"({"metadata":{"name":"tutti"},"spec":{"holderIdentity":"a"}})");
  ASSERT_EQ(made.status, 201);
  auto by = [&](std::string who) {
    return put(path + "/tutti", R"({"metadata":{"name":"tutti","resourceVersion":")"
                                    + made.revision() + R"("},"spec":{"holderIdentity":")" + who
                                    + "\"}}");
  };
  EXPECT_EQ(by("b").status, 200);
  EXPECT_EQ(by("c").status, 409);
}

TEST_F(Handler, strategic_merge_knows_the_lists_of_a_pod) {
  make_pod("a", R"(,"tolerations":[{"key":"x","operator":"Exists"}])",
           R"(,"finalizers":["example.com/a"])");
  auto r =
      strategic(pod_path("a"), R"({"metadata":{"finalizers":["example.com/b"],)"
                               R"("$deleteFromPrimitiveList/finalizers":["example.com/a"]},)"
                               R"("spec":{"$setElementOrder/containers":[{"name":"c"}],)"
                               R"("containers":[{"name":"c","image":"registry.example/a:2"}]}})");
  ASSERT_EQ(r.status, 200) << r.raw;
  EXPECT_EQ(r.text("/spec/containers/0/image"), "registry.example/a:2");
  EXPECT_EQ(r.text("/spec/containers/0/resources/requests/cpu"), "1");
  EXPECT_EQ(r.text("/metadata/finalizers"), R"(["example.com/b"])");
}

TEST_F(Handler, json_patch_edits_by_pointer) {
  make_pod("a", "", R"(,"labels":{"x":"y"})");
  auto patch = [&](std::string_view body) {
    return send("PATCH", pod_path("a"), body, "application/json-patch+json");
  };
  auto r = patch(R"([{"op":"test","path":"/metadata/labels/x","value":"y"},)"
                 R"({"op":"replace","path":"/metadata/labels/x","value":"z"},)"
                 R"({"op":"add","path":"/metadata/labels/a~1b","value":"c"}])");
  EXPECT_EQ(r.text("/metadata/labels"), R"({"x":"z","a/b":"c"})");
  EXPECT_EQ(patch(R"([{"op":"test","path":"/metadata/labels/x","value":"y"}])").status, 422);
  EXPECT_EQ(patch(R"([{"op":"remove","path":"/metadata/labels/none"}])").status, 400);
}

TEST_F(Handler, server_side_apply_is_refused_in_words) {
  make_pod("a");
  EXPECT_EQ(send("PATCH", pod_path("a"), "{}", "application/apply-patch+yaml").status, 415);
}

TEST_F(Handler, kubectls_protobuf_is_read_for_the_kinds_that_come_as_such) {
  // kubectl create namespace lab
  constexpr std::string_view create{"k8s\0"
                                    "\x0a\x0f\x0a\x02v1\x12\x09Namespace"
                                    "\x12\x0f\x0a\x09\x0a\x03lab\x12\x00\x1a\x00"
                                    "\x12\x00\x1a\x00\x1a\x00\x22\x00",
                                    4 + 17 + 17 + 4};
  constexpr auto type = "application/vnd.kubernetes.protobuf";
  auto r = send("POST", "/api/v1/namespaces", create, type);
  EXPECT_EQ(r.status, 201) << r.raw;
  EXPECT_EQ(r.text("/metadata/name"), "lab");
  for (std::size_t n = 0; n < create.size(); ++n) // cut anywhere: an answer, never a crash
    EXPECT_GE(send("POST", "/api/v1/namespaces?dryRun=All", create.substr(0, n), type).status, 400);
  EXPECT_EQ(send("POST", pods, create, type).status, 400);
}

TEST_F(Handler, everybody_may_do_everything_and_is_told_so) {
  constexpr auto reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  auto r = post(reviews, R"({"kind":"SelfSubjectAccessReview",)"
                         R"("spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})");
  EXPECT_EQ(r.status, 201) << r.raw;
  EXPECT_EQ(r.text("/status/allowed"), "true");
  EXPECT_EQ(r.text("/spec/resourceAttributes/resource"), "pods");
  EXPECT_EQ(post(reviews, "[]").status, 400);
  EXPECT_EQ(get(reviews).status, 404) << "nothing is kept";
}

TEST_F(Handler, a_file_is_applied_once_and_changed_by_difference) {
  auto node = json::parse(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},)"
                          R"("status":{"allocatable":{"cpu":"4"}}})")
                  .as_object();
  auto pod = json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},)"
                         R"("spec":{"containers":[{"name":"c","image":"i"}]}})")
                 .as_object();
  EXPECT_EQ(plane->apply({node, pod})->created, 2u);
  EXPECT_EQ(plane->apply({node, pod})->unchanged, 2u);
  node["status"] = json::object{{"allocatable", json::object{{"cpu", "8"}}}};
  EXPECT_EQ(plane->apply({node, pod})->changed, 1u);
  EXPECT_EQ(get("/api/v1/nodes/n1").text("/status/allocatable/cpu"), "8");
  EXPECT_FALSE(plane->apply({json::object{{"apiVersion", "v1"}, {"kind", "Gadget"}}}));
}

TEST_F(Handler, kubectl_gets_tables) {
  make_node("n1");
  make_group("g");
  auto table = [&](std::string_view target) {
    return send("GET", target, "", "",
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  };
  auto r = table(std::string{groups} + "?limit=500");
  EXPECT_EQ(r.text("/kind"), "Table");
  EXPECT_EQ(r.text("/rows/0/cells"), R"(["g","Gang","<none>","Pending","0s"])");
  EXPECT_EQ(r.text("/rows/0/object/metadata/name"), "g");
  EXPECT_EQ(table("/api/v1/nodes").text("/rows/0/cells/0"), "n1");
  EXPECT_EQ(table("/api/v1/nodes").text("/rows/0/object/kind"), "PartialObjectMetadata");
}

TEST_F(Handler, rows_of_tables_carry_what_includeObject_says) {
  make_node("n1");
  auto table = [&](std::string_view target) {
    return send("GET", target, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  };
  for (std::string where : {"/api/v1/nodes", "/api/v1/nodes/n1"}) {
    const auto whole = table(where + "?includeObject=Object");
    EXPECT_EQ(whole.text("/rows/0/object/kind"), "Node") << "kubectl sorts by its fields";
    EXPECT_EQ(whole.text("/rows/0/object/status/allocatable/cpu"), "4");
    EXPECT_EQ(table(where + "?includeObject=None").text("/rows/0/object"), "null");
    EXPECT_EQ(table(where + "?includeObject=Everything").status, 400);
  }
}

TEST_F(Handler, openapi_v2_is_a_document_that_names_no_kind) {
  auto as_json = get("/openapi/v2");
  EXPECT_EQ(as_json.text("/swagger"), "2.0");
  EXPECT_EQ(as_json.text("/info/version"), "v1.37.2");
  EXPECT_EQ(as_json.text("/definitions"), "{}");
  auto bytes = send("GET", "/openapi/v2?timeout=32s", "", "",
                    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
  EXPECT_EQ(bytes.type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_EQ(bytes.raw, "\x0a\x03" // swagger
                       "2.0"
                       "\x12\x15" // info
                       "\x0a\x0aKubernetes"
                       "\x12\x07v1.37.2");
}

TEST_F(Handler, discovery_has_an_old_and_a_new_form) {
  auto old = get("/apis/scheduling.k8s.io/v1beta1");
  EXPECT_EQ(old.text("/kind"), "APIResourceList");
  auto fresh = send("GET", "/apis?timeout=32s", "", "",
                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
                    "application/json");
  EXPECT_EQ(fresh.text("/kind"), "APIGroupDiscoveryList");
  EXPECT_EQ(get("/apis").text("/kind"), "APIGroupList");
  EXPECT_EQ(get("/version").text("/gitVersion"), "v1.37.2");
  EXPECT_EQ(get("/readyz").raw, "ok");
  EXPECT_NE(get("/openapi/v3").text("/paths/apis~1scheduling.k8s.io~1v1beta1"), "");
}

} // namespace tutti::sim::api_server::testing
