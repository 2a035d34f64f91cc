// Ordered writes that a member needs before its Binding: part of the plan and of the record, handed
// on with every `bind`, whoever sends it.
#include "protocol/records_codec.hpp"
#include "tests/protocol/coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

/// Member p0 needs two writes, in this order; p1 needs none.
struct before_bind : coordinator {
  const std::vector<before_bind_write> writes{
      {"PATCH", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status",
       "application/merge-patch+json", R"({"status":{"allocation":{}}})"},
      {"PUT", "/api/v1/namespaces/ns/persistentvolumeclaims/v", "application/json",
       R"({"metadata":{"annotations":{"selected-node":"node-of-p0"}}})"}};

  plan_ptr placement_with_writes() const {
    auto made = std::make_shared<plan>(*placement());
    for (auto& s : made->slices)
      for (auto& where : s.seats)
        if (where.pod_name == "p0")
          where.before_bind = writes;
    return made;
  }
  void is_committed_with_writes() {
    begins();
    hear(plan_answer{attempt, placement_with_writes(), {}});
    all_vote_yes();
    last_look_sees(facts());
    store_decides();
  }
  /// What the Bindings that were asked for since the last look carry, by name of the pod.
  std::map<std::string, std::vector<before_bind_write>> carried() {
    std::map<std::string, std::vector<before_bind_write>> found;
    for (auto& [to, m] : sent<bind>())
      found[m.pod.name] = m.before;
    return found;
  }
  void expect_handed_on() {
    const auto found = carried();
    ASSERT_TRUE(found.contains("p0"));
    EXPECT_EQ(found.at("p0"), writes);
    ASSERT_TRUE(found.contains("p1"));
    EXPECT_TRUE(found.at("p1").empty());
  }
};

TEST_F(before_bind, writes_are_asked_of_the_shard_and_decided_with_the_seat) {
  begins();
  hear(plan_answer{attempt, placement_with_writes(), {}});
  std::size_t asked = 0;
  for (auto& [to, m] : sent<prepare>())
    for (const auto& s : m.asked->seats)
      asked += s.before_bind.size();
  EXPECT_EQ(asked, writes.size());
  all_vote_yes();
  last_look_sees(facts());
  store_decides();
  EXPECT_EQ(durable->chosen, *placement_with_writes());
}

TEST_F(before_bind, writes_are_handed_on_with_the_binding_of_their_member_in_order) {
  is_committed_with_writes();
  EXPECT_TRUE(sent<bind>().empty()) << "nothing is written before the acks and the nodes' leave";
  all_ack();
  EXPECT_TRUE(sent<bind>().empty());
  nodes_give_leave();
  expect_handed_on();
}

TEST_F(before_bind, writes_are_handed_on_again_when_the_binder_may_have_died) {
  is_committed_with_writes();
  all_ack();
  nodes_give_leave();
  quiet();
  for (int i = 0; i < 8 && carried().size() < 2; ++i) {
    quiet();
    resend_is_due();
  }
  expect_handed_on();
}

TEST_F(before_bind, writes_are_handed_on_again_when_the_pod_was_edited_meanwhile) {
  is_committed_with_writes();
  all_ack();
  nodes_give_leave();
  quiet();
  binds("p0", bind_verdict::moved, "17");
  nodes_give_leave();
  EXPECT_EQ(carried().at("p0"), writes);
}

TEST_F(before_bind, writes_are_handed_on_by_whoever_resumes_the_decision_as_the_record_has_them) {
  is_committed_with_writes();
  auto kept = decode_decision(encode(*durable));
  ASSERT_TRUE(kept) << kept.error().message();
  durable = std::make_shared<decision>(std::move(*kept));
  restarts();
  reads("p0", pod_state::pending);
  reads("p1", pod_state::pending);
  all_ack();
  nodes_give_leave();
  expect_handed_on();
}

} // namespace
} // namespace tutti::protocol
