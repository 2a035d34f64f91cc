// A shard that was another replica's: what it holds before it votes, and on which list it votes.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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

/// The last word before a silence may be lost on a link: the next version must come all the same.
TEST(ShardFollowed, by_others_goes_on_in_versions_though_there_is_no_news) {
  for (const bool has_others : {true, false}) {
    shard_role role{{.shard = {0}, .shards = 1, .fast_path = false, .has_others = has_others}};
    std::vector<std::uint64_t> versions;
    std::optional<protocol::timer_id> beat;
    const auto give = [&](const protocol::event& e) {
      const auto said = role.on(e, {});
      for (const auto& x : said.list()) {
        if (const auto* a = std::get_if<protocol::arm>(&x))
          beat = a->timer;
        if (const auto* s = std::get_if<protocol::send>(&x))
          if (const auto* d = std::get_if<protocol::view_delta>(&s->what))
            versions.push_back(d->version);
      }
    };
    const auto mirror = protocol::to(protocol::role_kind::mirror);
    give(protocol::started{.epoch = {4}, .incarnation = {4}, .open = {}});
    give(protocol::received{mirror, protocol::view_trust{false, true}});
    give(protocol::received{mirror, protocol::view_trust{true, false}});
    ASSERT_EQ(beat.has_value(), has_others);
    ASSERT_EQ(versions.size(), 1u);
    if (!has_others)
      continue;
    for (int n = 0; n < 2; ++n)
      give(protocol::timer_fired{*std::exchange(beat, std::nullopt)});
    EXPECT_EQ(versions, (std::vector{versions[0], versions[0] + 1, versions[0] + 2}));
  }
}

} // namespace
} // namespace tutti::shards
