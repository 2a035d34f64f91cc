// A genuine control plane on loopback, filled and watched over HTTP, and the schedulers that are
// measured on it.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "bench/child.hpp"
#include "bench/workload.hpp"
#include "bridge/http_client.hpp"

namespace tutti::bench {

using moment = std::chrono::steady_clock::time_point;

/// Why no control plane can be started here, in one line; empty if one can.
std::string why_no_control_plane();

/// etcd, kube-apiserver and kube-scheduler; the latter is stopped at first. Ends with this object.
/// What goes wrong ends the process.
class live_cluster {
public:
  live_cluster();
  ~live_cluster();
  live_cluster(const live_cluster&) = delete;
  live_cluster& operator=(const live_cluster&) = delete;

  std::string file(const std::string& name) const { return (state_ / name).string(); }
  std::string audit_log() const { return file("audit.log"); }

  /// Sends all, at most so many at once, in this order; returns the bodies of the answers. One that
  /// is refused ends the process.
  std::vector<std::string> send(std::vector<protocol::http_request> all, std::size_t at_once);
  /// The same for objects to be created. Groups come before pods, so that each pod finds its own.
  std::vector<std::string> create(const objects& what);
  /// What a stream brings, piece by piece, up to the one that contains `end`.
  std::vector<std::string> record(protocol::http_request stream, const std::string& end);
  /// All pods are deleted at once and gone when this returns; their groups stay behind.
  void delete_pods();

  /// When the watch has told that the pod is bound; of pods that are bound and not forgotten.
  std::map<std::string, moment> bound() const;
  std::size_t bound_count() const;
  void forget_bound();
  /// Waits until so many are bound; returns false after `patience`.
  bool wait_bound(std::size_t pods, std::chrono::seconds patience) const;

  /// Runs kube-scheduler, without its own limit of requests, until `stop_kube_scheduler`.
  void start_kube_scheduler() const;
  void stop_kube_scheduler() const;
  /// `tutti scheduler`, as the administrator, with a store that is deleted when the cluster is.
  std::unique_ptr<child> start_tutti();

private:
  void watch_bound();
  void read_bound(std::string_view lines);
  void control(const std::string& verb, const std::string& part) const;

  base::system_clock clock_; // the client reads it
  std::filesystem::path home_;
  std::filesystem::path state_;
  std::unique_ptr<bridge::http_client> client_;
  std::atomic<std::uint64_t> last_id_{0};
  int schedulers_ = 0;

  mutable std::mutex lock_;
  std::map<std::string, moment> bound_;
  std::string seen_; // resourceVersion; on the client's thread
};

/// Where an object of this kind is created.
protocol::http_request creation_of(const boost::json::object& what);

} // namespace tutti::bench
