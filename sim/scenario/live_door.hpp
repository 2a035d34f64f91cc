// The way to a live API server: whoever plays stories on a cluster asks through it and waits by it.
#pragma once

#include <string>

#include "base/time.hpp"
#include "protocol/http.hpp"

namespace tutti::sim::scenario {

struct live_answer {
  int status = 0;   ///< 0 = nobody answered
  std::string body; ///< or why nobody did
};

class live_door {
public:
  virtual ~live_door() = default;
  /// One request and its answer. Blocks.
  virtual live_answer ask(const protocol::http_request& what) = 0;
  virtual base::time_point now() const = 0;
  virtual void pause(base::duration how_long) = 0;
};

} // namespace tutti::sim::scenario
