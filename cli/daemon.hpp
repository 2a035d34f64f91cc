// Reads a running scheduler's admin address, on behalf of one command.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.hpp"

namespace tutti::cli {

/// The default admin address.
inline constexpr const char* default_server = "127.0.0.1:10451";

/// "HOST:PORT" of "http://HOST:PORT/"; anything else as it is.
std::string without_scheme(std::string server);

/// One segment of a path, with everything that a path may not contain as %XX.
std::string path_segment(std::string_view text);

/// Where commands get their JSON: a daemon over HTTP, or the scheduler in this very process.
using reader = std::function<base::result<boost::json::object>(const std::string& path)>;

/// `server` is "HOST:PORT" or "http://HOST:PORT"; empty = $TUTTI_SERVER, else 127.0.0.1:10451.
/// The reader fails with `unavailable` (nobody listens, with a hint), `not_found` (404, with the
/// daemon's own words) or `bad_input` (no valid address).
reader daemon_at(std::string server);
/// The same for a path that changes something: POST. `conflict` (409): nothing was done, with the
/// daemon's own words.
reader daemon_to_change(std::string server);

} // namespace tutti::cli
