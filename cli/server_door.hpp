// Opens the way to an API server that is another process, for whoever speaks to it.
#pragma once

#include <functional>
#include <memory>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/api_access.hpp"
#include "cli/doorkeeper.hpp"

namespace tutti::cli {

struct server_door_options {
  api_flags where;
  unsigned qps = 0;   ///< writes per second; 0 = no limit
  unsigned burst = 0; ///< of them at once; 0 = as many as in a second
  bool quiet = false;
  bool names_server = true; ///< says on stderr which one it is, and where it was found
};

/// Finds the server, reads the credentials, and warns of what is dangerous. Errors of `find_access`
/// and `open_access`.
base::result<std::unique_ptr<doorkeeper>>
open_server_door(const server_door_options& how, const base::clock& clock,
                 const std::function<bool()>& is_told_to_stop);

} // namespace tutti::cli
