// The client's end of one HTTP exchange, without I/O: what the bytes that come back mean to the
// role that asked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/events.hpp"

namespace tutti::sim {

class exchange_end {
public:
  exchange_end(std::uint64_t id, bool is_stream);
  exchange_end(exchange_end&&) noexcept;
  ~exchange_end();

  /// Takes bytes of the answer, however they are cut. The events are those of bridge/http_client:
  /// `answered` once; for a stream `stream_opened`, `stream_lines`, `stream_closed`.
  std::vector<protocol::event> take(std::string_view bytes);
  /// The connection has ended before the answer did.
  std::vector<protocol::event> cut(std::string_view why);
  /// The last event was given: nothing more will come.
  bool is_over() const { return is_over_; }
  std::uint64_t id() const { return id_; }

private:
  struct parser;
  void hand_on_lines(std::vector<protocol::event>& out);

  std::uint64_t id_;
  bool is_stream_;
  bool is_open_ = false; ///< the head said 200: lines follow
  bool is_over_ = false;
  std::unique_ptr<parser> parser_;
  std::string rest_;    ///< not parsed yet
  std::string pending_; ///< of a line
};

} // namespace tutti::sim
