// Random stories: whatever happens in whatever order, no pod is planned twice and nobody is
// forgotten.
#include "queue_world.hpp"

#include <deque>
#include <map>
#include <set>

#include "base/random.hpp"

namespace tutti::queue {
namespace {

/// The world around one queue: pods as they really are, a watch that lags, partitions that try.
struct RandomStories : QueueWorld {
  struct real_pod {
    std::string name;
    pod_spec facts;
    bool is_in_flight = false; ///< pending in a live attempt
    bool is_shown = true;      ///< the watch has shown its present state
  };
  struct live_attempt {
    base::attempt_id id;
    protocol::gang_ptr who;
  };
  std::map<std::string, real_pod> pods; ///< by uid
  std::map<base::gang_uid, live_attempt> live;
  std::deque<std::string> watch; ///< uids whose state is still to be shown
  base::random_stream dice{0};
  std::uint64_t view = 0;
  int made = 0;

  std::size_t roll(std::size_t n) { return static_cast<std::size_t>(dice.below(n)); }

  /// Partitions hear what was sent: they begin at most one attempt per gang.
  void deliver_tries() {
    for (const auto& t : take<protocol::try_gang>()) {
      if (live.contains(t.who->uid))
        continue;
      live[t.who->uid] = {{t.who->uid, 1, {1}, ++tries}, t.who};
      for (const auto& m : t.who->members) {
        if (!m.node.value.empty())
          continue;
        auto& pod = pods.at(m.uid.value);
        EXPECT_TRUE(pod.facts.node.empty()) << m.uid.value << " is bound and planned again";
        EXPECT_FALSE(pod.is_in_flight) << m.uid.value << " is in two attempts";
        pod.is_in_flight = true;
      }
    }
  }

  /// What was asked before the end is heard before it.
  void end(const base::attempt_id& id, attempt_outcome how_it_ended, base::explanation why = {},
           const names& bound = {}, std::uint32_t before = 0) {
    deliver_tries();
    live.erase(id.gang);
    over(id, how_it_ended, std::move(why), bound, before);
  }

  void show_one() {
    if (watch.empty())
      return;
    const auto uid = watch.front();
    watch.pop_front();
    if (auto pos = pods.find(uid); pos != pods.end()) {
      pos->second.is_shown = true;
      pod(pos->second.name, pos->second.facts);
    }
  }

  void make_pod() {
    const auto name = "p" + std::to_string(made++);
    pod_spec x{.created = made, .cpu = 1000 * static_cast<std::int64_t>(1 + roll(3))};
    if (roll(4) > 0)
      x.group = "g" + std::to_string(roll(6));
    x.gated = roll(8) == 0;
    pods["uid-" + name] = {.name = name, .facts = x};
    pod(name, x);
  }

  void delete_pod() {
    deliver_tries();
    for (auto& [uid, p] : pods)
      if (!p.is_in_flight && p.is_shown && roll(8) == 0) {
        pod_gone(p.name);
        pods.erase(uid);
        return;
      }
  }

  /// Binds the first `seats` pending members, of which the last `left` turn out not to be bound.
  void end_bound(const live_attempt& a, std::size_t seats, std::size_t left) {
    std::uint32_t before = 0;
    names bound;
    for (const auto& m : a.who->members) {
      if (!m.node.value.empty()) { // counted as it was: the attempt may not know that it is gone
        ++before;
        continue;
      }
      auto& pod = pods.at(m.uid.value);
      pod.is_in_flight = false;
      if (seats == 0)
        continue;
      if (seats-- <= left)
        continue;
      bound.push_back(pod.name);
      pod.facts.node = "n";
      pod.facts.gated = false;
      pod.is_shown = false;
      watch.insert(watch.begin() + static_cast<std::ptrdiff_t>(roll(watch.size() + 1)),
                   m.uid.value);
      if (roll(2))
        show_one();
    }
    end(a.id, attempt_outcome::bound, {}, bound, before);
  }

  void end_attempt(bool always_well) {
    if (live.empty())
      return;
    auto pos = live.begin();
    std::advance(pos, roll(live.size()));
    const auto a = pos->second;
    const auto pending = static_cast<std::size_t>(
        std::count_if(a.who->members.begin(), a.who->members.end(),
                      [](const protocol::member& m) { return m.node.value.empty(); }));
    if (always_well)
      return end_bound(a, pending, 0);
    if (roll(2) == 0) {
      const auto seats = 1 + roll(pending);
      return end_bound(a, seats, roll(seats));
    }
    for (const auto& m : a.who->members)
      if (m.node.value.empty())
        pods.at(m.uid.value).is_in_flight = false;
    base::explanation why;
    why.view_version = view;
    static constexpr attempt_outcome ends[] = {attempt_outcome::refused, attempt_outcome::conflict,
                                               attempt_outcome::stopped};
    end(a.id, ends[roll(3)], why);
  }

  void change_group() {
    const auto name = "g" + std::to_string(roll(6));
    if (roll(5) > 0)
      group(name, {.min = static_cast<std::uint32_t>(1 + roll(4))});
    else if (!live.contains({"uid-" + name}))
      group_gone(name);
  }

  void step() {
    switch (roll(10)) {
    case 0:
    case 1:
      return make_pod();
    case 2:
      return delete_pod();
    case 3:
      return change_group();
    case 4:
      return grew(++view, 1000 * static_cast<std::int64_t>(roll(4)));
    case 5:
      for (auto& [uid, p] : pods) {
        if (!p.facts.gated || !p.facts.node.empty())
          continue;
        p.facts.gated = false;
        return pod(p.name, p.facts);
      }
      return;
    case 6:
      return pass(std::chrono::milliseconds{roll(900)});
    case 7:
      return show_one();
    default:
      return end_attempt(false);
    }
  }

  /// S13, S14: every gang that is not at rest stands in one pool and says why.
  void audit() {
    const auto rows = read("gangs");
    for (const auto& r : rows.get_array())
      if (r.as_object().contains("pool") && r.at("reason").is_null())
        ADD_FAILURE() << boost::json::serialize(r);
  }
};

TEST_F(RandomStories, no_pod_is_planned_twice_and_everybody_is_placed_once_all_goes_well) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    dice = base::random_stream{seed, "stories"};
    pods.clear(), live.clear(), watch.clear();
    begin();
    synced();
    for (int i = 0; i < 400; ++i) {
      step();
      deliver_tries();
      if (i % 20 == 0)
        audit();
    }
    for (int i = 0; i < 6; ++i)
      group("g" + std::to_string(i), {.min = 1});
    for (auto& [uid, p] : pods) {
      p.facts.gated = false;
      pod(p.name, p.facts);
    }
    for (int i = 0; i < 600 && !HasFailure(); ++i) {
      deliver_tries();
      end_attempt(true);
      while (!watch.empty())
        show_one();
      if (live.empty())
        pass(5min);
    }
    for (const auto& [uid, p] : pods)
      EXPECT_EQ(p.facts.node, "n") << uid;
    EXPECT_TRUE(quiet());
    if (HasFailure())
      return;
  }
}

} // namespace
} // namespace tutti::queue
