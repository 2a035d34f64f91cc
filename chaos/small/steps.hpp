// What can happen next in a small world, and what of it must be tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/small/world.hpp"

namespace tutti::chaos::small {

/// Kinds of faults; each one that happens costs one of the budget.
enum class fault_kind : std::uint8_t {
  drop,      ///< a message between processes is lost
  duplicate, ///< … arrives twice
  answer,    ///< the API server's answer is lost, or the request
  crash,     ///< a process, with its unsynced tail lost, or intact as far as you like
  snapshot,  ///< the process, while a shard writes its checkpoint (store)
  node_actor,
  actor,    ///< a shard, the coordinator's partition or the binder dies and is made anew
  hurry,    ///< a timer fires while what it waits for is still under way
  removal,  ///< a user deletes a member
  takeover, ///< another process takes the partition, or everything, from one that lives on and does
            ///< not know (objects)
  shard_takeover ///< … a shard
};
inline constexpr int fault_kind_count = 11;
std::string_view name_of(fault_kind x);
std::optional<fault_kind> find_fault_kind(std::string_view name);
/// With decisions as objects nothing has a checkpoint; with the store nobody takes over.
bool can_happen(fault_kind x, log_kind where);

/// One step. `at` is an index into `under_way()` or `timers()`, a number of kept batches, a
/// process, a shard, a pod or units (bits), as the kind wants it.
struct step {
  enum class kind : std::uint8_t {
    deliver,
    fire,
    lose,
    repeat,
    lose_answer,
    crash,
    half_snapshot,
    whole_snapshot,
    kill,
    remove,
    crash_one,
    take_over,
    look
  };
  kind what = kind::deliver;
  std::size_t at = 0;
  place who; ///< kill
  bool is_fault = false;
};

/// Everything that happens without a fault: all that is under way, in any order that its channels
/// allow; when nothing is, the timers that are due first. With `is_reduced`, only one of them where
/// the others may as well come later: see reduction.cpp.
std::vector<step> steps_of(const world& x, bool is_reduced);
/// Everything that a fault of this kind may do now.
std::vector<step> faults_of(const world& x, fault_kind kind);

void take(world& x, const step& s);
/// "prepare shard(0) ← gang(g)": of the step before it is taken.
std::string to_text(const world& x, const step& s);

/// Something that may be delivered at once, because nothing that can happen before it can tell the
/// difference. `npos` if there is none.
inline constexpr std::size_t npos = static_cast<std::size_t>(-1);
std::size_t find_harmless(const world& x);

} // namespace tutti::chaos::small
