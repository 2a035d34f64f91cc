// Counting: what members that are left need against what nodes have left. Where it does not come
// out, no assignment will, and the search turns back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace tutti::placement::engine {

/// One number per resource that any member needs.
using room_vector = boost::container::small_vector<std::int64_t, 6>;

/// Members of one lot that are not placed yet.
struct open_lot {
  std::uint32_t group = 0;
  std::int64_t members = 0;
  std::span<const std::int64_t> needs;  ///< by resource
  std::span<const std::uint8_t> may_on; ///< by node
};

/// Finds out whether the open lots could still be placed, by counting alone.
class room_count {
public:
  /// `spare`: by group, how many of its open members may be left out. False is a proof.
  bool may_do(std::span<const open_lot> open, std::span<const std::int64_t> spare,
              std::span<const room_vector> left);

private:
  using set = boost::container::small_vector<std::uint32_t, 16>; // of lots
  bool is_bounded(std::span<const open_lot> open, std::span<const std::int64_t> spare,
                  std::span<const room_vector> left, const set& of);
  bool lacks_in_sum(std::span<const open_lot> open, std::span<const std::int64_t> spare,
                    std::span<const room_vector> left, std::size_t resource);

  std::vector<std::int64_t> of_group_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> cheapest_;
};

} // namespace tutti::placement::engine
