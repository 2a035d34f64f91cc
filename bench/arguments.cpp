// A misspelt option must not measure something else in silence.
#include "bench/arguments.hpp"

#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

namespace tutti::bench {

namespace {

[[noreturn]] void refuse(const std::string& what, takes more) {
  fmt::print(stderr, "bench: error: {}\nhint: [--quick]{}\n", what,
             more == takes::floors ? " [--floors FILE]" : "");
  std::exit(2);
}

} // namespace

arguments read_arguments(int argc, char** argv, takes more) {
  arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view x = argv[i];
    if (x == "--quick")
      out.is_quick = true;
    else if (x != "--floors" || more != takes::floors)
      refuse(fmt::format("unknown argument {}", x), more);
    else if (++i == argc)
      refuse("--floors needs a file", more);
    else
      out.floors = argv[i];
  }
  return out;
}

} // namespace tutti::bench
