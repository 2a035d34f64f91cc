// A queue role with the words in which its stories are told.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "queue/queue_role.hpp"

namespace tutti::queue {

using namespace std::chrono_literals;
using protocol::attempt_outcome;

/// One queue, its clock, and what it said since it was last asked.
struct QueueWorld : testing::Test {
  std::unique_ptr<queue_role> queue;
  options how;
  base::time_point now{100s};
  std::vector<protocol::send> sent;
  std::vector<std::string> noted;
  std::uint64_t tries = 0;

  void SetUp() override { begin(); }

  void begin(const std::string& memory = {}) {
    queue = std::make_unique<queue_role>(how);
    sent.clear();
    ASSERT_TRUE(queue->restore(memory));
    feed(protocol::started{.epoch = {1}, .incarnation = {1}, .seed = 42, .open = {}});
    mirror_begins();
  }
  /// Everything is told from here on, up to `synced`.
  void mirror_begins() { tell(protocol::view_trust{.fresh = false, .is_anew = true}); }
  void api_is_fresh(bool fresh) { tell(protocol::view_trust{.fresh = fresh, .is_anew = false}); }

  // ------------------------------------------------------------ what happens

  void feed(const protocol::event& e) {
    auto effects = queue->on(e, now);
    for (auto& effect : effects.list()) {
      if (auto* s = std::get_if<protocol::send>(&effect))
        sent.push_back(*s);
      if (auto* a = std::get_if<protocol::arm>(&effect))
        timer = now + a->after;
      if (std::holds_alternative<protocol::disarm>(effect))
        timer.reset();
      if (auto* n = std::get_if<protocol::note>(&effect))
        noted.emplace_back(n->what);
    }
  }
  template <class M>
  void tell(M m, protocol::role_kind from = protocol::role_kind::mirror) {
    feed(protocol::received{protocol::to(from), protocol::message{std::move(m)}});
  }
  void synced() {
    api_is_fresh(true);
    tell(protocol::facts_synced{});
  }

  /// Lets time pass, firing the timer whenever it is due.
  void pass(base::duration d) {
    const auto end = now + d;
    while (timer && *timer <= end) {
      now = std::max(now, *timer);
      timer.reset();
      feed(protocol::timer_fired{{1, 0}});
    }
    now = end;
  }

  /// After so long the timer fires, once; true if it is due at once again, and so for ever.
  bool spins_after(base::duration d) {
    now += d;
    timer.reset();
    feed(protocol::timer_fired{{1, 0}});
    return timer && *timer <= now;
  }

  struct pod_spec {
    std::string group;
    std::int32_t priority = 0;
    std::int64_t created = 0;
    std::string node;
    std::string scheduler = "tutti";
    std::int64_t cpu = 1000;
    bool gated = false;
    bool terminal = false;
    bool deleting = false;
    bool never_preempts = false;
    std::string version = "1";
    std::string refused;
  };
  static protocol::shape_ptr shape_of(std::int64_t cpu) {
    static std::map<std::int64_t, protocol::shape_ptr> shapes;
    auto& s = shapes[cpu];
    if (!s) {
      base::shape made{.id = {static_cast<std::uint64_t>(cpu)}, .blob = {}, .takes = {}};
      made.takes.amounts.cpu_milli = cpu;
      made.takes.amounts.pods = 1;
      s = std::make_shared<const base::shape>(made);
    }
    return s;
  }
  /// The uid of a pod is "uid-" and its name.
  void pod(const std::string& name, const pod_spec& x) {
    protocol::pod_facts f;
    f.uid = {"uid-" + name};
    f.name = {"ns", name};
    f.group = x.group;
    f.scheduler = x.scheduler;
    f.priority = x.priority;
    f.is_gated = x.gated;
    f.is_terminal = x.terminal;
    f.is_deleting = x.deleting;
    f.never_preempts = x.never_preempts;
    f.node = {x.node};
    f.resource_version = x.version;
    f.created = {x.created};
    f.kind = shape_of(x.cpu);
    f.refused = x.refused;
    tell(protocol::pod_seen{f});
  }
  void pod_gone(const std::string& name) { tell(protocol::pod_gone{{"uid-" + name}}); }

  struct group_spec {
    std::uint32_t min = 1;
    std::int32_t priority = 0;
    std::int64_t created = 0;
    std::string uid;
    std::string refused;
    bool started = false;
    bool deleting = false;
  };
  static protocol::group_facts facts_of(const std::string& name, const group_spec& x) {
    protocol::group_facts f;
    f.uid = x.uid.empty() ? "uid-" + name : x.uid;
    f.name = {"ns", name};
    f.min_count = x.min;
    f.priority = x.priority;
    f.created = {x.created};
    f.refused = x.refused;
    f.has_started = x.started;
    f.is_deleting = x.deleting;
    return f;
  }
  void group(const std::string& name, const group_spec& x) {
    tell(protocol::group_seen{facts_of(name, x)});
  }
  void group_gone(const std::string& name, const std::string& uid = {}) {
    tell(protocol::group_gone{uid.empty() ? "uid-" + name : uid, {"ns", name}});
  }

  // ------------------------------------------------------------ attempts

  base::attempt_id new_attempt(const std::string& gang) {
    return {.gang = {"uid-" + gang}, .ordinal = 1, .epoch = {1}, .try_no = ++tries};
  }
  /// `bound` are the pods that it has bound, beside `before` that were bound when it began.
  void over(const base::attempt_id& id, attempt_outcome how_it_ended, base::explanation why = {},
            const std::vector<std::string>& bound = {}, std::uint32_t before = 0) {
    protocol::attempt_over m{.attempt = id, .outcome = how_it_ended, .why = std::move(why)};
    for (const auto& name : bound)
      m.members_bound.push_back({"uid-" + name});
    m.bound = before + static_cast<std::uint32_t>(bound.size());
    tell(std::move(m), protocol::role_kind::partition);
  }
  void refuse(const std::string& gang, std::uint64_t view = 0,
              base::reason_code code = base::reason_code::insufficient_resources) {
    base::explanation why;
    why.primary = code;
    why.wanted = 2;
    why.view_version = view;
    over(new_attempt(gang), attempt_outcome::refused, why);
  }
  void conflict(const std::string& gang) { over(new_attempt(gang), attempt_outcome::conflict); }
  void grew(std::uint64_t version, std::int64_t cpu = 1'000'000) {
    protocol::view_grew m{.view_version = version, .grown = 1, .most_free = {}};
    m.most_free.cpu_milli = cpu;
    m.most_free.pods = 100;
    tell(std::move(m), protocol::role_kind::topology);
  }

  // ------------------------------------------------------------ what was said

  template <class M>
  std::vector<M> take() {
    std::vector<M> out;
    std::erase_if(sent, [&](const protocol::send& s) {
      const auto* m = std::get_if<M>(&s.what);
      if (m)
        out.push_back(*m);
      return m != nullptr;
    });
    return out;
  }
  /// Names of the gangs asked for since the last call, in order.
  std::vector<std::string> tried() {
    std::vector<std::string> out;
    for (const auto& t : take<protocol::try_gang>())
      out.push_back(t.who->name.name);
    return out;
  }
  protocol::gang_ptr tried_gang() {
    auto all = take<protocol::try_gang>();
    return all.empty() ? nullptr : all.back().who;
  }
  protocol::gang_ptr last_look(const base::attempt_id& id) {
    tell(protocol::last_look{id}, protocol::role_kind::gang);
    const auto answers = take<protocol::last_look_answer>();
    return answers.empty() ? nullptr : answers.back().now;
  }
  static std::vector<std::string> pods_of(const protocol::gang_ptr& g) {
    std::vector<std::string> out;
    for (const auto& m : g->members)
      out.push_back(m.name);
    return out;
  }

  boost::json::value read(const std::string& what, const std::string& name = {}) {
    tell(protocol::inspect{7, what, name}, protocol::role_kind::admin);
    const auto answers = take<protocol::inspected>();
    return answers.empty() || answers.back().json.empty() ? boost::json::value{}
                                                          : boost::json::parse(answers.back().json);
  }
  /// One field of a gang's row as text; "" if there is no such row or field.
  std::string row(const std::string& gang, const std::string& field) {
    const auto rows = read("gangs");
    for (const auto& r : rows.get_array())
      if (r.at("name").as_string() == gang && r.as_object().contains(field)) {
        const auto& v = r.at(field);
        return v.is_string() ? std::string{v.as_string()} : boost::json::serialize(v);
      }
    return {};
  }
  bool quiet() { return read("quiet").at("quiet").as_bool(); }

  std::optional<base::time_point> timer;
};

using names = std::vector<std::string>;

} // namespace tutti::queue
