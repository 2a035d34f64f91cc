// The language in which the stories of a shard are told: gangs, nodes, what was answered.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "protocol/sharding.hpp"
#include "tests/shards/host.hpp"

namespace tutti::shards {

using namespace std::chrono_literals;

/// Two nodes "n1" and "n2" of four CPUs; gangs ask for one or more seats of two each.
struct ShardStory : testing::Test {
  shard_world world;

  void SetUp() override { mirror_tells_all(); }

  // ---- the cluster
  void node(const std::string& name, std::int64_t cpu, const std::string& labels = {}) {
    world.tell(protocol::node_seen{words::facts(name, cpu, labels)});
  }
  void node_gone(const std::string& name) { world.tell(protocol::node_gone{words::node(name)}); }
  void runs(const std::string& pod, const std::string& where, std::int64_t cpu) {
    world.tell(protocol::pod_arrived{words::node(where), {pod}, words::taking(cpu)});
  }
  void leaves(const std::string& pod, const std::string& where) {
    world.tell(protocol::pod_left{words::node(where), {pod}});
  }
  void fresh(bool x, bool anew = false) { world.tell(protocol::view_trust{x, anew}); }
  void mirror_tells_all() {
    fresh(false, true);
    node("n1", 4);
    node("n2", 4);
    fresh(true);
    world.mail.clear();
  }

  // ---- slices
  struct place {
    std::string pod;
    std::string where;
    std::int64_t cpu = 2;
  };
  static std::shared_ptr<protocol::slice> slice(std::initializer_list<place> seats,
                                                std::initializer_list<place> victims = {}) {
    auto out = std::make_shared<protocol::slice>();
    for (const auto& s : seats)
      out->seats.push_back(words::seat(s.pod, s.where, words::taking(s.cpu)));
    for (const auto& v : victims)
      out->victims.push_back(words::victim(v.pod, v.where));
    return out;
  }
  static protocol::guard_use guard(const std::string& key, bool exclusive,
                                   protocol::guard_version seen = {}) {
    return {{"anti-affinity", "*", key}, exclusive, seen};
  }

  // ---- the coordinator
  std::int32_t gangs_priority = 1; ///< above that of the victims, who have none
  void prepare(const base::attempt_id& who, protocol::slice_ptr asked, std::uint64_t low_water = 0,
               bool fast = false) {
    world.tell(
        protocol::prepare{who, low_water, coordinator(who), std::move(asked), fast, gangs_priority},
        protocol::to_gang(who.gang));
  }
  void commit(const base::attempt_id& who, protocol::slice_ptr asked) {
    world.tell(protocol::commit{who, 0, coordinator(who), std::move(asked)},
               protocol::to_gang(who.gang));
  }
  void abort(const base::attempt_id& who, std::uint64_t low_water = 0) {
    world.tell(protocol::abort_attempt{who, low_water}, protocol::to_gang(who.gang));
  }
  void release(const base::attempt_id& who, std::vector<base::pod_uid> pods) {
    world.tell(protocol::release{who, std::move(pods)}, protocol::to_gang(who.gang));
  }
  void finish(const base::attempt_id& who) {
    world.tell(protocol::finish{who}, protocol::to_gang(who.gang));
  }
  void owner_says(const base::attempt_id& who, bool done) {
    world.tell(protocol::inquiry_answer{who, done}, protocol::to_partition(coordinator(who)));
  }
  static base::partition_id coordinator(const base::attempt_id& who) {
    return protocol::partition_of(who.gang);
  }

  /// The pods of the oldest question to the mirror that nobody has looked at.
  std::vector<std::string> awaited() {
    std::vector<std::string> out;
    if (const auto asked = world.take<protocol::pods_awaited>())
      for (const auto& x : asked->pods)
        out.push_back(x.pod.value);
    return out;
  }
  using names = std::vector<std::string>;

  /// True for a yes, false for a no; fails the test if there is no vote.
  bool voted_yes() {
    auto v = world.take<protocol::vote>();
    EXPECT_TRUE(v.has_value()) << "no vote";
    if (v)
      last = *v;
    return v && v->yes;
  }
  bool acked() {
    auto a = world.take<protocol::ack>();
    EXPECT_TRUE(a.has_value()) << "no ack";
    if (a)
      last_ack = *a;
    return a && !a->refused;
  }
  bool promised(const base::attempt_id& who, protocol::slice_ptr asked) {
    prepare(who, std::move(asked));
    return voted_yes();
  }
  bool committed(const base::attempt_id& who, const protocol::slice_ptr& asked) {
    if (!promised(who, asked))
      return false;
    commit(who, asked);
    return acked();
  }
  reservation_state state(const base::attempt_id& who) {
    const auto* r = world.shard().reservations().find(who);
    return r == nullptr ? reservation_state::absent : r->state;
  }

  /// Kill at the fault point `id` while `what` is done, then a restart on the same disk.
  template <class What>
  void crash_at(const std::string& id, What what, bool keep_tail = true) {
    world.crash_at = id;
    what();
    EXPECT_TRUE(world.has_crashed) << "never passed " << id;
    world.crash(keep_tail);
    world.restart();
  }

  protocol::vote last;
  protocol::ack last_ack;
  const base::attempt_id g = words::attempt("g");
  const base::attempt_id h = words::attempt("h");
  const protocol::slice_ptr g_asks = slice({{"a", "n1"}, {"b", "n2"}});
};

} // namespace tutti::shards
