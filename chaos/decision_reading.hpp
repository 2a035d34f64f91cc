// Decisions as observers of a world see them: whole, the moment they are durable, wherever they are
// kept.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "protocol/decision.hpp"
#include "sim/api_server/store.hpp"

namespace tutti::chaos {

/// "decision 3 of default/g0".
std::string name_of(const protocol::decision& x);

/// The decision that a store keeps under this key. What a store wrote itself can be read.
protocol::decision decision_in(const std::string& key, const std::string& value);

/// The decision that a GangDecision says; none if no slot of it has been written yet.
std::optional<protocol::decision> decision_in(const sim::api_server::object& x);

/// Reads the decision log that is API objects: every version of every one of them, once, in order.
class decision_objects_reader {
public:
  /// Each decision, and whether its object was deleted with it.
  using heard = std::function<void(protocol::decision, bool is_gone)>;
  /// What was written since the last call.
  void follow(const sim::api_server::store& objects, const heard& hear);

private:
  std::size_t seen_ = 0;
};

} // namespace tutti::chaos
