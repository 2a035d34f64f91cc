// Brings conditions of pods and groups to the API server, the newest word only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "api/dialect.hpp"
#include "bridge/condition_memory.hpp"
#include "bridge/exchange_window.hpp"
#include "bridge/limits.hpp"
#include "bridge/verdicts.hpp"
#include "protocol/messages.hpp"

namespace tutti::bridge {

/// Gangs and queue say the same thing again and again, and change their mind while a write is on
/// its way. Per (object, type) only the newest word is kept, and it is written only if the server
/// does not say it already; what the server says is read before the first write, so a restart
/// writes nothing twice. Texts are here only while they are to be written; of what is written only
/// enough is remembered to know it again (condition_memory.hpp). Each write carries uid and
/// resourceVersion: a False that was meant for a pending pod never lands on one that was bound
/// meanwhile, and a group's True is never taken back (M-1).
///
///     – ─ say ─▶ reading ─ differs ─▶ patching ─▶ remembered ─ say something else ─▶ patching
///                   ▲                    │ 409, unknown
///                   └────────────────────┘
///
/// A part of the status role: plain state, effects only.
class condition_writer {
public:
  using request_id = std::uint64_t; ///< one per (object, type) under way, given by the role

  /// `spoken` decides path and name of a group's condition.
  explicit condition_writer(api::dialect spoken) : spoken_(spoken) {}

  /// Of the jitter between retries.
  void seed(std::uint64_t seed) { seed_ = seed; }

  /// A word on one object; `id` becomes its request if it must be written and has none. Returns
  /// whether `id` was used.
  bool say(const protocol::set_condition& x, request_id id, exchange_window& window,
           protocol::effects& out);

  /// The next exchange of a request of this writer; nothing if it has nothing to do.
  std::optional<protocol::http_request> next_exchange(request_id id, base::wall_time now);

  /// What came back for an exchange.
  struct answer {
    int status = 0; ///< 0 = unknown
    std::string_view body;
    std::int64_t retry_after_ms = 0;
  };
  /// The exchange of `id` has ended: on to the next step, to a retry, or done.
  void on_answer(request_id id, const answer& a, base::time_point now, exchange_window& window,
                 protocol::effects& out);

  /// Conditions that are still to be written.
  std::size_t waiting() const { return entries_.size(); }
  /// Conditions of which is known what the server says, and that need no writing.
  std::size_t remembered() const { return memory_.size(); }
  /// Patches that were accepted in this life.
  std::uint64_t writes() const { return writes_; }
  /// Words that were not taken because too many waited; whoever said them must say them again.
  std::uint64_t dropped() const { return dropped_; }

private:
  struct content {
    bool status = false;
    std::string reason;
    std::string message;

    friend bool operator==(const content&, const content&) = default;
  };
  /// One that is to be written, or is being written.
  struct entry {
    protocol::object_name name;
    bool is_pod = false;
    std::string uid;
    std::string type;
    content wanted;
    content sent; // by the PATCH that is out
    std::string sent_since;
    std::optional<known_condition> known;
    bool is_open = false;
    bool is_patching = false;
    std::uint32_t tries = 0;
  };

  static digest key_of(bool is_pod, std::string_view uid, std::string_view type);
  static digest words_of(const content& c) { return digest_of({c.reason, c.message}); }
  bool is_group_start(bool is_pod, std::string_view type) const;
  bool is_needed(const known_condition& there, bool is_pod, std::string_view type,
                 const content& c) const;
  bool is_needed(const entry& e, const content& c) const;
  bool is_final(const entry& e, const content& c) const;
  void on_read(request_id id, entry& e, verdict v, std::string_view body, exchange_window& window,
               protocol::effects& out);
  void on_patch(request_id id, entry& e, verdict v, std::string_view body, exchange_window& window,
                protocol::effects& out);
  void retry(request_id id, entry& e, base::duration at_least, exchange_window& window,
             protocol::effects& out);
  void settle(request_id id);
  void forget(request_id id);
  protocol::http_request apply_request(const entry& e, boost::json::object body) const;
  std::string path_of(const entry& e) const;
  protocol::http_request patch_request(entry& e, base::wall_time now) const;

  api::dialect spoken_;
  std::map<request_id, entry> entries_;
  boost::unordered_flat_map<digest, request_id, digest_hash> by_key_; // of entries_
  condition_memory memory_{limits::conditions_remembered};
  std::uint64_t writes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t seed_ = 0;
};

} // namespace tutti::bridge
