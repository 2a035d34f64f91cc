// Guards: exclusive against shared, versions that are too old, new owners.
#include "shards/guards.hpp"

#include <gtest/gtest.h>

#include "placement/view_feed.hpp"
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

/// Who planned by the view of before saw nothing of what the listed decision has placed.
TEST_F(Guards, S15_a_new_owners_versions_cover_the_decisions_that_it_has_listed) {
  auto listed = std::make_shared<protocol::decision>();
  listed->by = g;
  listed->what = protocol::verdict::committed;
  listed->chosen.slices.push_back(*with("a", {guard("zone", exclusive)}));
  world.lose_disk();
  world.restart({listed});
  mirror_tells_all();
  runs("a", "n1", 1);
  finish(g);
  ASSERT_EQ(state(g), reservation_state::absent);
  EXPECT_FALSE(promised(h, with("x", {guard("zone", shared, {2, 0})})));
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  EXPECT_TRUE(promised(words::attempt("h", 2), with("x", {guard("zone", shared, {2, 1})})));
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

/// Plans made by hand on the topology's view: what they quote is what the deltas have told.
struct GuardsThroughTheView : Guards {
  placement::view_feed view{{}, 1};

  void SetUp() override {
    Guards::SetUp();
    ask_for_the_whole();
  }
  void ask_for_the_whole() {
    world.tell(protocol::view_wanted{}, protocol::to(protocol::role_kind::topology));
    look();
  }
  void look() {
    while (auto d = world.take<protocol::view_delta>()) {
      for (auto& n : d->nodes)
        if (n.facts) { // those of our stories have no labels
          auto labelled = *n.facts;
          labelled.kind = std::make_shared<const protocol::node_class>();
          n.facts = std::make_shared<const protocol::node_facts>(std::move(labelled));
        }
      if (view.apply(*d).wants_whole)
        world.tell(protocol::view_wanted{}, protocol::to(protocol::role_kind::topology));
    }
  }
  protocol::guard_use use(const std::string& key, bool is_exclusive) {
    auto out = guard(key, is_exclusive);
    out.seen = view.version_of(out.id, is_exclusive);
    return out;
  }
  void decides_and_ends(const base::attempt_id& who, const char* pod_name, bool is_exclusive) {
    EXPECT_TRUE(committed(who, with(pod_name, {use("zone", is_exclusive)})));
    runs(pod_name, "n1", 1);
    finish(who);
  }
};

TEST_F(GuardsThroughTheView, a_plan_on_an_old_view_is_refused_and_on_the_next_one_granted) {
  const auto before = use("zone", exclusive);
  decides_and_ends(g, "a", exclusive);
  EXPECT_FALSE(promised(h, with("x", {before})));
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  look();
  EXPECT_TRUE(before.seen < use("zone", exclusive).seen);
  EXPECT_TRUE(promised(words::attempt("h", 2), with("x", {use("zone", exclusive)})));
}

TEST_F(GuardsThroughTheView, a_shared_plan_outlives_shared_uses_and_no_exclusive_one) {
  const auto before = use("zone", shared);
  decides_and_ends(g, "a", shared);
  EXPECT_TRUE(promised(h, with("x", {before})));
  abort(h);
  look();
  EXPECT_EQ(use("zone", shared).seen, before.seen) << "no exclusive use yet";
  decides_and_ends(words::attempt("i"), "b", exclusive);
  EXPECT_FALSE(promised(words::attempt("h", 2), with("x", {before})));
  look();
  EXPECT_TRUE(promised(words::attempt("h", 3), with("x", {use("zone", shared)})));
}

TEST_F(GuardsThroughTheView, a_guard_that_nobody_used_is_quoted_as_of_the_owner) {
  decides_and_ends(g, "a", exclusive);
  look();
  const auto before = use("zone", exclusive);
  world.lose_disk();
  world.restart();
  mirror_tells_all();
  EXPECT_FALSE(promised(h, with("x", {before}))) << "the owner cannot know what it covers";
  ask_for_the_whole();
  EXPECT_EQ(use("never used", shared).seen, (protocol::guard_version{2, 0}));
  EXPECT_TRUE(promised(words::attempt("h", 2), with("x", {use("zone", exclusive)})));
}

TEST_F(GuardsThroughTheView, a_restart_tells_the_versions_again) {
  decides_and_ends(g, "a", exclusive);
  world.crash();
  world.restart();
  mirror_tells_all();
  view = placement::view_feed{{}, 1};
  ask_for_the_whole();
  EXPECT_TRUE(promised(h, with("x", {use("zone", exclusive)})));
}

} // namespace
} // namespace tutti::shards
