// `tutti sim run`: what it writes, and what it says of input that makes no sense.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "golden.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  EXPECT_TRUE(in) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

arguments sim(arguments more) {
  more.insert(more.begin(), {"sim", "run", "-q"});
  return more;
}

constexpr const char* small_trace = "submit_s,gpus,duration_s\n"
                                    "0,16,600\n10,64,300\n20,1,30\n30,9999,1\n";

TEST(Sim, help_says_what_it_does_with_examples_and_exit_codes) {
  for (const arguments& what : {arguments{"sim", "--help"}, arguments{"sim", "run", "--help"}}) {
    const auto said = run(what);
    EXPECT_EQ(said.code(), 0);
    EXPECT_NE(said.out.find("Exit codes: 0 done"), std::string::npos) << said.out;
    EXPECT_NE(said.out.find("Example"), std::string::npos) << said.out;
  }
  expect_golden("help-sim-run.txt", run({"sim", "run", "--help"}).out);
}

TEST(Sim, plays_a_trace_and_counts_what_it_rejects) {
  temp_dir home;
  const auto trace = home.file("trace.csv", small_trace);
  const auto said = run(sim({"--nodes", "8", "--topology", "rack:4", "--trace", trace, "--until",
                             "drained", "--report", home.sub("a.html")}));
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_NE(said.err.find(trace
                          + ":5: rejected: it asks for 1250 members of 8 GPUs; the cluster has "
                            "room for 8"),
            std::string::npos)
      << said.err;
  const auto summary = text_of(home.sub("a/summary.csv"));
  EXPECT_NE(summary.find("gangs_submitted,3,"), std::string::npos) << summary;
  EXPECT_NE(summary.find("gangs_rejected,1,"), std::string::npos) << summary;
  EXPECT_NE(summary.find("gangs_over,3,"), std::string::npos) << summary;
  const auto gangs = text_of(home.sub("a/gangs.csv"));
  EXPECT_NE(gangs.find("g000001,3,10.000,8,8,0,300.000,over,59"), std::string::npos) << gangs;
  EXPECT_NE(gangs.find(",5,30.000,1250,8,0,1.000,rejected,,,,"), std::string::npos) << gangs;
  EXPECT_NE(text_of(home.sub("a.html")).find("rejected"), std::string::npos);
}

TEST(Sim, a_run_of_many_days_is_sampled_more_coarsely) {
  temp_dir home;
  const auto trace = home.file("trace.csv", "submit_s,gpus,duration_s\n0,1,60\n864000,1,60\n");
  const auto said = run(sim({"--nodes", "2", "--topology", "rack:2", "--trace", trace, "--until",
                             "drained", "--report", home.sub("new/folder/a.html")}));
  EXPECT_EQ(said.code(), 0) << said.err;
  const auto samples = text_of(home.sub("new/folder/a/samples.csv"));
  EXPECT_LT(std::count(samples.begin(), samples.end(), '\n'), 1'500);
}

TEST(Sim, the_same_seed_writes_the_same_bytes) {
  temp_dir home;
  const auto play = [&](const char* seed, const std::string& to) {
    const auto said = run(sim({"--nodes", "60", "--generate", "philly", "--load", "50", "--until",
                               "6h", "--seed", seed, "--report", home.sub(to + ".html")}));
    EXPECT_EQ(said.code(), 0) << said.err;
  };
  play("5", "a");
  play("5", "b");
  play("6", "c");
  for (const char* name : {"summary.csv", "samples.csv", "gangs.csv", "waits.csv", "racks.csv"})
    EXPECT_EQ(text_of(home.sub("a/") + name), text_of(home.sub("b/") + name)) << name;
  EXPECT_EQ(text_of(home.sub("a.html")), text_of(home.sub("b.html")));
  EXPECT_NE(text_of(home.sub("a/gangs.csv")), text_of(home.sub("c/gangs.csv")));
}

TEST(Sim, a_bad_trace_is_exit_code_3_and_nothing_is_written) {
  temp_dir home;
  const auto bad = home.file("bad.csv", "submit_s,gpus,duration_s\n0,1,2\n5,1,-2\n");
  const auto said = run(sim({"--trace", bad, "--report", home.sub("a.html")}));
  EXPECT_EQ(said.code(), 3);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "error: " + bad
                          + ":3: duration_s is \"-2\"\n"
                            "hint: duration_s is seconds from 0 to 3153600000\n");
  EXPECT_FALSE(std::filesystem::exists(home.sub("a.html")));
  EXPECT_EQ(run(sim({"--trace", home.sub("none.csv")})).code(), 3);
}

TEST(Sim, strict_makes_an_error_of_a_gang_that_is_too_large) {
  temp_dir home;
  const auto trace = home.file("trace.csv", small_trace);
  const auto said = run(sim({"--nodes", "8", "--strict", "--trace", trace}));
  EXPECT_EQ(said.code(), 3);
  EXPECT_NE(said.err.find(":5: it asks for 1250 members"), std::string::npos) << said.err;
}

TEST(Sim, a_window_in_which_no_gang_comes_is_wrong_usage) {
  temp_dir home;
  const auto trace = home.file("trace.csv", small_trace);
  const auto said = run(sim({"--trace", trace, "--from", "1d", "--report", home.sub("a.html")}));
  EXPECT_EQ(said.code(), 2);
  EXPECT_EQ(said.err, "error: " + trace
                          + ": no gang comes in the time that is played\n"
                            "hint: give an earlier --from or a longer --until\n");
  EXPECT_FALSE(std::filesystem::exists(home.sub("a.html")));
}

TEST(Sim, a_folder_that_cannot_be_written_is_said_before_the_run) {
  temp_dir home;
  const auto trace = home.file("trace.csv", small_trace);
  const auto said = run(
      sim({"--nodes", "8", "--trace", trace, "--until", "10m", "--report", "/proc/none/a.html"}));
  EXPECT_EQ(said.code(), 1);
  EXPECT_EQ(said.out, "");
  EXPECT_NE(said.err.find("cannot write into the folder /proc/none: "), std::string::npos)
      << said.err;
}

struct useless_flags {
  const char* name;
  arguments what;
  const char* must_say;
};
void PrintTo(const useless_flags& x, std::ostream* out) {
  *out << x.name;
}

class SimUsage : public testing::TestWithParam<useless_flags> {};

TEST_P(SimUsage, is_wrong_and_the_cure_is_said) {
  const auto said = run(sim(GetParam().what));
  EXPECT_EQ(said.code(), 2);
  EXPECT_EQ(said.out, "");
  EXPECT_NE(said.err.find(GetParam().must_say), std::string::npos) << said.err;
}

TEST(SimOpenB, compares_policies_on_the_published_tables) {
  temp_dir home;
  std::filesystem::create_directories(home.sub("pods"));
  home.file("openb_node_list_gpu_node.csv",
            "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,65536,4,T4\nn2,64000,65536,4,T4\n");
  home.file("pods/openb_pod_list_tiny.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np1,1000,1,1,1000\np2,1000,1,1,1000\n");
  const auto said = run({"sim", "openb", "--data", home.path(), "--workload", "tiny", "--policy",
                         "random,least-stranded", "--seeds", "1-3"});
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_NE(said.out.find("tiny       least-stranded   3      100.00"), std::string::npos)
      << said.out;
  EXPECT_EQ(said.out.find("best-fit"), std::string::npos);
}

TEST(SimOpenB, says_which_policy_seed_or_file_is_wrong) {
  const auto policy = run({"sim", "openb", "--data", "x", "--policy", "best"});
  EXPECT_EQ(policy.code(), 2);
  EXPECT_NE(policy.err.find("hint: one of random, "), std::string::npos) << policy.err;
  for (const auto* seeds : {"5-4", "-", "a", "1-", ""})
    EXPECT_EQ(run({"sim", "openb", "--data", "x", "--seeds", seeds}).code(), 2) << seeds;
  const auto file = run({"sim", "openb", "--data", "/nowhere"});
  EXPECT_EQ(file.code(), 3);
  EXPECT_NE(file.err.find("/nowhere/openb_node_list_gpu_node.csv"), std::string::npos) << file.err;
  EXPECT_EQ(run({"sim", "openb"}).code(), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Of, SimUsage,
    testing::Values(
        useless_flags{"no_workload", {}, "hint: give either --trace FILE or --generate philly"},
        useless_flags{
            "both", {"--trace", "a", "--generate", "philly"}, "--trace excludes --generate"},
        useless_flags{
            "compress_generated", {"--generate", "philly", "--compress", "2"}, "are about a trace"},
        useless_flags{
            "load_of_a_trace", {"--trace", "a", "--load", "5"}, "with --trace use --compress"},
        useless_flags{
            "no_gpus", {"--generate", "philly", "--gpus-per-node", "0"}, "nodes have none"},
        useless_flags{"drained", {"--generate", "philly", "--until", "drained"}, "give a duration"},
        useless_flags{"until", {"--generate", "philly", "--until", "soon"}, "such as 2d, 36h"},
        useless_flags{"no_time", {"--generate", "philly", "--until", "0s"}, "such as 2d, 36h"},
        useless_flags{"sample", {"--generate", "philly", "--sample", "5"}, "--sample: \"5\""},
        useless_flags{"topology", {"--generate", "philly", "--topology", "rack"}, "has no count"},
        useless_flags{"level_twice",
                      {"--generate", "philly", "--topology", "rack:2,rack:2"},
                      "names rack twice"},
        useless_flags{
            "within", {"--generate", "philly", "--within", "row"}, "hint: it has rack, block"},
        useless_flags{
            "same_name", {"--generate", "philly", "--report", "out"}, "give --csv FOLDER"},
        useless_flags{"nodes", {"--generate", "philly", "--nodes", "0"}, "--nodes"},
        useless_flags{"unknown", {"--generate", "seren"}, "philly"}),
    [](const auto& x) { return std::string{x.param.name}; });

} // namespace
} // namespace tutti::commands
