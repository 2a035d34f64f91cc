// What must hold on a live cluster with no word in the file, as far as objects alone show it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/scenario/cluster_copy.hpp"

namespace tutti::sim::scenario {

class live_safety {
public:
  live_safety(const cluster_copy& copy, std::string scheduler)
      : copy_(copy), scheduler_(std::move(scheduler)) {}

  /// After each reading: a pod that has just been bound by the scheduler fits onto its node beside
  /// what is there (S1b), unless the node or others on it have changed in the same moment. What is
  /// broken, in one line.
  std::optional<std::string> look();
  /// At rest: a gang that has not started has no member bound, or its minimum.
  std::optional<std::string> settled() const;

private:
  std::optional<std::string> too_much_for(const api_server::object& pod) const;

  const cluster_copy& copy_;
  const std::string scheduler_;
  api_server::revision seen_ = 0;
};

} // namespace tutti::sim::scenario
