// The cells of the matrix that no world can hit, and why: data.
#include "chaos/coverage.hpp"

namespace tutti::chaos {

const std::vector<impossible_cell>& impossible_cells() {
  static const std::vector<impossible_cell> all{};
  return all;
}

} // namespace tutti::chaos
