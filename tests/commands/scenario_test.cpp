// `tutti scenario`: what it prints and ends with. What scenarios can say is tested in tests/sim.
#include <boost/json.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tutti.hpp"

namespace tutti::commands {
namespace {

constexpr const char* good = "scenario: A pod that fits is bound\n"
                             "id: T-01\n"
                             "seeds: 2\n"
                             "steps:\n"
                             "- nodes: {n1: {cpu: 4}}\n"
                             "- pods: {a: {cpu: 1}}\n"
                             "- settle: {}\n"
                             "- expect: {bound: {a: n1}}\n";
constexpr const char* bad = "scenario: A pod that does not fit is bound\n"
                            "id: T-02\n"
                            "seeds: 2\n"
                            "steps:\n"
                            "- nodes: {n1: {cpu: 4}}\n"
                            "- pods: {a: {cpu: 5}}\n"
                            "- settle: {}\n"
                            "- expect: {bound: {a: n1}}\n";

arguments scenario(arguments more) {
  more.insert(more.begin(), "scenario");
  return more;
}

TEST(Scenario, list_shows_id_and_title_of_each_file_below_a_folder) {
  temp_dir home;
  home.file("a.yaml", good);
  home.file("b.yaml", bad);
  const auto said = run(scenario({"list", home.path()}));
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_EQ(said.out, "T-01       A pod that fits is bound\n"
                      "T-02       A pod that does not fit is bound\n");
}

TEST(Scenario, run_ends_with_0_if_all_passed) {
  temp_dir home;
  const auto file = home.file("a.yaml", good);
  const auto said = run(scenario({"run", file}));
  EXPECT_EQ(said.code(), 0) << said.out << said.err;
  EXPECT_EQ(said.out.rfind("passed               T-01    A pod that fits is bound (2 seeds, ", 0),
            0u)
      << said.out;
  EXPECT_TRUE(said.out.ends_with("1 passed, 0 failed, 0 expected to fail, 0 not supported\n"));
  EXPECT_EQ(run(scenario({"run", file, "--summary"})).out,
            "1 passed, 0 failed, 0 expected to fail, 0 not supported\n");
}

TEST(Scenario, a_failure_ends_with_1_and_says_where_what_was_found_and_how_to_see_it_again) {
  temp_dir home;
  home.file("a.yaml", good);
  const auto file = home.file("b.yaml", bad);
  for (const arguments& what :
       {arguments{"run", home.path()}, arguments{"run", home.path(), "--summary"}}) {
    const auto said = run(scenario(what));
    EXPECT_EQ(said.code(), 1);
    EXPECT_NE(
        said.out.find("failed               T-02    A pod that does not fit is bound\n"
                      "  seed 1, "
                      + file
                      + ":8: {expect: {bound: {a: n1}}}\n"
                        "  wanted: bound: {a: n1}\n  found:  not bound\n  last events:\n    "),
        std::string::npos)
        << said.out;
    EXPECT_NE(said.out.find("\n  again:  tutti scenario run " + file + " --id T-02 --seed 1\n"),
              std::string::npos)
        << said.out;
    EXPECT_TRUE(said.out.ends_with("1 passed, 1 failed, 0 expected to fail, 0 not supported\n"));
    EXPECT_EQ(said.out.find("T-01") == std::string::npos, what.size() == 3)
        << "--summary leaves out what has passed";
  }
  EXPECT_EQ(run(scenario({"run", home.path(), "--id", "T-01"})).code(), 0);
}

TEST(Scenario, one_that_is_known_to_fail_may_and_must) {
  temp_dir home;
  home.file("b.yaml", bad);
  home.file("expected_failures.yaml", "T-02: it is too large\n");
  const auto said = run(scenario({"run", home.path()}));
  EXPECT_EQ(said.code(), 0) << said.out;
  EXPECT_NE(said.out.find(": it is too large\n"), std::string::npos) << said.out;
  home.file("b.yaml", std::string{good}.replace(std::string{good}.find("T-01"), 4, "T-02"));
  const auto better = run(scenario({"run", home.path(), "--summary"}));
  EXPECT_EQ(better.code(), 1) << better.out;
  EXPECT_NE(better.out.find("take it off expected_failures.yaml"), std::string::npos) << better.out;
}

TEST(Scenario, results_are_told_to_programs_as_json) {
  temp_dir home;
  home.file("a.yaml", good);
  home.file("b.yaml", bad);
  const auto said = run(scenario({"run", home.path(), "--seed", "7", "-o", "json"}));
  EXPECT_EQ(said.code(), 1);
  const auto all = boost::json::parse(said.out).as_object();
  EXPECT_EQ(all.at("kind").as_string(), "ScenarioResults");
  EXPECT_EQ(all.at("summary").at("passed").to_number<int>(), 1);
  EXPECT_EQ(all.at("summary").at("failed").to_number<int>(), 1);
  ASSERT_EQ(all.at("items").as_array().size(), 2u);
  const auto& failed = all.at("items").at(1).as_object();
  EXPECT_EQ(failed.at("id").as_string(), "T-02");
  EXPECT_EQ(failed.at("outcome").as_string(), "failed");
  EXPECT_EQ(failed.at("failure").at("seed").to_number<int>(), 7);
  EXPECT_EQ(failed.at("failure").at("line").to_number<int>(), 8);
  EXPECT_FALSE(failed.at("failure").at("last_events").as_array().empty());
}

TEST(Scenario, wrong_usage_is_exit_code_2) {
  temp_dir home;
  const auto file = home.file("a.yaml", good);
  for (const arguments& what : {arguments{},
                                {"run"},
                                {"list"},
                                {"play", file},
                                {"run", file, "--seeds", "0"},
                                {"run", file, "-o", "xml"},
                                {"run", file, "--seeds", "2", "--seed", "1"},
                                {"run", file, "--id", "T-99"},
                                {"run", file, "--kubeconfig", "x", "--seed", "1"},
                                {"run", file, "--scheduler-name", "x"}}) {
    const auto said = run(scenario(what));
    EXPECT_EQ(said.code(), 2) << said.out << said.err;
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err, "");
  }
}

/// The embedded API server is as good a cluster as any; genuine ones are in tests/live.
TEST(Scenario, are_told_on_a_live_cluster_and_leave_it_as_it_was) {
  temp_dir home;
  daemon local{{.what = {"--data-dir", home.sub("data")}, .listens = true}};
  const auto config = home.file(
      "kubeconfig",
      fmt::format("clusters: [{{name: c, cluster: {{server: \"http://127.0.0.1:{}\"}}}}]\n"
                  "contexts: [{{name: x, context: {{cluster: c}}}}]\n"
                  "current-context: x\n",
                  local.api().port()));
  home.file("a.yaml", good);
  home.file("b.yaml", bad);
  home.file("c.yaml", "scenario: What only the scheduler knows\nid: T-03\nsteps:\n"
                      "- nodes: {n1: {cpu: 4}}\n- expect: {reserved: 0}\n");
  const arguments live{"run",      home.path(),   "--kubeconfig", config,
                       "--server", local.admin(), "--rest",       "1"};
  const auto said = run(scenario(live));
  EXPECT_EQ(said.code(), 1) << said.err;
  EXPECT_NE(said.out.find("passed               T-01 "), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("  wanted: bound: {a: n1}\n  found:  not bound\n"), std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("T-03    What only the scheduler knows (needs reserved)"),
            std::string::npos)
      << said.out;
  EXPECT_TRUE(said.out.ends_with("1 passed, 1 failed, 0 expected to fail, 1 not supported\n"))
      << said.out;
  EXPECT_TRUE(local.api().get("/api/v1/nodes").object().at("items").as_array().empty());

  auto loose = live;
  loose.insert(loose.end(), {"--loosely", "-o", "json"});
  const auto results = home.file("r.json", run(scenario(loose)).out);
  const auto page = run(scenario({"compare", results, results}));
  EXPECT_EQ(page.code(), 0) << page.err;
  EXPECT_NE(page.out.find("| tutti | 2 | 1 | 0 |\n| kube-scheduler | 2 | 1 | 0 |\n"),
            std::string::npos)
      << page.out;
  EXPECT_NE(page.out.find("| T-03 | What only the scheduler knows | passed, loosely | passed, "
                          "loosely |  |\n"),
            std::string::npos)
      << page.out;
  EXPECT_EQ(run(scenario({"compare", results, home.sub("none.json")})).code(), 3);

  EXPECT_EQ(local.api()
                .post("/api/v1/nodes", R"({"apiVersion": "v1", "kind": "Node",
                                           "metadata": {"name": "of-others"}})")
                .status,
            201);
  const auto refused = run(scenario(live));
  EXPECT_EQ(refused.code(), 1);
  EXPECT_NE(refused.err.find("the node of-others was made by no scenario"), std::string::npos)
      << refused.err;
  EXPECT_EQ(refused.out, "");
  local.stop();
}

TEST(Scenario, a_file_that_is_wrong_is_exit_code_3_and_nothing_is_played) {
  temp_dir home;
  home.file("a.yaml", good);
  const auto wrong = home.file("b.yaml", "scenario: x\nid: T-03\nsteps:\n- explode: {}\n");
  for (const char* verb : {"run", "list"}) {
    const auto said = run(scenario({verb, home.path()}));
    EXPECT_EQ(said.code(), 3);
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(said.err.rfind("error: " + wrong + ":4: ", 0), 0u) << said.err;
    EXPECT_EQ(run(scenario({verb, home.sub("none.yaml")})).code(), 3);
  }
  temp_dir empty;
  EXPECT_EQ(run(scenario({"run", empty.path()})).code(), 3);
}

} // namespace
} // namespace tutti::commands
