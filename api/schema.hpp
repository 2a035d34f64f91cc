// Checks a JSON object against the OpenAPI schema of its kind: which fields exist, and of what
// type.
//
// A misspelt field is the most common mistake in a manifest, and an API server that drops it in
// silence the worst answer. So every unknown field and wrong type is reported with its path and
// with what would be right. Rules that go beyond the type are in api/validate.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

#include "api/release.hpp"

namespace tutti::api {

/// One thing that is wrong with one field.
struct field_error {
  enum class problem : std::uint8_t {
    unknown_field, ///< servers drop it with a warning, and refuse it if asked to be strict
    wrong_type,    ///< servers cannot read the object at all
    bad_value      ///< of the right type, but none of the values that the schema lists
  };
  problem why = problem::unknown_field;
  std::string path;    ///< "spec.containers[0].image"
  std::string what;    ///< "unknown field, did you mean \"image\"?"
  std::string allowed; ///< "image, imagePullPolicy, name", "an integer"
  /// The words of an API server for it; empty for `bad_value`, about which its validation speaks.
  std::string server_text;

  friend bool operator==(const field_error&, const field_error&) = default;
};

/// A kind that objects can be created of.
struct known_kind {
  std::string api_version; ///< "scheduling.k8s.io/v1beta1"
  std::string kind;
  std::string plural; ///< "podgroups"
  bool is_namespaced = false;

  friend bool operator==(const known_kind&, const known_kind&) = default;
};

/// All kinds of a release that there is a schema for, ascending by kind, then newest-looking
/// version last. Read from the embedded documents at the first call; thread-safe.
const std::vector<known_kind>& known_kinds(release kubernetes);

/// The kind by its two names; null if that release has none such.
const known_kind* find_kind(release kubernetes, std::string_view api_version,
                            std::string_view kind);

/// Every unknown field, wrong type and unlisted value of `object`, in the order of its fields. Null
/// is taken for absent, as servers do. One error on `kind` if that release does not know it.
std::vector<field_error> check_fields(release kubernetes, const boost::json::object& object);

/// Removes from `object` what a server would drop: fields that the schema does not know.
void drop_unknown_fields(release kubernetes, boost::json::object& object);

/// The one of `among` that `word` is most likely a misspelling of; empty if none is close.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& among);

} // namespace tutti::api
