// What a bridge does with the exchanges of its schedulers: watches are shared, all else goes on to
// the API server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "actors/api_calls.hpp"
#include "actors/link_queue.hpp"
#include "actors/services.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/watch_cache.hpp"
#include "protocol/bridge_frames.hpp"

namespace tutti::actors {

namespace limits {
/// So much of what is told from a watch waits for one scheduler at most: enough to keep a fast one
/// busy. The rest waits in the cache, once for all.
inline constexpr std::size_t bridge_window_bytes = 1u << 20;
/// One frame of lines.
inline constexpr std::size_t bridge_lines_bytes = 64u << 10;
/// Exchanges that one scheduler may have open; a sound one has a few hundred.
inline constexpr std::size_t bridge_exchanges_max = 4096;
/// Kinds that are watched; schedulers follow three.
inline constexpr std::size_t bridge_kinds_max = 16;
} // namespace limits

/// What a bridge is doing, for health and metrics.
struct bridge_view {
  struct watch {
    std::string path;
    bool is_fresh = false;
    std::string trouble;
    std::size_t objects = 0;
    std::size_t followers = 0;
    std::size_t history_bytes = 0;
    base::duration silent{}; ///< since the server said something
  };
  struct scheduler {
    std::string name;
    std::size_t open_exchanges = 0;
    std::size_t waiting_bytes = 0;
  };
  std::vector<watch> watches;
  std::vector<scheduler> schedulers;
  std::size_t writes_in_flight = 0;
  std::map<std::string, std::uint64_t> writes; ///< begun, by verb
  std::uint64_t events = 0;                    ///< lines of watches told, to whomever
  std::uint64_t watch_bytes = 0;               ///< of them
  std::map<std::string, std::uint64_t>
      departures; ///< connections that ended: "gone", or "dropped" by us
};

/// All that schedulers ask goes out under the bridge's name and out of its one budget of writes.
/// Watches of whole collections are answered by one cache per kind; everything else, reads as well,
/// is passed on as it is: decisions, Leases and the partition map need the server's own word.
///
/// Nothing is asked of the server twice, and nothing is kept for a scheduler that has gone: what it
/// had under way is given up, and what was sent may still take effect, as with any client that
/// dies.
///
/// On one thread, that of `on`; `http` may answer on any.
class bridge_desk {
public:
  struct parts {
    boost::asio::io_context& on;
    http_carrier& http;
    const base::clock& clock;
    std::uint64_t seed = 0;
  };
  explicit bridge_desk(parts from);
  ~bridge_desk();

  /// A scheduler has come: `out` is filled with frames for it. `drop` ends its connection; it calls
  /// `leave`, later.
  std::uint64_t arrive(std::string name, std::shared_ptr<link_queue> out,
                       std::function<void(base::error)> drop);
  /// What it says: the body of a frame.
  void hear(std::uint64_t guest, std::string_view frame);
  /// There is room in its queue.
  void refill(std::uint64_t guest);
  void leave(std::uint64_t guest);

  /// Nothing new is begun any more; what is asked is answered with `answer_unknown`.
  void begin_ending() { is_ending_ = true; }
  /// After `begin_ending`: a write whose outcome nobody has been told yet.
  bool has_writes_in_flight() const { return writes_in_flight_ > 0; }
  bridge_view look() const;
  std::shared_ptr<api_calls> calls() const { return calls_; }

private:
  struct shared_kind {
    bridge::watch_cache cache;
    std::map<protocol::timer_id, boost::asio::steady_timer> timers;
    std::map<std::uint64_t, std::uint64_t> ids; ///< of its exchanges: here → at the server
  };
  struct task {
    std::uint64_t id = 0;           ///< here: at the server, or as a follower
    shared_kind* follows = nullptr; ///< null: passed on
    bool is_write = false;
  };
  struct guest {
    std::string name;
    std::shared_ptr<link_queue> out;
    std::function<void(base::error)> drop;
    std::map<std::uint64_t, task> tasks; ///< by its own id
    bool is_dropped = false;
  };

  void begin(guest& g, std::uint64_t who, protocol::exchange x);
  void pass_on(guest& g, std::uint64_t who, protocol::exchange x);
  void give_up(guest& g, std::uint64_t its_id);
  void forget(const task& x);
  void answer_of_server(std::uint64_t who, std::uint64_t its_id, protocol::event said);
  void say(guest& g, std::uint64_t its_id, bridge::http_event what);
  void drop(guest& g, base::error why);

  shared_kind* kind_at(const std::string& path);
  void perform(shared_kind& k, protocol::effects asked);
  void hear_for(shared_kind& k, const protocol::event& what);
  void ask_server(std::uint64_t id, protocol::http_request what,
                  std::function<void(protocol::event)> heard);
  void pump_all();
  void pump(guest& g);

  parts from_;
  std::shared_ptr<api_calls> calls_ = std::make_shared<api_calls>();
  std::shared_ptr<bool> lives_ =
      std::make_shared<bool>(true); ///< answers may come later than we go
  std::uint64_t last_id_ = 0;       ///< of exchanges, followers and guests
  std::map<std::string, std::unique_ptr<shared_kind>> kinds_;
  std::map<std::uint64_t, guest> guests_;
  std::size_t writes_in_flight_ = 0;
  std::map<std::string, std::uint64_t> writes_;
  std::map<std::string, std::uint64_t> departures_;
  std::uint64_t events_ = 0;
  std::uint64_t watch_bytes_ = 0;
  bool is_ending_ = false;
};

} // namespace tutti::actors
