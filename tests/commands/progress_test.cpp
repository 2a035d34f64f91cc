// The line of progress that a terminal shows while gangs settle: what it says, and that it leaves
// nothing behind.
#include <algorithm>
#include <sstream>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "cli/output.hpp"
#include "terminal.hpp"

namespace tutti::cli {
namespace {

TEST(Progress, counts_what_is_bound_of_all_and_who_is_where) {
  EXPECT_EQ(progress_text({{"Bound", 420}, {"Queued", 3}, {"Binding", 0}}, 5.0),
            "420 of 423 gangs bound, 3 Queued, 84/s");
}

TEST(Progress, of_nobody_is_nothing) {
  EXPECT_EQ(progress_text({}, 0.0), "0 of 0 gangs bound, 0/s");
}

} // namespace
} // namespace tutti::cli

namespace tutti::commands {
namespace {

constexpr unsigned short wide = 120;
constexpr std::chrono::seconds longest{40};

arguments local_of_openb() {
  return {"local",
          "-f",
          example("openb/cluster.yaml"),
          "-f",
          example("openb/gangs.yaml"),
          "--admin",
          "",
          "--until",
          "settled"};
}

/// Name, readiness, phase and reason of each gang: not its age.
std::vector<std::string> rows_of(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  for (const auto& line : lines)
    if (line.starts_with("default "))
      out.push_back(line.substr(0, line.find_last_of(' ')));
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in{text};
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);)
    out.push_back(line);
  return out;
}

TEST(ProgressOnATerminal, changes_nothing_of_the_result_and_leaves_nothing_behind) {
  const auto seen = run_on_terminal(local_of_openb(), wide, longest);
  auto plain = start(local_of_openb());
  EXPECT_EQ(plain.wait(longest), (ending{0, 0})) << plain.err();
  EXPECT_EQ(seen.how, (ending{0, 0})) << seen.bytes;
  ASSERT_NE(seen.bytes.find(" gangs bound"), seen.bytes.npos) << "nothing was shown:\n"
                                                              << seen.bytes;
  EXPECT_EQ(plain.err().find(" gangs bound"), std::string::npos) << "nobody looks there";
  const auto screen = screen_of(seen.bytes, wide);
  EXPECT_EQ(rows_of(screen), rows_of(lines_of(plain.out())));
  EXPECT_EQ(rows_of(screen).size(), 423u);
  for (const auto& line : screen)
    EXPECT_EQ(line.find(" gangs bound"), line.npos) << "left behind: " << line;
}

TEST(ProgressOnATerminal, never_wraps) {
  constexpr unsigned short narrow = 16; // "0 of 0 gangs bound, 0/s" is longer
  const auto seen = run_on_terminal(local_of_openb(), narrow, longest);
  const std::string wipe = "\r\033[K";
  std::size_t written = 0;
  for (auto at = seen.bytes.find(wipe); at != seen.bytes.npos;) {
    at += wipe.size();
    const auto end = std::min(seen.bytes.find_first_of("\r\n", at), seen.bytes.size());
    if (const auto text = seen.bytes.substr(at, end - at); text.find(" of ") != text.npos) {
      EXPECT_LT(text.size(), narrow) << text;
      ++written;
    }
    at = seen.bytes.find(wipe, at);
  }
  EXPECT_GT(written, 0u) << seen.bytes;
}

TEST(ProgressOnATerminal, of_many_seeds_leaves_nothing_behind) {
  for (const std::string verb : {"run", "coverage"}) {
    const auto seen = run_on_terminal({"chaos", verb, "--seeds", "3"}, wide, longest);
    EXPECT_EQ(seen.how, (ending{0, 0})) << seen.bytes;
    EXPECT_NE(seen.bytes.find("1 of 3 seeds, 0 broke something"), seen.bytes.npos) << seen.bytes;
    for (const auto& line : screen_of(seen.bytes, wide))
      EXPECT_EQ(line.find(" of 3 seeds"), line.npos) << "left behind: " << line;
  }
}

/// The eyes of the tests above.
TEST(Screen, shows_what_is_left_of_lines_that_were_taken_away) {
  EXPECT_EQ(screen_of("1 of 3 gangs bound\r\033[Kerror: no\n", wide),
            (std::vector<std::string>{"error: no"}));
  EXPECT_EQ(screen_of("12345\r\033[Kab\n", 4), (std::vector<std::string>{"1234", "ab"}))
      << "a line that has wrapped cannot be taken away";
}

} // namespace
} // namespace tutti::commands
