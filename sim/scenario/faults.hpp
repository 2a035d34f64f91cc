// Faults of the API server in scenario files: rules for its next answers and for its watches.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/scenario/story.hpp"
#include "sim/scenario/tally.hpp"
#include "sim/world/world.hpp"

namespace tutti::sim::scenario {

/// Sits between the processes and the API server of one world, which it must not outlive.
class faults {
public:
  /// `remembers`: events are kept, so that `again` can say them once more.
  faults(world& w, tally& counts, bool remembers);

  void add(const api_rule& rule);
  void clear_rules() { rules_.clear(); }
  /// `stall`, `gone`, `duplicate`, `drop`. False if there is no event to say `again`.
  bool perform(const watch_step& x);
  bool is_stalling() const;

private:
  struct live_rule {
    api_rule how;
    std::uint64_t seen = 0;
    std::uint64_t used = 0;
    std::optional<base::time_point> until;
  };
  struct live_watch {
    base::time_point stalls_until{};
    bool is_double = false;
    /// "client ns/name" and type of events that never come, and how many of them.
    std::map<std::pair<std::string, std::string>, std::uint64_t> drops;
    std::set<std::string> gone_for; ///< clients whose next watch is answered 410
  };

  api_verdict judge(const std::string& client, const protocol::http_request& request);
  static bool is_meant(const api_rule& rule, const std::string& client,
                       const protocol::http_request& request);
  api_verdict verdict_of(const api_rule& rule) const;
  std::string edit(const std::string& client, const std::string& target, std::string lines);

  world& world_;
  tally& counts_;
  const bool remembers_;
  std::vector<live_rule> rules_;
  std::map<std::string, live_watch> watches_; ///< by plural
  /// Last event of each kind: plural, key, type.
  std::map<std::array<std::string, 3>, std::string> told_;
};

} // namespace tutti::sim::scenario
