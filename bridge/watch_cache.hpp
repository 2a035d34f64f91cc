// One watch of the API server for many who want to follow it: what a bridge has of one kind.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "bridge/cache_limits.hpp"
#include "bridge/fresh_list.hpp"
#include "bridge/reflector.hpp"
#include "protocol/http.hpp"

namespace tutti::bridge {

/// What a watch request asks for, if a cache can answer it.
struct watch_wish {
  std::string path;    ///< of the collection: "/api/v1/pods"
  bool lists = false;  ///< all that is there first: `sendInitialEvents`
  std::string version; ///< else: what happened after this one
};
/// Nothing for what is no watch of a whole collection with bookmarks: a selector, a namespace, one
/// object. That goes to the server as it is.
std::optional<watch_wish> watch_wish_of(const protocol::http_request& x);

/// Several schedulers that watch the same cost the server the same work several times. A cache
/// watches once, keeps each object's bytes and the last changes in order, and answers their watches
/// as a server would: lists, changes, bookmarks, 410 for what it does not remember.
///
/// Each follower has a place in the history and takes from there at its own pace; nothing is kept
/// for one alone. Whoever falls out of the history is told so (410), and lists again.
///
/// It never seems fresher than it is (S12). It says something only when the server has said
/// something; when its own watch breaks or falls silent, all that follow it are cut off at once,
/// and nobody is let in before it has come back; after a list of its own nothing of before counts.
/// A list is answered only by what the server has confirmed after the question (fresh_list.hpp).
///
/// Pure, as the role that it stands for. Exchanges have ids (serial << 8 | channel), timers the
/// channel as key.
class watch_cache {
public:
  struct options {
    std::string path;
    std::uint64_t seed = 0;
    std::size_t history_bytes_most = limits::history_bytes_max;
  };
  explicit watch_cache(options o);

  void start(base::time_point now, protocol::effects& out);
  /// False if the event belongs to somebody else.
  bool on(const protocol::event& e, base::time_point now, protocol::effects& out);

  /// `who` wants to follow; `next` has what it hears, from now on.
  void follow(std::uint64_t who, const watch_wish& what, protocol::effects& out);
  /// Nothing more is kept for it.
  void leave(std::uint64_t who);
  /// The next piece for `who`, under its name as id, lines up to about `most` bytes; nothing if
  /// there is none now. It is forgotten with `answered`, `answer_unknown` or `stream_closed`.
  std::optional<http_event> next(std::uint64_t who, std::size_t most);

  const std::string& path() const { return seen_.path(); }
  bool is_fresh() const { return seen_.is_fresh(); }
  const std::string& last_failure() const { return seen_.last_failure(); }
  base::time_point last_heard() const { return seen_.last_heard(); }
  std::size_t size() const { return seen_.size(); }
  std::size_t followers() const { return followers_.size(); }
  std::size_t history_bytes() const { return history_bytes_; }

private:
  enum class kind : std::uint8_t { added, modified, deleted, bookmark };
  struct entry {
    kind what = kind::bookmark;
    object_text text; // null: a bookmark
    std::uint64_t version = 0;
  };
  struct follower {
    enum class state : std::uint8_t { waits_for_list, waits_for_watch, open };
    state now = state::waits_for_list;
    std::uint64_t since = 0; // waits_for_watch: the version that it has
    bool was_opened = false;
    std::vector<object_text> list; // still to be told from `told` on
    std::size_t told = 0;
    std::optional<std::uint64_t> list_version; // its end is still to be told
    std::uint64_t place = 0;                   // in the history: the next entry
    std::optional<http_event> last;            // what it hears before it is forgotten
  };

  void apply(const change& c);
  void remember(entry e);
  void begin_history();
  void settle(protocol::effects& out);
  void settle_lists(protocol::effects& out);
  void settle_watches();
  void cut_off(const std::string& why);
  struct list_of {
    std::vector<object_text> items;
    std::uint64_t version = 0;
  };
  list_of all_objects() const;
  void open_with(follower& f, list_of what) const;
  std::uint64_t place_after(std::uint64_t version) const;
  std::uint64_t version() const;
  void take_lines(follower& f, std::size_t most, std::string& out) const;
  static void add_line(std::string& to, kind what, std::string_view text);

  const options options_;
  reflector seen_;
  fresh_list fresh_;
  std::vector<object_text> objects_;     // by tag - 1
  std::vector<std::uint64_t> free_tags_; // of objects that are gone
  std::deque<entry> history_;
  std::uint64_t first_ = 0; // place of the first entry; grows only
  std::size_t history_bytes_ = 0;
  std::uint64_t oldest_ = 0;                // the history has all that came after this version
  std::optional<std::uint32_t> history_of_; // the list behind which the history stands
  bool was_fresh_ = false;
  std::map<std::uint64_t, follower> followers_;
};

} // namespace tutti::bridge
