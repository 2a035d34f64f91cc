// One HTTP/1.1 connection as bytes in and bytes out, without a socket.
//
// Requests are handled in the order in which they come, at once; their answers leave in the same
// order, each as soon as the store is durable far enough. So clients may pipeline, and many writes
// share one sync.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "sim/api_server/control_plane.hpp"

namespace tutti::sim::api_server {

class connection {
public:
  explicit connection(control_plane& plane);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Takes bytes from the client and handles every request that is complete.
  void receive(std::string_view bytes);
  /// Moves what may be shown by now into the output: answers that are durable, events of watches.
  void pump(base::time_point now);
  /// Bytes for the client; the caller takes them away.
  std::string& output() { return output_; }
  /// All has been said: close after the output is written.
  bool is_done() const { return is_done_; }
  /// When `pump` has something to do even without a new write.
  std::optional<base::time_point> next_deadline() const;
  /// The disk has failed: answers that were held back become errors, and the connection ends.
  void fail(std::string_view why);
  std::uint64_t watch_events() const { return watch_events_; }

private:
  struct parser;
  struct pending {
    answer what;
    bool is_last = false; ///< the client asked to close behind it
    bool has_begun = false;
  };

  void take_request();
  void refuse(const refusal& r);
  bool pump_stream(pending& p, base::time_point now);
  void write_head(const response& r, bool is_stream, bool is_last);

  control_plane& plane_;
  std::unique_ptr<parser> parser_;
  std::string input_;
  std::string output_;
  std::deque<pending> pending_;
  bool is_closing_ = false; ///< no further requests
  bool is_done_ = false;
  std::uint64_t watch_events_ = 0;
};

} // namespace tutti::sim::api_server
