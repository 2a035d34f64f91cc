// How an attempt is written for people and on objects.
#pragma once

#include <string>

#include "base/ids.hpp"

namespace tutti::base {

/// "gang/ordinal/epoch/try". On pods and in decision objects, so it stays as it is.
std::string to_text(const attempt_id& x);

} // namespace tutti::base
