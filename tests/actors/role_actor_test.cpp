// The shell around every role: order, timers, beginnings and ends.
#include "actors/role_actor.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <deque>
#include <stdexcept>

#include <caf/all.hpp>
#include <gtest/gtest.h>

#include "base/fault_point.hpp"

#include "tests/actors/inbox.hpp"
#include "tests/actors/waiting.hpp"

namespace tutti::actors::testing {
namespace {

using protocol::effects;
using protocol::role_kind;
using protocol::to;
using namespace std::chrono_literals;

/// A store that answers when it is told to.
class slow_store final : public persistence::store {
public:
  persistence::remains take_remains() override { return {}; }
  void submit(persistence::request what, persistence::completion done) override {
    const std::lock_guard lock{mutex_};
    queue_.push_back({std::move(what), std::move(done)});
  }
  persistence::identity who() const override { return {}; }
  base::result<void> claim(const std::string&) override { return {}; }
  persistence::disk_space look_at_disk() override { return {}; }
  counters counted() const override { return {}; }
  void close() override {}

  std::size_t queued() const {
    const std::lock_guard lock{mutex_};
    return queue_.size();
  }
  persistence::request first() const {
    const std::lock_guard lock{mutex_};
    return queue_.front().first;
  }
  void answer(base::result<persistence::outcome> how) {
    std::pair<persistence::request, persistence::completion> next;
    {
      const std::lock_guard lock{mutex_};
      next = std::move(queue_.front());
      queue_.pop_front();
    }
    next.second(std::move(how));
  }
  void append_is_durable() { answer(persistence::outcome{persistence::appended{++last_}}); }

private:
  mutable std::mutex mutex_;
  std::deque<std::pair<persistence::request, persistence::completion>> queue_;
  persistence::journal_index last_ = 0;
};

/// A role that does what the test says.
class puppet final : public protocol::role {
public:
  using script = std::function<effects(const protocol::event&)>;
  explicit puppet(script what) : what_(std::move(what)) {}
  effects on(const protocol::event& e, base::time_point) override { return what_(e); }
  std::string snapshot() const override { return state; }

  std::string state = "state";

private:
  script what_;
};

const protocol::address here = to(role_kind::queue);
const protocol::address there = to(role_kind::admin);

template <class M>
bool is(const protocol::event& e) {
  const auto* r = std::get_if<protocol::received>(&e);
  return r != nullptr && std::holds_alternative<M>(r->what);
}

effects say(std::uint64_t n) {
  effects out;
  out.tell(there, protocol::inspected{n, {}});
  return out;
}
protocol::append synced() {
  return {protocol::life_record{{1}, {1}}, protocol::append::durability::synced};
}

struct RoleActor : ::testing::Test {
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  router routes;
  slow_store store;
  base::system_clock clock;
  recorder notes{100};
  services around{routes, store, nullptr, clock, notes};
  inbox_ptr heard = std::make_shared<inbox>();

  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::optional<std::string>>> ends;
  std::vector<base::error> failures;
  std::vector<std::pair<protocol::address, std::uint64_t>> hosted;

  RoleActor() {
    config.set("scheduler.policy", caf::atom("sharing"));
    config.set("scheduler.max-threads", 2u);
    system = std::make_unique<caf::actor_system>(config);
    around.ended = [this](base::incarnation_no who, const std::optional<std::string>& why) {
      const std::lock_guard lock{mutex};
      ends.emplace_back(who.value, why);
    };
    around.fatal = [this](const base::error& e) {
      const std::lock_guard lock{mutex};
      failures.push_back(e);
    };
    around.bring_up = [this](const protocol::address& where, base::incarnation_no parent) {
      const std::lock_guard lock{mutex};
      hosted.emplace_back(where, parent.value);
    };
    routes.put(there, system->spawn(stand_in, heard, on_letter{}));
  }
  ~RoleActor() override {
    for (const auto& who : routes.all())
      caf::anon_send_exit(who, caf::exit_reason::kill);
    routes.clear();
    system->await_all_actors_done();
  }

  caf::actor make(puppet::script what, std::vector<protocol::event> first = {},
                  bool keeps_checkpoints = false, std::uint64_t incarnation = 7) {
    auto who = system->spawn<role_actor>(
        &around, std::make_unique<puppet>(std::move(what)),
        role_actor::options{here, {incarnation}, keeps_checkpoints, 0, std::move(first)});
    routes.put(here, who);
    return who;
  }
  caf::actor begun(puppet::script what, bool keeps_checkpoints = false) {
    auto who = make(std::move(what), {}, keeps_checkpoints);
    routes.post(here, make_mail(begin{}));
    return who;
  }
  template <class M>
  void tell(M what) {
    routes.send(there, here, protocol::message{std::move(what)});
  }
  std::vector<std::uint64_t> said() const {
    std::vector<std::uint64_t> out;
    for (const auto& x : heard->all<protocol::inspected>())
      out.push_back(x.id);
    return out;
  }
  bool has_said(std::vector<std::uint64_t> what) {
    return eventually([&] { return said() == what; });
  }
  /// Everything that was sent to the actor before this has been handled.
  void settle() {
    routes.send(there, here, protocol::inspect{++last_mark, {}, {}});
    EXPECT_TRUE(eventually([&] { return seen == last_mark; }));
  }
  /// Scripts of tests that `settle` pass their events here first.
  bool is_mark(const protocol::event& e) {
    if (!is<protocol::inspect>(e))
      return false;
    seen = std::get<protocol::inspect>(std::get<protocol::received>(e).what).id;
    return true;
  }
  std::uint64_t last_mark = 0;
  std::atomic<std::uint64_t> seen{0};

  std::size_t deaths() {
    const std::lock_guard lock{mutex};
    return ends.size();
  }
};

// ---------------------------------------------------------------- order

TEST_F(RoleActor, no_send_overtakes_a_synced_record_of_this_or_an_earlier_call) {
  begun([this](const protocol::event& e) {
    effects out;
    if (is_mark(e))
      return out;
    if (is<protocol::view_wanted>(e)) {
      out.add_all(say(1)).add(synced()).add_all(say(2));
    } else if (is<protocol::facts_synced>(e)) {
      out.add_all(say(3)).add(protocol::send{there, protocol::inspected{4, {}}, true});
      out.add(protocol::note{"noted", {}});
    }
    return out;
  });
  tell(protocol::view_wanted{});
  tell(protocol::facts_synced{});
  settle();
  EXPECT_TRUE(has_said({1, 4})) << "only what is unordered leaves before the disk has the record";
  EXPECT_EQ(notes.counts().at("noted"), 1u);
  store.append_is_durable();
  EXPECT_TRUE(has_said({1, 4, 2, 3}));
}

TEST_F(RoleActor, lazy_records_hold_nothing_up) {
  begun([this](const protocol::event& e) {
    effects out;
    if (!is_mark(e) && is<protocol::view_wanted>(e))
      out.add(protocol::append{protocol::life_record{{1}, {1}}}).add_all(say(1));
    return out;
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(has_said({1}));
  EXPECT_EQ(std::get<persistence::append_request>(store.first()).incarnation.value, 7u);
}

TEST_F(RoleActor, each_send_waits_for_the_records_before_it_and_for_no_later_one) {
  begun([this](const protocol::event& e) {
    effects out;
    if (!is_mark(e) && is<protocol::view_wanted>(e))
      out.add(synced()).add_all(say(1)).add(synced()).add_all(say(2));
    return out;
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(eventually([&] { return store.queued() == 2; }));
  store.append_is_durable();
  EXPECT_TRUE(has_said({1}));
  settle();
  EXPECT_EQ(said().size(), 1u);
  store.append_is_durable();
  EXPECT_TRUE(has_said({1, 2}));
}

TEST_F(RoleActor, retiring_waits_for_what_the_role_still_has_to_say) {
  begun([](const protocol::event& e) {
    effects out;
    if (is<protocol::view_wanted>(e))
      out.add(synced()).add_all(say(1)).add(protocol::retire{}).add_all(say(2));
    return out;
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(eventually([&] { return store.queued() == 1; }));
  EXPECT_EQ(deaths(), 0u);
  store.append_is_durable();
  EXPECT_TRUE(eventually([&] { return deaths() == 1; }));
  EXPECT_FALSE(ends.front().second) << "it was to end";
  EXPECT_TRUE(has_said({1})) << "what came after the end is not said";
  EXPECT_EQ(routes.find(here), nullptr);
}

TEST_F(RoleActor, a_fault_point_is_passed_where_it_stands_between_the_effects) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        base::arm_fault("T1");
        begun([](const protocol::event& e) {
          effects out;
          if (is<protocol::view_wanted>(e))
            out.add(synced()).add_all(say(1)).add(protocol::fault{"T1"});
          return out;
        });
        tell(protocol::view_wanted{});
        eventually([&] { return store.queued() == 1; });
        std::fputs("the disk is slow\n", stderr);
        base::set_fault_hook([](std::string_view) { std::fputs("dies\n", stderr); });
        store.append_is_durable();
        eventually([] { return false; });
      },
      ::testing::KilledBySignal(SIGKILL), "the disk is slow\ndies");
}

// ---------------------------------------------------------------- begin

TEST_F(RoleActor, what_comes_before_begin_is_heard_after_the_first_events) {
  std::vector<std::string> order;
  make(
      [&](const protocol::event& e) {
        if (std::holds_alternative<protocol::replayed>(e))
          order.emplace_back("replayed");
        else if (std::holds_alternative<protocol::started>(e))
          order.emplace_back("started");
        else if (is<protocol::view_wanted>(e))
          order.emplace_back("early");
        return is<protocol::facts_synced>(e) ? say(9) : effects{};
      },
      {protocol::replayed{protocol::life_record{}}, protocol::started{}});
  tell(protocol::view_wanted{});
  tell(protocol::facts_synced{});
  EXPECT_TRUE(said().empty());
  routes.post(here, make_mail(begin{}));
  EXPECT_TRUE(has_said({9}));
  EXPECT_EQ(order, (std::vector<std::string>{"replayed", "started", "early"}));
}

TEST_F(RoleActor, a_role_that_is_hosted_is_a_child_of_this_very_life) {
  begun([](const protocol::event& e) {
    effects out;
    if (is<protocol::view_wanted>(e))
      out.add(protocol::host{protocol::to_gang({"g"})}).add_all(say(1));
    return out;
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(has_said({1}));
  ASSERT_EQ(hosted.size(), 1u);
  EXPECT_EQ(hosted.front(), (std::pair{protocol::to_gang({"g"}), std::uint64_t{7}}));
}

// ---------------------------------------------------------------- timers, exchanges

TEST_F(RoleActor, a_timer_that_is_armed_again_fires_once_and_a_disarmed_one_never) {
  begun([](const protocol::event& e) {
    effects out;
    if (is<protocol::view_wanted>(e)) {
      out.add(protocol::arm{{1, 1}, 1ms}).add(protocol::arm{{1, 1}, 5ms});
      out.add(protocol::arm{{2, 2}, 1ms}).add(protocol::disarm{{2, 2}});
      out.add(protocol::arm{{3, 3}, 40ms});
    } else if (const auto* t = std::get_if<protocol::timer_fired>(&e)) {
      out = say(t->timer.key);
    }
    return out;
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(has_said({1, 3}));
}

TEST_F(RoleActor, without_an_api_server_every_exchange_has_no_known_answer) {
  begun([](const protocol::event& e) {
    effects out;
    if (is<protocol::view_wanted>(e))
      out.add(protocol::exchange{42, {}});
    else if (const auto* x = std::get_if<protocol::answer_unknown>(&e))
      out = say(x->id);
    return out;
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(has_said({42}));
}

// ---------------------------------------------------------------- ends

TEST_F(RoleActor, an_exception_ends_it_with_its_text_and_nothing_of_that_step_is_done) {
  begun([](const protocol::event& e) -> effects {
    if (is<protocol::view_wanted>(e))
      throw std::runtime_error{"a bug"};
    return say(1);
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(eventually([&] { return deaths() == 1; }));
  EXPECT_EQ(ends.front(),
            (std::pair{std::uint64_t{7}, std::optional<std::string>{"exception: a bug"}}));
  EXPECT_EQ(routes.find(here), nullptr);
  EXPECT_TRUE(said().empty());
}

TEST_F(RoleActor, an_exit_signal_is_a_death_too) {
  const auto who = begun([](const protocol::event&) { return effects{}; });
  caf::anon_send_exit(who, caf::exit_reason::kill);
  EXPECT_TRUE(eventually([&] { return deaths() == 1; }));
  EXPECT_TRUE(ends.front().second);
}

TEST_F(RoleActor, a_role_that_asks_to_be_made_anew_dies_at_once) {
  begun([](const protocol::event& e) {
    effects out;
    if (is<protocol::view_wanted>(e))
      out.add(synced()).add_all(say(1)).add(protocol::rebuild{"doubt"}).add(synced());
    return out;
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(eventually([&] { return deaths() == 1; }));
  EXPECT_EQ(ends.front().second, "doubt");
  EXPECT_EQ(store.queued(), 1u) << "nothing behind it was performed";
  store.append_is_durable();
  EXPECT_TRUE(said().empty());
}

TEST_F(RoleActor, who_ends_leaves_its_successor_where_it_is) {
  const auto old = begun([](const protocol::event&) { return effects{}; });
  begun([](const protocol::event& e) { return is<protocol::view_wanted>(e) ? say(2) : effects{}; });
  caf::anon_send_exit(old, caf::exit_reason::kill);
  EXPECT_TRUE(eventually([&] { return deaths() == 1; }));
  tell(protocol::view_wanted{});
  EXPECT_TRUE(has_said({2}));
}

// ---------------------------------------------------------------- the store fails (F9, F10)

TEST_F(RoleActor, F10_a_failed_append_lets_nothing_out_and_is_told_once) {
  begun([this](const protocol::event& e) {
    effects out;
    if (!is_mark(e) && is<protocol::view_wanted>(e))
      out.add(synced()).add_all(say(1)).add(synced()).add_all(say(2));
    return out;
  });
  tell(protocol::view_wanted{});
  EXPECT_TRUE(eventually([&] { return store.queued() == 2; }));
  store.answer(base::error{base::code::io, "sync failed"});
  store.answer(base::error{base::code::io, "sync failed"});
  tell(protocol::view_wanted{});
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock{mutex};
    return failures.size() == 1;
  }));
  EXPECT_NE(failures.front().message().find("journal of queue"), std::string::npos);
  EXPECT_TRUE(said().empty());
  EXPECT_EQ(store.queued(), 0u) << "it does not go on";
}

// ---------------------------------------------------------------- checkpoints

TEST_F(RoleActor, a_checkpoint_waits_for_every_record_that_it_includes) {
  begun(
      [this](const protocol::event& e) {
        effects out;
        if (!is_mark(e) && is<protocol::view_wanted>(e))
          out.add(synced());
        return out;
      },
      true);
  tell(protocol::view_wanted{});
  routes.post(here, make_mail(checkpoint_due{false}));
  settle();
  EXPECT_EQ(store.queued(), 1u);
  store.append_is_durable();
  EXPECT_TRUE(eventually([&] { return store.queued() == 1; }));
  const auto asked = std::get<persistence::checkpoint_request>(store.first());
  EXPECT_EQ(asked.applied, 1u);
  EXPECT_EQ(asked.bytes, "state");
}

TEST_F(RoleActor, a_checkpoint_is_written_while_records_keep_coming) {
  begun(
      [this](const protocol::event& e) {
        effects out;
        if (!is_mark(e) && is<protocol::view_wanted>(e))
          out.add(synced());
        return out;
      },
      true);
  tell(protocol::view_wanted{});
  tell(protocol::view_wanted{});
  routes.post(here, make_mail(checkpoint_due{false}));
  tell(protocol::view_wanted{});
  EXPECT_TRUE(eventually([&] { return store.queued() == 3; }));
  store.append_is_durable();
  settle();
  EXPECT_EQ(store.queued(), 2u) << "the second record is not durable, and the snapshot knows it";
  store.append_is_durable();
  EXPECT_TRUE(eventually([&] { return store.queued() == 2; }));
  tell(protocol::view_wanted{}); // never quiet
  EXPECT_TRUE(eventually([&] { return store.queued() == 3; }));
  store.append_is_durable();
  const auto asked = std::get<persistence::checkpoint_request>(store.first());
  EXPECT_EQ(asked.applied, 2u) << "the third record came after the snapshot";
}

TEST_F(RoleActor, neither_a_question_nor_a_word_of_the_disk_is_a_reason_for_a_checkpoint) {
  begun(
      [this](const protocol::event& e) {
        is_mark(e);
        return effects{};
      },
      true);
  tell(protocol::inspect{9, "status", {}});
  routes.post(here, make_mail(protocol::event{protocol::disk_told{true}}));
  routes.post(here, make_mail(checkpoint_due{false}));
  settle();
  EXPECT_EQ(store.queued(), 0u);
  tell(protocol::view_wanted{});
  routes.post(here, make_mail(checkpoint_due{false}));
  EXPECT_TRUE(eventually([&] { return store.queued() == 1; }));
}

TEST_F(RoleActor, a_large_checkpoint_is_not_followed_by_another_at_once) {
  auto role = std::make_unique<puppet>([this](const protocol::event& e) {
    is_mark(e);
    return effects{};
  });
  role->state.assign(60 * checkpoint_bytes_per_second, 'x');
  routes.put(here, system->spawn<role_actor>(&around, std::move(role),
                                             role_actor::options{here, {7}, true, 0, {}}));
  routes.post(here, make_mail(begin{}));
  tell(protocol::view_wanted{});
  routes.post(here, make_mail(checkpoint_due{false}));
  EXPECT_TRUE(eventually([&] { return store.queued() == 1; }));
  store.answer(persistence::outcome{persistence::checkpointed{}});
  tell(protocol::view_wanted{});
  routes.post(here, make_mail(checkpoint_due{false}));
  settle();
  EXPECT_EQ(store.queued(), 0u) << "within the minute that its bytes are worth";
  routes.post(here, make_mail(checkpoint_due{true}));
  EXPECT_TRUE(eventually([&] { return store.queued() == 1; })) << "the last one does not wait";
}

TEST_F(RoleActor, the_last_checkpoint_ends_it_in_order) {
  begun([](const protocol::event&) { return effects{}; }, true);
  tell(protocol::view_wanted{});
  routes.post(here, make_mail(checkpoint_due{true}));
  EXPECT_TRUE(eventually([&] { return store.queued() == 1; }));
  EXPECT_EQ(deaths(), 0u);
  store.answer(persistence::outcome{persistence::checkpointed{}});
  EXPECT_TRUE(eventually([&] { return deaths() == 1; }));
  EXPECT_FALSE(ends.front().second);
}

} // namespace
} // namespace tutti::actors::testing
