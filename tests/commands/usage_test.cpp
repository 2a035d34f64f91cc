// The help of every verb, the version, and what wrong usage looks like.
#include <gtest/gtest.h>

#include "golden.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

class Help : public testing::TestWithParam<const char*> {};

TEST_P(Help, says_what_the_verb_does_and_what_its_exit_codes_mean) {
  const auto said = run({GetParam(), "--help"});
  EXPECT_EQ(said.code(), 0);
  EXPECT_EQ(said.err, "");
  EXPECT_NE(said.out.find("Exit codes:"), std::string::npos);
  EXPECT_NE(said.out.find("Example"), std::string::npos);
  expect_golden(std::string{"help-"} + GetParam() + ".txt", said.out);
}

INSTANTIATE_TEST_SUITE_P(Of, Help,
                         testing::Values("plan", "local", "scheduler", "bridge", "get", "describe",
                                         "explain", "trace", "retry", "status", "top", "wait",
                                         "cancel", "version", "completion", "help"),
                         [](const auto& x) { return std::string{x.param}; });

TEST(Usage, help_lists_all_verbs) {
  const auto said = run({"--help"});
  EXPECT_EQ(said.code(), 0);
  expect_golden("help.txt", said.out);
}

TEST(Usage, version_is_one_line) {
  const auto said = run({"--version"});
  EXPECT_EQ(said.code(), 0);
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(said.out.rfind("tutti ", 0), 0u) << said.out;
  EXPECT_EQ(said.out.find('\n'), said.out.size() - 1);
}

TEST(Usage, without_a_verb_or_with_an_unknown_one_is_wrong) {
  EXPECT_EQ(run({"--frob"}).code(), 2);
  EXPECT_EQ(run({"schedule"}).code(), 2);
  const auto said = run({"get"});
  EXPECT_EQ(said.code(), 2);
  EXPECT_EQ(said.out, "");
}

TEST(Usage, an_unknown_verb_is_answered_with_the_nearest_one) {
  const auto said = run({"explian", "gang", "ring"});
  EXPECT_EQ(said.code(), 2);
  EXPECT_EQ(said.err, "error: there is no verb \"explian\"\nhint: did you mean `tutti explain`?\n");
  const auto far = run({"frobnicate"});
  EXPECT_EQ(far.code(), 2);
  EXPECT_NE(far.err.find("hint: there are plan, local, scheduler, bridge, get, "),
            std::string::npos)
      << far.err;
}

TEST(Usage, help_and_version_are_verbs_too) {
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  for (const char* verb : {"plan", "local", "version"})
    EXPECT_EQ(run({"help", verb}).out, run({verb, "--help"}).out) << verb;
  EXPECT_EQ(run({"help", "plam"}).code(), 2);
  const auto said = run({"version"});
  EXPECT_EQ(said.code(), 0);
  EXPECT_NE(said.out.find("<none answers>"), std::string::npos) << said.out;
  const auto json = run({"version", "--client", "-o", "json"});
  EXPECT_NE(json.out.find("\"client\": "), std::string::npos) << json.out;
  EXPECT_NE(run({"version", "-o", "yaml"}).out.find("- \"1.37\""), std::string::npos);
}

/// Flags and environment that make no sense together, and a word of the hint.
struct useless {
  std::string name;
  arguments what;
  std::string fault;
  std::string must_say;
};

void PrintTo(const useless& x, std::ostream* out) {
  *out << x.name;
}

class UselessLocal : public testing::TestWithParam<useless> {};

TEST_P(UselessLocal, is_wrong_usage_and_says_what_is_allowed) {
  auto what = GetParam().what;
  what.insert(what.begin(), "local");
  const auto said = run(what, {{"TUTTI_FAULT", GetParam().fault}});
  EXPECT_EQ(said.code(), 2) << said.err;
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err.rfind("error: ", 0), 0u) << said.err;
  EXPECT_NE(said.err.find("\nhint: "), std::string::npos) << said.err;
  EXPECT_NE(said.err.find(GetParam().must_say), std::string::npos) << said.err;
}

INSTANTIATE_TEST_SUITE_P(
    With, UselessLocal,
    testing::Values(useless{"a_server_nobody_reaches", {"--serve-only"}, "", "--listen"},
                    useless{"both_halves_alone",
                            {"--serve-only", "--listen", ":0", "--server", "127.0.0.1:1"},
                            "",
                            "--server has no meaning with --serve-only"},
                    useless{"nothing_to_settle",
                            {"--serve-only", "--listen", ":0", "--until", "settled"},
                            "",
                            "--until"},
                    useless{"shards_without_a_scheduler",
                            {"--serve-only", "--listen", ":0", "--shards", "4"},
                            "",
                            "--shards"},
                    useless{"files_for_a_server_elsewhere",
                            {"--server", "127.0.0.1:1", "-f", "x.yaml"},
                            "",
                            "kubectl"},
                    useless{"listening_for_a_server_elsewhere",
                            {"--server", "127.0.0.1:1", "--listen", ":0"},
                            "",
                            "--listen"},
                    useless{"settling_elsewhere",
                            {"--server", "127.0.0.1:1", "--until", "settled"},
                            "",
                            "--until"},
                    useless{"a_seed_for_a_server_elsewhere",
                            {"--server", "127.0.0.1:1", "--seed", "1"},
                            "",
                            "--seed"},
                    useless{"an_url_of_another_kind", {"--server", "ftp://a"}, "", "https://"},
                    useless{"a_server_without_a_port", {"--server", "a"}, "", "HOST:PORT"},
                    useless{"a_kubeconfig_for_a_server_of_its_own",
                            {"--kubeconfig", "x", "--listen", ":0"},
                            "",
                            "--listen"},
                    useless{"a_context_and_no_scheduler",
                            {"--context", "x", "--serve-only", "--listen", ":0"},
                            "",
                            "--context"},
                    useless{"an_address_that_is_none", {"--admin", "nowhere"}, "", "nowhere"},
                    useless{"one_level_twice", {"--topology", "a/b,a/b"}, "", "twice"},
                    useless{"a_fault_that_is_not_there", {}, "C99", "C0 C1 C2"},
                    useless{"a_fault_without_a_number", {}, "C4:x", "C4:20"}),
    [](const auto& x) { return x.param.name; });

/// What a shell is told when these words are typed, the last of them not yet whole.
std::string offered(arguments typed, const std::string& server = "127.0.0.1:1") {
  typed.insert(typed.begin(), "__complete");
  const auto said = run(typed, {{"TUTTI_SERVER", server}});
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_EQ(said.err, "");
  return said.out;
}

TEST(Completion, offers_verbs_flags_values_and_nouns) {
  EXPECT_EQ(offered({"ex"}), "explain\n");
  EXPECT_EQ(offered({"chaos", "re"}), "replay\n");
  EXPECT_EQ(offered({"get", "--all"}), "--all-namespaces\n");
  EXPECT_EQ(offered({"get", "gangs", "-o", "y"}), "yaml\n");
  EXPECT_EQ(offered({"top", ""}), "racks\n");
  EXPECT_EQ(offered({"local", "--until", "settled", "--step"}), "--step-events\n");
  EXPECT_EQ(offered({"nonsense", "x"}), "");
}

TEST(Completion, offers_the_gangs_of_the_namespace_and_none_if_nobody_answers) {
  EXPECT_EQ(offered({"explain", "gang", ""}), "");
  daemon one{{.what = {"-f", example("small")}}};
  one.settle();
  EXPECT_EQ(offered({"explain", "gang", "r"}, one.admin()), "rack-mates\nring\n");
  EXPECT_EQ(offered({"explain", "-n", "elsewhere", "gang", ""}, one.admin()), "");
  one.stop();
}

TEST(Completion, of_bash_puts_in_what_is_offered) {
  const auto said =
      run_in_shell("bash -c 'tutti() { \"$TUTTI\" \"$@\"; }; source <(tutti completion bash); "
                   "COMP_WORDS=(tutti get sh); COMP_CWORD=2; _tutti; echo \"${COMPREPLY[@]}\"'");
  EXPECT_EQ(said.out, "shards shard\n") << said.err;
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_NE(run({"completion", shell}).out.find("tutti __complete"), std::string::npos);
  EXPECT_EQ(run({"completion", "tcsh"}).code(), 2);
}

TEST(Usage, output_that_does_not_get_out_is_an_error) {
  const auto small = example("small");
  for (const auto& verb : {"plan -f " + small, "plan -o json -f " + small, std::string{"--help"},
                           std::string{"help plan"}, std::string{"version --client"},
                           "local --admin '' --until settled -f " + small}) {
    const auto said = run_in_shell("exec \"$TUTTI\" " + verb + " > /dev/full");
    EXPECT_EQ(said.code(), 1) << verb;
    EXPECT_NE(said.err.find("error: cannot write the output: No space left"), std::string::npos)
        << verb << ": " << said.err;
  }
}

TEST(Usage, a_scheduler_is_named_in_one_way) {
  const auto twice = run({"get", "gangs", "--server", "127.0.0.1:1", "--context", "kind"});
  EXPECT_EQ(twice.code(), 2);
  EXPECT_NE(twice.err.find("leave one of them out"), std::string::npos) << twice.err;
  const auto half = run({"get", "gangs", "--scheduler-pod", "tutti-0"});
  EXPECT_EQ(half.code(), 2);
  EXPECT_NE(half.err.find("say which cluster"), std::string::npos) << half.err;
}

TEST(Usage, a_name_that_is_no_name_is_asked_for_as_it_stands) {
  daemon one{{}};
  for (const char* name : {"a b", "a?b", "a/b/c", "ä#%41"}) {
    const auto said = one.ask({"explain", "gang", name});
    EXPECT_EQ(said.code(), 1);
    EXPECT_NE(said.err.find(std::string{name} + ";"), std::string::npos) << said.err;
  }
  one.stop();
}

TEST(Usage, what_an_operator_cannot_take_back_is_said_in_one_line) {
  EXPECT_EQ(run({"cancel", "gang", "ring"}).code(), 2) << "without a reason";
  EXPECT_EQ(run({"cancel", "gang", "ring", "--reason", " "}).code(), 1);
  daemon one{{}};
  const auto said = one.ask({"cancel", "gang", "nobody", "--reason", "a & b"});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("no gang default/nobody"), std::string::npos) << said.err;
  one.stop();
}

TEST(Usage, values_out_of_range_are_wrong) {
  EXPECT_EQ(run({"local", "--repair-deadline", "0"}).code(), 2);
  EXPECT_EQ(run({"local", "--shards", "0"}).code(), 2);
  EXPECT_EQ(run({"local", "--kubernetes", "1.20"}).code(), 2);
  EXPECT_EQ(run({"local", "--until", "tomorrow"}).code(), 2);
  EXPECT_EQ(run({"wait", "gang/x", "--timeout", "-1"}).code(), 2);
}

} // namespace
} // namespace tutti::commands
