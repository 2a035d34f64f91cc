// One fault can be armed in a process; passing its place for the n-th time ends it.
#include "base/fault_point.hpp"

#include <atomic>
#include <charconv>
#include <csignal>
#include <string>

#include <unistd.h>

namespace tutti::base {
namespace {

struct armed_fault {
  std::string id;
  std::atomic<int> passes_left{0};
  fault_hook hook = nullptr;
};

armed_fault& armed() {
  static armed_fault fault;
  return fault;
}

} // namespace

bool arm_fault(std::string_view text) {
  if (text.empty())
    return true;
  int passes = 1;
  auto colon = text.rfind(':');
  auto name = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    auto digits = text.substr(colon + 1);
    auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), passes);
    if (ec != std::errc{} || end != digits.data() + digits.size() || passes < 1)
      return false;
  }
  if (name.empty())
    return false;
  armed().id = name;
  armed().passes_left = passes;
  return true;
}

void pass_fault(std::string_view id) {
  auto& fault = armed();
  if (fault.id.empty() || fault.id != id)
    return;
  if (fault.passes_left.fetch_sub(1) != 1)
    return;
  if (fault.hook != nullptr)
    fault.hook(id);
  ::kill(::getpid(), SIGKILL);
}

void set_fault_hook(fault_hook hook) {
  armed().hook = hook;
}

} // namespace tutti::base
