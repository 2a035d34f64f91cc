// The counters of terms while members are placed: who may go where now, and whether all holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/engine/slots.hpp"
#include "placement/engine/tied_problem.hpp"

namespace tutti::placement::engine {

/// A member placed: its shape in use, and where.
struct tied_seat {
  std::uint32_t shape = 0;
  node_ref node;

  friend auto operator<=>(const tied_seat&, const tied_seat&) = default;
};

/// What holds for a gang that is placed at once is said in docs/internals/tied_pods.md; in short:
/// no pair that must be apart is in one domain, the members can come in an order in which each
/// finds whom it must be near, and no domain that got a member is more than the skew above the
/// least. `admits` is what kube-scheduler asks of one more pod; a gang whose members are admitted
/// one by one has it all, except that members may unbalance a spread that is not their own.
class tied_state {
public:
  /// `free`: with the pods that are there. `allocatable`: as if none were, and then nobody must be
  /// near them either.
  tied_state(const tied_problem& t, measure by);

  const tied_problem& problem() const { return *t_; }
  bool wants_near(std::uint32_t shape) const {
    return with_pods_ && !t_->rules[shape].near.empty();
  }

  bool admits(std::uint32_t shape, node_ref node) const {
    return keeps_apart(shape, node) && is_near(shape, node) && is_even(shape, node);
  }
  bool keeps_apart(std::uint32_t shape, node_ref node) const;
  bool is_near(std::uint32_t shape, node_ref node) const;
  bool is_even(std::uint32_t shape, node_ref node) const;
  /// No pod that its affinity means is anywhere yet, and the pod is one itself: it may be the
  /// first.
  bool may_be_first(std::uint32_t shape) const;

  void place(const tied_seat& x) { change(x, +1); }
  void remove(const tied_seat& x) { change(x, -1); }

  /// Pods that the counter has in the domain of the node; -1 if the node is in none.
  std::int64_t at(std::uint32_t counter, node_ref node) const {
    const auto domain = t_->counters[counter].key->of(node);
    return domain == no_domain ? -1 : now_[counter][domain];
  }
  std::int64_t in_domain(std::uint32_t counter, std::uint32_t domain) const {
    return now_[counter][domain];
  }
  std::int64_t least(std::uint32_t rule) const {
    return t_->spreads[rule].least_is_zero ? 0 : least_[rule].value;
  }

  /// Of the spread rules of these seats, which are all placed: none is broken.
  bool all_even(std::span<const tied_seat> seats) const;
  /// There is an order in which each of these, which are all placed, found whom it must be near.
  /// Members that need each other, and are not themselves such pods, come at once.
  bool can_come_in_order(std::span<const tied_seat> seats) const;

private:
  struct low_mark {
    std::int64_t value = 0;
    std::int64_t domains = 0; // that have this value
  };
  void change(const tied_seat& x, std::int64_t by);
  void find_least(std::uint32_t rule);

  const tied_problem* t_;
  bool with_pods_;
  std::vector<std::vector<std::int64_t>> now_; // by counter and domain
  std::vector<std::int64_t> total_;            // by counter
  std::vector<low_mark> least_;                // by rule: over its eligible domains
};

} // namespace tutti::placement::engine
