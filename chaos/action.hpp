// Everything that can happen to a simulated world, as data: what users do, and what fails.
//
// A run is a list of actions. Nothing in a run is thrown by dice while it goes: whoever draws a run
// (swarm.hpp) draws the list first. So every fault has a name and a place, and one can be taken out
// without moving the others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace tutti::chaos {

/// One line of a schedule: "at 1200ms crash scheduler-0 kept=2".
struct action {
  base::duration at{};
  std::string what;
  std::string target;
  std::map<std::string, std::string> with;

  friend bool operator==(const action&, const action&) = default;
};

/// What one kind of action means and takes.
struct action_kind {
  std::string_view what;
  std::string_view fault;   ///< "F7", or empty: a user's doing
  std::string_view targets; ///< what stands behind the word, for people
  std::vector<std::string_view> keys;
  std::string_view meaning;
};

/// All kinds, in the order of the reference.
const std::vector<action_kind>& action_kinds();
/// Something fails, rather than that a user or the cluster does something.
bool is_fault(const action_kind& x);
/// Null if there is no such kind.
const action_kind* find_kind(std::string_view what);

/// The words of a request to the API server that an `api` action can hit: "bind", "read", "list",
/// "watch", "touch", "status", "event", "evict", "other".
std::string_view request_word(std::string_view method, std::string_view target);

/// "1200ms", "40s", "2h"; `bad_input` with what is allowed.
base::result<base::duration> read_duration(std::string_view text);
/// In the largest unit that divides it, down to "us".
std::string duration_text(base::duration x);

/// The value of `key`: of an action whose kind has it. A number that is not there is 0, a text is
/// empty.
std::int64_t number(const action& x, std::string_view key);
std::string text(const action& x, std::string_view key);
base::duration time_of(const action& x, std::string_view key);

} // namespace tutti::chaos
