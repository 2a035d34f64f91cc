// A shard under random stories: gangs come and go, nodes die, the process crashes; its word is
// kept.
#include "shards/shard_role.hpp"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

using namespace words;

constexpr int gangs = 5;
constexpr std::int64_t node_cpus = 4;

int any(int below) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, below));
}

/// Coordinators, mirror and binder in their simplest form: what they know is the truth that the
/// shard's state is compared with.
struct story {
  enum class fate { none, asked, promised, decided, acked, gone };
  struct gang_truth {
    base::attempt_id attempt;
    protocol::slice_ptr asked;
    fate at = fate::none;
    std::set<base::pod_uid> bound;
  };

  shard_world world;
  std::map<int, gang_truth> all;
  std::uint64_t next_try = 1;

  story() { tell_all(); }

  void tell_all() {
    world.tell(protocol::view_trust{false, true});
    for (const auto* n : {"n1", "n2", "n3"})
      world.tell(protocol::node_seen{facts(n, node_cpus)});
    for (const auto& [i, g] : all)
      for (const auto& s : g.asked ? g.asked->seats : std::vector<protocol::seat>{})
        if (g.bound.contains(s.pod))
          arrives(s);
    world.tell(protocol::view_trust{true, false});
  }

  void arrives(const protocol::seat& s) {
    const protocol::pod_arrived told{s.node, s.pod, s.takes};
    world.tell(told);
  }

  void begin(int i) {
    auto& g = all[i];
    if (g.at != fate::none && g.at != fate::gone)
      return;
    g = {attempt("g" + std::to_string(i), next_try++), nullptr, fate::asked, {}};
    auto asked = std::make_shared<protocol::slice>();
    for (int m = 0; m < 1 + any(3); ++m)
      asked->seats.push_back(
          seat("g" + std::to_string(i) + "-" + std::to_string(next_try) + "-" + std::to_string(m),
               "n" + std::to_string(1 + any(3)), taking(1 + any(3))));
    g.asked = asked;
    prepare(g);
  }
  void prepare(const gang_truth& g) {
    world.tell(
        protocol::prepare{g.attempt, 0, protocol::partition_of(g.attempt.gang), g.asked, false, 1});
  }
  void commit(gang_truth& g) {
    if (g.at == fate::promised)
      g.at = fate::decided;
    if (g.at == fate::decided || g.at == fate::acked)
      world.tell(protocol::commit{g.attempt, 0, protocol::partition_of(g.attempt.gang), g.asked});
  }
  void abort(gang_truth& g) {
    if (g.at != fate::asked && g.at != fate::promised)
      return;
    g.at = fate::gone;
    world.tell(protocol::abort_attempt{g.attempt, 0});
  }
  /// Takes a decided gang back: all members cancelled and touched before.
  void withdraw(gang_truth& g) {
    if ((g.at != fate::decided && g.at != fate::acked) || !g.bound.empty())
      return;
    world.tell(protocol::release{g.attempt, {}});
    world.tell(protocol::finish{g.attempt});
    g.at = fate::gone;
  }
  void bind(gang_truth& g) {
    if (g.at != fate::acked)
      return;
    const auto& s = g.asked->seats[static_cast<std::size_t>(any(int(g.asked->seats.size())))];
    world.ask_node({g.attempt, s.node, {s.pod}});
    auto answer = world.take<protocol::may_bind_answer>();
    RC_ASSERT(answer.has_value());
    if (answer->allowed.empty() || !g.bound.insert(s.pod).second)
      return;
    arrives(s);
  }
  /// Done and its pods deleted.
  void end(gang_truth& g) {
    if (g.at != fate::acked || g.bound.size() != g.asked->seats.size())
      return;
    world.tell(protocol::finish{g.attempt});
    for (const auto& s : g.asked->seats)
      world.tell(protocol::pod_left{s.node, s.pod});
    g.at = fate::gone;
    g.bound.clear();
  }
  void crash() {
    world.crash(any(2) == 0);
    world.restart();
    tell_all();
  }

  gang_truth* of(const base::attempt_id& who) {
    for (auto& [i, g] : all)
      if (g.attempt == who)
        return &g;
    return nullptr;
  }
  void read_mail() {
    while (auto v = world.take<protocol::vote>())
      if (auto* g = of(v->attempt); g != nullptr && g->at == fate::asked)
        g->at = v->yes ? fate::promised : fate::gone;
    while (auto a = world.take<protocol::ack>())
      if (auto* g = of(a->attempt); g != nullptr && g->at == fate::decided && !a->refused)
        g->at = fate::acked;
    while (auto q = world.take<protocol::inquiry>()) {
      const auto* g = of(q->attempt);
      if (g == nullptr || g->at == fate::gone)
        world.tell(protocol::inquiry_answer{q->attempt, false});
    }
    world.mail.clear();
  }

  void check() {
    for (const auto* n : {"n1", "n2", "n3"}) {
      const auto& ledger = world.ledger(n);
      RC_ASSERT(ledger.sum().cpu_milli - ledger.credits().cpu_milli
                <= ledger.allocatable().cpu_milli); // S1a
    }
    for (const auto& [i, g] : all) {
      if (g.at == fate::acked) { // what was acked is held, or bound, whatever crashed since
        for (const auto& s : g.asked->seats)
          RC_ASSERT(g.bound.contains(s.pod) || world.ledger(s.node_name.value).holds(g.attempt));
      }
    }
    RC_ASSERT(world.errors.empty());
  }

  /// S10: when nothing happens any more, what has no attempt behind it is given up in bounded time.
  void check_leaks() {
    for (int passed = 0; passed < 60; ++passed) {
      world.pass(5s);
      read_mail();
    }
    for (const auto& [who, r] : world.shard().reservations().all()) {
      const auto* g = of(who);
      RC_ASSERT(g
                != nullptr); // an assertion of its own: to show what is wrong it looks at all parts
      RC_ASSERT(g->at != fate::gone);
    }
  }
};

RC_GTEST_PROP(ShardProperty, it_keeps_its_word_through_crashes_and_never_promises_too_much, ()) {
  story s;
  for (int step = 10 + any(60); step > 0; --step) {
    auto& g = s.all[any(gangs)];
    switch (any(10)) {
    case 0:
    case 1:
    case 2:
      s.begin(any(gangs));
      break;
    case 3:
      if (g.at == story::fate::asked || g.at == story::fate::promised)
        s.prepare(g);
      break;
    case 4:
    case 5:
      s.commit(g);
      break;
    case 6:
      any(3) == 0 ? s.withdraw(g) : s.abort(g);
      break;
    case 7:
      s.bind(g);
      break;
    case 8:
      any(2) == 0 ? s.end(g) : s.world.node_dies("n" + std::to_string(1 + any(3)));
      break;
    case 9:
      s.crash();
      break;
    }
    s.read_mail();
    s.check();
  }
  s.check_leaks();
}

} // namespace
} // namespace tutti::shards
