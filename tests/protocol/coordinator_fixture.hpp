// One coordinator alone, and the words in which its stories are told.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/decision_rules.hpp"
#include "protocol/gang_role.hpp"

namespace tutti::protocol {

using namespace std::chrono_literals;

/// A gang "ns/g" of members p0, p1, … whose plan puts member i on node n<i>, one node per shard by
/// default. What the role asks for piles up in `out`; the test answers for everyone else.
struct coordinator : testing::Test {
  std::unique_ptr<gang_role> role = std::make_unique<gang_role>(gang_role::options{});
  std::deque<effect> out;
  base::time_point now{1s};
  base::attempt_id attempt{{"g-uid"}, 1, {7}, 1};
  std::uint32_t min_count = 2;
  std::vector<std::string> pods{"p0", "p1"};
  std::map<std::string, std::uint32_t> shard_of_pod; // default: its own number
  std::vector<victim> victims;                       // in the slice of shard 9, without members
  decision_ptr durable;                              // what the log holds

  // ---- facts
  gang_ptr facts(std::set<std::string> bound = {}, std::set<std::string> gone = {}) const {
    auto g = std::make_shared<gang>();
    g->uid = attempt.gang;
    g->name = {"ns", "g"};
    g->groups = {{"g", "g-uid", min_count, ""}};
    for (const auto& p : pods)
      if (!gone.contains(p))
        g->members.push_back({.uid = {p + "-uid"},
                              .name = p,
                              .kind = std::make_shared<shape>(),
                              .node = {bound.contains(p) ? "node-of-" + p : ""},
                              .resource_version = "1"});
    return g;
  }
  plan_ptr placement(std::set<std::string> without = {}) const {
    std::map<std::uint32_t, slice> slices;
    std::uint32_t number = 0;
    for (const auto& p : pods) {
      auto pos = shard_of_pod.find(p);
      const auto shard = pos == shard_of_pod.end() ? number : pos->second;
      ++number;
      if (without.contains(p))
        continue;
      auto& s = slices[shard];
      s.shard = {shard};
      s.seats.push_back({.pod = {p + "-uid"},
                         .pod_name = p,
                         .node = {"node-uid-of-" + p},
                         .node_name = {"node-of-" + p}});
    }
    if (!victims.empty()) {
      slices[9].shard = {9};
      slices[9].victims = victims;
    }
    auto made = std::make_shared<plan>();
    for (auto& [shard, s] : slices)
      made->slices.push_back(s);
    return made;
  }

  // ---- the role and its shell
  void give(event e) {
    auto asked = role->on(e, now);
    for (auto& x : asked.list())
      out.push_back(std::move(x));
  }
  void hear(message m) { give(received{{}, std::move(m)}); }
  /// Takes all effects out; those of type E in order.
  template <class E>
  std::vector<E> take() {
    std::vector<E> found;
    for (auto& e : out)
      if (auto* x = std::get_if<E>(&e))
        found.push_back(*x);
    return found;
  }
  /// Messages of type M that the role has sent since the last `quiet()`, with their addressees.
  template <class M>
  std::vector<std::pair<address, M>> sent() {
    std::vector<std::pair<address, M>> found;
    for (auto& s : take<send>())
      if (auto* m = std::get_if<M>(&s.what))
        found.emplace_back(s.to, *m);
    return found;
  }
  void quiet() { out.clear(); }
  bool passed(std::string_view fault_id) {
    for (auto& f : take<fault>())
      if (f.id == fault_id)
        return true;
    return false;
  }
  void time_passes(base::duration d, std::uint32_t timer_kind) {
    now += d;
    give(timer_fired{{timer_kind, 0}});
  }
  void resend_is_due() { time_passes(200ms, 0); }
  void deadline_passes(base::duration d) { time_passes(d, 1); }

  // ---- the story so far
  void begins(std::uint32_t tries = 0) { hear(begin_attempt{attempt, 1, {3}, facts(), tries}); }
  void is_planned() {
    begins();
    hear(plan_answer{attempt, placement(), {}});
  }
  void votes(std::uint32_t shard, bool yes = true) {
    hear(vote{
        .attempt = attempt, .shard = {shard}, .shard_epoch = {1}, .incarnation = {5}, .yes = yes});
  }
  void all_vote_yes() {
    const auto planned = placement();
    for (const auto& s : planned->slices)
      votes(s.shard.value);
  }
  void last_look_sees(gang_ptr seen) { hear(last_look_answer{attempt, std::move(seen)}); }
  void is_deciding() {
    is_planned();
    all_vote_yes();
    last_look_sees(facts());
  }
  void store_decides() {
    auto asked = take<decide>();
    ASSERT_EQ(asked.size(), 1u);
    durable = std::make_shared<decision>(asked.front().what);
    give(decided{asked.front().slot, durable});
  }
  void is_committed() {
    is_deciding();
    store_decides();
  }
  void acks(std::uint32_t shard, bool refused = false, std::uint64_t epoch = 1) {
    hear(ack{.attempt = attempt, .shard = {shard}, .shard_epoch = {epoch}, .refused = refused});
  }
  void all_ack() {
    const auto planned = placement();
    for (const auto& s : planned->slices)
      acks(s.shard.value);
  }
  void nodes_give_leave() {
    for (auto& [to, m] : sent<may_bind>())
      hear(may_bind_answer{m.attempt, m.node, m.pods, {}, false});
  }
  void is_binding() {
    is_committed();
    all_ack();
    nodes_give_leave();
  }
  void binds(const std::string& pod, bind_verdict v = bind_verdict::bound, std::string rv = "2") {
    hear(bind_answer{attempt,
                     {pod + "-uid"},
                     v,
                     std::move(rv),
                     {v == bind_verdict::bound ? "node-of-" + pod : ""}});
  }
  void reads(const std::string& pod, pod_state state, std::string node = {}, bool touched = false) {
    hear(pod_read{attempt, {pod + "-uid"}, state, touched, "3", {std::move(node)}});
  }
  void touched(const std::string& pod, pod_state state = pod_state::pending,
               std::string node = {}) {
    reads(pod, state, std::move(node), true);
  }
  /// The store makes the last amendment durable.
  void store_amends() {
    auto asked = take<amend>();
    ASSERT_FALSE(asked.empty());
    auto became = amend_decision(*durable, asked.back().what);
    ASSERT_FALSE(became.is_refused);
    durable = std::make_shared<decision>(std::move(became.now));
    quiet();
    give(amended{asked.back().slot, durable});
  }
  void releases_are_acked() {
    for (auto& [to, m] : sent<release>())
      hear(released{m.attempt, {to.index}, m.pods});
  }
  /// The process dies; another one rolls forward what the log holds.
  void restarts(std::uint64_t epoch = 8) {
    ASSERT_NE(durable, nullptr) << "nothing was decided: there is nothing to resume";
    role = std::make_unique<gang_role>(gang_role::options{});
    quiet();
    hear(resume_decision{durable, {epoch}, {3}, 1});
  }
  std::optional<attempt_over> ended() {
    auto over = sent<attempt_over>();
    if (over.empty())
      return std::nullopt;
    return over.front().second;
  }
  std::vector<std::string> bound_by_us() {
    std::vector<std::string> names;
    for (auto& [to, m] : sent<bind>())
      names.push_back(m.pod.name);
    return names;
  }
};

} // namespace tutti::protocol
