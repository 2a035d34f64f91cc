// How many exchanges a writer keeps open, who is next, and who waits for a better time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "base/time.hpp"
#include "protocol/effects.hpp"

namespace tutti::bridge {

/// A writer has many requests, each a little state machine with at most one exchange open. The
/// window bounds the open ones, keeps the others in order, and stops all of them when the server
/// says that it is overloaded (429): one budget for all requests of a role.
///
///     request:  – ─ enqueue ─▶ ready ─ pump ─▶ open ─ answer ─▶ (the role) ─▶ ready | later | –
///                            ▲                                              │
///                            └───────────────── timer ◀─────────────────────┘
class exchange_window {
public:
  static constexpr std::uint32_t retry_timer = 1; ///< timer_id::kind; the key is the request
  static constexpr std::uint32_t pause_timer = 2;

  explicit exchange_window(std::size_t limit) : limit_(limit) {}

  /// The request has an exchange to make. `is_first` puts it before the others: it is half done.
  void enqueue(std::uint64_t request, bool is_first);
  /// The same, after `wait`.
  void later(std::uint64_t request, base::duration wait, protocol::effects& out);
  /// The server is overloaded: nothing new leaves before `now + wait`.
  void pause(base::duration wait, base::time_point now, protocol::effects& out);

  /// Opens exchanges while there is room. `make(request)` returns its next exchange, or nothing if
  /// it is over; it may add effects that must come before the exchange.
  template <class Make>
  void pump(base::time_point now, protocol::effects& out, Make make) {
    while (now >= paused_until_ && open_.size() < limit_ && !ready_.empty()) {
      const auto request = ready_.front();
      ready_.pop_front();
      std::optional<protocol::http_request> what = make(request);
      if (!what)
        continue;
      const auto id = ++last_id_;
      open_.emplace(id, request);
      out.add(protocol::exchange{id, std::move(*what)});
    }
  }

  /// An answer came: whose? Nothing if the exchange is not ours or over.
  std::optional<std::uint64_t> close(std::uint64_t id);
  /// A timer fired. False if it is not the window's.
  bool on_timer(const protocol::timer_id& timer);

  /// Exchanges that are out, and requests that could have one if there were room.
  std::size_t open() const { return open_.size(); }
  std::size_t ready() const { return ready_.size(); }
  /// Who is next, in order; requests that are over may still stand there.
  const std::deque<std::uint64_t>& line() const { return ready_; }
  base::time_point paused_until() const { return paused_until_; }
  /// An exchange of this request is out.
  bool is_open(std::uint64_t request) const;

private:
  std::size_t limit_;
  std::deque<std::uint64_t> ready_;
  std::map<std::uint64_t, std::uint64_t> open_; // exchange → request
  std::uint64_t last_id_ = 0;
  base::time_point paused_until_{};
};

} // namespace tutti::bridge
