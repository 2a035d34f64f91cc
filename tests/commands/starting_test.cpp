// Starting and stopping `tutti local`: addresses in use, data directories, locks, signals.
#include <csignal>

#include <gtest/gtest.h>

#include "golden.hpp"
#include "judge.hpp"
#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

constexpr std::chrono::milliseconds stop_limit{5000};

TEST(Local, until_settled_prints_the_gangs_and_ends_with_0) {
  const auto said =
      run({"local", "-f", example("small"), "--until", "settled", "--admin", "127.0.0.1:0"});
  EXPECT_EQ(said.code(), 0);
  expect_golden("local-small.txt", said.out);
  expect_golden("local-small-stderr.txt", said.err);
}

TEST(Local, is_silent_when_told_to_be) {
  const auto said =
      run({"local", "-f", example("small"), "--until", "settled", "--admin", "", "--quiet"});
  EXPECT_EQ(said.code(), 0);
  EXPECT_EQ(said.out + said.err, "");
}

TEST(Local, with_nothing_to_do_is_settled) {
  const auto said = run({"local", "--until", "settled", "--admin", ""});
  EXPECT_EQ(said.code(), 0) << said.err;
}

TEST(Local, leaves_no_temporary_directory) {
  temp_dir home;
  const auto said = run({"local", "-f", example("small"), "--until", "settled", "--admin", ""},
                        {{"TMPDIR", home.path()}});
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_TRUE(std::filesystem::is_empty(home.path()));
}

TEST(Local, says_that_an_address_is_in_use) {
  daemon first{{.listens = true}};
  const auto api = "127.0.0.1:" + std::to_string(first.api().port());
  const auto api_again = run({"local", "--listen", api, "--admin", "", "--until", "settled"});
  EXPECT_EQ(api_again.code(), 1);
  expect_golden("listen-in-use.txt", api_again.err);
  const auto admin_again = run({"local", "--admin", first.admin(), "--until", "settled"});
  EXPECT_EQ(admin_again.code(), 1);
  expect_golden("admin-in-use.txt", admin_again.err);
  first.stop();
}

TEST(Local, says_that_an_address_is_in_use_before_anything_is_touched) {
  temp_dir home;
  daemon first{{.listens = true}};
  const auto api = "127.0.0.1:" + std::to_string(first.api().port());
  for (const auto& taken :
       std::vector<arguments>{{"--admin", first.admin()}, {"--admin", "", "--listen", api}}) {
    arguments all{"local", "-f", example("small"), "--data-dir", home.sub("data")};
    all.insert(all.end(), taken.begin(), taken.end());
    const auto said = run(all);
    EXPECT_EQ(said.code(), 1);
    EXPECT_EQ(said.err.find("applied"), std::string::npos) << said.err;
    EXPECT_FALSE(std::filesystem::exists(home.sub("data")));
  }
  first.stop();
}

TEST(Local, warns_of_addresses_that_other_machines_reach) {
  const auto said = run({"local", "--until", "settled", "--admin", "0.0.0.0:0"});
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_NE(said.err.find("warning: --admin 0.0.0.0:0: other machines can reach this address"),
            std::string::npos)
      << said.err;
  EXPECT_NE(said.err.find("there is no authentication\nhint: "), std::string::npos) << said.err;
  const auto here = run({"local", "--until", "settled", "--admin", "127.0.0.1:0"});
  EXPECT_EQ(here.err.find("warning"), std::string::npos) << here.err;
}

TEST(Local, names_the_cure_when_the_disk_takes_no_more) {
  temp_dir home;
  const auto said =
      run_in_shell("trap '' XFSZ; ulimit -f 64; exec \"$TUTTI\" local --admin '' --until settled "
                   "--seed 1 -f "
                   + example("openb/cluster.yaml") + " --data-dir " + home.sub("data"));
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("error: "), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("hint: free space or replace the disk"), std::string::npos) << said.err;
}

TEST(Local, says_which_address_it_cannot_read) {
  const auto said = run({"local", "--listen", "nowhere", "--admin", "", "--until", "settled"});
  EXPECT_EQ(said.code(), 2);
  expect_golden("listen-unreadable.txt", said.err);
}

TEST(Local, refuses_a_file_as_data_directory) {
  temp_dir home;
  const auto file = home.file("data", "not a directory\n");
  const auto said = run({"local", "--data-dir", file, "--admin", "", "--until", "settled"});
  EXPECT_EQ(said.code(), 1);
  expect_golden("data-dir-is-a-file.txt", said.err);
}

TEST(Local, refuses_a_data_directory_that_another_process_uses) {
  temp_dir home;
  daemon first{{.what = {"--data-dir", home.sub("data")}}};
  const auto said = run(local_in(home, {"--until", "settled"}));
  EXPECT_EQ(said.code(), 1);
  expect_golden("data-dir-in-use.txt", said.err);
  first.settle(); // and the first one is not disturbed
  first.stop();
}

TEST(Local, refuses_another_number_of_shards_than_the_store_has) {
  temp_dir home;
  EXPECT_EQ(run(local_in(home, {"--shards", "4", "--until", "settled"})).code(), 0);
  const auto said = run(local_in(home, {"--shards", "5", "--until", "settled"}));
  EXPECT_EQ(said.code(), 1);
  expect_golden("shards-differ.txt", said.err);
  EXPECT_EQ(run(local_in(home, {"--until", "settled"})).code(), 0);
}

class Signal : public testing::TestWithParam<int> {};

TEST_P(Signal, ends_it_with_0_within_5_seconds_and_the_next_start_goes_on) {
  temp_dir home;
  const arguments data{"--data-dir", home.sub("data")};
  daemon first{{.what = {"--data-dir", home.sub("data"), "-f", example("small")}, .listens = true}};
  first.settle();
  const auto before = look_at(first.api());
  first.itself().send(GetParam());
  const auto how = first.itself().wait(stop_limit);
  ASSERT_TRUE(how);
  EXPECT_EQ(*how, (ending{0, 0}));

  daemon second{{.what = data, .listens = true}};
  second.settle();
  const auto after = look_at(second.api());
  EXPECT_EQ(after.pods.size(), 8u);
  expect_nobody_moved(before, after);
  expect_golden("get-gangs-restarted.txt", second.ask({"get", "gangs"}).out);
  second.stop();
}

TEST_P(Signal, ends_it_cleanly_while_it_starts_and_while_it_works) {
  temp_dir home;
  const arguments busy{"-f", example("openb/cluster.yaml"), "-f", example("openb/gangs.yaml")};
  auto child = start(local_in(home, busy));
  ASSERT_TRUE(child.line_with("applied")) << child.err();
  child.send(GetParam());
  const auto how = child.wait(stop_limit);
  ASSERT_TRUE(how) << "still runs";
  EXPECT_EQ(*how, (ending{0, 0})) << child.err();
}

TEST_P(Signal, ends_it_with_0_within_5_seconds_while_it_reads_and_applies_files) {
  temp_dir home;
  std::string text;
  for (int i = 0; i < 30'000; ++i)
    text += manifest(node_text{.name = "n" + std::to_string(i), .rack = "r"});
  auto child =
      start(local_in(home, {"-f", home.file("world.yaml", text), "--listen", "127.0.0.1:0"}));
  ASSERT_TRUE(child.line_with("API server")) << child.err();
  child.send(GetParam());
  const auto how = child.wait(stop_limit);
  ASSERT_TRUE(how) << "still runs";
  EXPECT_EQ(*how, (ending{0, 0})) << child.err();
  EXPECT_NE(child.err().find("stopped: "), std::string::npos) << child.err();
  EXPECT_EQ(child.err().find("applied: "), std::string::npos) << "it was not that busy";
}

INSTANTIATE_TEST_SUITE_P(Of, Signal, testing::Values(SIGTERM, SIGINT),
                         [](const auto& x) { return x.param == SIGTERM ? "SIGTERM" : "SIGINT"; });

} // namespace
} // namespace tutti::commands
