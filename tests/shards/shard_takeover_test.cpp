// A shard that was another replica's: what it holds before it votes, and on which list it votes.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

struct ShardTakeover : testing::Test {
  shard_role role{{.shard = {0}, .shards = 1, .fast_path = false}};
  protocol::effects out;

  void starts(bool is_takeover, std::vector<protocol::decision_ptr> open = {}) {
    out = role.on(
        protocol::started{
            .epoch = {4}, .incarnation = {4}, .open = std::move(open), .is_takeover = is_takeover},
        {});
  }
  std::vector<protocol::view_wanted> wanted() const {
    std::vector<protocol::view_wanted> found;
    for (const auto& e : out.list())
      if (const auto* s = std::get_if<protocol::send>(&e))
        if (const auto* w = std::get_if<protocol::view_wanted>(&s->what))
          found.push_back(*w);
    return found;
  }
  static std::shared_ptr<protocol::decision> decided(const std::string& gang) {
    auto d = std::make_shared<protocol::decision>();
    d->by = {{gang}, 1, {2}, 1};
    d->what = protocol::verdict::committed;
    protocol::slice s;
    s.seats.push_back(words::seat(gang + "-0", "n1", words::taking(2)));
    s.seats.push_back(words::seat(gang + "-1", "n1", words::taking(1)));
    d->chosen.slices.push_back(s);
    return d;
  }
};

TEST_F(ShardTakeover, asks_for_what_is_listed_after_its_question) {
  starts(true);
  ASSERT_EQ(wanted().size(), 1u);
  EXPECT_TRUE(wanted()[0].after_a_list);
}

TEST_F(ShardTakeover, a_shard_that_was_never_anothers_takes_what_the_watch_has_brought) {
  starts(false);
  ASSERT_EQ(wanted().size(), 1u);
  EXPECT_FALSE(wanted()[0].after_a_list);
}

TEST_F(ShardTakeover, P7_holds_what_is_decided_cancelled_members_too) {
  auto d = decided("g");
  d->cancelled.push_back({"g-1"});
  starts(true, {d});
  const auto* held = role.reservations().find(d->by);
  ASSERT_NE(held, nullptr);
  EXPECT_TRUE(held->left.contains({"g-0"}));
  EXPECT_TRUE(held->left.contains({"g-1"})) << "a CANCEL does not say that its touch has happened";
}

TEST_F(ShardTakeover, P11_holds_all_that_collide) {
  auto a = decided("a");
  auto b = decided("b");
  starts(true, {a, b});
  EXPECT_NE(role.reservations().find(a->by), nullptr);
  EXPECT_NE(role.reservations().find(b->by), nullptr);
}

} // namespace
} // namespace tutti::shards
