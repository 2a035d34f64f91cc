// `tutti bridge`: one set of watches and one budget of writes for several schedulers.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/api_access.hpp"

namespace tutti::cli {

/// The default addresses of a bridge: for schedulers, and for people.
inline constexpr const char* default_bridge_listen = "127.0.0.1:10453";
inline constexpr const char* default_bridge_admin = "127.0.0.1:10454";

struct bridge_options {
  api_flags elsewhere;                        ///< the API server
  std::string listen = default_bridge_listen; ///< for schedulers
  std::string tls_dir;                        ///< tls.crt, tls.key, ca.crt; empty = plain TCP
  std::string certificate_name;               ///< in each certificate; empty = its own name
  bool is_plain = false;                      ///< plain TCP, wherever it is reached from
  std::string admin = default_bridge_admin;   ///< health and metrics; empty = none
  unsigned qps = 0;                           ///< writes per second, of all; 0 = no limit
  unsigned burst = 0;                         ///< of them at once; 0 = as many as in a second
  bool quiet = false;
};

/// `bad_input`, with the flag and the cure, for what no run can make sense of.
base::result<void> check_bridge(const bridge_options& how);

/// Takes what `check_bridge` let through. Runs until told to stop; then takes nothing new, and
/// tells what becomes of the writes that are under way. Returns what kept it from running.
base::result<void> run_bridge(const bridge_options& how);

} // namespace tutti::cli
