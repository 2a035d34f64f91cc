// How long links between replicas wait for what.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/time.hpp"

namespace tutti::actors {

struct link_times {
  /// Each side says that it lives when it has said nothing else for so long.
  base::duration heartbeat = std::chrono::seconds{1};
  /// A peer that says nothing for so long is gone, or hangs: its connection is given up. Several
  /// heartbeats, and less than a coordinator gives its shards to vote twice.
  base::duration silence = std::chrono::seconds{5};
  /// For each step up to the greeting: the name's look-up, TCP, TLS, hello.
  base::duration patience = std::chrono::seconds{5};
  /// Between two tries to connect, doubled up to the longest: a replica that comes back must be
  /// reached at once.
  base::duration retry_first = std::chrono::milliseconds{100};
  base::duration retry_longest = std::chrono::seconds{2};
  /// Certificates are read again after this: whoever renews them does so long before they expire.
  base::duration certificates_last = std::chrono::seconds{30};
};

namespace limits {
/// What waits for one peer; beyond it messages are dropped, and said again by their senders. The
/// longest message fits beside what a busy second says.
inline constexpr std::size_t link_queue_bytes_max = 96u << 20;
/// So much is written at once: many small messages share one TLS record and one system call.
inline constexpr std::size_t link_write_bytes = 256u << 10;
/// One read.
inline constexpr std::size_t link_read_bytes = 64u << 10;
/// Connections that others may hold to us: replicas are few, strangers are kept out.
inline constexpr std::size_t link_guests_max = 64;
} // namespace limits

} // namespace tutti::actors
