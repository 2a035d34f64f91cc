// The whole API server without I/O: handler, store, kubelet and controllers on one clock. Servers
// put sockets around it, the simulator calls it directly on virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/step_watch.hpp"
#include "persistence/disk_space.hpp"
#include "sim/api_server/controllers.hpp"
#include "sim/api_server/handler.hpp"
#include "sim/api_server/kubelet.hpp"

namespace tutti::sim::api_server {

/// What became of the objects of a file.
struct applied {
  std::size_t created = 0;
  std::size_t changed = 0;
  std::size_t unchanged = 0;
};

class control_plane {
public:
  struct options {
    release kubernetes = release::v1_37;
    std::string default_scheduler = "tutti"; ///< for pods that name none
    std::uint64_t seed = 1;                  ///< of uids
    store::options keeps;
    kubelet::options nodes;
  };
  control_plane(options o, const base::clock& time);

  store& objects() { return store_; }
  const store& objects() const { return store_; }

  /// Once, after the store holds what the disk had: makes what every cluster has from the
  /// beginning (namespaces, system priority classes), and takes up the pods that are there.
  void begin();

  /// How full the disk is. While it is scarce nothing new is taken, while there is no space at all
  /// nothing is: 500, as of a real server whose etcd is full. Without a word there is plenty.
  void say_disk(const persistence::disk_space& x);

  /// One request. Its writes are applied, its answer waits for the store to be durable. Call
  /// `on_time` afterwards, at the same instant: only then do kubelets and controllers see it.
  answer handle(const request& r) { return handler_.on(r); }
  /// Kubelet and controllers do what is due and what follows from the last writes.
  void on_time(base::time_point now);
  std::optional<base::time_point> next_deadline() const { return kubelet_.next_deadline(); }

  /// Creates what is absent and merges into what is there, as `kubectl apply` would, in the order
  /// given. Status in a file counts too (capacity of nodes, finished pods). Finished pods stay
  /// finished. Stops at the first object that is refused; those before it stay. `io` if the disk is
  /// nearly full; then nothing is applied.
  /// `places` says where each of them comes from, for the message; may be empty. `watch` hears of
  /// each; if it says stop, those before it stay, and the answer is `base::stopped`.
  base::result<applied> apply(const std::vector<json::object>& objects,
                              const std::vector<std::string>& places = {},
                              const base::step_watch& watch = {});

  /// Uids of what is made from here on; see `registry::wish_uids`.
  void wish_uids(std::function<bool(const std::string&)> wished) {
    registry_.wish_uids(std::move(wished));
  }
  base::time_point now() const { return clock_.now(); }
  /// Writes not yet durable, and pods that will change by themselves.
  std::size_t pending_work() const;
  const handler& requests() const { return handler_; }

private:
  base::result<void> apply_one(const json::object& object, applied& sum);

  options options_;
  const base::clock& clock_;
  persistence::disk_space space_;
  catalog kinds_;
  store store_;
  rules rules_;
  registry registry_;
  handler handler_;
  kubelet kubelet_;
  controllers controllers_;
};

} // namespace tutti::sim::api_server
