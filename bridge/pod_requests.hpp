// The requests that the writers send about pods, as values.
#pragma once

#include <string>

#include "bridge/pod_view.hpp"
#include "protocol/http.hpp"
#include "protocol/messages.hpp"

namespace tutti::bridge {

/// POST of a Binding with uid and resourceVersion as preconditions, signed with attempt and fence.
protocol::http_request binding_request(const protocol::bind& what);

protocol::http_request get_pod_request(const protocol::object_name& pod);

/// Who is touched, by whom. `mark` is distinct for every touch.
struct touch_spec {
  protocol::object_name pod;
  base::pod_uid uid;
  fence by;
  std::string mark;
};
/// PATCH that changes nothing but our annotations, and so the resourceVersion (rule 7b). The server
/// refuses it (422) if the name belongs to another uid.
protocol::http_request touch_request(const touch_spec& what);

/// PATCH of the status that says why a victim goes.
struct disruption_spec {
  protocol::object_name pod;
  base::pod_uid uid;
  std::string reason; ///< of the condition
  std::string message;
  base::wall_time now;
};
protocol::http_request disruption_request(const disruption_spec& what);

/// DELETE that only removes this uid at this version.
struct removal_spec {
  protocol::object_name pod;
  base::pod_uid uid;
  std::string resource_version;
};
protocol::http_request removal_request(const removal_spec& what);

/// "2026-01-31T12:00:00Z", and with microseconds as events want it.
std::string rfc3339(base::wall_time t);
std::string rfc3339_micro(base::wall_time t);

} // namespace tutti::bridge
