// Frames between processes: lost, doubled, late, cut in one direction.
#include "sim/world/network.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace tutti::sim::testing {
namespace {

using namespace std::chrono_literals;

struct Network : ::testing::Test {
  timeline time;
  base::random_stream chance{1, "links"};
  network net{{}, time, chance};
  std::vector<std::string> heard; ///< "from: frame"

  void listens(const std::string& name) {
    net.listens(name, [this](const std::string& from, std::string_view frame) {
      heard.push_back(from + ": " + std::string{frame});
    });
  }
  void pass(base::duration how_long) {
    const auto end = time.now() + how_long;
    while (time.next() && *time.next() <= end) {
      time.advance(*time.next());
      while (time.run_one()) {
      }
    }
    time.advance(end);
  }
};

TEST_F(Network, carries_a_frame_after_a_while) {
  listens("b");
  net.carry("a", "b", "x");
  EXPECT_TRUE(heard.empty());
  EXPECT_EQ(net.under_way(), 1u);
  pass(10ms);
  EXPECT_EQ(heard, std::vector<std::string>{"a: x"});
  EXPECT_EQ(net.under_way(), 0u);
}

TEST_F(Network, loses_what_is_under_way_to_a_life_that_ends) {
  listens("b");
  net.carry("a", "b", "old");
  net.is_down("b");
  net.carry("a", "b", "to nobody");
  listens("b");
  net.carry("a", "b", "new");
  pass(10ms);
  EXPECT_EQ(heard, std::vector<std::string>{"a: new"});
}

TEST_F(Network, is_cut_in_one_direction) {
  listens("a");
  listens("b");
  net.carry("a", "b", "under way when it is cut");
  net.cut("a", "b", true);
  net.carry("a", "b", "lost");
  net.carry("b", "a", "answer");
  pass(10ms);
  EXPECT_EQ(heard, std::vector<std::string>{"b: answer"});
  net.cut("a", "b", false);
  net.carry("a", "b", "healed");
  pass(10ms);
  EXPECT_EQ(heard.size(), 2u);
}

TEST_F(Network, does_to_a_frame_what_its_judge_says) {
  listens("b");
  net.judges([](const std::string&, const std::string&, std::string_view frame) -> frame_verdict {
    if (frame == "lost")
      return {.copies = 0, .delay = {}};
    if (frame == "twice")
      return {.copies = 2, .delay = {}};
    return {.copies = 1, .delay = 1s};
  });
  for (const auto* frame : {"late", "lost", "twice"})
    net.carry("a", "b", frame);
  pass(10ms);
  EXPECT_EQ(heard, (std::vector<std::string>{"a: twice", "a: twice"}));
  pass(2s);
  EXPECT_EQ(heard.size(), 3u);
}

} // namespace
} // namespace tutti::sim::testing
