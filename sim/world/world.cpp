#include "sim/world/world.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::sim {

world::world(options how) : how_(std::move(how)), chance_(how_.seed) {
  api_ = std::make_unique<api_node>(how_.api, time_, chance_.network);
  api_->on_arrival([this](const std::string& client, const protocol::http_request& request) {
    arrives(client, request);
  });
  api_->after_turn([this] { api_turned(); });
  links_ = std::make_unique<network>(how_.links, time_, chance_.links);
  const bool has_others = how_.replicas > 1;
  for (std::size_t n = 0; n < how_.replicas; ++n) {
    const auto name = fmt::format("scheduler-{}", n);
    auto own = how_.scheduler;
    if (has_others)
      own.replica = name;
    if (n > 0)
      own.seed = base::hash_combine(own.seed, n);
    processes_.push_back(
        std::make_unique<process>(name, std::move(own),
                                  process_parts{.time = time_,
                                                .api = *api_,
                                                .chance = chance_,
                                                .links = has_others ? links_.get() : nullptr,
                                                .watches = this}));
  }
}

world::~world() {
  observers_.clear(); // they may have gone before us
  processes_.clear(); // they speak to the API server to the end
}

void world::start() {
  for (auto& p : processes_) {
    const auto ok = p->start();
    ensure(ok.has_value(), p->name());
  }
}

process* world::find(const std::string& name) {
  for (auto& p : processes_)
    if (p->name() == name)
      return p.get();
  return nullptr;
}

bool world::step(base::time_point limit) {
  std::size_t runnable = 0;
  for (const auto& p : processes_)
    runnable += p->runnable();
  if (runnable > 0) {
    run_one_of(runnable);
  } else if (!time_.run_one()) {
    const auto next = next_instant();
    if (!next || *next > limit) {
      time_.advance(std::max(limit, time_.now()));
      return false;
    }
    time_.advance(std::max(*next, time_.now()));
    for (auto& p : processes_)
      p->fire_timers();
  }
  ++steps_;
  bury_the_dead();
  return true;
}

void world::run_one_of(std::size_t runnable) {
  auto n = static_cast<std::size_t>(chance_.order.below(runnable));
  for (auto& p : processes_) {
    const auto here = p->runnable();
    if (n < here) {
      p->run(n);
      return;
    }
    n -= here;
  }
}

std::optional<base::time_point> world::next_instant() const {
  auto next = time_.next();
  for (const auto& p : processes_)
    if (const auto own = p->next_timer(); own && (!next || *own < *next))
      next = own;
  return next;
}

void world::bury_the_dead() {
  for (auto& p : processes_)
    if (p->bury() && (how_.restarts_armed || !p->died_as_armed()))
      start_again(*p, how_.restart_after);
}

void world::start_again(process& who, base::duration after) {
  time_.after(after, [this, &who, after] {
    if (who.is_up())
      return;
    auto ok = who.start();
    if (ok)
      return;
    ended(who, ok.error().message());
    if (ok.error().what() == base::code::io)
      start_again(who, after); // F9: there may be space on the disk by then
  });
}

bool world::run_until(base::time_point deadline, const std::function<bool()>& is_enough) {
  for (;;) {
    if (is_enough && is_enough())
      return true;
    if (!step(deadline))
      return false;
  }
}

void world::run_for(base::duration how_long) {
  run_until(time_.now() + how_long, {});
}

// ---------------------------------------------------------------- observing

void world::stepped(process& who, const protocol::address& where, const protocol::event& e,
                    const protocol::effects& wanted) {
  auto h = base::hash_combine(trace_hash_, static_cast<std::uint64_t>(where.kind));
  h = base::hash_combine(h, where.index);
  h = base::hash_combine(h, base::hash_of(where.key));
  h = base::hash_combine(h, e.index());
  if (const auto* r = std::get_if<protocol::received>(&e))
    h = base::hash_combine(h, r->what.index());
  for (const auto& w : wanted.list())
    h = base::hash_combine(h, w.index());
  trace_hash_ =
      base::hash_combine(h, static_cast<std::uint64_t>(time_.now().time_since_epoch().count()));
  for (auto* o : observers_)
    o->stepped(who, where, e, wanted);
}

void world::arrives(std::string_view client, const protocol::http_request& request) {
  for (auto* o : observers_)
    o->arrives(client, request);
}

void world::api_turned() {
  for (auto* o : observers_)
    o->api_turned();
}

void world::durable(process& who, const persistence::batch& written) {
  for (auto* o : observers_)
    o->durable(who, written);
}

void world::began(process& who) {
  for (auto* o : observers_)
    o->began(who);
}

void world::ended(process& who, std::string_view why) {
  for (auto* o : observers_)
    o->ended(who, why);
}

} // namespace tutti::sim
