// Every set of victims in one domain, without those that cannot be cheaper: the proof of a minimum.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "placement/engine/victim_counts.hpp"

namespace tutti::placement::engine {

/// A full search over the units that can make room for `required` members in the domain.
class victim_exact {
public:
  victim_exact(const victim_question& q, victim_counts& room, std::uint32_t domain,
               std::int64_t required);

  /// Replaces `best` by every cheaper set that it meets. True if it went through all: then no set
  /// of the domain is cheaper than `best`. False if `steps` ran out. The room is as before.
  bool run(priced_set& best, std::uint64_t& steps);

private:
  struct item {
    std::uint32_t unit = 0;
    std::int64_t gain = 0;       // at most
    std::size_t after_equal = 0; // the next item that is not the same to everybody
  };
  bool is_same(std::uint32_t a, std::uint32_t b) const;
  bool go(std::size_t from);
  bool can_be_cheaper(std::size_t from) const;
  std::int64_t lacks() const { return required_ - room_.total(domain_); }

  const victim_question& q_;
  victim_counts& room_;
  std::uint32_t domain_;
  std::int64_t required_;
  std::vector<item> items_;                         // by rate: the best first
  std::vector<std::int64_t> gain_from_, most_from_; // by position: sum and maximum from there on
  std::vector<weight> least_from_;                  // … and the cheapest
  cost_sum sum_;
  unit_list chosen_;
  priced_set* best_ = nullptr;
  std::uint64_t* steps_ = nullptr;
};

} // namespace tutti::placement::engine
