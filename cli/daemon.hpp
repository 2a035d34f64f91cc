// Reads a running scheduler's admin address, on behalf of one command.
#pragma once

#include <functional>
#include <string>

#include <boost/json/object.hpp>

#include "base/result.hpp"

namespace tutti::cli {

/// Where commands get their JSON: a daemon over HTTP, or the scheduler in this very process.
using reader = std::function<base::result<boost::json::object>(const std::string& path)>;

/// `server` is "HOST:PORT" or "http://HOST:PORT"; empty = $TUTTI_SERVER, else 127.0.0.1:10451.
/// The reader fails with `unavailable` (nobody listens, with a hint), `not_found` (404, with the
/// daemon's own words) or `bad_input` (no valid address).
reader daemon_at(std::string server);

/// The default admin address.
inline constexpr const char* default_server = "127.0.0.1:10451";

} // namespace tutti::cli
