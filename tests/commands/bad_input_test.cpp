// What is wrong with a file is said in one line; a gang that cannot be placed is accepted and says
// why it waits.
#include <ostream>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "golden.hpp"
#include "judge.hpp"
#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

std::string with_group(const std::string& spec) {
  return "apiVersion: v1\nkind: Namespace\nmetadata: {name: not-applied}\n---\n"
         "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: bad}\nspec: "
         + spec + "\n";
}

/// A file that must be refused, and what the one line must say besides the file's name.
struct refused_file {
  std::string name;
  std::string content;
  std::vector<std::string> must_say;
};

void PrintTo(const refused_file& x, std::ostream* out) {
  *out << x.name;
}

/// With its mark of byte order, as an editor writes it.
std::string utf_16_of(const std::string& ascii, bool is_little_endian) {
  std::string out = is_little_endian ? "\xFF\xFE" : "\xFE\xFF";
  for (const char c : ascii) {
    out += is_little_endian ? c : '\0';
    out += is_little_endian ? '\0' : c;
  }
  return out;
}

std::vector<refused_file> refused_files() {
  return {
      {"yaml_that_does_not_parse", "apiVersion: v1\nkind: [Node\n", {"line 3"}},
      {"tab_as_indentation", "apiVersion: v1\nkind: Node\nmetadata:\n\tname: x\n", {"line 4"}},
      {"unknown_field",
       with_group("{schedulingPolicy: {gang: {minCont: 2}}}"),
       {"document 2", "spec.schedulingPolicy.gang.minCont", "minCount"}},
      {"bad_quantity",
       "apiVersion: v1\nkind: Node\nmetadata: {name: x}\nstatus: {allocatable: {cpu: 4 cores}}\n",
       {"document 1", "status.allocatable", "4 cores"}},
      {"bad_quantity_in_a_pod",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: a, image: i, "
       "resources: {requests: {cpu: 1Zb}}}]}\n",
       {"document 1", "spec.containers[0].resources.requests", "1Zb"}},
      {"min_count_0",
       with_group("{schedulingPolicy: {gang: {minCount: 0}}}"),
       {"document 2", "spec.schedulingPolicy.gang.minCount", "Required value",
        "; allowed: 1 or more"}},
      {"min_count_that_is_no_number",
       with_group("{schedulingPolicy: {gang: {minCount: many}}}"),
       {"document 2", "spec.schedulingPolicy.gang.minCount", "many"}},
      {"two_policies",
       with_group("{schedulingPolicy: {gang: {minCount: 2}, basic: {}}}"),
       {"document 2", "spec.schedulingPolicy", "basic"}},
      {"no_policy", with_group("{schedulingPolicy: {}}"), {"document 2", "spec.schedulingPolicy"}},
      {"priority_class_that_is_not_there",
       with_group("{schedulingPolicy: {gang: {minCount: 2}}, priorityClassName: no-such}"),
       {"document 2", "no-such"}},
      {"pod_in_a_namespace_that_is_not_there",
       "apiVersion: v1\nkind: Namespace\nmetadata: {name: not-applied}\n---\n"
       "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: no-such}\n"
       "spec: {containers: [{name: a, image: i}]}\n",
       {"document 2", "no-such"}},
      {"unknown_kind",
       "apiVersion: batch/v1\nkind: CronJobb\nmetadata: {name: x}\n",
       {"document 1", "CronJobb"}},
      {"no_kind", "apiVersion: v1\nmetadata: {name: x}\n", {"document 1", "kind"}},
      {"no_name", "apiVersion: v1\nkind: Node\nmetadata: {}\n", {"document 1", "metadata.name"}},
      {"duplicate_name",
       "apiVersion: v1\nkind: Namespace\nmetadata: {name: twice}\n---\n"
       "apiVersion: v1\nkind: Namespace\nmetadata: {name: twice}\n",
       {"document 2", "twice"}},
      {"key_twice",
       "apiVersion: v1\nkind: Node\nmetadata: {name: a, name: b}\n",
       {"document 1", "metadata.name"}},
      {"text_instead_of_a_list",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: main}\n",
       {"document 1", "spec.containers"}},
      {"not_an_object", "- 1\n- 2\n", {"document 1"}},
      {"nothing_in_it", "# later\n---\n", {"no objects in"}},
      {"utf_16_little_endian",
       utf_16_of(with_group("{schedulingPolicy: {gang: {minCont: 2}}}"), true),
       {"document 2", "spec.schedulingPolicy.gang.minCont", "minCount"}},
      {"utf_16_big_endian", utf_16_of("kind: [Node\n", false), {"line 2"}},
      {"deep_yaml",
       "kind: Node\nmetadata: " + std::string(9000, '[') + std::string(9000, ']') + "\n",
       {"document 1", "nested too deeply"}},
      {"deep_json",
       "{\"metadata\": " + std::string(9000, '[') + std::string(9000, ']') + "}",
       {"document 1", "nested too deeply"}},
  };
}

/// Values outside what a field may have: the line names what it may.
std::vector<refused_file> files_with_wrong_values() {
  return {
      {"min_count_below_0",
       with_group("{schedulingPolicy: {gang: {minCount: -1}}}"),
       {"document 2", "spec.schedulingPolicy.gang.minCount", "greater than or equal to 1"}},
      {"priority_above_the_highest",
       with_group("{schedulingPolicy: {gang: {minCount: 1}}, priority: 2000000000}"),
       {"document 2", "spec.priority", "less than or equal to 1000000000"}},
      {"unknown_preemption_policy",
       with_group("{schedulingPolicy: {gang: {minCount: 1}}, preemptionPolicy: Always}"),
       {"document 2", "spec.preemptionPolicy", "Always", "Never", "PreemptLowerPriority"}},
      {"unknown_taint_effect",
       "apiVersion: v1\nkind: Node\nmetadata: {name: x}\nspec: {taints: [{key: a, effect: "
       "Sometimes}]}"
       "\n",
       {"document 1", "spec.taints[0].effect", "NoExecute", "NoSchedule", "PreferNoSchedule"}},
      {"amount_below_0",
       "apiVersion: v1\nkind: Node\nmetadata: {name: x}\nstatus: {allocatable: {cpu: -1}}\n",
       {"document 1", "status.allocatable.cpu", "greater than or equal to 0"}},
      {"too_many_topology_keys",
       with_group("{schedulingPolicy: {gang: {minCount: 1}}, schedulingConstraints: {topology: "
                  "[{key: a}, {key: b}]}}"),
       {"document 2", "spec.schedulingConstraints.topology", "at most 1 item"}},
  };
}

class RefusedFile : public testing::TestWithParam<refused_file> {};

/// True if it is "error: …" in one line, and maybe one "hint: …".
bool is_one_line(const std::string& said) {
  auto end = said.find('\n');
  if (said.rfind("error: ", 0) != 0 || end == said.npos)
    return false;
  return end + 1 == said.size()
         || (said.compare(end + 1, 6, "hint: ") == 0
             && said.find('\n', end + 1) == said.size() - 1);
}

TEST_P(RefusedFile, is_named_with_document_and_field_in_one_line_and_not_applied) {
  temp_dir home;
  const auto bad = home.file("bad.yaml", GetParam().content);
  for (const char* verb : {"plan", "local"}) {
    auto command = verb == std::string{"plan"} ? arguments{"plan", "-f", bad}
                                               : local_in(home, {"-f", bad, "--until", "settled"});
    const auto said = run(command);
    EXPECT_EQ(said.code(), 1) << verb << "\n" << said.out << said.err;
    EXPECT_TRUE(is_one_line(said.err)) << said.err;
    EXPECT_NE(said.err.find("bad.yaml"), std::string::npos) << said.err;
    for (const auto& word : GetParam().must_say)
      EXPECT_NE(said.err.find(word), std::string::npos) << "lacks \"" << word << "\": " << said.err;
    EXPECT_EQ(said.out, "");
  }
  // Nothing of it is there at the next start, and a good file still is welcome.
  const auto good = home.file("good.yaml", nodes_in_racks(1));
  daemon next{{.what = {"--data-dir", home.sub("data"), "-f", good}, .listens = true}};
  const auto seen = look_at(next.api());
  EXPECT_EQ(seen.nodes.size(), 1u);
  EXPECT_TRUE(seen.groups.empty());
  EXPECT_TRUE(seen.pods.empty());
  EXPECT_EQ(next.api().get("/api/v1/namespaces/not-applied").status, 404);
  EXPECT_EQ(next.api().get("/api/v1/namespaces/twice").status, 404);
  next.stop();
}

INSTANTIATE_TEST_SUITE_P(With, RefusedFile, testing::ValuesIn(refused_files()),
                         [](const auto& x) { return x.param.name; });
INSTANTIATE_TEST_SUITE_P(WithValue, RefusedFile, testing::ValuesIn(files_with_wrong_values()),
                         [](const auto& x) { return x.param.name; });

TEST(BadInput, a_good_file_beside_a_bad_one_is_not_applied_either) {
  temp_dir home;
  const auto good = home.file("good.yaml", nodes_in_racks(1));
  const auto bad = home.file("bad.yaml", "kind: Nothing\n");
  EXPECT_EQ(run(local_in(home, {"-f", good, "-f", bad, "--until", "settled"})).code(), 1);
  daemon next{{.what = {"--data-dir", home.sub("data")}, .listens = true}};
  EXPECT_TRUE(look_at(next.api()).nodes.empty());
  next.stop();
}

TEST(BadInput, a_file_that_is_refused_changes_nothing_of_what_is_there) {
  temp_dir home;
  const auto good = home.file("good.yaml", manifest(node_text{"n1", "r1", 4}));
  EXPECT_EQ(run(local_in(home, {"-f", good, "--until", "settled"})).code(), 0);
  const auto bad =
      home.file("bad.yaml", manifest(node_text{"n1", "r1", 64}) + manifest(node_text{"n2", "r1"})
                                + manifest(gang_text{.name = "odd", .priority = "no-such"}));
  const auto said = run(local_in(home, {"-f", bad, "--until", "settled"}));
  EXPECT_EQ(said.code(), 1) << said.err;
  EXPECT_TRUE(is_one_line(said.err)) << said.err;
  daemon next{{.what = {"--data-dir", home.sub("data")}, .listens = true}};
  EXPECT_EQ(look_at(next.api()).nodes, (std::map<std::string, std::int64_t>{{"n1", 4000}}));
  next.stop();
  // The same file with the class in front is applied, in that order.
  const auto whole = home.file(
      "bad.yaml", manifest(priority_text{"no-such", 7}) + manifest(node_text{"n1", "r1", 64})
                      + manifest(gang_text{.name = "odd", .priority = "no-such"}));
  const auto taken = run(local_in(home, {"-f", whole, "--until", "settled"}));
  EXPECT_EQ(taken.code(), 0) << taken.err;
  EXPECT_NE(taken.err.find("applied: 4 created, 1 changed, 0 unchanged"), std::string::npos)
      << taken.err;
}

TEST(BadInput, utf_16_with_its_mark_is_read_like_utf_8) {
  temp_dir home;
  const auto text = nodes_in_racks(2) + manifest(gang_text{"pair"});
  const auto as_utf_8 = run({"plan", "-f", home.file("8.yaml", text)});
  EXPECT_EQ(as_utf_8.code(), 0) << as_utf_8.err;
  for (const bool is_little_endian : {true, false}) {
    const auto said = run({"plan", "-f", home.file("16.yaml", utf_16_of(text, is_little_endian))});
    EXPECT_EQ(said.code(), 0) << said.err;
    EXPECT_EQ(said.out, as_utf_8.out);
  }
}

TEST(BadInput, a_missing_file_is_named) {
  const auto said = run({"local", "-f", "no-such-file.yaml", "--admin", "", "--until", "settled"});
  EXPECT_EQ(said.code(), 1);
  expect_golden("local-no-file.txt", said.err);
}

TEST(BadInput, an_empty_directory_is_named) {
  temp_dir home;
  const auto said = run({"plan", "-f", home.path()});
  EXPECT_EQ(said.code(), 1);
  EXPECT_TRUE(is_one_line(said.err)) << said.err;
}

/// A gang that is accepted and waits; what it says.
struct waiting_gang {
  std::string name;
  std::string world;
  int plan_code;
  std::string reason;
  std::vector<std::string> must_say; ///< in `tutti explain`
};

void PrintTo(const waiting_gang& x, std::ostream* out) {
  *out << x.name;
}

std::vector<waiting_gang> waiting_gangs() {
  const auto nodes = nodes_in_racks(4);
  const auto classes = manifest(priority_text{"five", 5}) + manifest(priority_text{"nine", 9});
  const auto full =
      manifest(gang_text{.name = "first", .members = 4, .min = 4, .cpu = 3, .priority = "nine"});
  const auto group = manifest(gang_text{.name = "odd", .members = 0});
  const auto group_of_five = manifest(gang_text{.name = "odd", .members = 0, .priority = "five"});
  return {
      {"larger_than_the_cluster",
       nodes + manifest(gang_text{.name = "odd", .members = 5, .min = 5, .cpu = 3}),
       12,
       "NeverFits",
       {"4 of 5"}},
      {"no_room_now",
       nodes + classes + full + manifest(gang_text{.name = "odd", .cpu = 3}),
       11,
       "InsufficientResources",
       {"0 of 2", "4 Insufficient cpu"}},
      {"topology_key_on_no_node",
       nodes + manifest(gang_text{.name = "odd", .topology = "example.com/no-such-key"}),
       12,
       "NeverFits",
       {"example.com/no-such-key"}},
      {"selector_that_nobody_matches",
       nodes + manifest(gang_text{.name = "odd", .more = ", nodeSelector: {disk: ssd}"}),
       12,
       "NeverFits",
       {"0 of 2", "4 node(s) didn't match"}},
      {"too_few_members",
       nodes + manifest(gang_text{.name = "odd", .members = 2, .min = 3}),
       11,
       "WaitingForMembers",
       {"2", "3"}},
      {"members_of_two_schedulers",
       nodes + group + manifest_of_member(gang_text{.name = "odd"}, 0)
           + manifest_of_member(gang_text{.name = "odd", .more = ", schedulerName: other"}, 1),
       11,
       "SchedulerError",
       {"other"}},
      {"members_of_two_priorities",
       nodes + classes + group_of_five
           + manifest_of_member(gang_text{.name = "odd", .priority = "five"}, 0)
           + manifest_of_member(gang_text{.name = "odd", .priority = "nine"}, 1),
       11,
       "SchedulerError",
       {"priority"}},
  };
}

class WaitingGang : public testing::TestWithParam<waiting_gang> {};

TEST_P(WaitingGang, is_accepted_and_says_why_with_numbers) {
  temp_dir home;
  const auto world = home.file("world.yaml", GetParam().world);
  const auto planned = run({"plan", "-f", world});
  EXPECT_EQ(planned.code(), GetParam().plan_code) << planned.out << planned.err;
  EXPECT_NE(planned.out.find(GetParam().reason), std::string::npos) << planned.out;

  daemon one{{.what = {"-f", world}, .listens = true}};
  one.settle();
  const auto listed = one.ask({"get", "gangs"}).out;
  const auto row = listed.substr(listed.find("odd"));
  EXPECT_NE(row.find(GetParam().reason), std::string::npos) << listed;
  const auto why = one.ask({"explain", "gang", "odd"}).out;
  EXPECT_NE(why.find(GetParam().reason), std::string::npos) << why;
  for (const auto& word : GetParam().must_say)
    EXPECT_NE(why.find(word), std::string::npos) << "lacks \"" << word << "\":\n" << why;
  const auto seen = look_at(one.api());
  expect_sound(seen);
  EXPECT_EQ(seen.bound_of("odd"), 0);
  one.stop();
}

/// The explanation of "odd" as a verb prints it for machines, without the state it was made on.
boost::json::object explanation_in(const std::string& text) {
  const auto whole = boost::json::parse(text).as_object();
  const auto& of = whole.contains("items") ? whole.at("items").at(0).as_object() : whole;
  auto why = of.at("explanation").as_object();
  why.erase("view_version");
  return why;
}

TEST(BadInput, plan_and_explain_give_the_same_explanation_and_nothing_is_short_but_the_key) {
  temp_dir home;
  const auto world =
      home.file("world.yaml",
                nodes_in_racks(4) + manifest(gang_text{.name = "odd", .topology = "no/such-key"}));
  const auto planned = run({"plan", "-f", world, "-o", "json"});
  daemon one{{.what = {"-f", world}, .listens = true}};
  one.settle();
  const auto explained = one.ask({"explain", "gang", "odd", "-o", "json"});
  EXPECT_EQ(explanation_in(planned.out), explanation_in(explained.out));
  EXPECT_EQ(explanation_in(planned.out).at("dimension").as_string(), "");
  const auto group =
      one.api().get("/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/odd").body;
  for (const auto& text :
       {planned.out, run({"plan", "-f", world}).out, explained.out, group,
        one.ask({"explain", "gang", "odd"}).out, one.ask({"describe", "gang", "odd"}).out,
        one.ask({"get", "gangs", "-o", "wide"}).out}) {
    EXPECT_NE(text.find("no node has the topology label no/such-key"), text.npos) << text;
    EXPECT_EQ(text.find("short by"), text.npos) << text;
  }
  one.stop();
}

INSTANTIATE_TEST_SUITE_P(With, WaitingGang, testing::ValuesIn(waiting_gangs()),
                         [](const auto& x) { return x.param.name; });

} // namespace
} // namespace tutti::commands
