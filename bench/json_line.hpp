// One measured value as a line of JSON: run.sh adds commit and machine.
#pragma once

#include <string_view>
#include <vector>

namespace tutti::bench {

enum class bar_kind { at_least, at_most };

/// A value with the bar that it is held against.
struct measured {
  std::string_view area;
  std::string_view bar; ///< what was measured, in words
  double value = 0;
  std::string_view unit;
  double limit = 0;
  bar_kind kind = bar_kind::at_most;
};

/// Prints the line; true if the bar holds.
bool print(const measured& x);

/// The value at a share of all, 0 the least and 1 the most; of at least one.
double quantile(std::vector<double> all, double share);

/// A value without a bar: where the time goes.
struct fact {
  std::string_view area;
  std::string_view what;
  double value = 0;
  std::string_view unit;
};
void print(const fact& x);

} // namespace tutti::bench
