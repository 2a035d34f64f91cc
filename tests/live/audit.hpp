// What the API server's own log says was asked of it: a witness that is not the scheduler.
#pragma once

#include <map>
#include <string>

namespace tutti::live {

/// Per pod, the Bindings that the API server has taken.
std::map<std::string, int> bindings_taken(const std::string& audit_log);

} // namespace tutti::live
