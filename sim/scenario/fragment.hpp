// A piece of a message that must be there: the only thing that is ever asked of a wording.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/text.hpp"

namespace tutti::sim::scenario {

/// Small and capital letters are alike, a number matches a whole number only ("4" is not in "14"),
/// and any one of several texts will do.
struct fragment {
  std::vector<std::string> any_of;

  bool is_in(std::string_view message) const;
  std::string text() const;
};

/// A text or a list of alternatives.
fragment read_fragment(const tree& x);
/// A list of fragments, or one.
std::vector<fragment> read_fragments(const tree& x);
/// The first that is not in `message`; null if all are.
const fragment* first_missing(const std::vector<fragment>& all, std::string_view message);

} // namespace tutti::sim::scenario
