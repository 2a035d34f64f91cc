// Stories of one node's ledger: promises, victims, ports, and what really is there.
#include "shards/node_ledger.hpp"

#include <gtest/gtest.h>

#include "tests/shards/words.hpp"

namespace tutti::shards {
namespace {

using namespace words;

/// A node of four CPUs, and the words in which its stories are told.
struct NodeLedger : testing::Test {
  node_ledger ledger{cpus(4)};
  std::optional<node_ledger::refusal> refusal;

  bool hold(const char* gang, std::initializer_list<const char*> pods, int cpu_each,
            std::initializer_list<const char*> victims = {}, int port = 0) {
    std::vector<protocol::seat> seats;
    for (const auto* p : pods)
      seats.push_back(seat(p, "n", port == 0 ? taking(cpu_each) : taking(cpu_each, port)));
    std::vector<protocol::victim> out;
    for (const auto* v : victims)
      out.push_back(victim(v, "n"));
    refusal = ledger.hold(attempt(gang), seats, out);
    return !refusal;
  }
  void release(const char* gang) { ledger.release(attempt(gang)); }
  void runs(const char* p, int cpu) { ledger.bound(pod(p), taking(cpu)); }
  bool may_bind(const char* gang, const char* p) { return ledger.may_bind(attempt(gang), pod(p)); }
  std::int64_t free_cpus() { return ledger.free().amounts.cpu_milli / 1000; }
};

TEST_F(NodeLedger, holds_all_members_or_none) {
  EXPECT_FALSE(hold("g", {"a", "b", "c"}, 2));
  EXPECT_EQ(free_cpus(), 4);
  EXPECT_TRUE(hold("g", {"a", "b"}, 2));
  EXPECT_EQ(free_cpus(), 0);
}

TEST_F(NodeLedger, a_refusal_names_the_first_pod_that_did_not_fit_and_the_room_there_was) {
  EXPECT_FALSE(hold("g", {"a", "b", "c"}, 2));
  EXPECT_EQ(refusal->pod, pod("c"));
  EXPECT_EQ(refusal->lacking, (base::shortage{"cpu", 2000, 0}));
  EXPECT_TRUE(refusal->holders.empty()) << "nobody else is in the way";
}

TEST_F(NodeLedger, a_refusal_names_the_attempt_that_holds_the_room) {
  EXPECT_TRUE(hold("rival", {"r"}, 3));
  EXPECT_FALSE(hold("g", {"a"}, 2));
  EXPECT_EQ(refusal->holders, std::vector{attempt("rival")});
  EXPECT_FALSE(hold("g", {"a"}, 5));
  EXPECT_TRUE(refusal->holders.empty()) << "it would not fit without the rival either";
}

TEST_F(NodeLedger, a_repeated_prepare_takes_no_more_room) {
  EXPECT_TRUE(hold("g", {"a", "b"}, 2));
  EXPECT_TRUE(hold("g", {"a", "b"}, 2));
  EXPECT_EQ(free_cpus(), 0);
}

TEST_F(NodeLedger, room_promised_to_one_attempt_is_refused_to_another) {
  EXPECT_TRUE(hold("g", {"a"}, 3));
  EXPECT_FALSE(hold("h", {"b"}, 2));
  release("g");
  EXPECT_TRUE(hold("h", {"b"}, 2));
}

TEST_F(NodeLedger, a_pod_in_two_attempts_takes_room_once_and_until_both_let_go) {
  EXPECT_TRUE(hold("g", {"a"}, 3));
  EXPECT_TRUE(hold("h", {"a"}, 3));
  EXPECT_EQ(free_cpus(), 1);
  release("g");
  EXPECT_EQ(free_cpus(), 1);
  release("h");
  EXPECT_EQ(free_cpus(), 4);
}

TEST_F(NodeLedger, a_held_pod_that_turns_up_bound_is_counted_once) {
  EXPECT_TRUE(hold("g", {"a"}, 2));
  runs("a", 2);
  EXPECT_EQ(free_cpus(), 2);
  release("g");
  EXPECT_EQ(free_cpus(), 2) << "a bound pod is not released with its attempt";
}

TEST_F(NodeLedger, what_the_api_server_says_replaces_what_was_promised) {
  EXPECT_TRUE(hold("g", {"a"}, 2));
  runs("a", 3);
  EXPECT_EQ(free_cpus(), 1);
  runs("a", 1);
  EXPECT_EQ(free_cpus(), 3);
}

TEST_F(NodeLedger, a_held_pod_that_is_gone_is_consumed) {
  EXPECT_TRUE(hold("g", {"a"}, 2));
  ledger.gone(pod("a"));
  EXPECT_EQ(free_cpus(), 4);
  EXPECT_FALSE(ledger.holds(attempt("g")));
}

TEST_F(NodeLedger, some_members_can_be_released_alone) {
  EXPECT_TRUE(hold("g", {"a", "b"}, 2));
  ledger.release(attempt("g"), {pod("a")});
  EXPECT_EQ(free_cpus(), 2);
  EXPECT_TRUE(ledger.holds(attempt("g")));
  ledger.release(attempt("g"), {pod("a"), pod("b")});
  EXPECT_EQ(free_cpus(), 4);
  EXPECT_FALSE(ledger.holds(attempt("g")));
}

TEST_F(NodeLedger, a_pod_that_asks_for_nothing_fits_a_node_that_shrank_below_its_use) {
  EXPECT_TRUE(hold("g", {"a"}, 4));
  ledger.resize(cpus(2));
  EXPECT_EQ(free_cpus(), -2);
  EXPECT_FALSE(hold("h", {"b"}, 1));
  EXPECT_TRUE(hold("h", {"c"}, 0));
}

// ------------------------------------------------------------------------------- victims

TEST_F(NodeLedger, the_room_of_victims_counts_as_free_for_those_who_named_them_only) {
  runs("v", 4);
  EXPECT_FALSE(hold("g", {"a"}, 2));
  EXPECT_TRUE(hold("g", {"a"}, 2, {"v"}));
  EXPECT_EQ(free_cpus(), 0) << "what the victim leaves over is not promised before it is gone";
  EXPECT_FALSE(hold("h", {"b"}, 2));
  ledger.gone(pod("v"));
  EXPECT_EQ(free_cpus(), 2);
  EXPECT_TRUE(hold("h", {"b"}, 2));
}

TEST_F(NodeLedger, releasing_a_member_counts_its_running_victim_again) {
  runs("v", 4);
  EXPECT_TRUE(hold("g", {"a", "b"}, 2, {"v"}));
  ledger.release(attempt("g"), {pod("a")});
  EXPECT_FALSE(hold("h", {"c"}, 1)) << "the victim still runs";
  ledger.gone(pod("v"));
  EXPECT_EQ(free_cpus(), 2);
}

TEST_F(NodeLedger, a_victim_is_in_one_plan_only) {
  runs("v", 4);
  EXPECT_TRUE(hold("g", {"a"}, 2, {"v"}));
  EXPECT_FALSE(hold("h", {"b"}, 2, {"v"}));
  EXPECT_EQ(refusal->lacking.name, "victim");
  EXPECT_EQ(refusal->holders, std::vector{attempt("g")});
}

TEST_F(NodeLedger, room_that_one_of_two_victims_left_belongs_to_their_attempt) {
  runs("v", 2);
  runs("w", 2);
  EXPECT_TRUE(hold("g", {"a"}, 2, {"v", "w"}));
  ledger.gone(pod("v"));
  EXPECT_EQ(free_cpus(), 0);
  EXPECT_TRUE(may_bind("g", "a"));
  ledger.gone(pod("w"));
  EXPECT_EQ(free_cpus(), 2);
}

TEST_F(NodeLedger, victims_that_leave_too_little_are_no_help) {
  runs("v", 3);
  runs("r", 3);
  EXPECT_FALSE(hold("g", {"a"}, 2, {"v"})) << "three and two are more than four";
  EXPECT_TRUE(hold("g", {"a"}, 1, {"v"}));
}

TEST_F(NodeLedger, a_borrowed_pod_that_a_rival_also_holds_must_fit_without_the_victim) {
  runs("v", 4);
  EXPECT_TRUE(hold("g", {"a"}, 2, {"v"}));
  EXPECT_FALSE(hold("h", {"a"}, 2)) << "if g let go, a and v would both count";
}

TEST_F(NodeLedger, two_holders_of_one_borrowed_pod_do_not_both_lend_their_victims) {
  runs("v", 2);
  runs("w", 2);
  EXPECT_TRUE(hold("g", {"a"}, 2, {"v"}));
  EXPECT_FALSE(hold("h", {"a"}, 2, {"w"})) << "who lends a its room, and what is a's departure?";
  EXPECT_EQ(refusal->holders, std::vector{attempt("g")});
  release("g");
  EXPECT_TRUE(hold("h", {"a"}, 2, {"w"}));
}

TEST_F(NodeLedger, a_bound_pod_that_two_attempts_held_is_borrowed_by_neither) {
  runs("v", 1);
  runs("w", 1);
  EXPECT_TRUE(hold("g", {"a"}, 1, {"v"}));
  EXPECT_TRUE(hold("h", {"a"}, 1, {"w"}));
  runs("a", 1);
  EXPECT_EQ(ledger.credits(), base::resources{}) << "its room would be counted twice";
  EXPECT_EQ(free_cpus(), 1);
}

TEST_F(NodeLedger, a_pod_that_was_bound_before_it_was_named_borrows_nothing) {
  runs("v", 2);
  runs("a", 2);
  EXPECT_TRUE(hold("g", {"a"}, 2, {"v"}));
  EXPECT_EQ(ledger.credits(), base::resources{});
}

TEST_F(NodeLedger, a_pod_bound_on_borrowed_room_is_no_victim_before_its_lender_is_gone) {
  runs("v", 1);
  EXPECT_TRUE(hold("g", {"a"}, 2, {"v"}));
  EXPECT_TRUE(may_bind("g", "a"));
  runs("a", 2);
  EXPECT_FALSE(hold("h", {"b"}, 2, {"a"})) << "a's departure would end two credits";
  EXPECT_EQ(refusal->lacking.name, "victim");
  EXPECT_EQ(refusal->holders, std::vector{attempt("g")});
  ledger.gone(pod("v"));
  EXPECT_TRUE(hold("h", {"b"}, 2, {"a"}));
}

// ------------------------------------------------------------------------------- ports

TEST_F(NodeLedger, a_host_port_is_taken_once) {
  EXPECT_TRUE(hold("g", {"a"}, 1, {}, 8080));
  EXPECT_FALSE(hold("h", {"b"}, 1, {}, 8080));
  EXPECT_EQ(refusal->lacking.name, "host port 8080/TCP");
  EXPECT_EQ(refusal->holders, std::vector{attempt("g")});
  EXPECT_EQ(ledger.free().ports.size(), 1u);
  release("g");
  EXPECT_TRUE(ledger.free().ports.empty());
  EXPECT_TRUE(hold("h", {"b"}, 1, {}, 8080));
}

TEST_F(NodeLedger, the_port_of_a_victim_passes_to_the_seat) {
  ledger.bound(pod("v"), taking(2, 8080));
  EXPECT_TRUE(hold("g", {"a"}, 1, {"v"}, 8080));
  EXPECT_EQ(ledger.free().ports.size(), 1u) << "told once, as the seat's";
  EXPECT_FALSE(may_bind("g", "a")) << "the victim still listens";
  ledger.gone(pod("v"));
  EXPECT_TRUE(may_bind("g", "a"));
}

// ------------------------------------------------------------------------------- S1b

TEST_F(NodeLedger, a_terminating_pod_keeps_its_room_until_it_is_gone) {
  runs("v", 3);
  EXPECT_TRUE(hold("g", {"a"}, 2, {"v"}));
  EXPECT_FALSE(may_bind("g", "a"));
  ledger.gone(pod("v"));
  EXPECT_TRUE(may_bind("g", "a"));
  EXPECT_TRUE(may_bind("g", "a")) << "asked again";
}

TEST_F(NodeLedger, allowed_pods_count_as_really_there) {
  runs("v", 2);
  EXPECT_TRUE(hold("g", {"a"}, 2));
  runs("w", 2); // by somebody else, after the promise
  EXPECT_FALSE(may_bind("g", "a"));
  ledger.gone(pod("v"));
  EXPECT_TRUE(may_bind("g", "a"));
  EXPECT_FALSE(may_bind("h", "b")) << "never for room that is not held";
}

TEST_F(NodeLedger, promises_made_before_a_rebuild_may_be_on_their_way) {
  runs("v", 2);
  const auto a = seat("a", "n", taking(2));
  const auto b = seat("b", "n", taking(2));
  ledger.hold_anyway(attempt("g"), {a, b}, {victim("v", "n")});
  EXPECT_EQ(free_cpus(), 0);
  EXPECT_FALSE(may_bind("g", "a")) << "b may have been posted by the life before";
  ledger.gone(pod("v"));
  EXPECT_TRUE(may_bind("g", "a"));
  EXPECT_TRUE(may_bind("g", "b"));
}

TEST_F(NodeLedger, colliding_promises_of_the_past_are_all_held_and_nothing_more) {
  ledger.hold_anyway(attempt("g"), {seat("a", "n", taking(3))}, {});
  ledger.hold_anyway(attempt("h"), {seat("b", "n", taking(3))}, {});
  EXPECT_EQ(free_cpus(), -2);
  EXPECT_FALSE(hold("i", {"c"}, 1));
  release("h");
  EXPECT_EQ(free_cpus(), 1);
}

} // namespace
} // namespace tutti::shards
