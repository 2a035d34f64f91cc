// Manifests as people write them, and what is said about those that are wrong.
#include "api/manifest.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/manifest_text.hpp"

namespace tutti::api {
namespace {

/// Reads text as file "a.yaml", and says what became of it.
struct Manifest : testing::Test {
  manifest_options options;

  std::vector<manifest> read(std::string_view text) {
    auto read = read_manifest_text(text, "a.yaml", options);
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    return read ? *read : std::vector<manifest>{};
  }
  std::string complaint(std::string_view text) {
    auto read = read_manifest_text(text, "a.yaml", options);
    EXPECT_FALSE(read);
    return read ? "" : read.error().message();
  }
  static std::string json_of(std::string_view yaml) {
    auto read = parse_documents(yaml);
    return read ? boost::json::serialize(read->at(0).content) : read.error().message();
  }
};

constexpr std::string_view gang = R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train}
spec:
  schedulingPolicy:
    gang: {minCount: 2}
---
# a comment between
---
apiVersion: v1
kind: Pod
metadata: {name: train-0, namespace: ml}
spec:
  schedulerName: tutti
  schedulingGroup: {podGroupName: train}
  containers:
  - name: main
    image: pause:3.10
    resources: {requests: {cpu: 2, memory: 64Mi}}
)";

TEST_F(Manifest, reads_the_documents_of_a_file_in_order) {
  auto all = read(gang);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, "PodGroup");
  EXPECT_EQ(all[0].api_version, "scheduling.k8s.io/v1beta1");
  EXPECT_EQ(all[0].document, 1);
  EXPECT_EQ(all[1].name, "train-0");
  EXPECT_EQ(all[1].document, 3) << "empty documents count";
}

TEST_F(Manifest, fills_in_the_namespace_where_there_is_one_to_fill_in) {
  options.default_namespace = "team";
  auto all = read(gang);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].ns, "team");
  EXPECT_EQ(all[0].object.at("metadata").at("namespace"), "team");
  EXPECT_EQ(all[1].ns, "ml");
  auto node = read("{apiVersion: v1, kind: Node, metadata: {name: n1}}");
  ASSERT_EQ(node.size(), 1u);
  EXPECT_EQ(node[0].ns, "");
  EXPECT_FALSE(node[0].object.at("metadata").get_object().contains("namespace"));
}

TEST_F(Manifest, names_the_field_that_does_not_exist_and_the_one_that_was_meant) {
  EXPECT_EQ(complaint("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n"
                      "metadata: {name: a}\nspec: {schedulingPolicy: {gang: {minCuont: 2}}}\n"),
            "file a.yaml, document 1 (PodGroup a), spec.schedulingPolicy.gang.minCuont: unknown "
            "field, did you "
            "mean \"minCount\"?; allowed: minCount");
}

TEST_F(Manifest, names_the_type_that_a_field_must_have) {
  EXPECT_EQ(
      complaint("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
                "spec: {containers: [{name: m, ports: [{containerPort: \"80\"}]}]}\n"),
      "file a.yaml, document 1 (Pod a), spec.containers[0].ports[0].containerPort: is the string "
      "\"80\"; allowed: an integer from -2147483648 to 2147483647");
  EXPECT_EQ(
      complaint("apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {v: 1.10}}\n"),
      "file a.yaml, document 1 (Pod a), metadata.labels[v]: is the number 1.1 for lack of quotes; "
      "allowed: a string");
  EXPECT_EQ(complaint("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: a}\n"
                      "spec: {disruptionMode: PodGroup}\n"),
            "file a.yaml, document 1 (PodGroup a), spec.disruptionMode: is the string "
            "\"PodGroup\"; allowed: an "
            "object with all, single");
}

TEST_F(Manifest, counts_what_else_is_wrong) {
  EXPECT_EQ(
      complaint("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {a: 1, b: 2}, c: 3}"),
      "file a.yaml, document 1 (Node n1), spec.a: unknown field; allowed: configSource, "
      "externalID, "
      "podCIDR, podCIDRs, podPreemptionPolicy, providerID, taints, unschedulable (and 2 more)");
}

TEST_F(Manifest, lists_the_kinds_that_there_are) {
  auto text = complaint("{apiVersion: v1, kind: Pdo, metadata: {name: n1}}");
  EXPECT_TRUE(
      text.starts_with("file a.yaml, document 1 (Pdo n1), kind: unknown kind \"Pdo\" of \"v1\" in "
                       "Kubernetes 1.37, did you mean \"Pod\"?; allowed: Binding (v1), "))
      << text;
  EXPECT_EQ(
      complaint("{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: n1}}"),
      "file a.yaml, document 1 (PodGroup n1), apiVersion: \"scheduling.k8s.io/v1alpha2\" has no "
      "PodGroup in "
      "Kubernetes 1.37; allowed: scheduling.k8s.io/v1alpha3, scheduling.k8s.io/v1beta1");
}

TEST_F(Manifest, asks_for_what_makes_an_object) {
  EXPECT_EQ(complaint("kind: Pod\n"),
            "file a.yaml, document 1, apiVersion: is missing; allowed: v1, "
            "scheduling.k8s.io/v1beta1, …");
  EXPECT_EQ(complaint("- a\n"),
            "file a.yaml, document 1, top level: is no object; allowed: an object "
            "with apiVersion and kind");
  EXPECT_EQ(complaint("{apiVersion: v1, kind: Pod}"),
            "file a.yaml, document 1, metadata.name: is missing; allowed: a name; generateName is "
            "not supported in files");
}

TEST_F(Manifest, says_where_yaml_breaks) {
  auto text = complaint("apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: [\n");
  EXPECT_TRUE(text.starts_with("file a.yaml, document 2, line ")) << text;
  EXPECT_EQ(complaint("{\"apiVersion\": \"v1\",\n \"kind\": ]}"),
            "file a.yaml, document 1, line 2:10: syntax error; allowed: YAML or JSON");
}

TEST_F(Manifest, repeats_no_value_whose_tag_nobody_knows) {
  const auto said = complaint("a: {token: !vault SECRETTOKEN}\n");
  EXPECT_NE(said.find("a.token: what stands there cannot be read as !vault"), std::string::npos)
      << said;
  EXPECT_EQ(said.find("SECRETTOKEN"), std::string::npos) << said;
}

TEST_F(Manifest, refuses_a_key_that_is_there_twice) {
  EXPECT_EQ(
      complaint("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    name: b\n"),
      "file a.yaml, document 1, spec.containers[0].name: this key is there twice, again in line 6; "
      "allowed: "
      "once");
  EXPECT_EQ(
      complaint("{\"apiVersion\": \"v1\", \"spec\": {\"a\": 1, \"a\": 2}}"),
      "file a.yaml, document 1, spec.a: this key is there twice, again in line 1; allowed: once");
}

TEST_F(Manifest, refuses_an_object_that_is_there_twice) {
  EXPECT_EQ(complaint("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
                      "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n"),
            "file a.yaml, document 2 (Node n1), metadata.name: Node \"n1\" stands already in file "
            "a.yaml, "
            "document 1; allowed: each object once");
  EXPECT_EQ(read("{apiVersion: v1, kind: ConfigMap, metadata: {name: n1, namespace: a}}\n---\n"
                 "{apiVersion: v1, kind: ConfigMap, metadata: {name: n1, namespace: b}}\n")
                .size(),
            2u);
}

TEST_F(Manifest, unpacks_lists) {
  auto all = read(R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "n1"}}]},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p"}}]})");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, "Node");
  EXPECT_EQ(all[1].ns, "default");
  EXPECT_EQ(
      complaint("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: "
                "{name: p, nmae: q}}\n"),
      "file a.yaml, document 1 (Pod p), items[0].metadata.nmae: unknown field, did you mean "
      "\"name\"?; "
      "allowed: annotations, creationTimestamp, deletionGracePeriodSeconds, deletionTimestamp, "
      "finalizers, generateName, generation, labels, managedFields, name, namespace, "
      "ownerReferences, resourceVersion, selfLink, uid");
}

TEST_F(Manifest, reads_every_dialect_when_no_release_is_named) {
  options.kubernetes.reset();
  auto all = read(R"(
{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {name: w},
 spec: {podGroups: [{name: g, policy: {gang: {minCount: 2}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: old},
 spec: {workloadRef: {name: w, podGroup: g}, containers: [{name: c, image: i}]}}
---
{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: b},
 spec: {schedulingPolicy: {gang: {minCount: 1}}, disruptionMode: Pod}}
---
{apiVersion: v1, kind: Pod, metadata: {name: new},
 spec: {schedulingGroup: {podGroupName: b}, containers: [{name: c, image: i}]}}
)");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].kubernetes, release::v1_35);
  EXPECT_EQ(all[1].kubernetes, release::v1_35);
  EXPECT_EQ(all[2].kubernetes, release::v1_36);
  EXPECT_EQ(all[3].kubernetes, release::v1_37);
}

TEST_F(Manifest, types_scalars_as_kubectl_does) {
  EXPECT_EQ(json_of("[1, -7, 0x10, 010, 1_000, +5, 08, 1e3, 2.5, 3.0, .5]"),
            "[1,-7,16,8,1000,5,8,1000,2.5E0,3,5E-1]");
  EXPECT_EQ(json_of("[yes, Off, y, true, ~, null, '', \"1\", '010', 2Gi, 500m, 2026-01-01, a]"),
            R"([true,false,true,true,null,null,"","1","010","2Gi","500m","2026-01-01","a"])");
  EXPECT_EQ(json_of("[9223372036854775807, 18446744073709551615, 1.2.3, 12:30, -, 0x, 1e]"),
            R"([9223372036854775807,18446744073709551615,"1.2.3","12:30","-","0x","1e"])");
  EXPECT_EQ(json_of("[!!str 12, !!int '12', !!float 1]"), R"(["12",12,1])");
  EXPECT_EQ(json_of("1: a\ntrue: b\n'x': |\n  two\n  lines\n"),
            R"({"1":"a","true":"b","x":"two\nlines\n"})");
}

/// A value of up to `depth` levels.
rc::Gen<boost::json::value> any_json(int depth) {
  using boost::json::value;
  auto text = rc::gen::map(rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)),
                           [](std::string s) { return value(s); });
  auto leaf = rc::gen::oneOf(
      text, rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](auto x) { return value(x); }),
      rc::gen::map(rc::gen::arbitrary<bool>(), [](bool x) { return value(x); }),
      rc::gen::just(value(nullptr)));
  if (depth == 0)
    return leaf;
  auto list = rc::gen::map(rc::gen::container<std::vector<value>>(any_json(depth - 1)),
                           [](const std::vector<value>& items) {
                             return value(boost::json::array(items.begin(), items.end()));
                           });
  return rc::gen::oneOf(leaf, list);
}

RC_GTEST_PROP(ManifestText, reads_json_back_through_yaml, ()) {
  auto item = *any_json(1);
  boost::json::array whole{{{"key", item}}};
  auto read = parse_documents(boost::json::serialize(whole)); // no `{` in front: read as YAML
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->at(0).content == boost::json::value(whole));
}

TEST_F(Manifest, follows_aliases_and_merge_keys) {
  EXPECT_EQ(json_of("a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}\n"),
            R"({"a":{"p":1,"q":2},"b":{"p":1,"q":2},"c":{"q":3,"p":1}})");
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 10; ++i) {
    auto last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 1; k < 10; ++k)
      bomb += "," + last;
    bomb += "]\n";
  }
  EXPECT_NE(json_of(bomb).find("aliases add more than"), std::string::npos);
}

TEST_F(Manifest, an_object_that_breaks_a_rule_of_its_own_is_refused_with_its_place) {
  const auto said = complaint("{apiVersion: v1, kind: Namespace, metadata: {name: fine}}\n---\n"
                              "{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: "
                              "{name: g}, spec: {schedulingPolicy: {gang: {minCount: -1}}}}");
  EXPECT_TRUE(said.starts_with("file a.yaml, document 2: ")) << said;
  EXPECT_NE(said.find("spec.schedulingPolicy.gang.minCount"), std::string::npos) << said;
}

TEST_F(Manifest, says_which_file_is_missing) {
  auto read = read_manifests("/no/such/file.yaml");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what(), base::code::not_found);
  EXPECT_EQ(read.error().message(), "file /no/such/file.yaml: no such file");
}

TEST_F(Manifest, reads_a_directory_by_name_and_finds_repeats_over_all_files) {
  auto directory = std::filesystem::path{testing::TempDir()} / "tutti_manifests";
  std::filesystem::create_directories(directory);
  std::ofstream{directory / "b.yaml"} << "{apiVersion: v1, kind: Node, metadata: {name: n2}}";
  std::ofstream{directory / "a.json"}
      << R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})";
  std::ofstream{directory / "notes.txt"} << "no manifest";
  std::filesystem::create_directory(directory / "folder.yaml"); // used to end the process
  std::filesystem::create_symlink("leads-nowhere", directory / "link.yaml");
  auto read = read_manifests(directory.string());
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].name, "n1");
  auto twice = read_manifests(std::vector{directory.string(), (directory / "b.yaml").string()});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().what(), base::code::already_exists);
  std::filesystem::remove_all(directory);
}

} // namespace
} // namespace tutti::api
