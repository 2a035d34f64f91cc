// Finds out how things stand now, for those who share one watch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "bridge/api_client.hpp"
#include "protocol/effects.hpp"
#include "protocol/events.hpp"

namespace tutti::bridge {

/// One object as the server sent it; shared by all who have yet to be told of it.
using object_text = std::shared_ptr<const std::string>;

/// "resourceVersion" as a number, which it is since Kubernetes 1.35; nothing for any other text.
std::optional<std::uint64_t> version_number(std::string_view text);

/// A list must show what was there when it was asked for, or later: takeovers depend on it (2.7). A
/// cache behind a watch may be behind, and a quiet watch does not say how far: bookmarks come once
/// a minute. So the server is asked for its present version, *after* the last of those who are
/// answered together came; the cache may answer once it has got there. Where nothing changes it
/// never hears that it has: then the list itself is read, page by page, beside the watch.
///
///     idle ─ ask ─▶ asking ─ version ─▶ waiting ─ late, `read_pages` ─▶ paging ─▶ listed
///                     └───────── any other answer ─▶ failed ◀─────────────┘
///
/// Whoever comes while this runs belongs to the next round. Pure, as a part of a role.
class fresh_list {
public:
  struct options {
    std::string path;
    std::uint8_t channel = 0; ///< of its exchanges, as a reflector's
  };
  static constexpr std::uint32_t late_timer = 3; ///< timer_id::kind

  explicit fresh_list(options o) : options_(std::move(o)) {}

  void ask(std::uint64_t who, protocol::effects& out);
  /// `who` does not wait any more.
  void forget(std::uint64_t who);
  /// False, and nothing is done, if the event belongs to somebody else.
  bool on(const protocol::event& e, protocol::effects& out);

  /// What the watch must have reached; nothing if that is not asked for now.
  std::optional<std::uint64_t> awaited() const;
  /// It has not for a while.
  bool is_late() const { return state_ == state::waiting && is_late_; }
  void read_pages(protocol::effects& out);
  /// The version of the list that was read; nothing if none was.
  std::optional<std::uint64_t> listed() const;
  std::vector<object_text> take_items() { return std::move(items_); }
  /// Why there is none, in the server's words; the id means nothing.
  const http_event* failure() const { return state_ == state::failed ? &failure_ : nullptr; }

  /// This round is over: those it was for. The next one begins, if somebody waits.
  std::set<std::uint64_t> finish(protocol::effects& out);
  /// What was found is of no use: the same once more, and for those, too, who came meanwhile.
  void ask_again(protocol::effects& out);

private:
  enum class state : std::uint8_t { idle, asking, waiting, paging, listed, failed };

  void begin(protocol::effects& out);
  void get(const std::string& query, protocol::effects& out);
  void hear(const protocol::answered& x, protocol::effects& out);
  void fail(http_event what);

  const options options_;
  state state_ = state::idle;
  std::set<std::uint64_t> askers_;
  std::set<std::uint64_t> next_;
  std::uint64_t serial_ = 0;
  std::uint64_t version_ = 0;
  bool is_late_ = false;
  std::vector<object_text> items_;
  http_event failure_;
};

} // namespace tutti::bridge
