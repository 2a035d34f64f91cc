// The judge itself: what it keeps up with, what it counts anew, and that each look can fail.
#include <functional>
#include <memory>
#include <optional>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "chaos/checker.hpp"
#include "chaos/nemesis.hpp"
#include "chaos/patience.hpp"
#include "chaos/rivalry.hpp"
#include "chaos/room_book.hpp"
#include "persistence/format.hpp"
#include "protocol/records_codec.hpp"
#include "shards/shard_role.hpp"
#include "sim/world/world.hpp"

namespace tutti::chaos {
namespace {

using namespace std::chrono_literals;

base::resources cpu(std::int64_t milli) {
  base::resources out;
  out.cpu_milli = milli;
  out.pods = 1;
  return out;
}

pod_truth pod(const std::string& uid, const std::string& node) {
  pod_truth out;
  out.uid = out.name = uid;
  out.node = node;
  out.takes.amounts = cpu(100);
  return out;
}

protocol::seat seat(const std::string& pod_uid, const std::string& node) {
  protocol::seat out;
  out.pod = {pod_uid};
  out.node = {node + "-uid"};
  out.node_name = {node};
  out.takes.amounts = cpu(100);
  return out;
}

const base::slot_id first{{"gang-a"}, 1};
const base::slot_id second{{"gang-b"}, 1};

// ---------------------------------------------------------------- sums

TEST(RoomBook, a_pod_counts_once_whatever_number_of_plans_hold_it) {
  room_book x;
  const auto p = pod("p", "");
  x.pod_changed(nullptr, &p);
  x.hold(first, seat("p", "n"));
  x.hold(second, seat("p", "n"));
  EXPECT_EQ(x.promised("n-uid"), cpu(100));
  x.let_go(first);
  EXPECT_EQ(x.promised("n-uid"), cpu(100));
  x.let_go(second, {"p"});
  EXPECT_EQ(x.promised("n-uid"), base::resources{});
}

TEST(RoomBook, a_promised_pod_that_is_bound_is_here_and_not_promised) {
  room_book x;
  const auto before = pod("p", "");
  const auto now = pod("p", "n");
  x.hold(first, seat("p", "n"));
  EXPECT_EQ(x.promised("n-uid"), base::resources{}) << "nobody knows of such a pod yet";
  x.pod_changed(nullptr, &before);
  EXPECT_EQ(x.promised("n-uid"), cpu(100));
  x.pod_changed(&before, &now);
  EXPECT_EQ(x.promised("n-uid"), base::resources{});
  EXPECT_EQ(x.here("n"), cpu(100));
  x.pod_changed(&now, nullptr);
  EXPECT_EQ(x.here("n"), base::resources{});
}

TEST(RoomBook, two_books_differ_in_the_first_sum_that_is_not_the_same) {
  room_book kept;
  room_book made;
  const auto p = pod("p", "n");
  kept.pod_changed(nullptr, &p);
  EXPECT_NE(kept.difference(made).find("node n has taken"), std::string::npos);
  made.pod_changed(nullptr, &p);
  EXPECT_EQ(kept.difference(made), "");
  const auto q = pod("q", "");
  for (auto* book : {&kept, &made})
    book->pod_changed(nullptr, &q);
  made.hold(first, seat("q", "n"));
  EXPECT_NE(kept.difference(made).find("node n-uid has promised"), std::string::npos);
}

// ---------------------------------------------------------------- patience

base::time_point at(base::duration x) {
  return base::time_point{} + x;
}

TEST(Patience, ends_for_what_was_found_in_every_look_of_a_calm_while) {
  patience x;
  for (auto t = 0s; t < 30s; t += 5s) {
    x.begin(at(t), at(0s));
    EXPECT_FALSE(x.is_over("S13", "gang a", 30s)) << t.count();
    x.end();
  }
  x.begin(at(30s), at(0s));
  EXPECT_TRUE(x.is_over("S13", "gang a", 30s));
  EXPECT_FALSE(x.is_over("S13", "gang b", 30s));
}

TEST(Patience, begins_anew_when_a_look_found_nothing_or_something_has_failed) {
  patience x;
  for (auto t = 0s; t <= 60s; t += 5s) {
    x.begin(at(t), at(0s));
    if (t != 30s) {
      EXPECT_FALSE(x.is_over("S13", "not found at thirty", 35s)) << t.count();
    }
    x.end();
  }
  patience y;
  for (auto t = 0s; t <= 60s; t += 5s) {
    y.begin(at(t), at(40s));
    EXPECT_FALSE(y.is_over("S13", "all the time", 30s)) << t.count();
    y.end();
  }
}

// ---------------------------------------------------------------- rivals

TEST(Rivalry, goes_on_for_ever_where_two_refuse_each_other_and_nobody_is_decided) {
  rivalry x;
  std::uint64_t rounds = 0;
  for (int n = 0; n < 20; ++n)
    rounds = std::max(x.lost("a", "b"), x.lost("b", "a"));
  EXPECT_TRUE(x.is_endless(rounds));
  x.decided();
  EXPECT_FALSE(x.is_endless(x.lost("a", "b")));
}

TEST(Rivalry, does_not_count_whoever_waits_for_one_that_stands_still) {
  rivalry x;
  std::uint64_t rounds = 0;
  for (int n = 0; n < 100; ++n)
    rounds = std::max(rounds, x.lost("a", "in doubt"));
  EXPECT_FALSE(x.is_endless(rounds));
}

TEST(Rivalry, sees_three_that_go_round_in_a_ring) {
  rivalry x;
  std::uint64_t rounds = 0;
  for (int n = 0; n < 20; ++n)
    for (const auto& [loser, holder] : {std::pair{"a", "b"}, {"b", "c"}, {"c", "a"}})
      rounds = std::max(rounds, x.lost(loser, holder));
  EXPECT_TRUE(x.is_endless(rounds));
}

// ---------------------------------------------------------------- a world that is doctored

using protocol::role_kind;

/// Two gangs of two and, if wanted, nodes with room for both.
schedule two_gangs(bool has_room, std::uint32_t replicas = 1) {
  schedule out;
  out.replicas = replicas;
  out.log_is_objects = replicas > 1;
  out.fast_path = false;
  out.faults_until = 1s;
  out.until = 1h;
  if (has_room)
    for (const char* name : {"n0", "n1"})
      out.actions.push_back({0s, "node", name, {{"cpu", "8"}, {"rack", "r0"}}});
  for (const char* name : {"g0", "g1"})
    out.actions.push_back({10s, "gang", name, {{"members", "2"}, {"min", "2"}, {"cpu", "3"}}});
  return out;
}

/// The same, and one node with room for one of their four pods.
schedule one_seat(std::uint32_t replicas = 1) {
  auto out = two_gangs(false, replicas);
  out.actions.insert(out.actions.begin(), {0s, "node", "n0", {{"cpu", "4"}, {"rack", "r0"}}});
  return out;
}

struct judged_world {
  explicit judged_world(schedule x, checker::options how = {})
      : what(std::move(x)), on(world_of(what)), judge(on, std::move(how)), does(on, what) {
    on.add(judge);
    on.add(does);
    on.start();
  }
  /// True if a promise broke until then.
  bool runs_until(base::duration end) {
    return on.run_until(at(end), [&] {
      judge.look_around();
      return judge.broken().has_value();
    });
  }
  bool runs_while(const std::function<bool()>& is_so) {
    return on.run_until(at(1h), [&] { return !is_so(); });
  }
  base::gang_uid uid(const std::string& name) const {
    return {judge.real().groups().at("default/" + name).uid};
  }
  /// Roles of this kind hear nothing more from now on.
  void hold_still(role_kind kind, std::size_t event = std::variant_npos) {
    for (std::size_t n = 0; n < on.processes(); ++n)
      on.at(n).stops_where([kind, event](const auto& where, const auto& e) {
        return where.kind == kind && (event == std::variant_npos || e.index() == event);
      });
  }
  const shards::shard_role* shard(std::uint32_t n) {
    return dynamic_cast<const shards::shard_role*>(on.at(0).role(protocol::to_shard({n})));
  }
  /// A shard that holds something in doubt, and what.
  std::optional<std::pair<std::uint32_t, base::attempt_id>> in_doubt() {
    for (std::uint32_t s = 0; s < what.shards; ++s)
      if (const auto* role = shard(s))
        for (const auto& [attempt, r] : role->reservations().all())
          if (r.is_in_doubt())
            return std::pair{s, attempt};
    return std::nullopt;
  }
  void hear(const protocol::address& where, protocol::message what_it_hears) {
    judge.stepped(on.at(0), where,
                  protocol::received{protocol::to(role_kind::mirror), std::move(what_it_hears)},
                  {});
  }

  const schedule what;
  sim::world on;
  checker judge;
  nemesis does;
};

std::string broken_in(const judged_world& x) {
  return x.judge.broken() ? x.judge.broken()->id : "nothing";
}

base::attempt_id attempt(const base::gang_uid& gang, std::uint64_t try_no) {
  base::attempt_id out;
  out.gang = gang;
  out.ordinal = 1;
  out.epoch = {1};
  out.try_no = try_no;
  return out;
}

TEST(Judge, finds_nothing_in_a_world_in_which_nothing_is_wrong) {
  judged_world in{two_gangs(true), {.errors_are_explained = false}};
  EXPECT_FALSE(in.runs_until(5min)) << to_text(*in.judge.broken());
  in.judge.audit();
  EXPECT_EQ(broken_in(in), "nothing") << to_text(*in.judge.broken());
  EXPECT_GT(in.judge.looks().at("E1"), 0u);
}

TEST(Judge, E1_an_error_that_a_role_notes_though_nothing_fails) {
  protocol::effects wanted;
  wanted.add(protocol::note{.what = "a pod of no gang", .is_error = true});
  for (const bool is_explained : {true, false}) {
    judged_world in{two_gangs(true), {.errors_are_explained = is_explained}};
    in.judge.stepped(in.on.at(0), protocol::to(role_kind::queue), protocol::timer_fired{}, wanted);
    EXPECT_EQ(broken_in(in), is_explained ? "nothing" : "E1");
  }
}

// ---- counted anew

TEST(Judge, J1_sums_that_were_not_kept_up) {
  judged_world in{two_gangs(true)};
  ASSERT_FALSE(in.runs_until(20s));
  const auto ghost = pod("ghost", "n0");
  in.judge.kept_sums().pod_changed(nullptr, &ghost);
  in.judge.audit();
  EXPECT_EQ(broken_in(in), "J1");
}

TEST(Judge, counts_anew_during_a_run) {
  judged_world in{two_gangs(true)};
  ASSERT_FALSE(in.runs_until(20s));
  const auto ghost = pod("ghost", "n0");
  in.judge.kept_sums().pod_changed(nullptr, &ghost);
  EXPECT_TRUE(in.runs_until(1h));
  EXPECT_EQ(broken_in(in), "J1");
}

TEST(Judge, S3_a_pod_that_was_bound_and_not_decided) {
  judged_world in{one_seat()};
  ASSERT_FALSE(in.runs_until(20s));
  protocol::http_request bind;
  bind.method = "POST";
  bind.target = "/api/v1/namespaces/default/pods/g0-0/binding";
  bind.content_type = "application/json";
  bind.body = R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"g0-0"},)"
              R"("target":{"kind":"Node","name":"n0"}})";
  ASSERT_LT(in.on.api().ask(bind).status, 300);
  in.judge.api_turned();
  in.judge.audit();
  EXPECT_EQ(broken_in(in), "S3") << to_text(*in.judge.broken());
}

TEST(Judge, S10_room_that_is_held_for_an_attempt_that_its_shard_was_told_is_given_up) {
  judged_world in{two_gangs(true)};
  in.runs_while([&] { return !in.in_doubt(); });
  const auto found = in.in_doubt();
  ASSERT_TRUE(found);
  in.hear(protocol::to_shard({found->first}), protocol::abort_attempt{found->second, 0});
  in.judge.audit();
  EXPECT_EQ(broken_in(in), "S10") << to_text(*in.judge.broken());
}

TEST(Judge, S12_a_view_that_is_taken_for_fresh_against_what_the_shard_was_told) {
  judged_world in{two_gangs(true)};
  ASSERT_FALSE(in.runs_until(20s));
  ASSERT_TRUE(in.shard(0)->nodes().is_fresh());
  protocol::view_trust trust;
  trust.fresh = false;
  in.hear(protocol::to_shard({0}), trust);
  in.judge.audit();
  EXPECT_EQ(broken_in(in), "S12");
}

protocol::decision decided_for(const base::gang_uid& gang, std::int32_t priority) {
  protocol::decision out;
  out.by = attempt(gang, 1);
  out.what = protocol::verdict::committed;
  out.gang_name = {"default", gang.value};
  out.priority = priority;
  protocol::slice part;
  protocol::victim goes;
  goes.pod = {"victim"};
  goes.pod_name = {"default", "victim"};
  goes.priority = 5;
  part.victims.push_back(goes);
  out.chosen.slices.push_back(part);
  return out;
}

/// As a store makes it durable.
persistence::batch batch_of(const protocol::decision& x) {
  const auto key = persistence::decision_key(base::slot_of(x.by));
  const auto bytes = protocol::encode(x);
  const persistence::frame framed{x.by.ordinal, {}, 0, bytes};
  persistence::batch out;
  out.puts.push_back({persistence::family::decisions, key,
                      persistence::make_frame(persistence::family::decisions, key, framed)});
  return out;
}

TEST(Judge, S2_a_decision_that_the_log_has_lost) {
  judged_world in{two_gangs(true)};
  ASSERT_FALSE(in.runs_until(20s));
  in.judge.durable(in.on.at(0), batch_of(decided_for({"gone"}, 9)));
  ASSERT_FALSE(in.judge.broken()) << to_text(*in.judge.broken());
  in.judge.audit();
  EXPECT_EQ(broken_in(in), "S2");
}

TEST(Judge, S9_a_victim_that_is_not_of_lower_priority) {
  judged_world in{two_gangs(false)};
  in.judge.durable(in.on.at(0), batch_of(decided_for({"high"}, 5)));
  EXPECT_EQ(broken_in(in), "S9");
}

TEST(Judge, S9_a_victim_of_two_plans) {
  judged_world in{two_gangs(false)};
  in.judge.durable(in.on.at(0), batch_of(decided_for({"one"}, 9)));
  EXPECT_EQ(broken_in(in), "nothing");
  in.judge.durable(in.on.at(0), batch_of(decided_for({"other"}, 9)));
  EXPECT_EQ(broken_in(in), "S9");
}

TEST(Judge, S8_a_partition_map_whose_epochs_fall) {
  judged_world in{two_gangs(true, 3)};
  ASSERT_FALSE(in.runs_until(60s)) << to_text(*in.judge.broken());
  const auto& maps = in.on.api().plane().objects().all(sim::api_server::kind_id::partition_maps);
  ASSERT_EQ(maps.size(), 1u);
  const std::string name{maps.begin()->first};
  auto spec = boost::json::parse(maps.begin()->second->body).as_object()["spec"].as_object();
  for (const int epoch : {900, 800}) {
    EXPECT_EQ(broken_in(in), "nothing") << to_text(*in.judge.broken());
    spec["shards"].as_array()[0].as_object()["epoch"] = epoch;
    protocol::http_request patch;
    patch.method = "PATCH";
    patch.target = "/apis/tutti.dev/v1alpha1/partitionmaps/" + name;
    patch.content_type = "application/merge-patch+json";
    patch.body = boost::json::serialize(boost::json::object{{"spec", spec}});
    ASSERT_LT(in.on.api().ask(patch).status, 300);
    in.judge.api_turned();
  }
  EXPECT_EQ(broken_in(in), "S8");
}

// ---- what the present owner of a shard knows (S1a with several replicas)

/// One node with room for one of two pods; shard 0 is begun, promises and acks as a test says.
struct one_seat_for_two : judged_world {
  one_seat_for_two() : judged_world(one_seat(3)) {
    EXPECT_FALSE(runs_until(40s)) << to_text(*judge.broken());
  }
  protocol::decision_ptr plan_of(const std::string& gang) const {
    auto out = std::make_shared<protocol::decision>();
    out->by = attempt(uid(gang), 100);
    out->what = protocol::verdict::committed;
    out->gang_name = {"default", gang};
    protocol::seat s;
    for (const auto& [pod_uid, there] : judge.real().pods())
      if (there.name == "default/" + gang + "-0") {
        s.pod = {pod_uid};
        s.takes = there.takes;
      }
    s.pod_name = gang + "-0";
    s.node_name = {"n0"};
    s.node = {judge.real().nodes().at("n0").uid};
    out->chosen.slices.push_back({});
    out->chosen.slices.back().seats.push_back(s);
    return out;
  }
  void shard_begins(std::size_t process, std::vector<protocol::decision_ptr> open) {
    protocol::started x;
    x.is_takeover = true;
    x.open = std::move(open);
    judge.stepped(on.at(process), protocol::to_shard({0}), x, {});
    protocol::view_trust fresh;
    fresh.fresh = true;
    judge.stepped(on.at(process), protocol::to_shard({0}),
                  protocol::received{protocol::to(role_kind::mirror), fresh}, {});
  }
  template <class M>
  void shard_says(std::size_t process, M what_it_says) {
    protocol::effects out;
    out.tell(protocol::to_gang(what_it_says.attempt.gang), std::move(what_it_says));
    judge.stepped(on.at(process), protocol::to_shard({0}), protocol::timer_fired{}, out);
  }
  void votes_yes(std::size_t process, const protocol::decision& x) {
    protocol::vote yes;
    yes.attempt = x.by;
    yes.yes = true;
    shard_says(process, yes);
  }
  void acks(std::size_t process, const protocol::decision& x) {
    shard_says(process, protocol::ack{x.by, {0}, {}, false, {}});
  }
  void is_decided(const protocol::decision& x) { judge.durable(on.at(0), batch_of(x)); }
};

TEST(JudgeOfReplicas, S1a_an_owner_promises_what_it_has_promised) {
  one_seat_for_two in;
  const auto a = in.plan_of("g0");
  const auto b = in.plan_of("g1");
  in.shard_begins(0, {});
  in.votes_yes(0, *a);
  in.is_decided(*a);
  ASSERT_EQ(broken_in(in), "nothing") << to_text(*in.judge.broken());
  in.votes_yes(0, *b);
  in.is_decided(*b);
  EXPECT_EQ(broken_in(in), "S1a");
}

TEST(JudgeOfReplicas, S1a_an_owner_promises_what_stands_in_a_decision_that_it_has_listed) {
  one_seat_for_two in;
  const auto a = in.plan_of("g0");
  const auto b = in.plan_of("g1");
  in.shard_begins(1, {});
  in.votes_yes(1, *a);
  in.is_decided(*a);
  in.shard_begins(0, {a});
  in.votes_yes(0, *b);
  in.is_decided(*b);
  EXPECT_EQ(broken_in(in), "S1a");
}

TEST(JudgeOfReplicas,
     P11_a_former_owners_yes_that_is_decided_late_may_collide_until_both_are_acked) {
  one_seat_for_two in;
  const auto a = in.plan_of("g0");
  const auto b = in.plan_of("g1");
  in.shard_begins(1, {});
  in.votes_yes(1, *a);
  in.shard_begins(0, {});
  in.votes_yes(0, *b);
  in.is_decided(*b);
  in.is_decided(*a);
  in.acks(0, *b);
  EXPECT_EQ(broken_in(in), "nothing") << to_text(*in.judge.broken());
  in.acks(0, *a);
  EXPECT_EQ(broken_in(in), "S1a");
}

// ---- at rest

TEST(Judge, S13_a_queue_that_has_not_heard_of_a_gang_for_long) {
  judged_world in{two_gangs(false)};
  in.hold_still(role_kind::queue);
  EXPECT_TRUE(in.runs_until(5min));
  EXPECT_EQ(broken_in(in), "S13");
}

TEST(Judge, L4_a_topology_that_does_not_know_a_node) {
  auto what = two_gangs(false);
  what.actions.push_back({11s, "node", "n0", {{"cpu", "1"}, {"rack", "r0"}}});
  judged_world in{what};
  in.runs_while([&] { return in.on.time().now() < at(5s); });
  in.hold_still(role_kind::topology);
  EXPECT_TRUE(in.runs_until(5min));
  EXPECT_EQ(broken_in(in), "L4");
}

TEST(Judge, L2_room_that_stays_in_doubt) {
  judged_world in{two_gangs(true)};
  in.runs_while([&] { return !in.in_doubt(); });
  in.hold_still(role_kind::partition);
  in.on.at(0).stops_where([](const auto& where, const auto&) {
    return where.kind == role_kind::gang || where.kind == role_kind::partition;
  });
  EXPECT_TRUE(in.runs_until(5min));
  EXPECT_EQ(broken_in(in), "L2");
  EXPECT_LT(in.judge.broken()->at, at(90s));
}

TEST(Judge, S10_room_that_is_held_for_a_decision_that_is_done) {
  judged_world in{two_gangs(true)};
  in.on.at(0).stops_where([](const auto& where, const auto& e) {
    const auto* r = std::get_if<protocol::received>(&e);
    return where.kind == role_kind::shard && r != nullptr
           && std::holds_alternative<protocol::finish>(r->what);
  });
  EXPECT_TRUE(in.runs_until(10min));
  EXPECT_EQ(broken_in(in), "S10");
}

/// What a coordinator does that is refused for a rival's hold.
void refuse(judged_world& in, const base::attempt_id& who, const base::attempt_id& holder) {
  protocol::vote no;
  no.attempt = who;
  no.holders = {holder};
  protocol::effects gives_up;
  gives_up.tell(protocol::to(role_kind::queue),
                protocol::attempt_over{who, protocol::attempt_outcome::conflict, {}, {}, 0});
  in.judge.stepped(in.on.at(0), protocol::to_gang(who.gang),
                   protocol::received{protocol::to_shard({0}), no}, gives_up);
}

void refuse_each_other(judged_world& in) {
  for (std::uint64_t n = 1; n < 40; ++n) {
    refuse(in, attempt(in.uid("g0"), n), attempt(in.uid("g1"), n));
    refuse(in, attempt(in.uid("g1"), n), attempt(in.uid("g0"), n));
  }
}

TEST(Judge, L3_gangs_that_refuse_each_other_without_end_while_one_fits) {
  judged_world in{two_gangs(true)};
  in.hold_still(role_kind::queue);
  ASSERT_FALSE(in.runs_until(11s));
  refuse_each_other(in);
  EXPECT_EQ(broken_in(in), "L3");
}

TEST(Judge, L3_does_not_speak_of_gangs_that_do_not_fit) {
  judged_world in{two_gangs(false)};
  ASSERT_FALSE(in.runs_until(20s));
  refuse_each_other(in);
  EXPECT_EQ(broken_in(in), "nothing");
}

} // namespace
} // namespace tutti::chaos
