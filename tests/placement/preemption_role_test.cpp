// Who may go for a gang is asked of mirror, shards and topology, and answered once.
#include "placement/preemption_role.hpp"

#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "tests/placement/topology_world.hpp"

namespace tutti::placement::testing {
namespace {

using base::reason_code;
using namespace std::chrono_literals;
using protocol::role_kind;
using protocol::to;

protocol::gang_ptr urgent(const std::string& uid, int members, std::int64_t gpus,
                          std::int32_t priority = 10) {
  auto out = std::make_shared<protocol::gang>(*gang_of(uid, members, gpus));
  out->priority = priority;
  return out;
}

/// A pod that runs on a node and takes GPUs.
protocol::offer_unit runs(const std::string& name, const std::string& node, std::int64_t gpus,
                          std::int32_t priority = 1) {
  protocol::offer_unit out;
  out.name = {"ns", name};
  out.gang = {"pod-" + name};
  out.priority = priority;
  auto& pod = out.pods.emplace_back();
  pod.pod = {"pod-" + name};
  pod.name = {"ns", name};
  pod.node = {"uid-" + node};
  pod.takes.amounts.cpu_milli = 1000;
  pod.takes.amounts.pods = 1;
  pod.takes.amounts.set(gpu_name, gpus);
  pod.grace_ms = 30'000;
  return out;
}

/// The coordinator beside a real topology; the test speaks for gangs, mirror and shards.
struct Preemption : ::testing::Test {
  topology_world world;
  std::optional<preemption_role> role;
  protocol::effects said;
  base::time_point now{};
  preemption_options how{.policy = victim_policy::upstream};

  void begin() {
    role.emplace(preemption_role::options{.how = how, .board = world.board, .shards = shards});
  }
  void SetUp() override { begin(); }

  void hear(const protocol::address& from, protocol::message what) {
    said = role->on(protocol::received{from, std::move(what)}, now);
  }
  template <class M>
  const M* find(std::optional<protocol::address> to = {}) const {
    for (const auto& e : said.list())
      if (const auto* s = std::get_if<protocol::send>(&e))
        if (const auto* m = std::get_if<M>(&s->what); m && (!to || *to == s->to))
          return m;
    return nullptr;
  }
  void asks(const protocol::gang_ptr& who, std::uint64_t try_no = 1) {
    hear(protocol::to_gang(who->uid),
         protocol::victims_wanted{attempt_of(who->uid.value, try_no), who, {}});
  }
  void offers(const std::string& gang, std::vector<protocol::offer_unit> units,
              std::uint64_t try_no = 1) {
    protocol::offers x;
    x.attempt = attempt_of(gang, try_no);
    x.units = std::move(units);
    hear(to(role_kind::mirror), x);
  }
  void names(const std::string& gang, std::uint32_t shard, std::vector<base::pod_uid> pods = {},
             std::uint64_t try_no = 1) {
    hear(protocol::to_shard({shard}),
         protocol::named_told{attempt_of(gang, try_no), {shard}, std::move(pods)});
  }
  /// What the role says to the topology and what that answers, until neither has more to say.
  void talk() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      const auto mine = said;
      for (const auto& e : mine.list()) {
        const auto* s = std::get_if<protocol::send>(&e);
        if (s == nullptr || s->to != to(role_kind::topology))
          continue;
        world.hear(to(role_kind::preemption), s->what);
        const auto theirs = world.said;
        for (const auto& answer : theirs.list())
          if (const auto* back = std::get_if<protocol::send>(&answer);
              back != nullptr && back->to == to(role_kind::preemption)) {
            hear(to(role_kind::topology), back->what);
            goes_on = true;
          }
      }
    }
  }
  /// A whole round, with the shards naming nobody.
  protocol::victims_answer round(const protocol::gang_ptr& who,
                                 std::vector<protocol::offer_unit> units,
                                 std::vector<base::pod_uid> named = {}, std::uint64_t try_no = 1) {
    asks(who, try_no);
    offers(who->uid.value, std::move(units), try_no);
    names(who->uid.value, 0, std::move(named), try_no);
    names(who->uid.value, 1, {}, try_no);
    talk();
    const auto* answer = find<protocol::victims_answer>(protocol::to_gang(who->uid));
    return answer ? *answer : protocol::victims_answer{};
  }
  static std::vector<std::string> victims_of(const protocol::victims_answer& x) {
    std::vector<std::string> out;
    if (x.placement)
      for (const auto& slice : x.placement->slices)
        for (const auto& v : slice.victims)
          out.push_back(v.pod_name.name);
    return out;
  }
};
using names_list = std::vector<std::string>;

TEST_F(Preemption, P3_who_may_not_preempt_is_refused_at_once) {
  auto meek = std::make_shared<protocol::gang>(*urgent("g", 1, 8));
  meek->never_preempts = true;
  asks(meek);
  const auto* answer = find<protocol::victims_answer>(protocol::to_gang({"g"}));
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->placement, nullptr);
  EXPECT_EQ(answer->refusal, reason_code::preemption_not_allowed);
  EXPECT_EQ(find<protocol::offers_wanted>(), nullptr);
}

TEST_F(Preemption, nobody_is_asked_where_the_operator_allows_no_eviction) {
  how.is_allowed = false;
  begin();
  asks(urgent("g", 1, 8));
  const auto* answer = find<protocol::victims_answer>();
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->refusal, reason_code::preemption_not_allowed);
}

TEST_F(Preemption, asks_the_mirror_who_runs_below_and_all_shards_whom_they_have_named) {
  asks(urgent("g", 1, 8, 50));
  const auto* wanted = find<protocol::offers_wanted>(to(role_kind::mirror));
  ASSERT_NE(wanted, nullptr);
  EXPECT_EQ(wanted->below, 50);
  offers("g", {runs("x", "a", 8)});
  EXPECT_NE(find<protocol::named_wanted>(protocol::to_shard({0})), nullptr);
  EXPECT_NE(find<protocol::named_wanted>(protocol::to_shard({1})), nullptr);
  asks(urgent("g", 1, 8, 50));
  EXPECT_TRUE(said.empty()) << "a second copy starts nothing";
}

TEST_F(Preemption, shards_are_not_asked_where_nobody_runs_who_could_go) {
  asks(urgent("g", 1, 8, 50));
  offers("g", {});
  EXPECT_EQ(find<protocol::named_wanted>(), nullptr);
  const auto* answer = find<protocol::victims_answer>(protocol::to_gang({"g"}));
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->refusal, reason_code::preemption_would_not_help);
  EXPECT_EQ(answer->why, base::explanation{}) << "most gangs that wait would say so";
}

TEST_F(Preemption, answers_with_members_and_victims_in_the_slices_of_their_shards) {
  const node_words a{.name = "a", .rack = rack_in(0), .gpus_used = 8, .facts_hash = 7};
  const node_words b{.name = "b", .rack = rack_in(1), .gpus_used = 8};
  world.cluster({a, b});
  const auto answer = round(urgent("g", 2, 8), {runs("x", "a", 8), runs("y", "b", 8)});
  ASSERT_NE(answer.placement, nullptr);
  ASSERT_EQ(answer.placement->slices.size(), 2u);
  const auto& first = answer.placement->slices[0];
  EXPECT_EQ(first.shard, base::shard_id{0});
  ASSERT_EQ(first.victims.size(), 1u);
  EXPECT_EQ(first.victims[0].pod, base::pod_uid{"pod-x"});
  EXPECT_EQ(first.victims[0].node, base::node_uid{"uid-a"});
  EXPECT_EQ(first.victims[0].priority, 1);
  EXPECT_EQ(first.victims[0].grace_ms, 30'000);
  EXPECT_EQ(first.quotes, (std::vector<protocol::node_quote>{{{"uid-a"}, 7}}));
  EXPECT_EQ(first.seats.size(), 1u);
  EXPECT_EQ(victims_of(answer), (names_list{"x", "y"}));
}

TEST_F(Preemption, whoever_need_not_go_stays) {
  world.cluster({{.name = "a", .gpus_used = 8}});
  EXPECT_EQ(victims_of(round(urgent("g", 1, 4), {runs("x", "a", 4, 1), runs("y", "a", 4, 2)})),
            (names_list{"x"}));
}

TEST_F(Preemption, the_room_of_another_plans_victim_is_offered_to_nobody) {
  world.cluster({{.name = "a", .gpus_used = 8}});
  const auto answer = round(urgent("g", 1, 8), {runs("x", "a", 8)}, {{"pod-x"}});
  EXPECT_EQ(answer.placement, nullptr);
  EXPECT_EQ(answer.refusal, reason_code::preemption_would_not_help);
}

TEST_F(Preemption, whom_an_answer_has_named_is_left_out_of_the_next) {
  world.cluster({{.name = "a", .gpus_used = 8}, {.name = "b", .gpus_used = 8}});
  const std::vector<protocol::offer_unit> all{runs("x", "a", 8), runs("y", "b", 8)};
  const auto one = victims_of(round(urgent("g", 1, 8), all));
  const auto other = victims_of(round(urgent("h", 1, 8), all));
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(other.size(), 1u) << "before any shard knew";
  EXPECT_NE(one, other);
  EXPECT_TRUE(victims_of(round(urgent("i", 1, 8), all)).empty());
  now += 1min;
  world.hear(protocol::to_gang({"g"}), protocol::plan_dropped{attempt_of("g")});
  EXPECT_EQ(victims_of(round(urgent("i", 1, 8), all, {}, 2)), one)
      << "by then the shards know better";
}

TEST_F(Preemption, a_new_attempt_of_the_gang_takes_its_own_victims_again) {
  world.cluster({{.name = "a", .gpus_used = 8}});
  ASSERT_EQ(victims_of(round(urgent("g", 1, 8), {runs("x", "a", 8)})), (names_list{"x"}));
  EXPECT_EQ(victims_of(round(urgent("g", 1, 8), {runs("x", "a", 8)}, {}, 2)), (names_list{"x"}));
}

TEST_F(Preemption, P4_who_fits_once_others_have_left_waits_for_them) {
  world.cluster({{.name = "a", .gpus_used = 8}, {.name = "b", .gpus_used = 8}});
  auto leaving = runs("x", "a", 8, 99);
  leaving.is_leaving = true;
  const auto answer = round(urgent("g", 1, 8), {leaving, runs("y", "b", 8)});
  EXPECT_EQ(answer.placement, nullptr);
  EXPECT_EQ(answer.refusal, reason_code::waiting_for_victims);
}

TEST_F(Preemption, says_why_it_would_not_help) {
  world.cluster({{.name = "a", .gpus_used = 8}});
  const auto answer = round(urgent("g", 2, 8), {runs("x", "a", 8)});
  EXPECT_EQ(answer.placement, nullptr);
  EXPECT_EQ(answer.refusal, reason_code::preemption_would_not_help);
  EXPECT_FALSE(answer.why.detail.empty());
}

TEST_F(Preemption, who_has_not_run_for_long_enough_is_let_alone) {
  how.min_runtime = 10min;
  begin();
  world.cluster({{.name = "a", .gpus_used = 8}});
  now += 5min;
  EXPECT_TRUE(victims_of(round(urgent("g", 1, 8), {runs("x", "a", 8)})).empty());
  now += 6min;
  EXPECT_EQ(victims_of(round(urgent("g", 1, 8), {runs("x", "a", 8)}, {}, 2)), (names_list{"x"}));
}

TEST_F(Preemption, a_silent_shard_ends_the_round_with_a_reason_that_passes) {
  asks(urgent("g", 1, 8));
  std::optional<protocol::arm> armed;
  for (const auto& e : said.list())
    if (const auto* x = std::get_if<protocol::arm>(&e))
      armed = *x;
  ASSERT_TRUE(armed);
  EXPECT_LE(armed->after, base::limits::prepare_timeout);
  offers("g", {runs("x", "a", 8)});
  names("g", 0);
  said = role->on(protocol::timer_fired{armed->timer}, now);
  const auto* answer = find<protocol::victims_answer>(protocol::to_gang({"g"}));
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->why.primary, reason_code::shard_unavailable);
  names("g", 1);
  EXPECT_TRUE(said.empty()) << "too late";
}

TEST_F(Preemption, a_view_of_pods_that_is_not_fresh_names_nobody) {
  asks(urgent("g", 1, 8));
  protocol::offers blind;
  blind.attempt = attempt_of("g");
  blind.is_complete = false;
  hear(to(role_kind::mirror), blind);
  const auto* answer = find<protocol::victims_answer>();
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->why.primary, reason_code::view_stale);
}

TEST_F(Preemption, offers_in_pieces_are_waited_for) {
  world.cluster({{.name = "a", .gpus_used = 8}});
  asks(urgent("g", 1, 8));
  protocol::offers piece;
  piece.attempt = attempt_of("g");
  piece.pieces = 2;
  hear(to(role_kind::mirror), piece);
  hear(to(role_kind::mirror), piece);
  EXPECT_TRUE(said.empty()) << "a copy is no second piece";
  piece.piece = 1;
  piece.units = {runs("x", "a", 8)};
  hear(to(role_kind::mirror), piece);
  names("g", 0);
  names("g", 1);
  talk();
  const auto* answer = find<protocol::victims_answer>();
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(victims_of(*answer), (names_list{"x"}));
}

TEST_F(Preemption, no_more_are_evicted_within_a_minute_than_the_operator_says) {
  how.evictions_per_minute = 1;
  begin();
  world.cluster({{.name = "a", .gpus_used = 8}, {.name = "b", .gpus_used = 8}});
  const std::vector<protocol::offer_unit> all{runs("x", "a", 8), runs("y", "b", 8)};
  ASSERT_EQ(victims_of(round(urgent("g", 1, 8), all)).size(), 1u);
  now += 10s;
  asks(urgent("h", 1, 8));
  std::optional<protocol::arm> armed;
  for (const auto& e : said.list())
    if (const auto* x = std::get_if<protocol::arm>(&e))
      armed = *x;
  ASSERT_TRUE(armed);
  EXPECT_EQ(armed->after, base::duration{50s});
  EXPECT_EQ(find<protocol::offers_wanted>(), nullptr);
  now += 50s;
  said = role->on(protocol::timer_fired{armed->timer}, now);
  EXPECT_NE(find<protocol::offers_wanted>(), nullptr);
}

TEST_F(Preemption, the_seats_of_the_answer_are_marked_for_others) {
  world.cluster({{.name = "a", .gpus_used = 4}});
  ASSERT_EQ(victims_of(round(urgent("g", 1, 8), {runs("x", "a", 4)})), (names_list{"x"}));
  EXPECT_FALSE(world.fits(gang_of("h", 1, 4))) << "free before, and taken by the plan";
}

} // namespace
} // namespace tutti::placement::testing
