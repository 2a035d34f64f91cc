// Tells the API server what became of gangs: conditions and events, behind everything urgent.
#pragma once

#include <cstdint>
#include <string>

#include "bridge/condition_writer.hpp"
#include "bridge/event_writer.hpp"
#include "protocol/role.hpp"

namespace tutti::bridge {

/// Hosts the two writers behind one window: status never competes with Bindings, so its requests
/// are not urgent and few at a time.
class status_role final : public protocol::role {
public:
  struct options {
    std::string scheduler_name = "tutti";
    std::string instance = "tutti"; ///< which process writes: reportingInstance of events
    api::dialect spoken = api::dialect::v1beta1;
    base::wall_time wall_at_zero; ///< wall time at the zero of the monotonic time line
  };

  explicit status_role(options o);

  protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

private:
  static constexpr std::uint32_t sweep_timer = 3; // beside those of the window

  void on_answer(std::uint64_t exchange, const condition_writer::answer& a, protocol::effects& out);
  void hear(const protocol::received& e, protocol::effects& out);
  void ask_for_dropped(protocol::effects& out);
  base::wall_time wall_now() const;

  options options_;
  exchange_window window_;
  condition_writer conditions_;
  event_writer events_;
  std::uint64_t last_request_ = 0; // conditions have even requests, events odd ones
  bool is_sweeping_ = false;
  std::uint64_t dropped_asked_ = 0; // as many of the dropped conditions have been asked for again
  base::time_point now_{};
};

} // namespace tutti::bridge
