// What a step's effects do to the small world.
#include <algorithm>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "bridge/limits.hpp"
#include "chaos/small/world.hpp"

namespace tutti::chaos::small {

using protocol::address;
using protocol::role_kind;

namespace {

std::shared_ptr<actors::log_words> log_words_of(const world::cell& x) {
  return x.asked ? std::make_shared<actors::log_words>(*x.asked)
                 : std::make_shared<actors::log_words>();
}

} // namespace

/// The store answers at once: no send can overtake a synced record (see `log`).
base::result<persistence::outcome> world::submit(persistence::request what) {
  auto next = std::make_shared<log>(*log_);
  auto answer = next->submit(what);
  const auto before = std::exchange(log_, std::move(next));
  judge_store(*before);
  return answer;
}

/// Beside others a shard or partition keeps no journal: what is durable is the decision.
void world::act(const cell& of, const place& at, protocol::append& x) {
  if (has_objects())
    return;
  const auto answer = submit(persistence::append_request{
      at, of.incarnation, std::move(x.what), x.how == protocol::append::durability::synced});
  ensure(answer.has_value(), answer.error().message());
}

void world::act(const cell& of, const place& at, protocol::decide& x) {
  if (has_objects()) {
    auto words = log_words_of(of);
    auto what = words->ask(x, now_);
    ask_log(at, std::move(what), std::move(words));
    return;
  }
  const auto slot = x.slot;
  auto answer = submit(persistence::decide_request{std::move(x)});
  if (answer)
    word_to(at, of.incarnation,
            protocol::decided{slot, std::get<persistence::decide_outcome>(*answer).winner});
  else
    word_to(at, of.incarnation, protocol::decide_refused{slot, answer.error()});
}

void world::act(const cell& of, const place& at, protocol::amend& x) {
  if (has_objects()) {
    auto words = log_words_of(of);
    auto what = words->ask(x);
    ask_log(at, std::move(what), std::move(words));
    return;
  }
  const auto slot = x.slot;
  const auto answer = submit(persistence::amend_request{std::move(x)});
  ensure(answer.has_value(), answer.error().message());
  const auto& how = std::get<persistence::amend_outcome>(*answer);
  if (how.refused)
    word_to(at, of.incarnation, protocol::amend_refused{slot, how.now});
  else
    word_to(at, of.incarnation, protocol::amended{slot, how.now});
}

void world::act(const cell&, const place& at, protocol::forget& x) {
  ensure(!has_objects(), to_text(at)); // the gang is there to the end
  const auto answer = submit(persistence::forget_request{std::move(x.gang)});
  ensure(answer.has_value());
}

/// The planner answers at once; nobody is here who reads conditions, events, views or progress.
void world::act(const cell&, const place& at, protocol::send& x) {
  switch (x.to.kind) {
  case role_kind::topology:
    if (const auto* ask = std::get_if<protocol::plan_request>(&x.what))
      plan_for(at.in, *ask);
    return;
  case role_kind::mirror: // nodes stay where they are, and an owner's epoch is above all fences
    if (const auto* whole = std::get_if<protocol::view_wanted>(&x.what);
        whole != nullptr && at.kind == role_kind::shard)
      put_list(at, *whole);
    else if (const auto* ask = std::get_if<protocol::pods_awaited>(&x.what))
      tell_left(at.in, *ask);
    return;
  case role_kind::queue:
    if (std::holds_alternative<protocol::gang_progress>(x.what)
        || std::holds_alternative<protocol::gangs_kept>(x.what))
      return;
    break;
  case role_kind::preemption:
    if (const auto* ask = std::get_if<protocol::victims_wanted>(&x.what))
      find_victims(at.in, *ask);
    return;
  case role_kind::planner:
  case role_kind::status:
  case role_kind::admin:
    return;
  case role_kind::keeper:
    keeper_hears(at, x.what);
    return;
  case role_kind::decisions:
    ensure(false, to_text(at)); // a partition lists what is left of a gang that is gone: none is
    return;
  case role_kind::node:
  case role_kind::shard:
  case role_kind::partition:
  case role_kind::gang:
  case role_kind::binder:
  case role_kind::evictor:
    break;
  }
  tell(at, x.to, std::move(x.what));
}

void world::act(const cell&, const place& at, protocol::arm& x) {
  if (at.kind == role_kind::decisions && x.after == bridge::limits::log_look) {
    look_timer_ = x.timer; // for ever: see `look`
    return;
  }
  protocol::disarm former{x.timer};
  act({}, at, former);
  const timer made{at, x.timer, now_ + x.after};
  const auto pos = std::find_if(timers_.begin(), timers_.end(), [&](const auto& t) {
    return std::pair{t.of, t.id} > std::pair{made.of, made.id};
  });
  timers_.insert(pos, made);
}

void world::act(const cell&, const place& at, protocol::disarm& x) {
  std::erase_if(timers_, [&](const auto& t) { return t.of == at && t.id == x.timer; });
}

void world::act(const cell&, const place& at, protocol::exchange& x) {
  put({.what = item::kind::request,
       .from = at,
       .to = {protocol::to(role_kind::mirror), at.in},
       .exchange = x.id,
       .request = std::move(x.request)});
}

void world::act(const cell&, const place&, protocol::hang_up&) {}

void world::act(const cell& of, const place& at, protocol::host& x) {
  ensure(of.role != nullptr, to_text(at));
  const place child{x.where, at.in};
  end_role(child);
  found(child, {}, {++last_life_.value});
}

void world::act(const cell&, const place& at, protocol::retire&) {
  end_role(at);
}

void world::act(const cell&, const place& at, protocol::rebuild&) {
  die(at);
}

void world::act(const cell&, const place& at, protocol::note& x) {
  if (x.is_error)
    say("E1", fmt::format("{} notes {}", to_text(at), x.what));
}

/// `keeper_hears` stands in for the only role that says this.
void world::act(const cell&, const place& at, protocol::own&) {
  ensure(false, to_text(at));
}

void world::act(const cell&, const place&, protocol::fault& x) {
  passed_.push_back(x.id);
}

} // namespace tutti::chaos::small
