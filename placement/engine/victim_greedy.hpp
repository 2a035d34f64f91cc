// A good set of victims fast: the cheapest room first, then what turned out not to be needed.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "placement/engine/victim_counts.hpp"

namespace tutti::placement::engine {

/// Makes room for `required` members in one domain. An option is the cheapest way to get one or
/// more slots on one node, with all that its units give back elsewhere in the domain; the option of
/// the lowest price per slot is taken, again and again. Then units are dropped from the dearest
/// down, and exchanged for cheaper ones.
class victim_greedy {
public:
  /// The room must be as it was made, and is so again after each call.
  victim_greedy(const victim_question& q, victim_counts& room, std::uint32_t domain,
                std::int64_t required);

  /// Nothing if there is no room even with all gone. What costs no more than the bound is not
  /// improved.
  std::optional<priced_set> run(const weight& bound);

private:
  struct option {
    std::uint32_t place = 0;
    std::uint32_t version = 0; // of the place
    std::vector<std::uint32_t> units;
    std::int64_t gain = 0;
    weight cost;
  };
  struct is_dearer {
    bool operator()(const option& a, const option& b) const;
  };
  bool is_done() const { return room_.total(domain_) >= required_; }
  void take(std::uint32_t unit);
  void give_back(std::uint32_t unit);
  bool fill();
  void offer(std::uint32_t place);
  void price(option& x);
  void thin_out(std::uint32_t place, std::vector<std::uint32_t>& parts,
                std::vector<std::int64_t>& free, std::int64_t slots) const;
  void drop_unneeded();
  void exchange();
  bool exchange_one(std::uint32_t unit);

  const victim_question& q_;
  victim_counts& room_;
  std::uint32_t domain_;
  std::int64_t required_;
  cost_sum sum_;
  unit_list chosen_;
  std::vector<bool> is_barred_;         // by unit
  std::vector<std::uint32_t> versions_; // by place
  std::priority_queue<option, std::vector<option>, is_dearer> options_;
};

} // namespace tutti::placement::engine
