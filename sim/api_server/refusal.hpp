// What the server says when it says no: the fields of a Kubernetes Status object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/refusal.hpp"

namespace tutti::sim::api_server {

using api::cause;

/// A refused request, with what it is about.
struct refusal : api::refusal {
  std::string name;  ///< details.name
  std::string group; ///< details.group
  std::string kind;  ///< details.kind: the plural, except in 422
  int retry_after_s = 0;
  std::string continue_token; ///< of an expired list: where to go on, inconsistently

  friend bool operator==(const refusal&, const refusal&) = default;
};

/// A value, or why there is none.
template <class T>
using outcome = std::variant<T, refusal>;

template <class T>
bool is_refused(const outcome<T>& x) {
  return std::holds_alternative<refusal>(x);
}

/// What a refusal is about: `podgroups` in group `scheduling.k8s.io`, named `train`.
struct subject {
  std::string_view group;
  std::string_view plural;
  std::string_view name;
};

refusal not_found(const subject& what);
refusal already_exists(const subject& what);
/// 409 with `why` behind "Operation cannot be fulfilled on …: ".
refusal conflict(const subject& what, std::string_view why);
/// What the rules of the API say, about this object.
refusal refused_by_rules(api::refusal why, std::string_view kind, const subject& what);
/// 409 of an update that was made from an older version.
refusal stale(const subject& what);
refusal forbidden(const subject& what, std::string_view why);
/// 422; `kind` as in "Pod", the causes joined as the server does.
refusal invalid(std::string_view kind, const subject& what, std::vector<cause> causes);
refusal bad_request(std::string message);
refusal no_such_path();
refusal method_not_allowed();
refusal unsupported_media(std::string_view got);
/// 410 of a watch that asks for what the window no longer holds.
refusal expired(std::uint64_t asked, std::uint64_t oldest);
refusal too_large_version(std::uint64_t asked, std::uint64_t current);
refusal internal_error(std::string message);

/// The Status object as JSON.
std::string to_status(const refusal& r);

/// `{"kind":"Status",…,"status":"Success","code":201}`, optionally about an object that is gone.
std::string success_status(int code);

} // namespace tutti::sim::api_server
