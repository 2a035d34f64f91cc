// Lines go out at once: whoever waits for a long benchmark sees how far it is.
#include "bench/json_line.hpp"

#include <cstdio>

#include <fmt/core.h>

namespace tutti::bench {

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
