// What the API server's own log says was asked of it: a witness that is not the scheduler.
#pragma once

#include <map>
#include <set>
#include <string>

namespace tutti::live {

/// Per pod, the Bindings that the API server has taken.
std::map<std::string, int> bindings_taken(const std::string& audit_log);

/// How many times a scheduler has begun to list from scratch, by kind: `sendInitialEvents`. A watch
/// is in the log once it has ended.
std::map<std::string, int> lists_begun(const std::string& audit_log);

/// How many watches schedulers and bridges have opened, by kind; as above once they have ended.
std::map<std::string, int> watches_opened(const std::string& audit_log);

/// "create pods/binding" of each request of that user which was refused for want of a right.
std::set<std::string> rights_missed(const std::string& audit_log, const std::string& user);
/// The same of each that was answered otherwise.
std::set<std::string> rights_used(const std::string& audit_log, const std::string& user);

} // namespace tutti::live
