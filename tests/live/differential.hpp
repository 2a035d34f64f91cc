// Requests that the embedded API server and a genuine one are asked alike, and what of their
// answers must be the same.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "tests/commands/api_client.hpp"

namespace tutti::live::differential {

inline constexpr const char* space = "/api/v1/namespaces/default/pods";
inline constexpr const char* groups =
    "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";

/// One request. In `body`, `UID[name]` and `VERSION[name]` stand for what that server gave the pod.
struct asked {
  const char* what;
  const char* method;
  std::string path;
  std::string body{};
};

/// Objects come into being, are changed and go, rightly and wrongly.
std::vector<asked> everything_asked();

/// A pod as text.
std::string pod(const std::string& name, const std::string& more = {});
/// The body of a request for that server.
std::string filled(std::string text, const commands::api_client& on);

/// What both must say of an object: what its user asked for and what became of it.
std::string essence_of(const boost::json::object& x);
/// The same of an answer: the status, and of a refusal its reason.
std::string essence(const commands::api_answer& x);

} // namespace tutti::live::differential
