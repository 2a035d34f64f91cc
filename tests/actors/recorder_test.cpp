// What the flight recorder keeps.
#include "actors/recorder.hpp"

#include <gtest/gtest.h>

namespace tutti::actors {
namespace {

struct Recorder : ::testing::Test {
  recorder notes{3};

  void make(std::string_view what, const std::string& gang, std::int64_t n) {
    notes.record(protocol::to(protocol::role_kind::queue),
                 protocol::note{what, {{"gang", gang}, {"n", n}}},
                 base::time_point{std::chrono::milliseconds{1500 * n}}, {});
  }
};

TEST_F(Recorder, keeps_the_last_notes_and_counts_all) {
  for (int n = 1; n <= 5; ++n)
    make(n % 2 == 0 ? "even" : "odd", "g", n);
  const auto last = notes.last(10);
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(last.front().what, "odd");
  EXPECT_EQ(notes.last(1).size(), 1u);
  EXPECT_EQ(notes.counts(), (std::map<std::string, std::uint64_t>{{"even", 2}, {"odd", 3}}));
}

TEST_F(Recorder, finds_the_notes_about_one_gang_oldest_first) {
  make("a", "mine", 1);
  make("b", "other", 2);
  make("c", "mine", 3);
  const auto found = notes.with("gang", "mine");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.front().what, "a");
  EXPECT_EQ(found.back().what, "c");
  EXPECT_TRUE(notes.with("gang", "nobody").empty());
  EXPECT_TRUE(notes.with("n", "1").empty()) << "numbers are no names";
}

TEST_F(Recorder, a_note_is_one_line_for_people) {
  make("gang.tried", "default/ring", 1);
  EXPECT_EQ(to_text(notes.last(1).front()), "    1.500s queue gang.tried gang=default/ring n=1");
}

} // namespace
} // namespace tutti::actors
