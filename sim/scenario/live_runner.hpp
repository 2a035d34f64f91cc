// Plays stories on a live cluster, one after the other, and says which of them cannot be told
// there.
#pragma once

#include <string>
#include <vector>

#include "api/release.hpp"
#include "base/result.hpp"
#include "sim/scenario/live_stage.hpp"
#include "sim/scenario/runner.hpp"

namespace tutti::sim::scenario {

/// What is played on, and who is judged.
struct live_cluster {
  api::release kubernetes = api::release::v1_37;
  std::string scheduler = "tutti"; ///< of pods that name none
  bool is_ours = true;             ///< else what we cannot do yet is asked of it all the same
  bool has_controllers = false;    ///< a controller manager runs
};

struct live_options {
  live_cluster cluster;
  live_times times;
  base::duration longest{};  ///< a story that takes more by its own words is not played
  bool among_others = false; ///< nodes and pods of others do not matter
  /// Leave out facts about the scheduler's mind, and play a batch step by step.
  bool is_loose = false;
};

/// What keeps a story from that cluster, each in a few words.
struct live_limits {
  std::vector<std::string> lacking;  ///< it cannot be told there
  std::vector<std::string> left_out; ///< it is told without that, because `is_loose`
};
live_limits limits_on_cluster(const story& what, const live_options& how);

/// How long a story takes at least.
base::duration least_time(const story& what);

/// Whether stories may be played here at all: `conflict` where others' nodes or pods are, and
/// nothing has been changed then.
base::result<void> look_before(live_door& door, const live_options& how);

/// One story: before it and after it the cluster is swept of all that stories have made. An error
/// if the cluster does not answer or cannot be swept.
base::result<story_result> run_live_story(const story& what, live_door& door,
                                          const live_options& how, const expected_failures& known);

} // namespace tutti::sim::scenario
