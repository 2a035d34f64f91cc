// Assertions for our own bugs: always compiled in, they print the operands and abort. Never for
// input.
#pragma once

#include <fmt/core.h>

namespace tutti::base {

/// Called once before the process aborts, with the whole failure line; the flight recorder flushes
/// here. The default does nothing. Set before the first actor starts; not synchronised.
using failure_hook = void (*)(const char* line) noexcept;
void set_failure_hook(failure_hook hook) noexcept;

namespace detail {

[[noreturn]] void fail(const std::string& line);

template <class... Ts>
[[noreturn]] void fail_with(const char* file, int line, const char* condition,
                            const Ts&... operands) {
  auto text = fmt::format("{}:{}: ensure({}) failed", file, line, condition);
  ((text += fmt::format(" [{}]", operands)), ...);
  fail(text);
}

} // namespace detail
} // namespace tutti::base

#define ensure(condition, ...)                                                                     \
  do {                                                                                             \
    if (!(condition)) [[unlikely]]                                                                 \
      ::tutti::base::detail::fail_with(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

/// Sums over whole ledgers and the like: in tests and simulation only.
#ifdef TUTTI_SLOW_CHECKS
#define ensure_slow(condition, ...) ensure(condition __VA_OPT__(, ) __VA_ARGS__)
#else
#define ensure_slow(condition, ...)                                                                \
  do {                                                                                             \
  } while (false)
#endif
