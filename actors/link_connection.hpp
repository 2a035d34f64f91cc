// One connection between two processes, from the greeting to its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "actors/link_queue.hpp"
#include "actors/link_times.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/byte_stream.hpp"
#include "protocol/link_frames.hpp"

namespace tutti::actors {

/// All on one thread.
///
///     connected ─ hello, hello ─▶ greeted ─ frames, heartbeats ─▶ over
///         └───────── refused, late ────────────────────────────────▲
class link_connection : public std::enable_shared_from_this<link_connection> {
public:
  /// Whether the replica of that name may come.
  using judge = std::function<base::result<void>(const std::string&)>;
  using ear = std::function<void(std::string_view)>;

  /// Of the frames that come, those of the kind `carries` are heard.
  link_connection(bridge::byte_stream_ptr stream, link_times times,
                  protocol::frame_kind carries = protocol::frame_kind::envelope);

  /// Says `ours` first. Refuses whom it cannot talk to (`protocol::check_hello`), and whom
  /// `may_come` does not let in, without a word.
  boost::asio::awaitable<base::result<protocol::link_hello>> greet(protocol::link_hello ours,
                                                                   judge may_come);

  /// Says what is in `out` (null: heartbeats only), gives `hear` what comes,
  /// until either side ends. Returns why. `lasts` is called when the first frame behind the
  /// greeting comes: until then the other side may still refuse us.
  boost::asio::awaitable<base::error> run(std::shared_ptr<link_queue> out, ear hear,
                                          std::function<void()> lasts);
  /// `run` and `greet` come to their end.
  void close(base::error why);

private:
  boost::asio::awaitable<base::result<protocol::link_frame>> next();
  boost::asio::awaitable<void> speak(std::shared_ptr<link_queue> out);
  boost::asio::awaitable<void> watch();

  const bridge::byte_stream_ptr stream_;
  const link_times times_;
  const protocol::frame_kind carries_;
  protocol::frame_reader frames_{protocol::hello_bytes_max};
  std::string buffer_;
  std::optional<boost::asio::steady_timer> watchdog_;
  std::optional<boost::asio::steady_timer> pause_; ///< between heartbeats without a queue
  std::shared_ptr<link_queue> out_;
  bool has_heard_ = false; ///< since the watchdog looked
  std::optional<base::error> over_;
};

} // namespace tutti::actors
