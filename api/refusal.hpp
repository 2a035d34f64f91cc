// How an API server says no.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::api {

/// One field that is wrong, as in `status.details.causes`.
struct cause {
  std::string reason;  ///< "FieldValueInvalid", "FieldValueRequired", …
  std::string message; ///< "Required value"
  std::string field;   ///< "spec.schedulingPolicy.gang.minCount"
  /// "1 or more", where the message does not say it. For people; a server's answer has no place for
  /// it.
  std::string allowed{};

  friend bool operator==(const cause&, const cause&) = default;
};

/// A failed request: what stands in the `Status` object of the answer.
struct refusal {
  int code = 0;        ///< 400, 403, 404, 409, 422
  std::string reason;  ///< "Invalid", "Forbidden", "BadRequest"
  std::string message; ///< in the server's own words
  std::vector<cause> causes;

  friend bool operator==(const refusal&, const refusal&) = default;
};

/// The message for people: behind each cause what is allowed instead, "…; allowed: 1 or more".
std::string text_for_people(const refusal& x);

} // namespace tutti::api
