// Makes a failing schedule small enough to read.
#pragma once

#include <cstddef>
#include <functional>

#include "chaos/schedule.hpp"

namespace tutti::chaos {

struct shrink_result {
  schedule least;       ///< breaks the same invariant
  std::size_t runs = 0; ///< that it took
};

/// Takes out of `failing` what the failure does not need, in this order: everything after it
/// happened, whole kinds of actions, single actions (delta debugging), members and sizes. `breaks`
/// says whether a schedule still breaks the same invariant; it is called at most `runs_most` times.
/// `failing` must break it.
shrink_result shrink(const schedule& failing, const std::function<bool(const schedule&)>& breaks,
                     std::size_t runs_most = 2000);

} // namespace tutti::chaos
