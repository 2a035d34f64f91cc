// The cells of the matrix that no world can hit, and why: data.
#include "chaos/coverage.hpp"

namespace tutti::chaos {

const std::vector<impossible_cell>& impossible_cells() {
  static const std::vector<impossible_cell> all{
      {"*", "evicting", "no plan has victims: the preemption coordinator answers \"not allowed\""},
  };
  return all;
}

} // namespace tutti::chaos
