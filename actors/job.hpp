// A step that one actor leaves to another.
#pragma once

#include <functional>
#include <memory>

#include <caf/allowed_unsafe_message_type.hpp>

namespace tutti::actors {

/// Run once by whoever gets it.
using job = std::shared_ptr<std::function<void()>>;

} // namespace tutti::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tutti::actors::job)
