// What the queue says: conditions, events, last looks, rows, quiet, and its memory.
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

struct Reading : QueueWorld {
  void SetUp() override {
    QueueWorld::SetUp();
    synced();
    group("g", {.min = 2});
    pod("m", {.group = "g"});
    pod("n", {.group = "g"});
    EXPECT_EQ(tried(), names{"g"});
  }
};

// ---------------------------------------------------------------- conditions and events

TEST_F(Reading, a_refusal_is_written_to_group_members_and_event_once) {
  refuse("g", 1);
  take<protocol::view_wanted>(); // of the start
  for (const auto& s : sent)
    EXPECT_EQ(to_text(s.to), "status");
  const auto said = take<protocol::set_condition>();
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0].type, "PodGroupInitiallyScheduled");
  EXPECT_EQ(said[0].reason, "Unschedulable");
  EXPECT_FALSE(said[0].is_pod);
  EXPECT_EQ(said[0].message, "InsufficientResources: 0 of 2 members can be placed");
  EXPECT_EQ(said[1].type, "PodScheduled");
  EXPECT_EQ(said[1].name, (protocol::object_name{"ns", "m"}));
  const auto events = take<protocol::emit_event>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].reason, "FailedScheduling");
  EXPECT_TRUE(events[0].is_warning);
}

TEST_F(Reading, the_same_refusal_is_not_written_again_but_a_new_member_is_told) {
  refuse("g", 1);
  take<protocol::set_condition>();
  take<protocol::emit_event>();
  pod("o", {.group = "g"});
  pass(1s);
  refuse("g", 1);
  const auto said = take<protocol::set_condition>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].uid, "uid-o");
  EXPECT_TRUE(take<protocol::emit_event>().empty());
}

TEST_F(Reading, m1_a_group_whose_condition_is_true_keeps_it) {
  group("g", {.min = 2, .started = true});
  refuse("g", 1);
  for (const auto& c : take<protocol::set_condition>())
    EXPECT_TRUE(c.is_pod);
}

TEST_F(Reading, in_1_36_the_condition_has_its_older_name) {
  how.group_condition = "PodGroupScheduled";
  SetUp();
  refuse("g", 1);
  EXPECT_EQ(take<protocol::set_condition>().at(0).type, "PodGroupScheduled");
}

// ---------------------------------------------------------------- last look

TEST_F(Reading, a_last_look_shows_the_facts_of_this_moment) {
  pod("n", {.group = "g", .version = "8"});
  pod("o", {.group = "g"});
  group("g", {.min = 3});
  const auto seen = last_look(new_attempt("g"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(pods_of(seen), (names{"m", "n", "o"}));
  EXPECT_EQ(seen->members[1].resource_version, "8");
  EXPECT_EQ(seen->groups[0].min_count, 3u);
}

TEST_F(Reading, a_last_look_at_a_gang_that_lost_a_member_leaves_the_judgement_to_the_gang) {
  pod_gone("n");
  const auto seen = last_look(new_attempt("g"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(pods_of(seen), names{"m"});
}

TEST_F(Reading, a_last_look_finds_nothing_if_the_gang_must_not_be_decided) {
  const auto id = new_attempt("g");
  group("g", {.min = 2, .deleting = true});
  EXPECT_FALSE(last_look(id)) << "it is being deleted";
  group("g", {.min = 2, .refused = "bad"});
  EXPECT_FALSE(last_look(id)) << "it is refused";
  group("g", {.min = 2});
  EXPECT_TRUE(last_look(id));
  pod("o", {.group = "g", .priority = 4});
  EXPECT_FALSE(last_look(id)) << "its members disagree";
  pod_gone("o");
  pod("m", {.group = "g", .deleting = true});
  pod_gone("n");
  EXPECT_FALSE(last_look(id)) << "its pods are gone";
  group_gone("g");
  EXPECT_FALSE(last_look(id)) << "it is gone";
  group("g", {.min = 2, .uid = "second"});
  EXPECT_FALSE(last_look(id)) << "its name belongs to another";
}

/// A partition closes the slot of an older owner: whatever became of the gang's pods.
TEST_F(Reading, a_look_without_an_attempt_finds_the_name_of_whatever_gang_is_there) {
  base::attempt_id none = new_attempt("g");
  none.try_no = 0;
  pod_gone("m");
  pod_gone("n");
  ASSERT_TRUE(last_look(none)) << "its pods are gone";
  EXPECT_EQ(last_look(none)->name.name, "g");
  group("g", {.min = 2, .deleting = true});
  EXPECT_TRUE(last_look(none)) << "it is being deleted";
  group("g", {.min = 2, .refused = "bad"});
  EXPECT_TRUE(last_look(none)) << "it is refused";
  group_gone("g");
  EXPECT_FALSE(last_look(none)) << "it is gone";
}

TEST_F(Reading, a_last_look_after_the_end_finds_nothing) {
  const auto id = new_attempt("g");
  over(id, attempt_outcome::conflict);
  EXPECT_FALSE(last_look(id));
}

// ---------------------------------------------------------------- rows

TEST_F(Reading, rows_follow_the_attempt) {
  EXPECT_EQ(row("g", "phase"), "Planning");
  EXPECT_EQ(row("g", "reason"), "Reserving");
  protocol::gang_progress p{.attempt = new_attempt("g"), .name = {"ns", "g"}};
  p.at = protocol::phase::binding;
  p.bound = 1;
  tell(p, protocol::role_kind::gang);
  EXPECT_EQ(row("g", "phase"), "Binding");
  EXPECT_EQ(row("g", "reason"), "Binding");
  EXPECT_EQ(row("g", "bound"), "1");
  EXPECT_EQ(row("g", "min"), "2");
  EXPECT_EQ(row("g", "kind"), "PodGroup");
}

TEST_F(Reading, who_waits_for_a_right_or_an_owner_is_told_what_is_missing) {
  protocol::gang_progress p{.attempt = new_attempt("g"), .name = {"ns", "g"}};
  p.at = protocol::phase::binding;
  p.reason = base::reason_code::api_forbidden;
  tell(p, protocol::role_kind::gang);
  EXPECT_EQ(row("g", "reason"), "ApiForbidden");
  const auto words = [&] { return std::string{read("gang", "ns/g").at("detail").as_string()}; };
  EXPECT_NE(words().find("\"create pods/binding\""), std::string::npos) << words();
  p.at = protocol::phase::preparing;
  p.reason = base::reason_code::shard_unavailable;
  tell(p, protocol::role_kind::gang);
  EXPECT_NE(words().find("another one takes them over"), std::string::npos) << words();
}

TEST_F(Reading, one_gang_is_described_with_explanation_pods_and_history) {
  refuse("g", 17);
  const auto g = read("gang", "ns/g");
  EXPECT_EQ(g.at("explanation").at("view_version").to_number<int>(), 17);
  EXPECT_EQ(g.at("explanation").at("wanted").to_number<int>(), 2);
  EXPECT_EQ(g.at("pods").as_array().size(), 2u);
  EXPECT_EQ(g.at("history").at(0).at("outcome").as_string(), "refused");
  EXPECT_TRUE(read("gang", "ns/none").is_null());
  EXPECT_TRUE(read("gang", "none").is_null());
  EXPECT_TRUE(read("nodes").is_null());
}

TEST_F(Reading, the_history_keeps_the_last_twenty_attempts) {
  for (int i = 0; i < 25; ++i) {
    conflict("g");
    pass(2s);
  }
  const auto g = read("gang", "ns/g");
  const auto& history = g.at("history").as_array();
  EXPECT_EQ(history.size(), 20u);
  EXPECT_EQ(history.back().at("try").to_number<int>(), 25);
}

TEST_F(Reading, status_counts_phases_and_names_the_oldest_that_waits) {
  pod("young", {.created = 5});
  refuse("g", 1);
  const auto s = read("status");
  EXPECT_EQ(s.at("pools").at("waiting").to_number<int>(), 1);
  EXPECT_EQ(s.at("pools").at("attempting").to_number<int>(), 1);
  EXPECT_EQ(s.at("oldest_pending").at("name").as_string(), "g");
}

// ---------------------------------------------------------------- quiet

TEST_F(Reading, quiet_means_that_nothing_can_happen_on_this_state) {
  EXPECT_FALSE(quiet()) << "an attempt is under way";
  refuse("g", 1);
  EXPECT_TRUE(quiet()) << "it waits for an event";
  grew(2);
  EXPECT_FALSE(quiet()) << "it rests, and may fit then";
  EXPECT_EQ(read("quiet").at("stale_backoff").to_number<int>(), 1);
  pass(1s);
  EXPECT_FALSE(quiet());
  refuse("g", 2);
  EXPECT_TRUE(quiet());
}

TEST_F(Reading, a_gang_that_waits_for_members_is_quiet_and_one_in_conflict_is_not) {
  conflict("g");
  EXPECT_FALSE(quiet());
  pod_gone("n");
  EXPECT_TRUE(quiet());
}

// ---------------------------------------------------------------- restart

TEST_F(Reading, counters_rests_and_explanations_survive_a_restart) {
  for (int i = 0; i < 3; ++i) {
    refuse("g", 1);
    grew(static_cast<std::uint64_t>(i) + 2);
    if (i < 2)
      pass(4s);
  }
  pass(1s);
  EXPECT_FALSE(quiet()); // the role learns the time from events only
  const auto memory = queue->snapshot();
  now = base::time_point{1s};
  timer.reset();
  begin(memory);
  EXPECT_EQ(row("g", "reason"), "InsufficientResources") << "shown before the first list";
  EXPECT_EQ(row("g", "phase"), "BackingOff");
  group("g", {.min = 2});
  pod("m", {.group = "g"});
  pod("n", {.group = "g"});
  synced();
  EXPECT_EQ(tried(), names{}) << "three seconds of its rest are left";
  EXPECT_EQ(read("gang", "ns/g").at("refused").to_number<int>(), 3);
  pass(3s);
  EXPECT_EQ(tried(), names{"g"});
  EXPECT_EQ(row("g", "attempts"), "4");
}

TEST_F(Reading, who_is_remembered_and_told_again_stands_there_once) {
  const auto listed = [this] {
    names out;
    const auto rows = read("gangs");
    for (const auto& r : rows.get_array())
      out.emplace_back(r.at("name").as_string());
    return out;
  };
  refuse("g", 1);
  pod("alone", {});
  tried();
  refuse("alone", 1);
  const auto memory = queue->snapshot();
  begin(memory);
  EXPECT_EQ(listed(), (names{"alone", "g"})) << "before anything is told";
  pod("alone", {.node = "n1"}); // it was bound meanwhile
  pod("m", {.group = "g"});
  EXPECT_EQ(listed(), (names{"g", "alone"})) << "the group itself has not been told";
  group("g", {.min = 1});
  pod("m", {.group = "g", .node = "n1"});
  EXPECT_EQ(listed(), (names{"g", "alone"}));
  begin();
  tell(protocol::gang_progress{.attempt = new_attempt("g"), .name = {"ns", "g"}},
       protocol::role_kind::partition);
  pod("m", {.group = "g"});
  EXPECT_EQ(listed(), names{"g"}) << "a decision was resumed before its gang was told";
}

TEST_F(Reading, what_the_api_server_does_not_have_is_forgotten_with_the_first_list) {
  refuse("g", 1);
  const auto memory = queue->snapshot();
  begin(memory);
  EXPECT_EQ(row("g", "phase"), "BackingOff");
  synced();
  EXPECT_EQ(row("g", "phase"), "");
}

TEST_F(Reading, a_damaged_or_newer_memory_is_refused) {
  EXPECT_EQ(queue_role{}.restore("{").error().what(), base::code::corrupt);
  EXPECT_EQ(queue_role{}.restore("[]").error().what(), base::code::corrupt);
  EXPECT_EQ(queue_role{}.restore("{}").error().what(), base::code::corrupt);
  EXPECT_EQ(queue_role{}.restore(R"({"version":99})").error().what(), base::code::newer_format);
  EXPECT_TRUE(queue_role{}.restore(""));
}

TEST_F(Reading, a_memory_reads_back_as_it_was_written) {
  base::explanation why;
  why.primary = base::reason_code::topology_too_fragmented;
  why.others = {base::reason_code::node_constraints_unmet};
  why.rejected = {{"Insufficient cpu", 4}};
  why.closest = {{"rack", "r1", 8, 7}};
  why.nodes_seen = 9;
  why.short_by = (std::int64_t{1} << 60);
  why.dimension = "memory";
  why.detail = "text with \"quotes\"";
  why.view_version = 3;
  auto later = why;
  later.view_version = 4;
  auto other = why;
  other.short_by = 1;
  const memories all{{{"u"}, {{"ns", "g"}, true, 1, 2, 3, 4, 5, {"p", "q"}, why}},
                     {{"v"}, {{"ns", "h"}, false, 0, 0, 0, 0, 0, {}, {}}},
                     {{"w"}, {{"ns", "i"}, false, 1, 1, 0, 0, 0, {}, other}},
                     {{"x"}, {{"ns", "j"}, false, 1, 1, 0, 0, 0, {}, later}}};
  const auto back = decode(encode(all));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, all);
}

TEST_F(Reading, gangs_that_wait_for_the_same_share_its_words_in_the_memory) {
  refuse("g", 1);
  group("h", {.min = 2});
  pod("o", {.group = "h"});
  pod("p", {.group = "h"});
  const auto one = queue->snapshot().size();
  refuse("h", 1);
  const auto two = queue->snapshot().size();
  EXPECT_LT(two - one, 60u) << "the words are there once";
}

TEST_F(Reading, a_memory_of_the_first_version_is_read) {
  const auto read = decode(R"({"version":1,"gangs":[{"uid":"u","namespace":"ns","name":"g",
    "lone":false,"attempts":4,"refused":3,"errors":0,"conflicts":0,"rest_ms":7,
    "why":{"reason":"InsufficientResources","others":[],"nodes_seen":9,"nodes_fit":0,
    "rejected":[{"cause":"Insufficient cpu","nodes":9}],"closest":[],"wanted":2,"placed":0,
    "dimension":"cpu","short_by":5,"detail":"","view_version":17,"text":"…"}}]})");
  ASSERT_TRUE(read);
  const auto& g = read->at({"u"});
  EXPECT_EQ(g.refused, 3u);
  ASSERT_TRUE(g.why);
  EXPECT_EQ(g.why->primary, base::reason_code::insufficient_resources);
  EXPECT_EQ(g.why->rejected.at(0).nodes, 9);
  EXPECT_EQ(g.why->view_version, 17u);
}

TEST_F(Reading, a_resumed_decision_has_a_row_before_any_fact_and_is_not_tried_again) {
  begin();
  const auto id = new_attempt("g");
  protocol::gang_progress p{.attempt = id, .name = {"ns", "g"}};
  p.at = protocol::phase::binding;
  p.members = 2;
  p.bound = 1;
  tell(p, protocol::role_kind::gang);
  EXPECT_EQ(row("g", "phase"), "Binding");
  EXPECT_EQ(row("g", "members"), "2");
  pod("m", {.group = "g", .node = "n1"});
  pod("n", {.group = "g"});
  group("g", {.min = 2});
  synced();
  EXPECT_EQ(tried(), names{});
  over(id, attempt_outcome::bound, {}, {"m", "n"});
  EXPECT_EQ(tried(), names{}) << "n is bound, only not seen so";
  pod("n", {.group = "g", .node = "n2"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "phase"), "Bound");
}

TEST_F(Reading, equal_stories_have_equal_hashes) {
  const auto before = queue->state_hash();
  const auto first = std::move(queue);
  tries = 0;
  SetUp();
  EXPECT_EQ(queue->state_hash(), before);
  refuse("g", 1);
  EXPECT_NE(queue->state_hash(), before);
}

} // namespace
} // namespace tutti::queue
