// Collects what is wrong with an object in the words of an API server; and the formats of names.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

#include "api/refusal.hpp"

namespace tutti::api {

/// Allowed instead of a change that is not.
inline constexpr std::string_view unchanged_words =
    "what is there already; to change it, delete the object and make it anew";

/// Errors by field, in the order in which they were found.
class field_errors {
public:
  /// "Required value", or "Required value: detail". Neither says what is allowed.
  void required(std::string path, std::string_view allowed, std::string_view detail = {});
  /// `value` as it is to be printed: see `quoted`.
  /// `allowed` where `detail` does not say it.
  void invalid(std::string path, std::string_view value, std::string_view detail,
               std::string_view allowed = {});
  void forbidden(std::string path, std::string_view detail, std::string_view allowed = {});
  void duplicate(std::string path, std::string_view value);
  void too_many(std::string path, std::size_t count, std::size_t most);
  void not_supported(std::string path, std::string_view value,
                     std::initializer_list<std::string_view> supported);
  /// "field is immutable".
  void immutable(std::string path, std::string_view value = "null");

  bool empty() const { return causes_.empty(); }
  /// The 422 of a server for an object of that kind; nothing if there are no errors.
  std::optional<refusal> refuse(const boost::json::object& object) const;

private:
  std::vector<cause> causes_;
};

/// A text in quotes, as Go's %q writes it.
std::string quoted(std::string_view text);

/// What is wrong with a name, in a server's words; empty if it is well formed.
std::string subdomain_problem(std::string_view name); ///< RFC 1123 subdomain
std::string label_problem(std::string_view name);     ///< RFC 1123 label
std::string label_key_problem(std::string_view key);  ///< "example.com/name"
std::string label_value_problem(std::string_view value);
std::string path_segment_problem(std::string_view name);
std::string condition_reason_problem(std::string_view reason);

/// The names that one of these has nothing against, for people.
std::string allowed_by(std::string (*problem)(std::string_view));

} // namespace tutti::api
