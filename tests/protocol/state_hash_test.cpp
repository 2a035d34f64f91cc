// What a coordinator's or a partition's next steps depend on is in its hash: states that differ in
// one thing hash differently, equal ones equally.
#include <functional>
#include <map>

#include "protocol/partition_role.hpp"
#include "tests/protocol/coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

struct tale : coordinator {
  void TestBody() override {}
};

using telling = std::function<void(tale&)>;

std::uint64_t hash_after(const telling& story) {
  tale t;
  story(t);
  return t.role->state_hash();
}

/// Each differs from another one in one thing that the role remembers.
const std::map<std::string, telling> coordinator_stories{
    {"nothing heard", [](tale&) {}},
    {"begun", [](tale& t) { t.begins(); }},
    {"begun after a failure", [](tale& t) { t.begins(1); }},
    {"begun under a higher low water",
     [](tale& t) {
       t.hear(begin_attempt{t.attempt, 2, {3}, t.facts(), 0});
     }},
    {"the resend is due for the second time",
     [](tale& t) {
       t.begins();
       t.resend_is_due();
     }},
    {"planned", [](tale& t) { t.is_planned(); }},
    {"planned otherwise",
     [](tale& t) {
       t.shard_of_pod["p0"] = 7;
       t.is_planned();
     }},
    {"victims are sought",
     [](tale& t) {
       t.begins();
       base::explanation why;
       why.primary = base::reason_code::insufficient_resources;
       t.hear(plan_answer{t.attempt, nullptr, why});
     }},
    {"one vote",
     [](tale& t) {
       t.is_planned();
       t.votes(0);
     }},
    {"the other vote",
     [](tale& t) {
       t.is_planned();
       t.votes(1);
     }},
    {"one vote of a later life",
     [](tale& t) {
       t.is_planned();
       t.hear(vote{.attempt = t.attempt,
                   .shard = {0},
                   .shard_epoch = {1},
                   .incarnation = {6},
                   .yes = true});
     }},
    {"looking",
     [](tale& t) {
       t.is_planned();
       t.all_vote_yes();
     }},
    {"deciding", [](tale& t) { t.is_deciding(); }},
    {"deciding on a newer version",
     [](tale& t) {
       t.is_planned();
       t.all_vote_yes();
       auto seen = std::make_shared<gang>(*t.facts());
       seen->members[0].resource_version = "2";
       t.last_look_sees(seen);
     }},
    {"committed", [](tale& t) { t.is_committed(); }},
    {"one ack",
     [](tale& t) {
       t.is_committed();
       t.acks(0);
     }},
    {"one ack of a newer epoch",
     [](tale& t) {
       t.is_committed();
       t.acks(0, false, 2);
     }},
    {"one refusal",
     [](tale& t) {
       t.is_committed();
       t.acks(0, true);
     }},
    {"covered",
     [](tale& t) {
       t.is_committed();
       t.all_ack();
     }},
    {"posting", [](tale& t) { t.is_binding(); }},
    {"one is bound",
     [](tale& t) {
       t.is_binding();
       t.binds("p0");
     }},
    {"one has moved",
     [](tale& t) {
       t.is_binding();
       t.binds("p0", bind_verdict::moved, "2");
     }},
    {"one has moved further",
     [](tale& t) {
       t.is_binding();
       t.binds("p0", bind_verdict::moved, "3");
     }},
    {"one is gone: cancelled without a touch",
     [](tale& t) {
       t.is_binding();
       t.binds("p0", bind_verdict::gone);
     }},
    {"one is refused: cancelled with a touch",
     [](tale& t) {
       t.is_binding();
       t.binds("p0", bind_verdict::refused);
     }},
    {"two wait to be cancelled, one write is under way",
     [](tale& t) {
       t.is_binding();
       t.binds("p0", bind_verdict::gone);
       t.binds("p1", bind_verdict::gone);
     }},
    {"withdrawing",
     [](tale& t) {
       t.is_committed();
       t.acks(0, true);
       t.acks(1, true);
     }},
    {"withdrawing, one is touched",
     [](tale& t) {
       t.is_committed();
       t.acks(0, true);
       t.acks(1, true);
       t.touched("p0");
     }},
    {"resumed",
     [](tale& t) {
       t.is_committed();
       t.restarts();
     }},
    {"resumed by a later owner",
     [](tale& t) {
       t.is_committed();
       t.restarts(9);
     }},
    {"the fence was raised",
     [](tale& t) {
       t.is_committed();
       t.hear(new_epoch{{3}, {9}, 1});
     }},
};

TEST(state_hash, of_coordinators_in_different_states_differs) {
  std::map<std::uint64_t, std::string> seen;
  for (const auto& [name, story] : coordinator_stories) {
    const auto [pos, is_new] = seen.emplace(hash_after(story), name);
    EXPECT_TRUE(is_new) << name << " hashes as " << pos->second;
    EXPECT_EQ(pos->first, hash_after(story)) << name << " hashes differently the second time";
  }
}

TEST(state_hash, of_a_coordinator_does_not_depend_on_the_order_of_votes) {
  const auto one = hash_after([](tale& t) {
    t.is_planned();
    t.votes(0);
    t.votes(1);
  });
  const auto other = hash_after([](tale& t) {
    t.is_planned();
    t.votes(1);
    t.votes(0);
  });
  EXPECT_EQ(one, other);
}

struct registrar {
  partition_role role{{.partition = {3}, .shards = 2}};

  void starts(std::uint64_t epoch, std::uint64_t life, std::vector<decision_ptr> open = {}) {
    (void)role.on(started{.epoch = {epoch}, .incarnation = {life}, .open = std::move(open)}, {});
  }
  void hear(message m) { (void)role.on(received{{}, std::move(m)}, {}); }
  void tries(const char* uid) {
    auto g = std::make_shared<gang>();
    g->uid = {uid};
    hear(try_gang{g, 0});
  }
  static decision_ptr record(std::uint64_t epoch, bool is_done) {
    auto d = std::make_shared<decision>();
    d->by = {{"g"}, 1, {epoch}, 11};
    d->what = verdict::committed;
    d->is_done = is_done;
    return d;
  }
};

TEST(state_hash, of_partitions_in_different_states_differs) {
  using telling_p = std::function<void(registrar&)>;
  const std::map<std::string, telling_p> stories{
      {"nothing heard", [](registrar&) {}},
      {"started", [](registrar& p) { p.starts(5, 2); }},
      {"started in a later epoch", [](registrar& p) { p.starts(6, 2); }},
      {"started in a later life", [](registrar& p) { p.starts(5, 3); }},
      {"has heard of fences",
       [](registrar& p) {
         p.starts(5, 2);
         p.hear(fence_found{{0}});
       }},
      {"one gang under way",
       [](registrar& p) {
         p.starts(5, 2);
         p.tries("g");
       }},
      {"another gang under way",
       [](registrar& p) {
         p.starts(5, 2);
         p.tries("h");
       }},
      {"one gang failed",
       [](registrar& p) {
         p.starts(5, 2);
         p.tries("g");
         p.hear(attempt_over{.attempt = {{"g"}, 1, {5}, 1}, .outcome = attempt_outcome::conflict});
       }},
      {"one gang bound",
       [](registrar& p) {
         p.starts(5, 2);
         p.tries("g");
         p.hear(attempt_over{.attempt = {{"g"}, 1, {5}, 1}, .outcome = attempt_outcome::bound});
       }},
      {"one gang bound, and who of it",
       [](registrar& p) {
         p.starts(5, 2);
         p.tries("g");
         p.hear(attempt_over{.attempt = {{"g"}, 1, {5}, 1},
                             .outcome = attempt_outcome::bound,
                             .members_bound = {{"p"}}});
       }},
      {"deleted under way",
       [](registrar& p) {
         p.starts(5, 2);
         p.tries("g");
         p.hear(gang_deleted{{"g"}});
       }},
      {"resumed", [](registrar& p) { p.starts(5, 2, {registrar::record(4, false)}); }},
      {"resumed of an older owner",
       [](registrar& p) { p.starts(5, 2, {registrar::record(3, false)}); }},
      {"found done", [](registrar& p) { p.starts(5, 2, {registrar::record(4, true)}); }},
  };
  std::map<std::uint64_t, std::string> seen;
  for (const auto& [name, story] : stories) {
    registrar p;
    story(p);
    const auto [pos, is_new] = seen.emplace(p.role.state_hash(), name);
    EXPECT_TRUE(is_new) << name << " hashes as " << pos->second;
  }
}

} // namespace
} // namespace tutti::protocol
