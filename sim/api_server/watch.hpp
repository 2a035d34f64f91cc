// One watch: which events of the store a client still has to see, as lines of JSON.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "sim/api_server/selector.hpp"
#include "sim/api_server/store.hpp"

namespace tutti::sim::api_server {

/// Writes one object as this watch's client wants it: plain, or as a row of a table.
using object_writer = std::function<void(const object&, std::string& out)>;

class watch {
public:
  struct options {
    const endpoint* what = nullptr;
    std::string ns; ///< empty = all
    selector wanted;
    object_writer write;
    bool wants_bookmarks = false;
    bool wants_table = false;
    base::time_point ends_at; ///< by timeoutSeconds
    base::time_point bookmark_at;
  };

  /// Starts behind `after`. `initial` are complete lines that go first, once `initial_rev` is
  /// durable.
  watch(options o, const store& from, revision after, std::string initial, revision initial_rev);

  /// Appends the lines that may be shown now; at most about `bytes_max` bytes at a time, so that a
  /// slow reader holds up nobody. Says whether more is waiting.
  bool poll(base::time_point now, std::string& out, std::size_t bytes_max = 1u << 20);
  /// The stream has ended: by its time, or because the window moved past it.
  bool is_over() const { return is_over_; }
  /// When poll has something to do even without a new event.
  base::time_point next_deadline() const;
  std::uint64_t events_sent() const { return events_sent_; }

private:
  void show(const event& e, std::string& out);
  void line(std::string_view type, const object& x, std::string& out);
  void bookmark(std::string& out) const;

  options options_;
  const store& store_;
  std::size_t next_ = 0;
  revision shown_ = 0;
  std::string initial_;
  revision initial_rev_;
  bool is_expired_ = false; ///< began before the window
  bool is_over_ = false;
  std::uint64_t events_sent_ = 0;
};

/// `{"type":"BOOKMARK",…}` at `r`; `ends_initial` for the one behind a streaming list.
std::string bookmark_line(const endpoint& what, revision r, bool ends_initial, bool as_table);

} // namespace tutti::sim::api_server
