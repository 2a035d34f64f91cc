#include "actors/bridge_desk.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "protocol/link_frames.hpp"

namespace tutti::actors {

namespace asio = boost::asio;
using base::code;
using base::error;

namespace {

/// Asked too much at once: as a server that protects itself.
constexpr std::int64_t too_much_wait_ms = 1000;

std::uint64_t id_of(const bridge::http_event& x) {
  return std::visit([](const auto& y) { return y.id; }, x);
}

bool is_last(const bridge::http_event& x) {
  return !std::holds_alternative<protocol::stream_opened>(x)
         && !std::holds_alternative<protocol::stream_lines>(x);
}

/// What a carrier says of an exchange; nothing for any other event.
std::optional<bridge::http_event> http_event_in(protocol::event& e) {
  return std::visit(
      [](auto& x) -> std::optional<bridge::http_event> {
        if constexpr (std::is_constructible_v<bridge::http_event, decltype(x)>)
          return bridge::http_event{std::move(x)};
        else
          return std::nullopt;
      },
      e);
}

} // namespace

bridge_desk::bridge_desk(parts from) : from_(from) {}

bridge_desk::~bridge_desk() {
  *lives_ = false;
}

// ---------------------------------------------------------------- schedulers

std::uint64_t bridge_desk::arrive(std::string name, std::shared_ptr<link_queue> out,
                                  std::function<void(error)> drop) {
  const auto id = ++last_id_;
  guests_[id] = {std::move(name), std::move(out), std::move(drop), {}, false};
  return id;
}

void bridge_desk::hear(std::uint64_t who, std::string_view frame) {
  const auto pos = guests_.find(who);
  if (pos == guests_.end() || pos->second.is_dropped)
    return;
  auto& g = pos->second;
  auto asked = protocol::decode_bridge_question(frame);
  if (!asked)
    return drop(g, asked.error());
  if (const auto* x = std::get_if<protocol::hang_up>(&*asked))
    give_up(g, x->id);
  else
    begin(g, who, std::move(std::get<protocol::exchange>(*asked)));
  pump_all(); // a cache may have opened for others, too
}

void bridge_desk::begin(guest& g, std::uint64_t who, protocol::exchange x) {
  if (g.tasks.contains(x.id))
    return drop(g, {code::corrupt, fmt::format("exchange {} is begun twice", x.id)});
  if (is_ending_)
    return say(g, x.id, protocol::answer_unknown{x.id, "the bridge is ending"});
  if (g.tasks.size() >= limits::bridge_exchanges_max)
    return say(g, x.id, protocol::answered{x.id, 429, {}, too_much_wait_ms});
  const auto wish = bridge::watch_wish_of(x.request);
  auto* kind = wish ? kind_at(wish->path) : nullptr;
  if (kind == nullptr)
    return pass_on(g, who, std::move(x));
  const auto id = ++last_id_;
  g.tasks[x.id] = {id, kind, false};
  protocol::effects out;
  kind->cache.follow(id, *wish, out);
  perform(*kind, std::move(out));
}

void bridge_desk::pass_on(guest& g, std::uint64_t who, protocol::exchange x) {
  const auto id = ++last_id_;
  const bool is_write = x.request.method != "GET";
  g.tasks[x.id] = {id, nullptr, is_write};
  if (is_write) {
    ++writes_in_flight_;
    ++writes_[call_of(x.request).verb];
  }
  ask_server(id, std::move(x.request), [this, who, its = x.id](protocol::event said) {
    answer_of_server(who, its, std::move(said));
  });
}

void bridge_desk::answer_of_server(std::uint64_t who, std::uint64_t its_id, protocol::event said) {
  const auto pos = guests_.find(who);
  auto what = http_event_in(said);
  if (pos == guests_.end() || !what)
    return; // nobody listens any more
  const auto open = pos->second.tasks.find(its_id);
  if (open == pos->second.tasks.end() || open->second.id != id_of(*what))
    return; // given up
  if (is_last(*what)) {
    forget(open->second);
    pos->second.tasks.erase(open);
  }
  say(pos->second, its_id, std::move(*what));
}

void bridge_desk::give_up(guest& g, std::uint64_t its_id) {
  const auto pos = g.tasks.find(its_id);
  if (pos == g.tasks.end())
    return; // it had its last word already
  const auto x = pos->second;
  g.tasks.erase(pos);
  if (x.follows != nullptr)
    x.follows->cache.leave(x.id);
  else
    from_.http.hang_up(x.id);
  forget(x);
}

void bridge_desk::forget(const task& x) {
  ensure(!x.is_write || writes_in_flight_ > 0, x.id);
  writes_in_flight_ -= x.is_write ? 1 : 0;
}

void bridge_desk::say(guest& g, std::uint64_t its_id, bridge::http_event what) {
  std::visit([its_id](auto& x) { x.id = its_id; }, what);
  auto frame = protocol::frame_of(protocol::frame_kind::exchange, protocol::encode(what));
  if (!g.out->push(std::move(frame)))
    drop(g, {code::unavailable, "too much waits to be told: it does not listen fast enough"});
}

/// Its answers cannot be told any more, so it must take them for unknown, all of them.
void bridge_desk::drop(guest& g, error why) {
  if (!std::exchange(g.is_dropped, true))
    g.drop(std::move(why));
}

void bridge_desk::leave(std::uint64_t who) {
  const auto pos = guests_.find(who);
  if (pos == guests_.end())
    return;
  ++departures_[pos->second.is_dropped ? "dropped" : "gone"];
  while (!pos->second.tasks.empty())
    give_up(pos->second, pos->second.tasks.begin()->first);
  guests_.erase(pos);
}

// ---------------------------------------------------------------- watches

/// Null if that many kinds are watched already: then each scheduler watches for itself.
bridge_desk::shared_kind* bridge_desk::kind_at(const std::string& path) {
  auto pos = kinds_.find(path);
  if (pos == kinds_.end()) {
    if (kinds_.size() >= limits::bridge_kinds_max)
      return nullptr;
    auto made = std::make_unique<shared_kind>(
        shared_kind{bridge::watch_cache{{.path = path, .seed = from_.seed}}, {}, {}});
    pos = kinds_.emplace(path, std::move(made)).first;
    protocol::effects out;
    pos->second->cache.start(from_.clock.now(), out);
    perform(*pos->second, std::move(out));
  }
  return pos->second.get();
}

void bridge_desk::perform(shared_kind& k, protocol::effects asked) {
  for (auto& what : asked.list()) {
    if (auto* x = std::get_if<protocol::exchange>(&what)) {
      const auto id = k.ids[x->id] = ++last_id_;
      ask_server(id, std::move(x->request), [this, &k, its = x->id](protocol::event said) {
        auto heard = http_event_in(said);
        if (!heard)
          return;
        std::visit([its](auto& y) { y.id = its; }, *heard);
        if (is_last(*heard))
          k.ids.erase(its);
        std::visit([&](auto& y) { hear_for(k, protocol::event{std::move(y)}); }, *heard);
      });
    } else if (const auto* up = std::get_if<protocol::hang_up>(&what)) {
      if (const auto pos = k.ids.find(up->id); pos != k.ids.end()) {
        from_.http.hang_up(pos->second);
        k.ids.erase(pos);
      }
    } else if (const auto* timer = std::get_if<protocol::arm>(&what)) {
      const auto id = timer->timer;
      auto& t = k.timers.try_emplace(id, from_.on).first->second;
      t.expires_after(timer->after);
      t.async_wait([this, &k, id](const boost::system::error_code& ec) {
        if (!ec)
          hear_for(k, protocol::timer_fired{id});
      });
    } else if (const auto* off = std::get_if<protocol::disarm>(&what)) {
      k.timers.erase(off->timer);
    } else {
      ensure(false, "a watch asks for nothing else");
    }
  }
}

void bridge_desk::hear_for(shared_kind& k, const protocol::event& what) {
  protocol::effects out;
  k.cache.on(what, from_.clock.now(), out);
  perform(k, std::move(out));
  pump_all();
}

void bridge_desk::ask_server(std::uint64_t id, protocol::http_request what,
                             std::function<void(protocol::event)> heard) {
  const auto call = call_of(what);
  auto& on = from_.on;
  from_.http.start(id, std::move(what),
                   [&on, call, calls = calls_, lives = lives_,
                    heard = std::move(heard)](protocol::event said) mutable {
                     calls->heard(call, said);
                     asio::post(on, [lives, heard, said = std::move(said)]() mutable {
                       if (*lives)
                         heard(std::move(said));
                     });
                   });
}

void bridge_desk::pump_all() {
  for (auto& [id, g] : guests_)
    pump(g);
}

void bridge_desk::refill(std::uint64_t who) {
  if (const auto pos = guests_.find(who); pos != guests_.end())
    pump(pos->second);
}

/// In turn from each watch that it follows, as long as there is room.
void bridge_desk::pump(guest& g) {
  std::vector<std::pair<std::uint64_t, task>> followed;
  for (const auto& [its_id, x] : g.tasks)
    if (x.follows != nullptr)
      followed.emplace_back(its_id, x);
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (const auto& [its_id, x] : followed) {
      if (g.is_dropped || g.out->bytes() >= limits::bridge_window_bytes)
        return;
      auto piece = x.follows->cache.next(x.id, limits::bridge_lines_bytes);
      if (!piece)
        continue;
      has_more = true;
      if (const auto* lines = std::get_if<protocol::stream_lines>(&*piece)) {
        events_ +=
            static_cast<std::uint64_t>(std::count(lines->lines.begin(), lines->lines.end(), '\n'));
        watch_bytes_ += lines->lines.size();
      }
      if (is_last(*piece))
        g.tasks.erase(its_id);
      say(g, its_id, std::move(*piece));
    }
  }
}

bridge_view bridge_desk::look() const {
  bridge_view out;
  const auto now = from_.clock.now();
  for (const auto& [path, k] : kinds_) {
    const auto& c = k->cache;
    out.watches.push_back({path, c.is_fresh(), c.last_failure(), c.size(), c.followers(),
                           c.history_bytes(), now - c.last_heard()});
  }
  for (const auto& [id, g] : guests_)
    out.schedulers.push_back({g.name, g.tasks.size(), g.out->bytes()});
  out.writes_in_flight = writes_in_flight_;
  out.writes = writes_;
  out.events = events_;
  out.watch_bytes = watch_bytes_;
  out.departures = departures_;
  return out;
}

} // namespace tutti::actors
