// The last words of a process that has found a bug of its own.
#include "base/ensure.hpp"

#include <cstdio>
#include <cstdlib>

namespace tutti::base {
namespace {

failure_hook hook_ = nullptr;

} // namespace

void set_failure_hook(failure_hook hook) noexcept {
  hook_ = hook;
}

namespace detail {

void fail(const std::string& line) {
  std::fputs(line.c_str(), stderr);
  std::fputs("\n", stderr);
  if (hook_ != nullptr)
    hook_(line.c_str());
  std::abort();
}

} // namespace detail
} // namespace tutti::base
