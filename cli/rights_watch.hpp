// Tells a human which right the API server does not give.
#pragma once

#include <set>

#include "actors/api_calls.hpp"

namespace tutti::cli {

/// Warns on stderr of each right that is missing, once until it is granted.
class rights_watch {
public:
  void look(const actors::api_calls& all);

private:
  std::set<actors::api_call> known_; ///< missing at the last look
};

} // namespace tutti::cli
