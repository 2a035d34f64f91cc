// The flight recorder: the last notes of all roles, for `tutti trace`, for metrics, and for a
// crash.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "protocol/address.hpp"
#include "protocol/effects.hpp"

namespace tutti::actors {

/// One note as it was recorded.
struct recorded {
  base::time_point at;
  base::wall_time wall;
  std::string who;  ///< address of the role
  std::string what; ///< "gang.decided"
  std::vector<std::pair<std::string, protocol::note::value>> fields;
};

/// Keeps the last `capacity` notes and counts all of them by name. Thread-safe.
class recorder {
public:
  explicit recorder(std::size_t capacity) : capacity_(capacity) {}

  void record(const protocol::address& who, const protocol::note& what, base::time_point now,
              base::wall_time wall);

  /// The kept notes that carry `value` in their field `field`, oldest first.
  std::vector<recorded> with(std::string_view field, std::string_view value) const;
  /// The last `n` notes, oldest first.
  std::vector<recorded> last(std::size_t n) const;
  /// How often each note was made since the start.
  std::map<std::string, std::uint64_t> counts() const;

private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::deque<recorded> ring_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

/// "12.345s shard(3) shard.refused attempt=7 reason=…": one line for logs.
std::string to_text(const recorded& x);

} // namespace tutti::actors
