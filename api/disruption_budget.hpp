// PodDisruptionBudgets: how many pods of a kind may be disturbed.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include <boost/json/fwd.hpp>

#include "api/objects.hpp"
#include "api/selector.hpp"
#include "base/result.hpp"

namespace tutti::api {

/// A PodDisruptionBudget of policy/v1, as the controller of disruptions has judged it last.
struct disruption_budget {
  object_meta meta;
  label_selector pods;             ///< of the own namespace; a missing one means nobody
  std::int64_t allowed = 0;        ///< status.disruptionsAllowed
  std::set<std::string> disrupted; ///< names of pods that are counted as gone already

  friend bool operator==(const disruption_budget&, const disruption_budget&) = default;
};

/// Reads one. `bad_input` with the path if something in it cannot be read.
base::result<disruption_budget> decode_disruption_budget(const boost::json::object& object);

} // namespace tutti::api
