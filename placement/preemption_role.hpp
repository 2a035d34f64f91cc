// Decides whether a gang that found no room may get it by evicting others.
#pragma once

#include "protocol/role.hpp"

namespace tutti::placement {

/// Today's policy is the mildest one: nobody is evicted. Every `victims_wanted` is answered, so
/// that its gang goes on to wait instead of hanging.
class preemption_role final : public protocol::role {
public:
  [[nodiscard]] protocol::effects on(const protocol::event& e, base::time_point now) override;
};

} // namespace tutti::placement
