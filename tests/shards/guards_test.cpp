// Guards: exclusive against shared, versions that are too old, new owners.
#include "shards/guards.hpp"

#include <gtest/gtest.h>

#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

using namespace words;

struct Guards : ShardStory {
  protocol::slice_ptr with(const char* pod_name, std::vector<protocol::guard_use> uses) {
    auto out = slice({{pod_name, "n1", 1}});
    out->guards = std::move(uses);
    return out;
  }
  static constexpr bool exclusive = true;
  static constexpr bool shared = false;
};

TEST_F(Guards, an_exclusive_use_keeps_everybody_out) {
  EXPECT_TRUE(promised(g, with("a", {guard("zone", exclusive)})));
  EXPECT_FALSE(promised(h, with("x", {guard("zone", shared)})));
  EXPECT_EQ(last.why_not.primary, base::reason_code::reservation_conflict);
  EXPECT_EQ(last.holders, std::vector{g});
  EXPECT_TRUE(promised(words::attempt("h", 2), with("x", {guard("rack", exclusive)})))
      << "another key is another guard";
}

TEST_F(Guards, shared_uses_go_together_and_keep_an_exclusive_one_out) {
  EXPECT_TRUE(promised(g, with("a", {guard("zone", shared)})));
  EXPECT_TRUE(promised(h, with("x", {guard("zone", shared)})));
  EXPECT_FALSE(promised(words::attempt("i"), with("y", {guard("zone", exclusive)})));
  EXPECT_EQ(last.holders, (std::vector{g, h}));
}

TEST_F(Guards, tries_of_one_gang_do_not_keep_each_other_out) {
  EXPECT_TRUE(promised(g, with("a", {guard("zone", exclusive)})));
  EXPECT_TRUE(promised(words::attempt("g", 2), with("a", {guard("zone", exclusive)})));
}

TEST_F(Guards, an_abort_frees_the_guard_and_leaves_its_version) {
  EXPECT_TRUE(promised(g, with("a", {guard("zone", exclusive)})));
  abort(g);
  EXPECT_TRUE(promised(h, with("x", {guard("zone", exclusive)})));
}

TEST_F(Guards, a_refused_slice_frees_its_guards) {
  auto asked = slice({{"a", "n1", 9}});
  asked->guards = {guard("zone", exclusive)};
  EXPECT_FALSE(promised(g, asked));
  EXPECT_TRUE(promised(h, with("x", {guard("zone", exclusive)})));
}

TEST_F(Guards, a_plan_from_before_an_exclusive_use_was_decided_is_stale) {
  const auto asked = with("a", {guard("zone", exclusive)});
  EXPECT_TRUE(committed(g, asked));
  runs("a", "n1", 1);
  finish(g);
  EXPECT_FALSE(promised(h, with("x", {guard("zone", shared)})));
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  EXPECT_TRUE(promised(words::attempt("h", 2), with("x", {guard("zone", shared, {1, 1})})));
}

TEST_F(Guards, a_shared_use_makes_only_exclusive_plans_stale) {
  EXPECT_TRUE(committed(g, with("a", {guard("zone", shared)})));
  runs("a", "n1", 1);
  finish(g);
  EXPECT_TRUE(promised(h, with("x", {guard("zone", shared)})));
  abort(h);
  EXPECT_FALSE(promised(words::attempt("i"), with("y", {guard("zone", exclusive)})));
  EXPECT_TRUE(promised(words::attempt("i", 2), with("y", {guard("zone", exclusive, {1, 1})})));
}

TEST_F(Guards, versions_survive_a_restart) {
  EXPECT_TRUE(committed(g, with("a", {guard("zone", exclusive)})));
  runs("a", "n1", 1);
  finish(g);
  for (int time = 0; time < 2; ++time) { // by journal, then by snapshot
    world.crash();
    world.restart();
    mirror_tells_all();
    EXPECT_FALSE(promised(words::attempt("h", 1), with("x", {guard("zone", exclusive)})));
    world.take_checkpoint();
  }
}

TEST_F(Guards, a_guard_in_doubt_is_kept_over_a_restart) {
  EXPECT_TRUE(promised(g, with("a", {guard("zone", exclusive)})));
  world.crash();
  world.restart();
  mirror_tells_all();
  EXPECT_FALSE(promised(h, with("x", {guard("zone", exclusive)})));
  EXPECT_EQ(last.holders, std::vector{g});
}

TEST_F(Guards, a_new_owner_starts_above_all_versions_of_its_predecessors) {
  for (std::uint64_t n = 1; n < 5; ++n)
    EXPECT_TRUE(committed(words::attempt("g", n), with("a", {guard("zone", shared, {1, n})})));
  world.lose_disk();
  world.restart();
  mirror_tells_all();
  EXPECT_FALSE(promised(h, with("x", {guard("zone", shared, {1, 9})})));
  EXPECT_TRUE(promised(words::attempt("h", 2), with("x", {guard("zone", shared, {2, 0})})));
}

TEST_F(Guards, a_forgotten_commit_is_refused_while_the_guard_is_held) {
  const auto asked = with("a", {guard("zone", exclusive)});
  EXPECT_TRUE(promised(g, asked));
  world.crash(false);
  world.restart();
  mirror_tells_all();
  EXPECT_TRUE(promised(h, with("x", {guard("zone", exclusive)})));
  commit(g, asked);
  EXPECT_FALSE(acked());
  abort(h);
  commit(g, asked);
  EXPECT_TRUE(acked());
}

} // namespace
} // namespace tutti::shards
