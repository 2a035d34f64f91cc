// A scenario as values: what happens, and what must be true. Whoever performs it decides how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

#include "api/release.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/lease_times.hpp"
#include "sim/scenario/facts.hpp"
#include "sim/scenario/fragment.hpp"
#include "sim/scenario/shorthand.hpp"
#include "sim/scenario/text.hpp"

namespace tutti::sim::scenario {

/// `kind/name`, `kind/*`, or with a subresource. `plural` is that of the API.
struct target {
  std::string plural;
  std::string key;         ///< "ns/name", or "name" of cluster-wide kinds; "*" = all of the kind
  std::string subresource; ///< "status", or empty
};

/// Pods by name, or all members of a group (`winner` and `loser` are groups too).
struct chosen_pods {
  std::vector<std::string> names; ///< as in the file
  std::string group;
};

// ---------------------------------------------------------------- objects

struct create_step {
  wanted_objects objects;
};
/// Text as our reader of manifests would read it.
struct apply_step {
  std::string text;
  std::string name; ///< what messages call it
};
struct patch_step {
  target whom;
  boost::json::value changes;
};
struct delete_step {
  std::vector<target> whom;
  std::string group; ///< all its members instead
};
struct finish_step {
  chosen_pods pods;
  bool is_failure = false;
};
struct evict_step {
  chosen_pods pods;
};
struct bind_step {
  std::string pod;
  std::string node;
};

// ---------------------------------------------------------------- time

struct advance_step {
  base::duration by{};
};
struct settle_step {
  base::duration within{};
};
struct until_step {
  base::duration within{};
  facts what;
};
struct mark_step {
  std::string name;
};

// ---------------------------------------------------------------- faults

enum class stop_point : std::uint8_t {
  planning,
  planned,
  refused,
  prepared,
  voted,
  decided,
  committed,
  binding
};
struct hold_step {
  std::string gang;
  stop_point at = stop_point::planning;
  std::optional<base::duration> how_long; ///< none: until released
};
struct release_step {
  std::vector<std::string> gangs;
};

/// What the API server answers to requests that match, until it is used up.
struct api_rule {
  std::string verb = "*";
  std::vector<std::string> path; ///< segments below namespace or version; "*" = any
  bool is_any_write = false;
  enum class effect : std::uint8_t { status, timeout_applied, timeout_lost, late };
  effect what = effect::late;
  int status = 0;
  base::duration delay{};
  std::int64_t retry_after_s = 0;
  std::optional<std::uint64_t> times;  ///< none = all
  std::optional<base::duration> lasts; ///< from now on; none = as long as `times` says
  std::uint64_t skip = 0;
  std::uint64_t share = 1, of = 1;
  std::string process; ///< empty = any
};
struct api_step {
  std::optional<api_rule> rule; ///< none: all rules end
};

struct watch_step {
  std::string plural;
  std::optional<base::duration> stall;
  bool is_gone = false;
  bool is_double = false;
  std::optional<target> whom; ///< of `drop` and `again`
  std::string event_type;     ///< ADDED, MODIFIED or DELETED
  bool is_again = false;
};

enum class disk_fate : std::uint8_t { intact, torn, lost };
struct crash_step {
  std::string process;
  std::string at; ///< row of the crash table; empty = now
  disk_fate disk = disk_fate::intact;
};
struct start_step {
  std::string process;
};
struct pause_step {
  std::string process;
  base::duration how_long{};
};
struct network_step {
  std::vector<std::string> cut; ///< two ends; empty = heal
  bool is_one_way = false;
};
struct clock_step {
  std::string process;
  base::duration jump{};
};

// ---------------------------------------------------------------- facts

struct expect_step {
  facts what;
};
struct eventually_step {
  base::duration within{};
  facts what;
};
struct always_step {
  std::optional<base::duration> how_long; ///< none: to the end
  facts what;
};

// ---------------------------------------------------------------- together

struct step;

struct batch_step {
  std::vector<step> steps;
};
/// Its steps are read anew for every round, because names and values may hold the round's number.
struct repeat_step {
  std::uint64_t times = 0;
  base::duration every{};
  std::string word = "i";
  tree steps;
};

using action = std::variant<create_step, apply_step, patch_step, delete_step, finish_step,
                            evict_step, bind_step, advance_step, settle_step, until_step, mark_step,
                            hold_step, release_step, api_step, watch_step, crash_step, start_step,
                            pause_step, network_step, clock_step, expect_step, eventually_step,
                            always_step, batch_step, repeat_step>;

struct step {
  int line = 0;
  std::string text; ///< as it stands in the file, for messages
  std::vector<action> what;
  bool is_to_be_refused = false;
  std::vector<fragment> refusal; ///< each must be in the error
};

struct story {
  std::string file;
  int line = 0;
  std::string id;
  std::string title;
  std::string source;
  std::vector<std::string> needs;       ///< as written
  std::vector<std::string> unsupported; ///< what the simulator lacks for it, in words; empty = runs
  std::vector<std::string> gates;       ///< feature gates that differ from "all workload gates on"
  std::vector<std::string> settings;    ///< fields of the scheduler's configuration that it gives
  spoken_api speaks;
  std::uint32_t replicas = 1;
  std::uint32_t shards = 2;
  bool has_api_log = false;        ///< decisions are API objects
  bridge::lease_times lease;       ///< of each replica
  std::vector<std::string> levels; ///< of the topology; empty = the default
  std::uint32_t seeds = 5;
  std::vector<step> steps;
};

/// All stories of a file. `not_found`, or `bad_input` "FILE:LINE: what is wrong; allowed: …". Pods
/// that name no scheduler are for `scheduler`.
base::result<std::vector<story>> read_stories(const std::string& path,
                                              const std::string& scheduler = "tutti");
/// The same for text that is there already; `file` is what messages call it.
base::result<std::vector<story>> read_story_text(const std::string& text, const std::string& file,
                                                 const std::string& scheduler = "tutti");

/// A list of steps. Throws `bad_story`. `folder` is where paths in it start.
struct step_context {
  spoken_api speaks;
  std::string folder;
};
std::vector<step> read_steps(const tree& list, const step_context& how);

/// `kind/name[/subresource]`; a bare name is a pod. Throws `bad_story`.
target read_target(const std::string& text, const tree& where);

} // namespace tutti::sim::scenario
