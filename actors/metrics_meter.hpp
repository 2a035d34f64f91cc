// Measures what the roles do, from what they say: roles are pure and keep no statistics, so the
// shell shows every message that leaves a role to the one meter of the process.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "protocol/address.hpp"
#include "protocol/effects.hpp"
#include "protocol/messages.hpp"

namespace tutti::actors {

/// How often what took how long. All histograms share these buckets, so that they can be compared:
/// 1 ms, doubled up to about nine minutes, as kube-scheduler's begin.
class histogram {
public:
  static constexpr std::size_t bucket_count = 20;
  /// Upper bound of a bucket in seconds.
  static constexpr double bound(std::size_t bucket) {
    return 0.001 * static_cast<double>(std::uint64_t{1} << bucket);
  }

  void add(base::duration x);

  std::uint64_t count() const { return count_; }
  double sum_seconds() const { return sum_seconds_; }
  /// How many took at most `bound(bucket)`.
  std::uint64_t at_most(std::size_t bucket) const;

private:
  std::array<std::uint64_t, bucket_count> in_{}; // longer ones are in `count_` alone
  std::uint64_t count_ = 0;
  double sum_seconds_ = 0;
};

/// The values of a metric's labels, in the order of their names.
using label_values = std::vector<std::string>;

/// What was measured since the process began.
struct measures {
  std::map<label_values, std::uint64_t> attempts;     ///< outcome, reason
  std::map<label_values, std::uint64_t> votes;        ///< vote, reason
  std::map<label_values, std::uint64_t> bindings;     ///< verdict
  std::map<label_values, histogram> attempt_duration; ///< result
  std::map<label_values, histogram> phase_duration;   ///< phase
  histogram planning_duration;
  histogram time_to_bound; ///< from creation, by the API server's clock
  histogram decision_duration;
  base::epoch_no epoch; ///< the highest that a partition has begun
};

/// "scheduled", "unschedulable" or "error": what kube-scheduler calls the end of an attempt.
std::string_view result_of(protocol::attempt_outcome x);

/// Thread-safe. What it remembers of a gang goes when its attempt is over or it is deleted, so it
/// grows with the gangs under way and not with those that were.
class meter {
public:
  /// Called by the shell for every message, when it leaves.
  void sees(const protocol::address& to, const protocol::message& what, base::time_point now);
  /// Called by the shell for every note, when it is made. A gang's first time to be bound is a note
  /// of the queue: it alone knows the gang's creation and its past.
  void sees(const protocol::note& what, base::wall_time now);
  /// A decision became durable so long after it was handed to the store.
  void decided(base::duration took);

  measures now() const;
  /// Gangs and attempts that are remembered: for tests.
  std::size_t remembered() const;

private:
  struct attempt {
    base::time_point begun;
    base::time_point asked;    // for a plan; only while `is_asking`
    base::time_point phase_at; // when `phase` began
    protocol::phase at{};
    bool is_asking = false;
    bool has_phase = false;
  };

  void hear(const protocol::plan_request& x, base::time_point now);
  void hear(const protocol::plan_answer& x, base::time_point now);
  void hear(const protocol::gang_progress& x, base::time_point now);
  void hear(const protocol::attempt_over& x, base::time_point now);
  void hear(const protocol::vote& x);
  void hear(const protocol::bind_answer& x);

  mutable std::mutex mutex_;
  measures all_;
  std::map<base::gang_uid, attempt> under_way_;
};

} // namespace tutti::actors
