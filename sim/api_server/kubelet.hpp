// All kubelets of the cluster in one: bound pods run, end when their time is over, and vanish when
// they are deleted.
//
//     Pending ──bound──▶ Running ──tutti.dev/run-for──▶ Succeeded
//        └───────────────────┴──deleted, grace over──▶ gone
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/api_server/registry.hpp"

namespace tutti::sim::api_server {

class kubelet {
public:
  struct options {
    bool is_on = true;
    base::duration start_delay{0}; ///< from the binding to Running
  };
  kubelet(options o, store& objects, registry& writes, const base::clock& time)
      : options_(o), store_(objects), registry_(writes), clock_(time) {}

  /// Takes up all pods that are there already. Before the first `react`.
  void begin(base::time_point now);
  /// Looks at what changed since the last call and does what is due.
  void react(base::time_point now);
  std::optional<base::time_point> next_deadline() const;
  /// Pods that will change by themselves: starting, running for a time, terminating.
  std::size_t unfinished() const { return tasks_.size(); }

private:
  enum class what : std::uint8_t { start, finish, die };
  struct task {
    what doing = what::start;
    std::string uid;
    base::time_point due;
    std::int64_t grace_s = 0;
  };

  void look_at(const object_ptr& pod, base::time_point now);
  void plan(const std::string& key, task t);
  void drop(const std::string& key);
  void perform(const object_ptr& pod, const task& t, base::time_point now);
  void report_node(const object_ptr& node);
  void start(const object_ptr& pod, base::time_point now);
  void finish(const object_ptr& pod);
  void start_all_on(std::string_view node, base::time_point now);

  options options_;
  store& store_;
  registry& registry_;
  const base::clock& clock_;
  std::size_t pods_seen_ = 0;
  std::size_t nodes_seen_ = 0;
  std::map<std::string, task> tasks_; ///< by key of the pod
  std::set<std::pair<base::time_point, std::string>> by_time_;
};

} // namespace tutti::sim::api_server
