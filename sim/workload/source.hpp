// The users of a simulated cluster: they submit gangs when their time has come, and delete what has
// ended, as clients of the API server on the simulated network.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/workload/cluster_shape.hpp"
#include "sim/workload/gang_book.hpp"
#include "sim/world/world.hpp"

namespace tutti::sim::workload {

/// A gang is a PodGroup and its pods; a gang of one is a lone pod. Each pod says by annotation how
/// long it runs. Whatever has ended is deleted at once, so that memory stays flat.
class source {
public:
  struct options {
    /// Label key of the domain in which a gang has to stay if that many nodes can hold it; empty =
    /// anywhere.
    std::string together_key;
    std::uint64_t together_nodes = 0;
    base::time_point begins{}; ///< time 0 of the arrivals
  };
  source(world& where, gang_book& book, const cluster_shape& shape, options how);

  /// From here on gangs come; until the world ends, which must be before this object does.
  void begin();
  /// Nothing is left to submit or delete, and nothing is on its way.
  bool is_idle() const;

  std::uint64_t requests() const { return requests_; }
  /// Requests that were refused, and what was said to the first of them.
  std::uint64_t refusals() const { return refusals_; }
  const std::string& first_refusal() const { return first_refusal_; }

private:
  enum class wish : std::uint8_t { create_group, create_pod, delete_pod, delete_group };
  struct order {
    wish what = wish::create_pod;
    std::uint32_t gang = 0;
    std::uint32_t member = 0;
  };

  void wait_for_next();
  void submit(std::size_t gang);
  void clean_up(std::size_t gang);
  void send_more();
  void send(const order& x);
  void answered(const order& x, const protocol::event& e);
  protocol::http_request request_of(const order& x) const;
  bool stays_together(const arrival& x) const;

  world& where_;
  gang_book& book_;
  const cluster_shape& shape_;
  const options how_;
  std::size_t next_ = 0; ///< gang to come
  std::deque<order> orders_;
  std::size_t under_way_ = 0;
  std::vector<std::uint32_t> to_delete_; ///< pods of each gang that ended and are not deleted
  std::uint64_t requests_ = 0;
  std::uint64_t refusals_ = 0;
  std::string first_refusal_;
};

} // namespace tutti::sim::workload
