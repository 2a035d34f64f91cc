// Slots of one shape while units come and go: for gangs of equal members, counting is everything.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "placement/engine/slots.hpp"
#include "placement/engine/victim_search.hpp"

namespace tutti::placement::engine {

/// True for a gang of equal members that go to one domain and are tied to nobody.
bool is_counted(const problem& gang);

/// The pods of one unit on one node, where a member might go.
struct victim_part {
  std::uint32_t unit = 0;
  std::uint32_t place = 0;
  std::uint32_t pods = 0;
  std::uint32_t row = 0; ///< of `victim_counts::row`: what they give back
};

/// A domain is one value of the gang's topology key, or the whole cluster.
class victim_counts {
public:
  /// `base`: the cluster without those who leave anyhow. The gang is counted.
  victim_counts(const victim_question& q, const snapshot& base);

  std::uint32_t domains() const { return static_cast<std::uint32_t>(total_.size()); }
  std::uint32_t domain_of(std::uint32_t place) const { return domain_of_[place]; }
  /// Members that fit in the domain now, and with all that may go gone.
  std::int64_t total(std::uint32_t domain) const { return total_[domain]; }
  std::int64_t emptied(std::uint32_t domain) const { return emptied_[domain]; }
  /// Places of the domain where a unit might make room.
  const std::vector<std::uint32_t>& places(std::uint32_t domain) const { return places_[domain]; }

  /// Parts where a member might go; none if the unit runs only where no member may be.
  std::span<const victim_part> parts_of(std::uint32_t unit) const {
    return {parts_.data() + first_part_[unit], first_part_[unit + 1] - first_part_[unit]};
  }
  /// Parts on a place, the cheapest first: indices for `part`.
  std::span<const std::uint32_t> parts_on(std::uint32_t place) const {
    return {on_place_.data() + first_on_[place], first_on_[place + 1] - first_on_[place]};
  }
  const victim_part& part(std::uint32_t i) const { return parts_[i]; }

  /// Amounts by need, and last how many taken ports are in the way.
  std::size_t width() const { return width_; }
  std::span<const std::int64_t> row(std::uint32_t i) const {
    return {rows_.data() + i * width_, width_};
  }
  std::span<const std::int64_t> free(std::uint32_t place) const {
    return {free_.data() + place * width_, width_};
  }
  std::int64_t need(std::size_t i) const { return needs_[i]; }
  /// Slots of a node with these amounts.
  std::int64_t slots(std::span<const std::int64_t> free) const;
  std::int64_t slots_now(std::uint32_t place) const { return slots_[place]; }
  std::int64_t slots_emptied(std::uint32_t place) const { return emptied_slots_[place]; }

  bool is_gone(std::uint32_t unit) const { return gone_[unit]; }
  void remove(std::uint32_t unit) { change(unit, +1); }
  void put_back(std::uint32_t unit) { change(unit, -1); }

private:
  void read_nodes(const victim_question& q, const snapshot& base);
  void read_units(const victim_question& q, const snapshot& base, const place_map& all);
  std::uint32_t add_row(std::span<const std::int64_t> x);
  void index_parts(const victim_question& q);
  void change(std::uint32_t unit, std::int64_t sign);

  std::size_t width_ = 1;
  std::vector<std::int64_t> needs_;
  std::vector<double> one_by_need_;
  base::port_list ports_;
  std::vector<std::uint32_t> domain_of_; // by place; `no_domain` = no member may go there
  std::vector<std::int64_t> free_;
  std::vector<std::int64_t> slots_, emptied_slots_; // by place
  std::vector<std::int64_t> total_, emptied_;       // by domain
  std::vector<std::vector<std::uint32_t>> places_;  // by domain
  std::vector<victim_part> parts_;
  std::vector<std::uint32_t> first_part_; // by unit
  std::vector<std::uint32_t> on_place_, first_on_;
  std::vector<std::int64_t> rows_;
  std::vector<bool> gone_;
};

} // namespace tutti::placement::engine
