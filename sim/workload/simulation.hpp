// One run: a cluster, its scheduler and its users in a world on virtual time, stopped at each
// sample.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "sim/workload/cluster_shape.hpp"
#include "sim/workload/gang_book.hpp"
#include "sim/workload/source.hpp"
#include "sim/workload/workload.hpp"
#include "sim/world/world.hpp"

namespace tutti::sim::workload {

class simulation {
public:
  struct options {
    std::uint64_t seed = 1;
    cluster_shape shape;
    std::uint32_t shards = 8;
    std::optional<base::duration> until; ///< without it until every gang is over, or cannot start
    base::duration sample_every = std::chrono::minutes{1};
    std::string
        together; ///< name of a level in which a gang stays if it fits into one; may be empty
  };
  simulation(options how, std::vector<arrival> arrivals);
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  /// Creates the nodes, starts the scheduler and waits until it knows them: time 0 of the run.
  /// `told` hears now and then how many nodes are there.
  void begin(const std::function<void(std::uint32_t nodes)>& told);
  /// Runs to the next sample. False if the run was over before, and nothing has happened.
  bool advance();

  /// Since time 0 of the run.
  base::duration elapsed() const;
  /// Every gang is over, or nothing moves any more.
  bool is_drained() const;
  const gang_book& book() const { return *book_; }
  const source& users() const { return *users_; }
  world& where() { return *world_; }
  std::uint64_t steps() const { return world_->steps(); }
  /// What the scheduler's queue says of itself, as JSON.
  std::string ask_queue(const std::string& what) const;
  const options& how() const { return how_; }
  base::time_point zero() const { return zero_; }

private:
  const options how_;
  std::vector<arrival> arrivals_;
  std::unique_ptr<world> world_;
  std::unique_ptr<gang_book> book_;
  std::unique_ptr<source> users_;
  base::time_point zero_{};
};

} // namespace tutti::sim::workload
