// The API server with sockets: for clients in this process through socket pairs, for kubectl and
// other processes over TCP. One thread serves, one syncs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/step_watch.hpp"
#include "base/time.hpp"
#include "persistence/disk_space.hpp"
#include "sim/api_server/control_plane.hpp"

namespace rocksdb {
class Env;
}

namespace tutti::sim::api_server {

struct listen_address {
  std::string host = "127.0.0.1"; ///< an IP address
  std::uint16_t port = 0;         ///< 0: any free one
};

class server {
public:
  struct options {
    std::string data_dir; ///< of its own store; empty: in memory only
    /// Free bytes of its disk below which it takes nothing new: see `persistence/disk_space.hpp`.
    std::uint64_t disk_reserve = persistence::disk_reserve_default;
    rocksdb::Env* env = nullptr;     ///< disk faults for tests; null = the real file system
    std::string kubernetes = "1.37"; ///< 1.37, 1.36 or 1.35
    std::optional<listen_address> listen;
    /// What uids are made of. Without one: a store's own, and a new cluster draws one.
    std::optional<std::uint64_t> seed = 1;
    std::string default_scheduler = "tutti"; ///< for pods that name none
    bool runs_pods = true;                   ///< plays the kubelets
  };
  /// Starts serving. `bad_input` (release, address, seed), `already_exists` (port in use), or what
  /// `disk::open` says. The clock must outlive the server and go with real time.
  static base::result<std::unique_ptr<server>> open(const options& o, const base::clock& time);
  /// Stops.
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// A new connection from inside this process: a stream socket that the caller owns and closes.
  /// Any thread. `io` if the system has no more of them.
  base::result<int> connect();
  /// Where it listens; 0 if it does not.
  std::uint16_t port() const;

  /// Creates or changes objects in their order, as `control_plane::apply`, and returns when that is
  /// durable. Any thread but the server's.
  base::result<applied> apply(std::vector<json::object> objects,
                              std::vector<std::string> places = {});
  /// The same, but if one of them is refused, nothing is applied: all are tried on a copy first.
  /// `watch` hears of each object twice, the second time with that many more; told to stop while
  /// they are tried nothing is applied, later a part.
  base::result<applied> apply_whole(std::vector<json::object> objects,
                                    std::vector<std::string> places = {},
                                    const base::step_watch& watch = {});

  /// As of the last turn of the server's thread; any thread.
  revision last_resource_version() const;
  /// Unsynced writes, held answers, and pods that will change by themselves (terminating, running
  /// for a time). 0 = nothing will happen unless somebody asks.
  std::size_t pending_work() const;
  /// Requests so far by "verb resource".
  std::map<std::string, std::uint64_t, std::less<>> requests() const;
  std::uint64_t watch_events() const;

  /// Ends all connections and threads; idempotent. What was acknowledged is on disk.
  void stop();

private:
  struct inside;
  explicit server(std::unique_ptr<inside> in);
  std::unique_ptr<inside> in_;
};

} // namespace tutti::sim::api_server
