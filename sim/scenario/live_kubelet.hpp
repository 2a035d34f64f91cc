// Plays the kubelets of a live cluster whose nodes are made by hand: bound pods run, and go away
// when they are told to.
#pragma once

#include <map>
#include <string>

#include "sim/scenario/live_hands.hpp"

namespace tutti::sim::scenario {

class live_kubelet {
public:
  live_kubelet(live_door& door, live_hands& hands, cluster_copy& copy)
      : door_(door), hands_(hands), copy_(copy) {}

  /// Looks at the pods of the last reading and does what is due. What fails is tried again by the
  /// next call.
  void react();
  /// Pods that still have to go, of those that ever will.
  std::size_t ending() const { return ends_at_.size(); }

private:
  live_door& door_;
  live_hands& hands_;
  cluster_copy& copy_;
  std::map<std::string, base::time_point> ends_at_; ///< by uid
};

} // namespace tutti::sim::scenario
