// The one interface behind which every scheduling decision lives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "protocol/effects.hpp"
#include "protocol/events.hpp"

namespace tutti::protocol {

/// A role is pure: no clock, no I/O, no thread, no randomness, no logging. Actors, the simulator
/// and tests are three hosts of the same roles.
///
///     constructed ─ restore? ─▶ replayed* ─▶ started ─▶ anything else, until it asks to `retire`
class role {
public:
  virtual ~role() = default;

  /// Takes one event at `now` and answers with effects, to be performed in order. `now` never
  /// falls.
  [[nodiscard]] virtual effects on(const event& e, base::time_point now) = 0;

  /// The state as versioned bytes; empty if this role keeps nothing across restarts.
  virtual std::string snapshot() const { return {}; }

  /// Takes the state of an earlier `snapshot()`. Called at most once, before any event. On failure
  /// (`corrupt`, `newer_format`) the role must not be used.
  [[nodiscard]] virtual base::result<void> restore(std::string_view bytes) {
    (void)bytes;
    return {};
  }

  /// Equal states have equal hashes: for exhaustive search and trace comparison.
  virtual std::uint64_t state_hash() const { return 0; }
};

using role_ptr = std::unique_ptr<role>;

} // namespace tutti::protocol
