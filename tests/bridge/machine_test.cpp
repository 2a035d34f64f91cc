// The real machine: small programs that the test writes, and how they end.
#include "bridge/machine.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tutti::bridge {
namespace {

using namespace std::chrono_literals;
using base::code;

struct Machine : testing::Test {
  base::system_clock clock;
  std::shared_ptr<machine> mine = this_machine(clock);
  std::atomic<bool> is_given_up{false};
  std::filesystem::path home;

  void SetUp() override {
    auto text = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(text.data()), nullptr);
    home = text;
  }
  void TearDown() override { std::filesystem::remove_all(home); }

  std::string file(const std::string& name, const std::string& text) {
    std::ofstream{home / name} << text;
    return (home / name).string();
  }
  std::string script(const std::string& lines) {
    const auto path = file("plugin", "#!/bin/sh\n" + lines);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  base::result<std::string> run(const std::string& lines, base::duration patience = 10s) {
    return mine->run({.command = script(lines),
                      .arguments = {"one", "two words"},
                      .environment = {{"TUTTI_TEST_WORD", "hello"}, {"HOME", "/nowhere"}},
                      .patience = patience},
                     is_given_up);
  }
};

TEST_F(Machine, reads_files_whole) {
  EXPECT_EQ(*mine->read(file("a", "x\ny")), "x\ny");
  EXPECT_EQ(*mine->read(file("empty", "")), "");
  const auto missing = mine->read((home / "missing").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().what(), code::not_found);
  EXPECT_EQ(missing.error().message(), "No such file or directory");
  const auto folder = mine->read(home.string());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().what(), code::io);
}

TEST_F(Machine, runs_a_program_with_its_words_and_variables) {
  const auto said = run("echo \"$2 $TUTTI_TEST_WORD $HOME\"; echo aside >&2\n");
  ASSERT_TRUE(said) << said.error().message();
  EXPECT_EQ(*said, "two words hello /nowhere\n");
}

TEST_F(Machine, gives_a_program_nothing_to_read_and_no_descriptor_of_ours) {
  const int any = ::open("/dev/null", O_RDONLY);
  const int mine_alone = ::fcntl(any, F_DUPFD, 300); // no shell uses one so high; not O_CLOEXEC
  ::close(any);
  const auto said = run("cat; ls /proc/$$/fd | grep -cx " + std::to_string(mine_alone) + "\n:\n");
  ::close(mine_alone);
  ASSERT_TRUE(said) << said.error().message();
  EXPECT_EQ(*said, "0\n");
}

TEST_F(Machine, takes_what_is_longer_than_a_pipe) {
  const auto said = run("head -c 300000 /dev/zero | tr '\\0' x; head -c 300000 /dev/zero >&2\n");
  ASSERT_TRUE(said) << said.error().message();
  EXPECT_EQ(said->size(), 300'000u);
}

TEST_F(Machine, says_how_a_program_failed) {
  const auto said = run("echo no network >&2; echo more >&2; exit 3\n");
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().what(), code::unavailable);
  EXPECT_EQ(said.error().message(), "ended with 3: no network");
  const auto killed = run("kill -9 $$\n");
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().message(), "was killed by signal 9");
}

TEST_F(Machine, shows_one_short_line_of_what_a_program_complains_of) {
  const auto coded = run("printf 'a\\033[2Jb\\001\\r\\nmore' >&2; exit 1\n");
  ASSERT_FALSE(coded);
  EXPECT_EQ(coded.error().message(), "ended with 1: a?[2Jb?");
  const auto wordy = run("head -c 5000 /dev/zero | tr '\\0' x >&2; exit 1\n");
  ASSERT_FALSE(wordy);
  EXPECT_EQ(wordy.error().message(), "ended with 1: " + std::string(200, 'x') + "…");
}

TEST_F(Machine, says_that_there_is_no_such_program) {
  const auto said =
      mine->run({.command = (home / "missing").string(), .patience = 1s}, is_given_up);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().what(), code::not_found);
}

TEST_F(Machine, finds_a_program_in_the_path) {
  const auto said = mine->run({.command = "true", .patience = 10s}, is_given_up);
  ASSERT_TRUE(said) << said.error().message();
}

TEST_F(Machine, kills_a_program_that_takes_too_long_and_its_children) {
  const auto said = run("sleep 100 & echo $! > " + (home / "pid").string() + "; wait\n", 300ms);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().message(), "did not end in time");
  pid_t child = 0;
  std::ifstream{home / "pid"} >> child;
  ASSERT_GT(child, 0);
  // A dead child may be a zombie for a moment, until init has looked.
  bool is_gone = false;
  for (int i = 0; i < 1000 && !is_gone; ++i) {
    std::ifstream stat{"/proc/" + std::to_string(child) + "/stat"};
    std::string text;
    std::getline(stat, text);
    is_gone = text.empty() || text.find(") Z ") != text.npos;
    if (!is_gone)
      ::usleep(10'000);
  }
  EXPECT_TRUE(is_gone);
}

TEST_F(Machine, gives_a_program_up_when_told_to) {
  is_given_up = true;
  const auto said = run("sleep 100\n");
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().message(), "was given up");
}

TEST_F(Machine, does_not_wait_for_what_a_program_leaves_running) {
  const auto said = run("sleep 20 & echo done\n", 15s); // the child holds the pipe
  ASSERT_TRUE(said) << said.error().message();
  EXPECT_EQ(*said, "done\n");
}

TEST_F(Machine, stops_a_program_that_prints_without_end) {
  const auto said = run("cat /dev/zero\n");
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().message(), "printed more than a megabyte");
}

} // namespace
} // namespace tutti::bridge
