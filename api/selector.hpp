// Label selectors: which objects are meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/fwd.hpp>

#include "api/terms.hpp"
#include "base/result.hpp"

namespace tutti::api {

/// metav1.LabelSelector: every requirement must hold. Without any, `all` tells an empty selector
/// (everything) from a missing one (nothing).
struct label_selector {
  std::vector<label_requirement> requirements; ///< ascending by key
  bool selects_all = false;                    ///< an empty selector was given

  friend bool operator==(const label_selector&, const label_selector&) = default;
};

bool matches(const label_selector& selector, const string_map& labels);
/// The same for labels in a list, ascending by key.
bool matches_list(const label_selector& selector,
                  const std::vector<std::pair<std::string, std::string>>& labels);
/// One requirement against the value of its label (null = the object has no such label). `not_in`
/// and `does_not_exist` hold for absent labels; `gt` and `lt` hold only between integers.
bool holds(const label_requirement& requirement, const std::string_view* value);

/// The operation that manifests call "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt".
std::optional<label_requirement::operation> operation_of(std::string_view word);

/// Reads {matchLabels, matchExpressions}; null selects nothing. `bad_input` for operators other
/// than In, NotIn, Exists, DoesNotExist.
base::result<label_selector> decode_label_selector(const boost::json::value& json);
/// Reads the text form of a query: "a=b,c!=d,e in (f,g),!h,i". `bad_input` with the offending part.
base::result<label_selector> parse_label_selector(std::string_view text);

} // namespace tutti::api
