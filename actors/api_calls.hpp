// What was asked of the API server and how it answered, in the words of its access rules.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/events.hpp"
#include "protocol/http.hpp"

namespace tutti::actors {

/// A request as a Role would have to allow it.
struct api_call {
  /// get, list, watch, create, update, patch or delete.
  std::string verb;
  /// "pods/binding", "podgroups/status.scheduling.k8s.io": the group behind a dot.
  std::string resource;
  friend auto operator<=>(const api_call&, const api_call&) = default;
};

/// `resource` is the path ("/version") where that is about no resource.
api_call call_of(const protocol::http_request& x);
/// "create pods/binding", "patch podgroups/status.scheduling.k8s.io".
std::string to_text(const api_call& x);

/// Thread-safe. Grows with the kinds of calls, which are few.
class api_calls {
public:
  /// `said` is any event of the exchange; those that are no answer are passed over.
  void heard(const api_call& what, const protocol::event& said);

  /// How often each was answered with a status; 0 = its outcome is unknown.
  std::map<std::pair<api_call, int>, std::uint64_t> counts() const;
  /// Refused with 403 for want of a right, and not answered otherwise since.
  struct missing_right {
    api_call what;
    std::string words; ///< the server's
  };
  std::vector<missing_right> missing() const;

private:
  mutable std::mutex mutex_;
  std::map<std::pair<api_call, int>, std::uint64_t> counts_;
  std::map<api_call, std::string> missing_;
};

} // namespace tutti::actors
