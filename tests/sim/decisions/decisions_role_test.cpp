// The decision log as API objects, answer by answer, on the server that is built in.
#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bridge/base64.hpp"
#include "protocol/records_codec.hpp"
#include "tests/sim/decisions/log_world.hpp"

namespace tutti::sim::decisions {
namespace {

using protocol::amendment;
using protocol::verdict;

struct Decisions : testing::Test {
  explicit Decisions(std::size_t inline_bytes = bridge::limits::decision_bytes_inline)
      : world(inline_bytes, 2) {}
  log_world world;
  static constexpr std::size_t us = 0, them = 1;

  /// The only answer so far to a `decide` of this writer.
  protocol::slot_decided answered(std::size_t n) {
    const auto all = world.decided(n);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? protocol::slot_decided{} : all.back();
  }
  protocol::slot_amended amended(std::size_t n) {
    const auto all = world.amended(n);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? protocol::slot_amended{} : all.back();
  }
  std::string open(std::size_t n) {
    const auto& all = world.one(n).log.open;
    return all.empty() ? "" : all.front().request.method;
  }
  void decide_and_settle(const proposal& p, std::size_t n = us) {
    world.decide(n, p.make());
    world.settle();
  }
  void finish(const proposal& p, std::size_t n = us) {
    world.amend(n, p.slot(), {.by = {p.epoch}, .cancel = {}, .finish = true});
    world.settle();
  }
  bool is_tampered = false; ///< somebody else has written into the log
  void TearDown() override { EXPECT_EQ(world.past().broken().empty(), !is_tampered); }
};

// ---------------------------------------------------------------- two writes per gang

TEST_F(Decisions, a_first_slot_is_one_create) {
  const proposal p;
  world.decide(us, p.make());
  const auto& request = world.one(us).log.only().request;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/apis/tutti.dev/v1alpha1/namespaces/default/gangdecisions");
  world.answer(us, fate::served);
  ASSERT_NE(answered(us).winner, nullptr);
  EXPECT_EQ(*answered(us).winner, p.make());
  EXPECT_EQ(world.one(us).log.sent.back().to, protocol::to_gang({"g"}));
  const auto now = world.past().now({"g"});
  ASSERT_TRUE(now);
  EXPECT_EQ(now->name(), "gang-g");
  EXPECT_EQ(now->attempt, "g/1/1/1");
  EXPECT_EQ(now->verdict, "Committed");
  EXPECT_FALSE(now->is_done);
}

TEST_F(Decisions, an_amendment_of_what_was_written_last_is_one_replace_and_urgent) {
  const proposal p;
  decide_and_settle(p);
  world.amend(us, p.slot(), {.by = {1}, .cancel = {}, .finish = true});
  const auto& request = world.one(us).log.only().request;
  EXPECT_EQ(request.method, "PUT");
  EXPECT_TRUE(request.is_urgent);
  world.answer(us, fate::served);
  EXPECT_FALSE(amended(us).is_refused);
  ASSERT_NE(amended(us).now, nullptr);
  EXPECT_TRUE(amended(us).now->is_done);
  EXPECT_EQ(amended(us).now->chosen, p.make().chosen) << "the plan, for the last time";
  EXPECT_TRUE(world.past().now({"g"})->is_done);
}

TEST_F(Decisions, what_people_read_of_a_done_decision_is_short) {
  const proposal p{.members = 200};
  decide_and_settle(p);
  const auto whole = world.past().now({"g"})->record.size();
  finish(p);
  EXPECT_LT(world.past().now({"g"})->record.size(), whole / 4);
  EXPECT_EQ(world.past().now({"g"})->attempt, "g/1/1/1");
}

TEST_F(Decisions, a_copy_of_a_question_is_answered_once) {
  const proposal p;
  world.decide(us, p.make());
  world.decide(us, p.make());
  world.settle();
  EXPECT_EQ(world.decided(us).size(), 1u);
  world.decide(us, p.make());
  world.settle();
  EXPECT_EQ(world.decided(us).size(), 2u) << "asked after the answer, it is read and said again";
}

// ---------------------------------------------------------------- owner and finalizer

TEST_F(Decisions, the_root_owns_it_and_cannot_take_an_unfinished_one_along) {
  world.make_group("ring");
  proposal p{.gang = world.uid_of_group("ring")};
  auto what = p.make();
  what.gang_name.name = "ring";
  world.decide(us, what);
  world.settle();
  world.ask({.method = "DELETE",
             .target = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/ring",
             .body = {},
             .content_type = {}});
  world.controllers_act();
  world.controllers_act();
  EXPECT_EQ(world.status_of({p.gang}), 200);
  finish(p);
  EXPECT_FALSE(amended(us).is_refused);
  EXPECT_EQ(world.status_of({p.gang}), 404) << "done, it goes with its gang";
}

TEST_F(Decisions, what_others_wrote_into_its_metadata_stays) {
  const proposal p;
  decide_and_settle(p);
  world.ask({.method = "PATCH",
             .target = "/apis/tutti.dev/v1alpha1/namespaces/default/gangdecisions/gang-g",
             .body = R"({"metadata":{"labels":{"a":"b"},"finalizers":["x/y",)"
                     R"("tutti.dev/unfinished"]}})",
             .content_type = "application/merge-patch+json"});
  finish(p);
  const auto metadata = world.past().now({"g"})->metadata;
  EXPECT_EQ(boost::json::serialize(metadata.at("labels")), R"({"a":"b"})");
  EXPECT_EQ(boost::json::serialize(metadata.at("finalizers")), R"(["x/y"])");
}

// ---------------------------------------------------------------- rivals

TEST_F(Decisions, of_two_writers_of_a_slot_one_wins_and_both_hear_who) {
  const proposal ours, theirs{.epoch = 2};
  world.decide(us, ours.make());
  world.decide(them, theirs.make());
  world.answer(them, fate::served);
  world.settle();
  ASSERT_NE(answered(us).winner, nullptr);
  ASSERT_NE(answered(them).winner, nullptr);
  EXPECT_EQ(answered(us).winner->by, theirs.make().by);
  EXPECT_EQ(answered(them).winner->by, theirs.make().by);
}

TEST_F(Decisions, the_next_slot_waits_until_the_last_is_done) {
  const proposal first, second{.ordinal = 2, .try_no = 2};
  decide_and_settle(first);
  decide_and_settle(second, them);
  EXPECT_EQ(answered(them).winner, nullptr);
  EXPECT_NE(answered(them).refusal.find("not finished"), std::string::npos);
  finish(first);
  decide_and_settle(second);
  EXPECT_EQ(world.decided(us).back().winner->by, second.make().by);
  EXPECT_EQ(world.past().now({"g"})->ordinal, 2u);
}

TEST_F(Decisions, a_slot_that_is_long_past_is_refused) {
  const proposal first{.what = verdict::aborted}, second{.ordinal = 2, .try_no = 2};
  decide_and_settle(first);
  decide_and_settle(second);
  decide_and_settle(proposal{.epoch = 3}, them);
  EXPECT_NE(answered(them).refusal.find("long past"), std::string::npos);
}

TEST_F(Decisions, an_aborted_slot_is_finished_at_once) {
  const proposal closed{.what = verdict::aborted}, next{.ordinal = 2, .try_no = 2};
  decide_and_settle(closed);
  EXPECT_FALSE(world.past().now({"g"})->metadata.contains("finalizers"));
  decide_and_settle(next);
  EXPECT_EQ(world.decided(us).back().winner->by, next.make().by);
}

TEST_F(Decisions, a_stale_version_is_read_and_the_rule_asked_again) {
  const proposal p;
  decide_and_settle(p);
  world.amend(them, p.slot(), {.by = {1}, .cancel = {{"g-0"}}});
  world.settle();
  world.amend(us, p.slot(), {.by = {1}, .cancel = {{"g-1"}}});
  EXPECT_EQ(open(us), "PUT") << "from what it wrote last, which is old by now";
  world.settle();
  EXPECT_FALSE(amended(us).is_refused);
  EXPECT_EQ(amended(us).now->cancelled, (std::vector<base::pod_uid>{{"g-0"}, {"g-1"}}));
}

// ---------------------------------------------------------------- crash rows

TEST_F(Decisions, C3_a_lost_answer_is_settled_by_reading_what_was_written) {
  const proposal p;
  world.decide(us, p.make());
  world.answer(us, fate::applied_lost);
  EXPECT_TRUE(world.decided(us).empty());
  world.settle();
  ASSERT_NE(answered(us).winner, nullptr);
  EXPECT_EQ(answered(us).winner->by, p.make().by);
}

TEST_F(Decisions, C3_a_write_that_never_arrived_is_written_again) {
  const proposal p;
  world.decide(us, p.make());
  world.answer(us, fate::lost);
  world.settle();
  EXPECT_EQ(answered(us).winner->by, p.make().by);
  EXPECT_TRUE(world.past().was_written(p.make().by));
}

TEST_F(Decisions, C3_a_write_that_comes_after_its_own_repetition_changes_nothing) {
  const proposal p;
  world.decide(us, p.make());
  world.answer(us, fate::late);
  world.settle();
  finish(p);
  world.arrive_late();
  EXPECT_TRUE(world.past().now({"g"})->is_done);
}

TEST_F(Decisions, C3_a_crash_inside_the_write_leaves_all_of_it_or_nothing) {
  const proposal p;
  for (const auto what : {fate::applied_lost, fate::lost}) {
    log_world fresh;
    fresh.decide(0, p.make());
    if (what == fate::applied_lost)
      fresh.answer(0, what);
    fresh.restart(0);
    fresh.list(0, 7);
    fresh.settle();
    ASSERT_EQ(fresh.told(0).size(), 1u);
    const auto all = fresh.told(0).front().all;
    if (what == fate::applied_lost) {
      ASSERT_EQ(all.size(), 1u);
      EXPECT_EQ(all.front(), p.make());
    } else {
      EXPECT_TRUE(all.empty());
    }
  }
}

TEST_F(Decisions, Q0_a_paused_owner_loses_against_the_slot_that_was_closed) {
  const proposal theirs{.epoch = 2, .what = verdict::aborted}, ours;
  decide_and_settle(theirs, them);
  decide_and_settle(ours);
  ASSERT_NE(answered(us).winner, nullptr);
  EXPECT_EQ(answered(us).winner->what, verdict::aborted);
  EXPECT_EQ(answered(us).winner->by, theirs.make().by);
}

TEST_F(Decisions, Q0_a_create_that_was_under_way_meanwhile_is_refused) {
  const proposal ours, theirs{.epoch = 2, .what = verdict::aborted};
  world.decide(us, ours.make());
  world.answer(us, fate::late);
  world.decide(them, theirs.make());
  world.settle();
  world.arrive_late();
  EXPECT_EQ(answered(us).winner->by, theirs.make().by);
  EXPECT_FALSE(world.past().was_written(ours.make().by));
}

TEST_F(Decisions, Q2_a_paused_owner_obeys_what_its_successor_has_decided) {
  const proposal ours, theirs{.epoch = 2, .try_no = 5};
  decide_and_settle(theirs, them);
  decide_and_settle(ours);
  EXPECT_EQ(*answered(us).winner, theirs.make());
}

TEST_F(Decisions, Q3_a_record_adopted_by_a_later_epoch_takes_no_cancel_of_an_earlier_one) {
  const proposal p;
  decide_and_settle(p);
  world.amend(them, p.slot(), {.by = {2}, .cancel = {}, .adopt = true});
  world.settle();
  EXPECT_EQ(amended(them).now->adopted_by.value, 2u);
  world.amend(us, p.slot(), {.by = {1}, .cancel = {{"g-0"}}});
  world.settle();
  EXPECT_TRUE(amended(us).is_refused);
  ASSERT_NE(amended(us).now, nullptr);
  EXPECT_EQ(amended(us).now->adopted_by.value, 2u);
  world.amend(us, p.slot(), {.by = {1}, .cancel = {}, .finish = true});
  world.settle();
  EXPECT_TRUE(world.amended(us).back().is_refused);
  EXPECT_FALSE(world.past().now({"g"})->is_done);
}

TEST_F(Decisions, Q3_a_cancel_that_was_under_way_when_it_was_adopted_is_refused) {
  const proposal p;
  decide_and_settle(p);
  world.amend(us, p.slot(), {.by = {1}, .cancel = {{"g-0"}}});
  world.answer(us, fate::late);
  world.amend(them, p.slot(), {.by = {2}, .cancel = {}, .adopt = true});
  world.settle();
  world.arrive_late();
  EXPECT_TRUE(amended(us).is_refused);
  EXPECT_TRUE(world.past().now({"g"})->cancelled.empty());
}

// ---------------------------------------------------------------- other answers

TEST_F(Decisions, a_finish_whose_answer_was_lost_is_not_written_twice) {
  const proposal p;
  decide_and_settle(p);
  world.amend(us, p.slot(), {.by = {1}, .cancel = {}, .finish = true});
  world.answer(us, fate::applied_lost);
  world.settle();
  EXPECT_FALSE(amended(us).is_refused);
  EXPECT_TRUE(amended(us).now->is_done);
}

TEST_F(Decisions, an_amendment_of_a_slot_that_nobody_decided_is_refused) {
  world.amend(us, {{"g"}, 1}, {.by = {1}, .cancel = {{"g-0"}}});
  world.settle();
  EXPECT_TRUE(amended(us).is_refused);
  EXPECT_EQ(amended(us).now, nullptr);
}

TEST_F(Decisions, nothing_is_decided_in_a_namespace_that_is_not_there) {
  decide_and_settle(proposal{.space = "nope"});
  EXPECT_EQ(answered(us).winner, nullptr);
  EXPECT_NE(answered(us).refusal.find("nope"), std::string::npos);
}

TEST_F(Decisions, nothing_new_is_decided_in_a_namespace_that_ends_and_what_was_is_obeyed) {
  const proposal p;
  world.decide(us, p.make());
  world.answer(us, fate::applied_lost);
  world.ask(
      {.method = "DELETE", .target = "/api/v1/namespaces/default", .body = {}, .content_type = {}});
  world.decide(them, proposal{.gang = "h"}.make());
  world.settle();
  EXPECT_NE(answered(them).refusal.find("going away"), std::string::npos);
  ASSERT_NE(answered(us).winner, nullptr) << "written before it ended, though nobody heard";
  EXPECT_EQ(answered(us).winner->by, p.make().by);
}

TEST_F(Decisions, waits_as_long_as_the_server_asks_and_answers_nothing_meanwhile) {
  world.decide(us, proposal{}.make());
  world.refuse(us, 429, "{}", 3000);
  EXPECT_TRUE(world.one(us).log.open.empty());
  EXPECT_TRUE(world.decided(us).empty());
  world.settle();
  EXPECT_EQ(world.decided(us).size(), 1u);
}

TEST_F(Decisions, without_the_right_to_write_a_human_is_called_and_nothing_is_answered) {
  world.decide(us, proposal{}.make());
  world.refuse(us, 403);
  EXPECT_EQ(world.one(us).log.errors, 1);
  EXPECT_TRUE(world.decided(us).empty());
  world.settle();
  EXPECT_EQ(world.decided(us).size(), 1u);
}

TEST_F(Decisions, a_decision_that_the_server_calls_invalid_is_refused_loudly) {
  world.decide(us, proposal{}.make());
  world.refuse(us, 422);
  EXPECT_EQ(world.one(us).log.errors, 1);
  EXPECT_FALSE(answered(us).refusal.empty());
}

TEST_F(Decisions, nobody_guesses_about_an_object_that_none_of_us_has_written) {
  is_tampered = true;
  const proposal p;
  decide_and_settle(p);
  world.ask({.method = "PATCH",
             .target = "/apis/tutti.dev/v1alpha1/namespaces/default/gangdecisions/gang-g",
             .body = R"({"spec":{"record":"bm9uc2Vuc2U="}})",
             .content_type = "application/merge-patch+json"});
  world.decide(them, proposal{.epoch = 2}.make());
  for (int i = 0; i < 6 && !world.one(them).log.open.empty(); ++i)
    world.answer(them, fate::served);
  EXPECT_TRUE(world.decided(them).empty());
  EXPECT_EQ(world.one(them).log.notes, std::vector<std::string>{"decisions.corrupt"});
  world.ask(
      {.method = "PATCH",
       .target = "/apis/tutti.dev/v1alpha1/namespaces/default/gangdecisions/gang-g",
       .body = R"({"spec":{"record":")" + bridge::to_base64(protocol::encode(p.make())) + R"("}})",
       .content_type = "application/merge-patch+json"});
  world.settle();
  EXPECT_EQ(answered(them).winner->by, p.make().by) << "mended by hand, it is believed";
}

TEST_F(Decisions, finishing_goes_before_deciding) {
  const proposal p;
  decide_and_settle(p);
  for (std::size_t n = 0; n < bridge::limits::decisions_in_flight; ++n)
    world.decide(us, proposal{.gang = "x" + std::to_string(n)}.make());
  world.decide(us, proposal{.gang = "y"}.make());
  world.amend(us, p.slot(), {.by = {1}, .cancel = {}, .finish = true});
  EXPECT_EQ(world.one(us).log.open.size(), bridge::limits::decisions_in_flight);
  world.answer(us, fate::served);
  EXPECT_EQ(world.one(us).log.open.back().request.method, "PUT");
}

// ---------------------------------------------------------------- forget and list

TEST_F(Decisions, a_forgotten_gang_leaves_nothing_once_it_is_finished) {
  const proposal p;
  decide_and_settle(p);
  world.forget(us, {"g"});
  world.settle();
  EXPECT_EQ(world.status_of({"g"}), 200) << "it is not finished";
  finish(p);
  EXPECT_EQ(world.status_of({"g"}), 404);
}

TEST_F(Decisions, a_writer_that_knows_nothing_finds_the_object_of_a_gang_it_must_forget) {
  const proposal p{.what = verdict::aborted};
  decide_and_settle(p);
  world.restart(us);
  world.forget(us, {"g"});
  world.settle();
  EXPECT_EQ(world.status_of({"g"}), 404);
  world.forget(us, {"g"});
  world.settle();
}

TEST_F(Decisions, a_list_has_every_gangs_highest_slot_as_it_stands) {
  const proposal a{.gang = "a"}, b{.gang = "b"}, c{.gang = "c", .what = verdict::aborted};
  for (const auto& p : {a, b, c})
    decide_and_settle(p);
  finish(b);
  world.amend(us, a.slot(), {.by = {1}, .cancel = {{"a-1"}}});
  world.settle();
  world.list(them, 3);
  world.settle();
  ASSERT_EQ(world.told(them).size(), 1u);
  EXPECT_EQ(world.told(them).front().id, 3u);
  const auto all = world.told(them).front().all;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].cancelled, std::vector<base::pod_uid>{{"a-1"}});
  EXPECT_EQ(all[0].chosen, a.make().chosen);
  EXPECT_TRUE(all[1].is_done);
  EXPECT_TRUE(all[1].chosen.slices.empty());
  EXPECT_EQ(all[2], c.make());
}

TEST_F(Decisions, a_list_comes_in_pages_of_one_moment) {
  for (int i = 0; i < 1100; ++i)
    world.decide(us, proposal{.gang = fmt::format("g{:04}", i), .members = 1}.make());
  world.settle();
  world.list(them, 1);
  world.answer(them, fate::served);
  EXPECT_NE(world.one(them).log.only().request.target.find("continue="), std::string::npos);
  world.decide(us, proposal{.gang = "a", .members = 1}.make());
  world.decide(us, proposal{.gang = "z", .members = 1}.make());
  world.settle();
  EXPECT_EQ(world.told(them).front().all.size(), 1100u) << "what came later is in no page";
}

TEST_F(Decisions, a_list_whose_pages_are_too_old_begins_anew) {
  for (int i = 0; i < 600; ++i)
    world.decide(us, proposal{.gang = fmt::format("g{:04}", i), .members = 1}.make());
  world.settle();
  world.list(them, 1);
  world.answer(them, fate::served);
  world.refuse(them, 410);
  world.settle();
  EXPECT_EQ(world.told(them).front().all.size(), 600u);
}

TEST_F(Decisions, a_list_has_what_was_asked_before_it) {
  const proposal p;
  world.decide(us, p.make());
  world.list(us, 1);
  world.answer(us, fate::lost);
  world.settle();
  ASSERT_EQ(world.told(us).size(), 1u);
  ASSERT_EQ(world.told(us).front().all.size(), 1u);
  EXPECT_EQ(world.told(us).front().all.front(), p.make());
}

// ---------------------------------------------------------------- large plans

struct LargeDecisions : Decisions {
  LargeDecisions() : Decisions(1000) {}
  const proposal large{.members = 50};
};

TEST_F(LargeDecisions, go_into_chunks_first_and_are_read_back_whole) {
  decide_and_settle(large);
  EXPECT_EQ(*answered(us).winner, large.make());
  EXPECT_GT(world.chunks(), 3u);
  EXPECT_TRUE(world.past().now({"g"})->record.empty());
  world.list(them, 1);
  world.settle();
  ASSERT_EQ(world.told(them).size(), 1u);
  EXPECT_EQ(world.told(them).front().all.front(), large.make());
}

TEST_F(LargeDecisions, nothing_is_decided_before_every_chunk_is_there) {
  world.decide(us, large.make());
  std::size_t before = 0;
  while (world.decided(us).empty()) {
    before = world.chunks();
    EXPECT_EQ(world.past().now({"g"}) && world.past().now({"g"})->ordinal > 0, false);
    world.answer(us, fate::served);
  }
  EXPECT_EQ(world.chunks(), before);
}

TEST_F(LargeDecisions, their_chunks_go_when_they_are_done) {
  decide_and_settle(large);
  finish(large);
  EXPECT_EQ(world.chunks(), 0u);
  EXPECT_TRUE(world.past().now({"g"})->is_done);
}

TEST_F(LargeDecisions, amendments_leave_the_chunks_alone) {
  decide_and_settle(large);
  const auto before = world.past().now({"g"})->chunks;
  world.amend(them, large.slot(), {.by = {1}, .cancel = {{"g-7"}}});
  world.settle();
  EXPECT_EQ(world.past().now({"g"})->chunks, before);
  EXPECT_EQ(amended(them).now->chosen, large.make().chosen);
  EXPECT_EQ(amended(them).now->cancelled, std::vector<base::pod_uid>{{"g-7"}});
}

TEST_F(LargeDecisions, of_two_of_them_one_wins_whole) {
  const proposal theirs{.epoch = 2, .try_no = 9, .members = 60};
  world.decide(us, large.make());
  world.decide(them, theirs.make());
  world.settle();
  ASSERT_NE(answered(us).winner, nullptr);
  EXPECT_EQ(answered(us).winner->by, answered(them).winner->by);
  EXPECT_EQ(*answered(us).winner,
            answered(us).winner->by == large.make().by ? large.make() : theirs.make());
}

TEST_F(LargeDecisions, are_written_whole_whatever_is_lost_on_the_way) {
  world.decide(us, large.make());
  for (int n = 0; world.decided(us).empty(); ++n) {
    if (world.one(us).log.open.empty())
      world.wait(us);
    else
      world.answer(us, n % 3 == 0 ? fate::applied_lost : n % 3 == 1 ? fate::lost : fate::served);
    ASSERT_LT(n, 1000);
  }
  world.list(them, 1);
  world.settle();
  EXPECT_EQ(world.told(them).front().all.front(), large.make());
}

// ---------------------------------------------------------------- bytes

TEST(Base64, is_what_the_rfc_says_and_comes_back) {
  EXPECT_EQ(bridge::to_base64(""), "");
  EXPECT_EQ(bridge::to_base64("f"), "Zg==");
  EXPECT_EQ(bridge::to_base64("fo"), "Zm8=");
  EXPECT_EQ(bridge::to_base64("foobar"), "Zm9vYmFy");
  std::string all;
  for (int c = 0; c < 256; ++c)
    all += static_cast<char>(c);
  EXPECT_EQ(bridge::from_base64(bridge::to_base64(all)), all);
  for (const auto* wrong : {"Z", "Zg=", "Z===", "Zh==", "Zg==Zg==", "Zm9v\n", "Zm9-"})
    EXPECT_FALSE(bridge::from_base64(wrong)) << wrong;
}

TEST(DecisionName, is_a_name_whatever_the_uid_is) {
  EXPECT_EQ(bridge::decision_name({"6f0c-1"}), "gang-6f0c-1");
  const auto hashed = bridge::decision_name({"6f0c-1/workers/0"});
  EXPECT_EQ(hashed.size(), 5u + 32u);
  EXPECT_NE(hashed, bridge::decision_name({"6f0c-1/workers/1"}));
}

// ---------------------------------------------------------------- beside other replicas

struct SharedDecisions : testing::Test {
  log_world world{bridge::limits::decision_bytes_inline, 2, true};
  static constexpr std::size_t us = 0, them = 1;

  /// What the next look finds, as it is told to the keeper.
  std::vector<protocol::decision> found() {
    const auto before = world.told(us).size();
    world.wait(us);
    while (!world.one(us).log.open.empty())
      world.answer(us, fate::served);
    const auto all = world.told(us);
    EXPECT_EQ(all.size(), before + 1);
    EXPECT_EQ(all.back().id, 0u);
    EXPECT_EQ(world.one(us).log.sent.back().to, protocol::to(protocol::role_kind::keeper));
    return all.back().all;
  }
};

TEST_F(SharedDecisions, what_is_unfinished_is_looked_for_now_and_then) {
  EXPECT_TRUE(found().empty());
  const proposal p;
  const proposal other{.gang = "h"};
  for (const auto& x : {p, other}) {
    world.decide(them, x.make());
    world.answer(them, fate::served);
  }
  ASSERT_EQ(found().size(), 2u);
  EXPECT_EQ(found()[0], p.make());
  world.amend(them, p.slot(), {.by = {1}, .cancel = {}, .finish = true});
  world.answer(them, fate::served);
  const auto left = found();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].by.gang.value, "h");
}

TEST_F(SharedDecisions, a_look_that_is_not_answered_is_not_asked_for_twice) {
  world.wait(us);
  world.wait(us);
  EXPECT_EQ(world.one(us).log.open.size(), 1u);
}

/// A queue that has not heard of a gang takes it for gone.
TEST_F(SharedDecisions, S2_a_decision_goes_with_its_root_and_at_nobody_s_word) {
  const proposal p;
  world.decide(us, p.make());
  world.answer(us, fate::served);
  world.amend(us, p.slot(), {.by = {1}, .cancel = {}, .finish = true});
  world.answer(us, fate::served);
  world.forget(us, {"g"});
  EXPECT_TRUE(world.one(us).log.open.empty());
  EXPECT_EQ(world.status_of({"g"}), 200);
}

TEST_F(SharedDecisions, whoever_is_not_at_its_turn_hears_what_stands_there) {
  const proposal first;
  const proposal second{.ordinal = 2};
  world.decide(them, first.make());
  world.answer(them, fate::served);
  world.amend(them, first.slot(), {.by = {1}, .cancel = {}, .finish = true});
  world.answer(them, fate::served);
  world.decide(them, second.make());
  while (!world.one(them).log.open.empty())
    world.answer(them, fate::served);
  const proposal behind{.epoch = 2};
  world.decide(us, behind.make());
  while (!world.one(us).log.open.empty())
    world.answer(us, fate::served);
  ASSERT_EQ(world.decided(us).size(), 1u);
  EXPECT_FALSE(world.decided(us)[0].refusal.empty());
  const auto told = world.one(us).log.all<protocol::resume_decision>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].what->by, second.make().by);
}

/// A Lease that has run out, a partition that was given away.
TEST_F(SharedDecisions, nothing_is_written_for_somebody_who_has_ended) {
  const proposal p;
  world.decide(us, p.make());
  world.asker_ends(us, {"g"});
  world.answer(us, fate::lost);
  world.wait(us);
  for (const auto& x : world.one(us).log.open)
    EXPECT_EQ(x.request.method, "GET") << "a look";
  EXPECT_TRUE(world.decided(us).empty());
  EXPECT_FALSE(world.past().was_written(p.make().by));
}

TEST_F(SharedDecisions, what_waits_behind_the_dead_is_asked_next) {
  const proposal p;
  proposal second{.ordinal = 1, .epoch = 2};
  world.decide(us, p.make());
  world.decide(us, p.make());
  world.asker_ends(us, {"g"});
  world.decide(us, second.make()); // by the next life of the same gang's coordinator
  world.answer(us, fate::lost);
  ASSERT_EQ(world.one(us).log.open.size(), 1u);
  world.answer(us, fate::served);
  ASSERT_EQ(world.decided(us).size(), 1u);
  EXPECT_EQ(world.decided(us)[0].winner->by, second.make().by);
}

TEST_F(SharedDecisions, what_waits_in_line_for_the_dead_goes_with_it) {
  const proposal p;
  world.decide(us, p.make());
  world.amend(us, p.slot(), {.by = {1}, .cancel = {{"g-0"}}});
  world.amend(us, p.slot(), {.by = {1}, .cancel = {}, .finish = true});
  world.asker_ends(us, {"g"});
  world.answer(us, fate::served);
  EXPECT_TRUE(world.one(us).log.open.empty());
  EXPECT_TRUE(world.decided(us).empty());
  EXPECT_TRUE(world.amended(us).empty());
  EXPECT_FALSE(world.past().now({"g"})->is_done);
}

TEST_F(SharedDecisions, what_may_have_arrived_for_the_dead_is_not_said_again) {
  const proposal p;
  world.decide(us, p.make());
  world.answer(us, fate::applied_lost);
  world.asker_ends(us, {"g"}); // while it waits to ask again
  world.wait(us);
  for (const auto& x : world.one(us).log.open)
    EXPECT_TRUE(x.request.target.find("labelSelector") != std::string::npos);
  EXPECT_EQ(world.one(us).log.open.size(), 1u);
}

} // namespace
} // namespace tutti::sim::decisions
