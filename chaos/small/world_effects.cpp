// What a step's effects do to the small world.
#include <algorithm>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "chaos/small/world.hpp"

namespace tutti::chaos::small {

using protocol::address;
using protocol::role_kind;

/// The store answers at once: no send can overtake a synced record (see `log`).
base::result<persistence::outcome> world::submit(persistence::request what) {
  auto next = std::make_shared<log>(*log_);
  auto answer = next->submit(what);
  const auto before = std::exchange(log_, std::move(next));
  judge_store(*before);
  return answer;
}

void world::act(const cell& of, const address& at, protocol::append& x) {
  const auto answer = submit(persistence::append_request{
      at, of.incarnation, std::move(x.what), x.how == protocol::append::durability::synced});
  ensure(answer.has_value(), answer.error().message());
}

void world::act(const cell& of, const address& at, protocol::decide& x) {
  const auto slot = x.slot;
  auto answer = submit(persistence::decide_request{std::move(x)});
  if (answer)
    word_to(at, of.incarnation,
            protocol::decided{slot, std::get<persistence::decide_outcome>(*answer).winner});
  else
    word_to(at, of.incarnation, protocol::decide_refused{slot, answer.error()});
}

void world::act(const cell& of, const address& at, protocol::amend& x) {
  const auto slot = x.slot;
  const auto answer = submit(persistence::amend_request{std::move(x)});
  ensure(answer.has_value(), answer.error().message());
  const auto& how = std::get<persistence::amend_outcome>(*answer);
  if (how.refused)
    word_to(at, of.incarnation, protocol::amend_refused{slot, how.now});
  else
    word_to(at, of.incarnation, protocol::amended{slot, how.now});
}

void world::act(const cell&, const address&, protocol::forget& x) {
  const auto answer = submit(persistence::forget_request{std::move(x.gang)});
  ensure(answer.has_value());
}

/// The planner answers at once; nobody is here who reads conditions, events, views or progress.
void world::act(const cell&, const address& at, protocol::send& x) {
  switch (x.to.kind) {
  case role_kind::topology:
    if (const auto* ask = std::get_if<protocol::plan_request>(&x.what))
      plan_for(*ask);
    return;
  case role_kind::mirror: // nodes stay where they are, and an owner's epoch is above all fences
    if (at.kind == role_kind::shard && std::holds_alternative<protocol::view_wanted>(x.what))
      put({.what = item::kind::list, .from = x.to, .to = at});
    else if (const auto* ask = std::get_if<protocol::pods_awaited>(&x.what))
      tell_left(*ask);
    return;
  case role_kind::queue:
    if (std::holds_alternative<protocol::gang_progress>(x.what)
        || std::holds_alternative<protocol::gangs_kept>(x.what))
      return;
    break;
  case role_kind::planner:
  case role_kind::preemption:
  case role_kind::evictor:
  case role_kind::status:
  case role_kind::admin:
  case role_kind::keeper:
  case role_kind::decisions:
    return;
  case role_kind::node:
  case role_kind::shard:
  case role_kind::partition:
  case role_kind::gang:
  case role_kind::binder:
    break;
  }
  tell(at, x.to, std::move(x.what));
}

void world::act(const cell&, const address& at, protocol::arm& x) {
  protocol::disarm former{x.timer};
  act({}, at, former);
  const timer made{at, x.timer, now_ + x.after};
  const auto pos = std::find_if(timers_.begin(), timers_.end(), [&](const auto& t) {
    return std::pair{t.of, t.id} > std::pair{made.of, made.id};
  });
  timers_.insert(pos, made);
}

void world::act(const cell&, const address& at, protocol::disarm& x) {
  std::erase_if(timers_, [&](const auto& t) { return t.of == at && t.id == x.timer; });
}

void world::act(const cell&, const address& at, protocol::exchange& x) {
  put({.what = item::kind::request,
       .from = at,
       .to = protocol::to(role_kind::mirror),
       .exchange = x.id,
       .request = std::move(x.request)});
}

void world::act(const cell&, const address&, protocol::hang_up&) {}

void world::act(const cell& of, const address& at, protocol::host& x) {
  ensure(of.role != nullptr, protocol::to_text(at));
  end_role(x.where);
  found(x.where, {}, {++last_life_.value});
}

void world::act(const cell&, const address& at, protocol::retire&) {
  end_role(at);
}

void world::act(const cell&, const address& at, protocol::rebuild&) {
  die(at);
}

void world::act(const cell&, const address& at, protocol::note& x) {
  if (x.is_error)
    say("E1", fmt::format("{} notes {}", protocol::to_text(at), x.what));
}

/// No role of this world keeps leases.
void world::act(const cell&, const address& at, protocol::own&) {
  ensure(false, to_text(at));
}

void world::act(const cell&, const address&, protocol::fault& x) {
  passed_.push_back(x.id);
}

} // namespace tutti::chaos::small
