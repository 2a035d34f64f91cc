// Writes Kubernetes Events, repeated ones as a series of one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <boost/unordered/unordered_flat_map.hpp>

#include "bridge/condition_writer.hpp"

namespace tutti::bridge {

/// A gang that waits says so at every attempt. The first time makes an Event; repetitions within
/// `series_idle` count in its series, written at most every `series_refresh`; another text makes a
/// new Event, no sooner than that either. Events are best effort: what cannot be written is
/// dropped, and so is what goes beyond `event_series_remembered`.
///
/// A part of the status role: plain state, effects only.
class event_writer {
public:
  using request_id = std::uint64_t;

  struct options {
    std::string scheduler_name = "tutti"; ///< reportingController
    std::string instance = "tutti";       ///< reportingInstance
    std::string group_api_version;        ///< of PodGroups
  };
  explicit event_writer(options o) : options_(std::move(o)) {}

  /// Of the names of Events: another one in each life, or names would be used twice.
  void seed(std::uint64_t seed, std::uint64_t incarnation);

  /// One more occurrence; `id` becomes the series' request if it is new. Returns whether `id` was
  /// used.
  bool emit(const protocol::emit_event& x, request_id id, base::time_point now,
            exchange_window& window, protocol::effects& out);
  /// The next exchange of a series; nothing if it is not due.
  std::optional<protocol::http_request> next_exchange(request_id id, base::time_point now,
                                                      base::wall_time wall);
  /// The exchange of `id` has ended: counted, tried again later, or given up.
  void on_answer(request_id id, const condition_writer::answer& a, base::time_point now,
                 exchange_window& window, protocol::effects& out);

  /// Writes series that are due and forgets those that ended. Returns whether to be called again
  /// after `series_refresh`.
  bool sweep(base::time_point now, exchange_window& window);

  /// Series that may still be counted up.
  std::size_t remembered() const { return series_.size(); }

private:
  struct series {
    protocol::emit_event what;
    std::string name;
    std::int64_t count = 1;
    std::int64_t written = 0; // count that the server has; 0 = no Event yet
    std::int64_t sending = 0;
    base::time_point last_seen{};
    base::time_point last_write{};
    bool is_open = false;
    bool is_new_text = false; // the next write makes a new Event
    std::uint32_t tries = 0;
  };
  static digest key_of(const protocol::emit_event& x);
  bool is_due(const series& s, base::time_point now) const;
  std::string fresh_name(const protocol::emit_event& x);
  protocol::http_request post_request(const series& s, base::wall_time wall) const;
  void forget(request_id id);

  options options_;
  std::map<request_id, series> series_;
  boost::unordered_flat_map<digest, request_id, digest_hash> by_key_;
  std::uint64_t last_name_ = 0;
  std::uint64_t seed_ = 0;
};

} // namespace tutti::bridge
