// Guards: exclusive against shared, versions that are too old, guards that are news, new owners.
#include "shards/guards.hpp"

#include <gtest/gtest.h>

#include "base/attempt_text.hpp"
#include "base/ties_table.hpp"
#include "placement/view_feed.hpp"
#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

using namespace words;

/// Plans made by hand on the topology's view: what they quote is what the deltas have told.
struct Guards : ShardStory {
  placement::view_feed view{{}, 1};

  static constexpr bool exclusive = true;
  static constexpr bool shared = false;

  void SetUp() override {
    ShardStory::SetUp();
    ask_for_the_whole();
    hears_of({"zone", "rack"});
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
      for (const auto& n : d->nodes)
        tied[n.uid] = n.tied;
      if (view.apply(*d).wants_whole)
        world.tell(protocol::view_wanted{}, protocol::to(protocol::role_kind::topology));
    }
  }
  /// The mirror has seen pods with such terms, and the topology looks at what the shard tells.
  void hears_of(const std::vector<std::string>& keys, const std::string& space = "*") {
    tell_of(keys, space);
    look();
  }
  void tell_of(const std::vector<std::string>& keys, const std::string& space = "*") {
    protocol::guards_seen news;
    for (const auto& key : keys)
      news.guards.push_back({"anti-affinity", space, key});
    world.tell(std::move(news));
  }
  protocol::guard_use use(const std::string& key, bool is_exclusive) const {
    auto out = guard(key, is_exclusive);
    out.seen = view.version_of(out.id, is_exclusive, {0});
    return out;
  }
  std::shared_ptr<protocol::slice> with(const char* pod_name,
                                        std::vector<protocol::guard_use> uses) const {
    auto out = slice({{pod_name, "n1", 1}});
    out->guards = std::move(uses);
    out->space = "default";
    out->guards_known = view.guards_known({0});
    return out;
  }
  protocol::slice_ptr uses(const char* pod_name, const std::string& key, bool is_exclusive) const {
    return with(pod_name, {use(key, is_exclusive)});
  }
  void decides_and_ends(const base::attempt_id& who, const char* pod_name, bool is_exclusive) {
    look();
    EXPECT_TRUE(committed(who, uses(pod_name, "zone", is_exclusive)));
    runs(pod_name, "n1", 1);
    finish(who);
  }
  void begins_anew() {
    world.restart();
    mirror_tells_all();
    ask_for_the_whole();
  }
  std::uint32_t told_on(const char* name) const {
    const auto pos = tied.find(words::node(name));
    return pos == tied.end() || pos->second.empty() ? 0 : pos->second.front().count;
  }

  std::map<base::node_uid, std::vector<base::tied_pods>> tied; ///< as last told
};

TEST_F(Guards, an_exclusive_use_keeps_everybody_out) {
  EXPECT_TRUE(promised(g, uses("a", "zone", exclusive)));
  EXPECT_FALSE(promised(h, uses("x", "zone", shared)));
  EXPECT_EQ(last.why_not.primary, base::reason_code::reservation_conflict);
  EXPECT_EQ(last.holders, std::vector{g});
  EXPECT_EQ(last.why_not.detail, "guard anti-affinity */zone is held by " + to_text(g));
  EXPECT_TRUE(promised(words::attempt("h", 2), uses("x", "rack", exclusive)))
      << "another key is another guard";
}

TEST_F(Guards, shared_uses_go_together_and_keep_an_exclusive_one_out) {
  EXPECT_TRUE(promised(g, uses("a", "zone", shared)));
  EXPECT_TRUE(promised(h, uses("x", "zone", shared)));
  EXPECT_FALSE(promised(words::attempt("i"), uses("y", "zone", exclusive)));
  EXPECT_EQ(last.holders, (std::vector{g, h}));
}

TEST_F(Guards, tries_of_one_gang_do_not_keep_each_other_out) {
  EXPECT_TRUE(promised(g, uses("a", "zone", exclusive)));
  EXPECT_TRUE(promised(words::attempt("g", 2), uses("a", "zone", exclusive)));
}

/// Somebody may have counted on the pods that do not come.
TEST_F(Guards, an_abort_frees_the_guard_and_makes_who_saw_it_look_again) {
  const auto before = uses("x", "zone", exclusive);
  EXPECT_TRUE(promised(g, uses("a", "zone", shared)));
  abort(g);
  EXPECT_FALSE(promised(h, before));
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  look();
  EXPECT_TRUE(promised(words::attempt("h", 2), uses("x", "zone", exclusive)));
}

TEST_F(Guards, a_refused_slice_frees_its_guards) {
  auto asked = slice({{"a", "n1", 9}});
  asked->guards = {use("zone", exclusive)};
  asked->guards_known = view.guards_known({0});
  EXPECT_FALSE(promised(g, asked));
  EXPECT_TRUE(promised(h, uses("x", "zone", exclusive)));
}

TEST_F(Guards, a_plan_from_before_an_exclusive_use_was_decided_is_stale) {
  const auto before = uses("x", "zone", shared);
  decides_and_ends(g, "a", exclusive);
  EXPECT_FALSE(promised(h, before));
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  look();
  EXPECT_TRUE(promised(words::attempt("h", 2), uses("x", "zone", shared)));
}

TEST_F(Guards, a_shared_use_makes_only_exclusive_plans_stale) {
  const auto together = uses("x", "zone", shared);
  const auto apart = uses("y", "zone", exclusive);
  decides_and_ends(g, "a", shared);
  EXPECT_TRUE(promised(h, together));
  abort(h);
  EXPECT_FALSE(promised(words::attempt("i"), apart));
  look();
  EXPECT_TRUE(promised(words::attempt("i", 2), uses("y", "zone", exclusive)));
}

/// The topology may have been told more by a life than is on its disk.
TEST_F(Guards, a_restart_makes_every_plan_look_again) {
  const auto before = uses("x", "zone", shared);
  decides_and_ends(g, "a", exclusive);
  for (int time = 0; time < 2; ++time) { // by journal, then by snapshot
    look();
    const auto seen = uses("x", "zone", shared);
    world.crash();
    world.restart();
    mirror_tells_all();
    EXPECT_FALSE(promised(words::attempt("h", 1), before));
    EXPECT_FALSE(promised(words::attempt("h", 2), seen));
    ask_for_the_whole();
    EXPECT_TRUE(promised(words::attempt("h", 3), uses("x", "zone", shared)));
    abort(words::attempt("h", 3));
    world.take_checkpoint();
  }
}

TEST_F(Guards, a_guard_in_doubt_is_kept_over_a_restart) {
  EXPECT_TRUE(promised(g, uses("a", "zone", exclusive)));
  world.crash();
  begins_anew();
  EXPECT_FALSE(promised(h, uses("x", "zone", exclusive)));
  EXPECT_EQ(last.holders, std::vector{g});
}

TEST_F(Guards, a_new_owner_starts_above_all_versions_of_its_predecessors) {
  for (std::uint64_t n = 1; n < 5; ++n) {
    look();
    EXPECT_TRUE(committed(words::attempt("g", n), uses("a", "zone", shared)));
  }
  look();
  const auto before = uses("x", "zone", shared);
  world.lose_disk();
  world.incarnation = 0; // another replica counts its own lives
  world.restart();
  tell_of({"zone"});
  mirror_tells_all();
  EXPECT_FALSE(promised(h, before));
  view = placement::view_feed{{}, 1};
  ask_for_the_whole();
  EXPECT_TRUE(promised(words::attempt("h", 2), uses("x", "zone", shared))) << last.why_not.detail;
}

TEST_F(Guards, S15_a_new_owner_holds_the_guards_of_the_decisions_that_it_has_listed) {
  auto listed = std::make_shared<protocol::decision>();
  listed->by = g;
  listed->what = protocol::verdict::committed;
  listed->chosen.slices.push_back(*with("a", {use("zone", exclusive)}));
  world.lose_disk();
  world.restart({listed});
  tell_of({"zone"});
  mirror_tells_all();
  ask_for_the_whole();
  EXPECT_FALSE(promised(h, uses("x", "zone", shared)));
  EXPECT_EQ(last.holders, std::vector{g});
  const auto before = uses("x", "zone", shared);
  runs("a", "n1", 1);
  finish(g);
  ASSERT_EQ(state(g), reservation_state::absent);
  EXPECT_FALSE(promised(words::attempt("h", 2), before));
  look();
  EXPECT_TRUE(promised(words::attempt("h", 3), uses("x", "zone", shared)));
}

TEST_F(Guards, S15_a_new_owner_acks_no_guard_that_it_has_only_listed) {
  const auto asked = with("a", {use("zone", shared)});
  auto listed = std::make_shared<protocol::decision>();
  listed->by = g;
  listed->what = protocol::verdict::committed;
  listed->chosen.slices.push_back(*asked);
  world.lose_disk();
  world.restart({listed});
  tell_of({"zone"});
  mirror_tells_all();
  commit(g, asked);
  EXPECT_FALSE(acked()) << "who was in its way may be done, and listed no more";
  ASSERT_NE(state(g), reservation_state::absent) << "whoever has an earlier ack goes on";
}

TEST_F(Guards, a_forgotten_commit_is_refused_while_the_guard_is_held) {
  const auto asked = uses("a", "zone", exclusive);
  EXPECT_TRUE(promised(g, asked));
  world.crash(false);
  begins_anew();
  hears_of({"zone"});
  EXPECT_TRUE(promised(h, uses("x", "zone", exclusive)));
  commit(g, asked);
  EXPECT_FALSE(acked());
}

TEST_F(Guards, a_forgotten_commit_is_taken_if_nobody_used_the_guard_meanwhile) {
  const auto asked = uses("a", "zone", exclusive);
  EXPECT_TRUE(promised(g, asked));
  world.crash(false);
  begins_anew();
  commit(g, asked);
  EXPECT_TRUE(acked());
}

TEST_F(Guards, a_forgotten_commit_is_refused_if_the_guard_was_used_meanwhile) {
  const auto asked = uses("a", "zone", shared);
  EXPECT_TRUE(promised(g, asked));
  world.crash(false);
  begins_anew();
  hears_of({"zone"});
  decides_and_ends(h, "x", exclusive);
  commit(g, asked);
  EXPECT_FALSE(acked());
}

// ---------------------------------------------------------------- guards that are news

TEST_F(Guards, a_plan_that_has_not_heard_of_a_guard_is_stale) {
  const auto before = with("x", {});
  tell_of({"host"});
  EXPECT_FALSE(promised(h, before));
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  look();
  EXPECT_TRUE(promised(words::attempt("h", 2), with("x", {})));
}

TEST_F(Guards, a_guard_of_another_namespace_makes_nobody_stale) {
  const auto before = with("x", {});
  tell_of({"host"}, "elsewhere");
  EXPECT_TRUE(promised(h, before));
}

/// The mirror of another replica has seen a term, and this shard's has not yet.
TEST_F(Guards, a_plan_teaches_the_shard_a_guard_and_must_look_again) {
  EXPECT_FALSE(promised(g, uses("a", "host", exclusive)));
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  look();
  EXPECT_TRUE(promised(words::attempt("g", 2), uses("a", "host", exclusive)));
}

TEST_F(Guards, S15_what_was_promised_before_a_guard_was_known_keeps_an_exclusive_use_out) {
  EXPECT_TRUE(committed(g, with("a", {})));
  hears_of({"host"});
  EXPECT_FALSE(promised(h, uses("x", "host", exclusive)));
  EXPECT_EQ(last.holders, std::vector{g});
  EXPECT_TRUE(promised(words::attempt("i"), uses("y", "host", shared)));
  abort(words::attempt("i"));
  look();
  const auto before = uses("x", "host", exclusive);
  runs("a", "n1", 1);
  finish(g);
  EXPECT_FALSE(promised(words::attempt("h", 2), before)) << "its pods may be news";
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  look();
  EXPECT_TRUE(promised(words::attempt("h", 3), uses("x", "host", exclusive)));
}

// ---------------------------------------------------------------- who is told of

TEST_F(Guards, the_view_counts_pods_by_their_ties_whether_they_run_or_are_promised) {
  const auto kind = base::shared({{7}, "labels", false});
  world.tell(protocol::pod_arrived{words::node("n1"), {"r"}, words::taking(1), kind});
  look();
  EXPECT_EQ(told_on("n1"), 1u);
  auto asked = slice({{"a", "n1", 1}});
  asked->seats.front().ties = kind;
  asked->guards_known = view.guards_known({0});
  EXPECT_TRUE(committed(g, asked));
  look();
  EXPECT_EQ(told_on("n1"), 2u);
  world.tell(protocol::pod_arrived{words::node("n1"), {"a"}, words::taking(1), kind});
  finish(g);
  look();
  EXPECT_EQ(told_on("n1"), 2u) << "it counts once";
  leaves("r", "n1");
  look();
  EXPECT_EQ(told_on("n1"), 1u);
}

TEST_F(Guards, promised_ties_are_told_again_after_a_restart) {
  const auto kind = base::shared({{7}, "labels", false});
  auto asked = slice({{"a", "n1", 1}});
  asked->seats.front().ties = kind;
  asked->guards_known = view.guards_known({0});
  EXPECT_TRUE(committed(g, asked));
  world.crash();
  tied.clear();
  begins_anew();
  EXPECT_EQ(told_on("n1"), 1u);
}

TEST_F(Guards, other_labels_of_a_pod_are_told) {
  world.tell(protocol::pod_arrived{
      words::node("n1"), {"r"}, words::taking(1), base::shared({{7}, "labels", false})});
  look();
  world.tell(protocol::pod_arrived{
      words::node("n1"), {"r"}, words::taking(1), base::shared({{8}, "others", false})});
  look();
  ASSERT_EQ(tied[words::node("n1")].size(), 1u);
  EXPECT_EQ(tied[words::node("n1")].front().kind->id, (base::ties_id{8}));
}

} // namespace
} // namespace tutti::shards
