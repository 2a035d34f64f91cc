// Knows how full a disk is before anything is written to it, so that nobody learns it from a write
// that fails.
//
// A write that fails leaves the database behind it useless until it is opened anew, and the book of
// a store ahead of the disk. So whoever writes looks first. Two marks divide the free space:
//
//     plenty ──── reserve ──── scarce ──── reserve / 4 ──── none
//
// The reserve is for finishing what is under way when it is reached; the last quarter of it for
// what a database writes by itself (memtables, compactions).
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "base/result.hpp"

namespace tutti::persistence {

/// Free space below which nothing new is begun: a full log (64 MiB) and the memtables (20 MiB) of
/// the store fit into it, and the records of all attempts that may be under way.
inline constexpr std::uint64_t disk_reserve_default = 128u << 20;
/// How much more than a mark must be free before it counts as left behind: a quarter of it. A disk
/// that stands at a mark would else change the word with every write.
inline constexpr std::uint64_t disk_slack_divisor = 4;
/// How often somebody who waits for space looks again.
inline constexpr std::uint64_t disk_look_interval_ms = 100;

enum class space_level : std::uint8_t {
  plenty, ///< everything may be written
  scarce, ///< nothing new may be begun; what is under way is finished
  none    ///< nothing may be written: whoever wants to waits
};
/// "plenty", "scarce", "none".
std::string_view name_of(space_level x);

/// What a look at a disk has shown.
struct disk_space {
  space_level level = space_level::plenty;
  std::uint64_t free = 0;    ///< bytes
  std::uint64_t reserve = 0; ///< bytes; 0 = nobody minds

  bool has_plenty() const { return level == space_level::plenty; }
  bool has_none() const { return level == space_level::none; }
};

/// Turns free bytes into levels, and remembers the last one. Thread-safe.
class space_gauge {
public:
  /// `reserve` in bytes; 0 = always plenty.
  explicit space_gauge(std::uint64_t reserve) : reserve_(reserve) {}

  disk_space look(std::uint64_t free_bytes);

private:
  const std::uint64_t reserve_;
  std::mutex mutex_;
  space_level last_ = space_level::plenty;
};

/// What is answered to whoever must not write now, and does not want to wait: `io`, in words that
/// name both numbers.
base::error full_error(const disk_space& x);

} // namespace tutti::persistence
