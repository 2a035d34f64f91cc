// The whole of `tutti local` in this process: API server and scheduler, each with its RocksDB in a
// temporary directory, and HTTP bytes between them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <boost/json.hpp>

#include "actors/scheduler.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "bench/workload.hpp"
#include "persistence/store.hpp"
#include "sim/api_server/server.hpp"

namespace tutti::bench {

/// Brings up the API server at once and the scheduler on demand. What goes wrong here is printed
/// and ends the process: a benchmark has nobody to report to.
class embedded {
public:
  struct options {
    std::uint32_t shards = 8;
    std::string listen; ///< IP address for other processes, on any port; empty = none
  };
  explicit embedded(const options& how);
  ~embedded();
  embedded(const embedded&) = delete;
  embedded& operator=(const embedded&) = delete;

  /// Creates the objects and waits until they are durable.
  void apply(objects what);
  void start_scheduler();
  void stop_scheduler();

  /// All objects of a list as the API server answers it over HTTP, page by page.
  boost::json::array list(const std::string& path);

  sim::api_server::server& api() { return *api_; }
  actors::scheduler& scheduler() { return *scheduler_; }
  persistence::store& store() { return *store_; }
  const base::clock& clock() const { return clock_; }

private:
  class carrier;

  options how_;
  base::system_clock clock_;
  std::filesystem::path home_;
  std::unique_ptr<sim::api_server::server> api_;
  std::unique_ptr<persistence::store> store_;
  std::unique_ptr<carrier> carrier_;
  std::unique_ptr<actors::scheduler> scheduler_;
};

/// A new directory for data that are not kept; whoever asks removes it.
std::filesystem::path temporary_directory();

/// Prints the sentence as an error and ends the process with 1.
[[noreturn]] void fail(const std::string& what);

} // namespace tutti::bench
