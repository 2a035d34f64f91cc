#include "base/attempt_text.hpp"

#include <fmt/core.h>

namespace tutti::base {

std::string to_text(const attempt_id& x) {
  return fmt::format("{}/{}/{}/{}", x.gang.value, x.ordinal, x.epoch.value, x.try_no);
}

} // namespace tutti::base
