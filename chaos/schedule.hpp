// One run as a file that a person reads in a minute, and that is the run: same file, same steps.
//
//     tutti schedule 1
//     breaks S6                        what it broke when it was saved; may be absent
//     seed 17                          orders of messages and delays
//     world shards=2 path=fast faults_until=20s until=110s
//                                      may have policy=evict, replicas=3, log=objects, pause=3ms
//     at 0s node n0 cpu=4 rack=r0
//     at 300ms gang g0 members=3 min=3 cpu=2
//     at 900ms crash_at scheduler-0 row=C4 pass=1 down=500ms
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "chaos/action.hpp"

namespace tutti::chaos {

/// A schedule of another format is refused: its words may mean something else here.
inline constexpr std::uint32_t schedule_format = 1;

/// Of one world.
inline constexpr std::uint32_t replicas_most = 9;

inline constexpr std::int64_t window_most = 1024;

struct schedule {
  std::string breaks; ///< id of an invariant; empty = none is known to break
  std::uint64_t seed = 1;
  std::uint32_t shards = 2;
  std::uint32_t replicas = 1; ///< several share the shards, and decisions are objects
  bool fast_path = true;
  bool evicts_degraded = false;  ///< `policy=evict`: members of a degraded gang go
  base::duration burst_pause{};  ///< `pause`: how long the queue waits for more; 0 = it does not
  std::uint32_t window = 0;      ///< attempts and exchanges of the binder at once; 0 = as usual
  bool log_is_objects = false;   ///< decisions are API objects; without the fast path
  base::duration faults_until{}; ///< nothing fails after it, and all is healed
  base::duration until{};        ///< the end, at which everything must have come right
  std::vector<action> actions;   ///< ascending by time

  friend bool operator==(const schedule&, const schedule&) = default;
};

/// One of the words of a `world` line, for people: "window=N".
struct world_word {
  std::string_view key;
  std::string_view values;
  std::string_view fault; ///< "F27", or empty
  std::string_view meaning;
};
const std::vector<world_word>& world_words();

/// `bad_input` with `file:line`, what is wrong and what is allowed; `newer_format` for another
/// format, with both numbers.
base::result<schedule> read_schedule(std::string_view bytes, const std::string& file);
std::string write_schedule(const schedule& x);

} // namespace tutti::chaos
