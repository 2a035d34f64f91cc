// What the API server's own log says that a client has asked of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tutti::bench {

/// Requests by "verb resource/subresource", "create pods/binding" for example; what is about no
/// resource by "verb path".
using request_counts = std::map<std::string, std::int64_t>;

/// Bytes of the log so far: where a later reading may begin.
std::uint64_t audit_size(const std::string& log);
/// Requests in the log from that byte on of clients whose user agent begins so. A watch is in it
/// once it has ended.
request_counts audited(const std::string& log, std::uint64_t from, const std::string& agent);

} // namespace tutti::bench
