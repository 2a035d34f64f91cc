// Follows one resource of the API server by list and watch, and never misses a delete.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/time.hpp"
#include "bridge/line_head.hpp"
#include "protocol/effects.hpp"
#include "protocol/events.hpp"

namespace tutti::bridge {

/// One change of one object, in the order in which the server tells them.
struct change {
  enum class kind : std::uint8_t { added, modified, deleted };
  kind what = kind::added;
  std::string_view key;                        ///< "namespace/name" or "name"
  const boost::json::object* object = nullptr; ///< null for a delete that a list or a reuse of the
                                               ///< name revealed
  std::uint64_t& tag; ///< kept beside the object for whoever follows it; 0 at first
  /// The object's bytes as the server sent them; empty if there is none, or they are not known.
  std::string_view text{};
};

/// A watch can break, fall behind the server's memory (410), fall silent, repeat itself, and say
/// nothing of what was deleted while it was away. A reflector turns that into a clean sequence of
/// changes: per object uid and version are kept, a repeated or older event is dropped (F20), a full
/// list is compared with what is known, a name that was reused is deleted first and added then.
///
///     start ─▶ listing ─▶ watching ─ orderly end ─▶ watching (from the last version or bookmark)
///                ▲            │ failure ─▶ waiting (doubling) ─▶ watching
///                └── waiting ◀┘ 410, ERROR, too large version, silent for `view_stale_after` (F19)
///
/// An event that a healthy watch has swallowed is found by a check: every few minutes the server is
/// asked for a list beside the watch. Once the watch has come as far, both must agree; if they do
/// not, the list is begun anew.
///
/// A list comes as a stream if the server can (`sendInitialEvents`), else in pages. Lists ask for
/// the newest state (no resourceVersion), so that a replaced object never comes back.
///
/// Pure, as the role that owns it. Exchange ids are (serial << 8 | channel), timers carry the
/// channel as key, so that several reflectors share a role.
class reflector {
public:
  struct options {
    std::string path;         ///< "/api/v1/pods"
    std::uint8_t channel = 0; ///< distinct among the reflectors of one role
    bool streams_list = true; ///< try a streaming list first
    std::uint64_t seed = 0;   ///< for jitter
  };
  using sink = std::function<void(const change&)>;

  static constexpr std::uint32_t retry_timer = 1; ///< timer_id::kind
  static constexpr std::uint32_t stall_timer = 2;
  static constexpr std::uint32_t check_timer = 4;
  /// What the watch has told is compared with a list after this, plus up to as much again. Within
  /// ten minutes whatever a watch has swallowed is found, with a minute for the watch to come as
  /// far; a list costs the server as much as that of a client that starts.
  static constexpr base::duration check_every = std::chrono::minutes{4};
  /// Of a channel in the ids of exchanges: those of checks.
  static constexpr std::uint64_t check_bit = 0x80;

  explicit reflector(options o) : options_(std::move(o)) {}

  /// Asks for the first list. Call once.
  void start(std::uint64_t seed, base::time_point now, protocol::effects& out);

  /// Lists again from scratch and tells every object as `added` or `modified`, known or not.
  void tell_again(base::time_point now, protocol::effects& out);

  /// Lists again from scratch. `is_synced` is true once a list has been heard that was asked for
  /// after this call.
  void list_again(base::time_point now, protocol::effects& out);

  /// Takes an event. Returns false, and does nothing, if it belongs to somebody else. `apply` hears
  /// the changes; during the call only.
  bool on(const protocol::event& e, base::time_point now, protocol::effects& out,
          const sink& apply);

  /// The first full list (or the one after `tell_again`) has been handed over.
  bool is_synced() const { return is_synced_; }
  /// Synced, connected and heard of lately: what is known is what the server has (S12).
  bool is_fresh() const { return is_synced_ && is_trusted_; }
  bool is_connected() const { return state_ == state::watching || state_ == state::stream_listing; }
  /// The server refuses us (401, 403).
  bool is_forbidden() const { return is_forbidden_; }
  const std::string& resource_version() const { return resume_; }
  std::size_t size() const { return objects_.size(); }
  base::time_point last_heard() const { return last_heard_; }
  const std::string& path() const { return options_.path; }
  const std::string& last_failure() const { return last_failure_; }
  /// Objects that differed from what the watch had told, in all checks so far.
  std::uint64_t swallowed() const { return swallowed_; }
  /// Another number with every list that is begun.
  std::uint32_t list_no() const { return list_no_; }

private:
  enum class state : std::uint8_t {
    idle,
    opening_list,   // streaming list asked for
    stream_listing, // its lines come
    page_listing,
    opening_watch,
    watching,
    waiting // for the retry timer
  };

  /// What is kept per object: this is the biggest table of the process.
  struct entry {
    std::uint64_t uid = 0;     // hash
    std::uint64_t version = 0; // see `version_of`
    std::uint64_t tag = 0;
    std::uint32_t round = 0; // the last list or check that had it
  };
  using table = boost::unordered_flat_map<std::string, entry>;

  void on_answered(const protocol::answered& e, base::time_point now, protocol::effects& out,
                   const sink& apply);
  void on_page(const std::string& body, base::time_point now, protocol::effects& out,
               const sink& apply);
  void on_opened(base::time_point now);
  void on_lines(const std::string& lines, base::time_point now, protocol::effects& out,
                const sink& apply);
  const std::string& key_of(const line_head& x);
  bool is_repetition(std::string_view line);
  bool on_line(const boost::json::object& line, std::string_view text, base::time_point now,
               protocol::effects& out, const sink& apply);
  void on_error_line(const boost::json::object& status, base::time_point now,
                     protocol::effects& out);
  void on_closed(const std::string& why, base::time_point now, protocol::effects& out);
  void on_timer(std::uint32_t kind, base::time_point now, protocol::effects& out);

  void begin_list(base::time_point now, protocol::effects& out);
  void ask_page(base::time_point now, protocol::effects& out);
  void begin_watch(base::time_point now, protocol::effects& out);
  void finish_list(std::string version, const sink& apply);
  void ask(std::string target, bool is_stream, base::time_point now, protocol::effects& out);
  std::uint64_t lifetime_seconds() const;
  void hang_up(protocol::effects& out);
  void resume_from(std::string_view version);

  struct failure {
    std::string why;
    bool needs_list = false;
    bool keeps_trust = false;
    base::duration at_least{};
  };
  void fail(failure f, base::time_point now, protocol::effects& out);

  void apply_seen(const boost::json::object& object, const sink& apply);
  void apply_deleted(const boost::json::object& object, const sink& apply);

  // reflector_check.cpp
  /// A list that is compared with what is known, page by page, while the watch goes on.
  struct check {
    bool is_asked = false;
    std::map<std::string, std::uint64_t> unheard; ///< objects and versions that are news to us
    std::set<std::string> ended;                  ///< the watch has told of their end meanwhile
    std::optional<std::uint64_t> up_to;           ///< the list's version, once all pages are there
  };
  std::uint64_t check_exchange() const;
  void arm_check(protocol::effects& out);
  void begin_check(protocol::effects& out);
  void ask_check_page(std::string target, protocol::effects& out);
  void drop_check(protocol::effects& out);
  bool on_check(const protocol::event& e, protocol::effects& out);
  void on_check_answered(const protocol::answered& e, protocol::effects& out);
  void compare(const line_head& there);
  void settle_check(base::time_point now, protocol::effects& out);

  options options_;
  table objects_;
  std::optional<check> check_;
  std::uint64_t check_serial_ = 0;
  std::uint64_t swallowed_ = 0;
  state state_ = state::idle;
  std::uint64_t serial_ = 0;  // of the exchange that is open
  std::uint32_t list_no_ = 0; // of the list that runs or ran last
  std::uint32_t round_ = 0;   // of the list or check that runs or ran last
  std::string continue_;      // token of the next page
  std::string looked_for_;    // a key; here for its memory only
  std::string resume_;        // version to watch from
  std::uint32_t tries_ = 0;   // failures in a row
  bool needs_list_ = true;
  bool tells_all_ = false; // the running list tells unchanged objects too
  bool is_synced_ = false;
  bool is_trusted_ = false;
  bool is_forbidden_ = false;
  bool heard_line_ = false; // on the open stream
  base::time_point asked_{};
  base::time_point last_heard_{};
  std::string_view text_; // of the object in the line that is being read
  std::string last_failure_;
};

} // namespace tutti::bridge
