// The kinds that tutti brings along: served as deploy/crds would have a real server do it, changed
// by compare-and-set, and gone with their owners.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "api/manifest_text.hpp"
#include "sim/api_server/catalog.hpp"
#include "tests/sim/api_server_fixture.hpp"

namespace tutti::sim::api_server::testing {

namespace {

constexpr std::string_view root = "/apis/tutti.dev/v1alpha1";
const std::string decisions = std::string{root} + "/namespaces/default/gangdecisions";
const std::string chunks = std::string{root} + "/namespaces/default/gangdecisionchunks";
const std::string maps = std::string{root} + "/partitionmaps";

/// All but PodGroups: those are for servers that have none of their own, as this one has.
std::vector<json::object> definitions() {
  std::vector<json::object> out;
  for (const auto& file : std::filesystem::directory_iterator{TUTTI_SOURCE_DIR "/deploy/crds"}) {
    if (file.path().filename() == "podgroups.tutti.dev.yaml")
      continue;
    std::ifstream in{file.path()};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    out.push_back(api::parse_documents(text).value().front().content.as_object());
  }
  return out;
}

/// The text at a JSON pointer; fails the test if there is none.
std::string at(const json::value& in, const std::string& pointer) {
  boost::system::error_code failed;
  const auto* v = in.find_pointer(pointer, failed);
  EXPECT_TRUE(v) << pointer << " in " << json::serialize(in);
  return !v ? "" : v->is_string() ? std::string{v->get_string()} : json::serialize(*v);
}

const json::array& list_at(const json::value& in, const std::string& pointer) {
  static const json::array nothing;
  boost::system::error_code failed;
  const auto* v = in.find_pointer(pointer, failed);
  EXPECT_TRUE(v && v->is_array()) << pointer;
  return v && v->is_array() ? v->get_array() : nothing;
}

} // namespace

class CustomObjects : public ApiServer {
protected:
  reply make_decision(std::string_view name, std::string_view meta = "",
                      std::string_view spec = R"("ordinal":1)") {
    return post(decisions, R"({"metadata":{"name":")" + std::string{name} + "\"" + std::string{meta}
                               + R"(},"spec":{)" + std::string{spec} + "}}");
  }
  static std::string owned_by(const reply& owner, std::string_view kind, std::string_view version) {
    return R"(,"ownerReferences":[{"apiVersion":")" + std::string{version} + R"(","kind":")"
           + std::string{kind} + R"(","name":")" + owner.text("/metadata/name") + R"(","uid":")"
           + owner.text("/metadata/uid") + R"("}])";
  }
  static std::string owned_by_group(const reply& group) {
    return owned_by(group, "PodGroup", "scheduling.k8s.io/v1beta1");
  }
  int status_of(const std::string& name) { return get(decisions + "/" + name).status; }

  static constexpr std::string_view unfinished = R"(,"finalizers":["tutti.dev/unfinished"])";
};

// ------------------------------------------------------------------------------- the definitions

TEST_F(CustomObjects, are_served_as_the_crds_say) {
  const auto found = get(root);
  ASSERT_EQ(found.status, 200);
  std::map<std::string, json::value> served;
  for (const auto& r : list_at(found.body, "/resources"))
    served[at(r, "/kind")] = r;
  const auto all = definitions();
  EXPECT_EQ(served.size(), all.size());
  for (const json::value crd : all) {
    const auto kind = at(crd, "/spec/names/kind");
    ASSERT_TRUE(served.contains(kind)) << kind;
    const auto& here = served[kind];
    EXPECT_EQ(at(crd, "/spec/group"), "tutti.dev");
    EXPECT_EQ(at(crd, "/metadata/name"), at(here, "/name") + ".tutti.dev");
    EXPECT_EQ(at(crd, "/spec/names/plural"), at(here, "/name"));
    EXPECT_EQ(at(crd, "/spec/names/singular"), at(here, "/singularName"));
    EXPECT_EQ(at(crd, "/spec/names/listKind"), kind + "List");
    EXPECT_EQ(at(crd, "/spec/scope"), at(here, "/namespaced") == "true" ? "Namespaced" : "Cluster");
    EXPECT_EQ(at(crd, "/spec/versions/0/name"), "v1alpha1");
    const auto* short_names = crd.at("spec").at("names").as_object().if_contains("shortNames");
    const auto* shown = here.as_object().if_contains("shortNames");
    EXPECT_EQ(short_names ? json::serialize(*short_names) : "",
              shown ? json::serialize(*shown) : "")
        << kind;
  }
}

TEST_F(CustomObjects, have_the_schemas_of_the_crds) {
  const auto document = get("/openapi/v3" + std::string{root});
  ASSERT_EQ(document.status, 200);
  for (const json::value crd : definitions()) {
    const auto kind = at(crd, "/spec/names/kind");
    auto wanted = crd.at_pointer("/spec/versions/0/schema/openAPIV3Schema").as_object();
    auto served =
        document.body.at("components").at("schemas").at("dev.tutti.v1alpha1." + kind).as_object();
    // A server fills in what it knows of metadata, and names the kind.
    wanted.at("properties").as_object().erase("metadata");
    served.at("properties").as_object().erase("metadata");
    served.erase("x-kubernetes-group-version-kind");
    EXPECT_EQ(json::value(wanted), json::value(served)) << kind;
  }
}

TEST_F(CustomObjects, show_the_columns_of_the_crds) {
  for (const json::value crd : definitions()) {
    const auto where = std::string{root} + "/" + at(crd, "/spec/names/plural");
    const auto table = send("GET", where, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
    std::string wanted = "Name:string", shown;
    for (const auto& c : list_at(crd, "/spec/versions/0/additionalPrinterColumns"))
      wanted += " " + at(c, "/name") + ":" + at(c, "/type");
    for (const auto& c : list_at(table.body, "/columnDefinitions"))
      shown += (shown.empty() ? "" : " ") + at(c, "/name") + ":" + at(c, "/type");
    EXPECT_EQ(shown, wanted) << where;
  }
}

TEST_F(CustomObjects, a_row_of_a_decision_says_what_was_decided) {
  ASSERT_EQ(
      make_decision("gang-1", "", R"("gang":"ring","ordinal":2,"verdict":"Committed","done":true)")
          .status,
      201);
  const auto table = send("GET", decisions, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table.text("/rows/0/cells"), R"(["gang-1","ring",2,"Committed",true,"0s"])");
}

// ------------------------------------------------------------------------------- compare-and-set

TEST_F(CustomObjects, are_created_once_and_replaced_by_version) {
  const auto made = make_decision("gang-1");
  ASSERT_EQ(made.status, 201) << made.raw;
  EXPECT_EQ(make_decision("gang-1").status, 409);
  const auto body = [](const std::string& version, int ordinal) {
    return R"({"metadata":{"name":"gang-1")"
           + (version.empty() ? "" : R"(,"resourceVersion":")" + version + "\"")
           + R"(},"spec":{"ordinal":)" + std::to_string(ordinal) + "}}";
  };
  EXPECT_EQ(put(decisions + "/gang-1", body("", 2)).status, 422);
  const auto second = put(decisions + "/gang-1", body(made.revision(), 2));
  EXPECT_EQ(second.status, 200) << second.raw;
  EXPECT_EQ(put(decisions + "/gang-1", body(made.revision(), 3)).status, 409);
  EXPECT_EQ(get(decisions + "/gang-1").text("/spec/ordinal"), "2");
  EXPECT_EQ(
      put(decisions + "/gang-2", R"({"metadata":{"name":"gang-2","resourceVersion":"9"}})").status,
      404);
}

TEST_F(CustomObjects, the_partition_map_belongs_to_no_namespace_and_is_replaced_by_version) {
  const auto made = post(maps, R"({"metadata":{"name":"tutti"},"spec":{"shards":[{"replica":"a",)"
                               R"("epoch":1}],"partitions":[{"replica":"a","epoch":1}]}})");
  ASSERT_EQ(made.status, 201) << made.raw;
  EXPECT_EQ(made.text("/metadata/namespace"), "");
  EXPECT_EQ(put(maps + "/tutti", made.raw).status, 200);
  EXPECT_EQ(put(maps + "/tutti", R"({"metadata":{"name":"tutti"},"spec":{}})").status, 422);
  EXPECT_EQ(get(maps).text("/items/0/spec/shards/0/replica"), "a");
}

TEST_F(CustomObjects, a_chunk_is_never_changed) {
  const auto made = post(chunks, R"({"metadata":{"name":"chunk-1"},"spec":{"data":"YWJj"}})");
  ASSERT_EQ(made.status, 201) << made.raw;
  auto r = merge(chunks + "/chunk-1", R"({"spec":{"data":"eHl6"}})");
  EXPECT_EQ(r.status, 422) << r.raw;
  EXPECT_NE(r.message().find("a chunk is never changed"), std::string::npos) << r.message();
  EXPECT_EQ(merge(chunks + "/chunk-1", R"({"metadata":{"labels":{"a":"b"}}})").status, 200);
}

TEST_F(CustomObjects, are_watched) {
  auto w = get(decisions + "?watch=1&resourceVersion=" + get(decisions).revision());
  ASSERT_TRUE(w.stream);
  make_decision("gang-1");
  remove(decisions + "/gang-1");
  EXPECT_EQ(shown(*w.stream), (std::vector<std::string>{"ADDED gang-1", "DELETED gang-1"}));
}

TEST_F(CustomObjects, one_is_found_in_all_namespaces_by_name) {
  make_decision("gang-1");
  make_decision("gang-2");
  const auto r = get(std::string{root} + "/gangdecisions?fieldSelector=metadata.name%3Dgang-2");
  EXPECT_EQ(list_at(r.body, "/items").size(), 1u) << r.raw;
  EXPECT_EQ(r.text("/items/0/metadata/name"), "gang-2");
}

// ------------------------------------------------------------------------------- finalizers,
// owners

TEST_F(CustomObjects, a_finalizer_keeps_a_deleted_one_until_it_is_taken_off) {
  make_decision("gang-1", unfinished);
  EXPECT_EQ(remove(decisions + "/gang-1").status, 200);
  auto held = get(decisions + "/gang-1");
  ASSERT_EQ(held.status, 200);
  EXPECT_NE(held.text("/metadata/deletionTimestamp"), "");
  EXPECT_EQ(merge(decisions + "/gang-1", R"({"spec":{"done":true}})").status, 200);
  EXPECT_EQ(status_of("gang-1"), 200);
  EXPECT_EQ(merge(decisions + "/gang-1", R"({"metadata":{"finalizers":null}})").status, 200);
  EXPECT_EQ(status_of("gang-1"), 404);
}

TEST_F(CustomObjects, what_is_owned_goes_with_its_owner_unless_a_finalizer_holds_it) {
  const auto group = make_group("g");
  make_decision("gang-1", owned_by_group(group));
  make_decision("gang-2", owned_by_group(group) + std::string{unfinished});
  pass(base::duration{0});
  EXPECT_EQ(status_of("gang-1"), 200);
  EXPECT_EQ(remove(std::string{groups} + "/g").status, 200);
  pass(base::duration{0});
  EXPECT_EQ(status_of("gang-1"), 404);
  ASSERT_EQ(status_of("gang-2"), 200);
  EXPECT_NE(get(decisions + "/gang-2").text("/metadata/deletionTimestamp"), "");
}

TEST_F(CustomObjects, what_is_owned_by_the_owned_goes_too) {
  const auto group = make_group("g");
  const auto decision = make_decision("gang-1", owned_by_group(group));
  post(chunks, R"({"metadata":{"name":"chunk-1")"
                   + owned_by(decision, "GangDecision", "tutti.dev/v1alpha1")
                   + R"(},"spec":{"data":"YWJj"}})");
  pass(base::duration{0});
  EXPECT_EQ(get(chunks + "/chunk-1").status, 200);
  remove(std::string{groups} + "/g");
  pass(base::duration{0});
  EXPECT_EQ(get(chunks + "/chunk-1").status, 404);
}

TEST_F(CustomObjects, an_owner_of_the_same_name_but_another_uid_is_none) {
  const auto first = make_group("g");
  remove(std::string{groups} + "/g");
  pass(base::duration{0});
  make_group("g");
  make_decision("gang-1", owned_by_group(first));
  pass(base::duration{0});
  EXPECT_EQ(status_of("gang-1"), 404);
}

TEST_F(CustomObjects, what_is_owned_by_a_kind_of_somebody_else_is_left_alone) {
  make_decision("gang-1", R"(,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",)"
                          R"("name":"j","uid":"1"}])");
  pass(base::duration{0});
  EXPECT_EQ(status_of("gang-1"), 200);
}

TEST_F(CustomObjects, one_of_several_owners_is_enough) {
  const auto group = make_group("g");
  const auto other = make_group("h");
  const auto owner = [](const reply& x) {
    return R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","name":")"
           + x.text("/metadata/name") + R"(","uid":")" + x.text("/metadata/uid") + "\"}";
  };
  make_decision("gang-1", R"(,"ownerReferences":[)" + owner(group) + "," + owner(other) + "]");
  remove(std::string{groups} + "/g");
  pass(base::duration{0});
  EXPECT_EQ(status_of("gang-1"), 200);
  remove(std::string{groups} + "/h");
  pass(base::duration{0});
  EXPECT_EQ(status_of("gang-1"), 404);
}

} // namespace tutti::sim::api_server::testing
