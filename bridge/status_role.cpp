// Sorts words into conditions and events, and shares one window of exchanges among them.
#include "bridge/status_role.hpp"

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "bridge/limits.hpp"

namespace tutti::bridge {

status_role::status_role(options o)
    : options_(std::move(o)), window_(limits::status_in_flight), conditions_(options_.spoken),
      events_({.scheduler_name = options_.scheduler_name,
               .instance = options_.instance,
               .group_api_version = std::string{api::api_version_of(options_.spoken)}}) {}

protocol::effects status_role::on(const protocol::event& e, base::time_point now) {
  ensure(now >= now_);
  now_ = now;
  protocol::effects out;
  if (const auto* x = std::get_if<protocol::started>(&e)) {
    conditions_.seed(x->seed);
    events_.seed(x->seed, x->incarnation.value);
    // What an earlier life had not written is known to nobody but the queue.
    out.tell(protocol::to(protocol::role_kind::queue), protocol::view_wanted{});
  } else if (const auto* m = std::get_if<protocol::received>(&e)) {
    hear(*m, out);
  } else if (const auto* a = std::get_if<protocol::answered>(&e)) {
    on_answer(a->id, {a->status, a->body, a->retry_after_ms}, out);
  } else if (const auto* u = std::get_if<protocol::answer_unknown>(&e)) {
    on_answer(u->id, {0, {}, 0}, out);
  } else if (const auto* t = std::get_if<protocol::timer_fired>(&e)) {
    if (t->timer.kind == sweep_timer)
      is_sweeping_ = false;
    else
      window_.on_timer(t->timer);
    if (t->timer.kind == sweep_timer && events_.sweep(now_, window_)) {
      is_sweeping_ = true;
      out.add(protocol::arm{{sweep_timer, 0}, limits::series_refresh});
    }
  }
  window_.pump(now_, out, [&](std::uint64_t request) {
    return request % 2 == 0 ? conditions_.next_exchange(request, wall_now())
                            : events_.next_exchange(request, now_, wall_now());
  });
  ask_for_dropped(out);
  return out;
}

/// There is room again for what was turned away: the queue finds out what it was.
void status_role::ask_for_dropped(protocol::effects& out) {
  if (conditions_.dropped() == dropped_asked_
      || conditions_.waiting() > limits::conditions_waiting / 2)
    return;
  dropped_asked_ = conditions_.dropped();
  out.tell(protocol::to(protocol::role_kind::queue), protocol::view_wanted{});
}

void status_role::hear(const protocol::received& e, protocol::effects& out) {
  if (const auto* c = std::get_if<protocol::set_condition>(&e.what)) {
    if (conditions_.say(*c, (last_request_ + 1) * 2, window_, out))
      ++last_request_;
  } else if (const auto* v = std::get_if<protocol::emit_event>(&e.what)) {
    if (events_.emit(*v, (last_request_ + 1) * 2 + 1, now_, window_, out))
      ++last_request_;
    if (!is_sweeping_ && events_.remembered() > 0) {
      is_sweeping_ = true;
      out.add(protocol::arm{{sweep_timer, 0}, limits::series_refresh});
    }
  } else if (const auto* q = std::get_if<protocol::inspect>(&e.what)) {
    out.tell(e.from,
             protocol::inspected{
                 q->id, fmt::format(R"({{"waiting":{},"inFlight":{},"remembered":{},"writes":{},)"
                                    R"("eventSeries":{}}})",
                                    conditions_.waiting(), window_.open(), conditions_.remembered(),
                                    conditions_.writes(), events_.remembered())});
  }
}

void status_role::on_answer(std::uint64_t exchange, const condition_writer::answer& a,
                            protocol::effects& out) {
  const auto request = window_.close(exchange);
  if (!request)
    return;
  if (*request % 2 == 0)
    conditions_.on_answer(*request, a, now_, window_, out);
  else
    events_.on_answer(*request, a, now_, window_, out);
}

base::wall_time status_role::wall_now() const {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch());
  return {options_.wall_at_zero.unix_ms + since.count()};
}

std::uint64_t status_role::state_hash() const {
  auto h = base::hash_of(std::uint64_t{conditions_.waiting()});
  h = base::hash_combine(h, conditions_.remembered());
  return base::hash_combine(h, events_.remembered());
}

} // namespace tutti::bridge
