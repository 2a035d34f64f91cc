// Lines go out at once: whoever waits for a long benchmark sees how far it is.
#include "bench/json_line.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

namespace tutti::bench {

double quantile(std::vector<double> all, double share) {
  std::sort(all.begin(), all.end());
  return all.at(static_cast<std::size_t>(share * static_cast<double>(all.size() - 1)));
}

bool print(const measured& x) {
  const bool holds = x.kind == bar_kind::at_least ? x.value >= x.limit : x.value <= x.limit;
  fmt::print("{{\"area\":\"{}\",\"bar\":\"{}\",\"value\":{:.2f},\"unit\":\"{}\",\"limit\":{:g},"
             "\"holds\":{}}}\n",
             x.area, x.bar, x.value, x.unit, x.limit, holds);
  std::fflush(stdout);
  return holds;
}

void print(const fact& x) {
  fmt::print("{{\"area\":\"{}\",\"fact\":\"{}\",\"value\":{:.2f},\"unit\":\"{}\"}}\n", x.area,
             x.what, x.value, x.unit);
  std::fflush(stdout);
}

} // namespace tutti::bench
