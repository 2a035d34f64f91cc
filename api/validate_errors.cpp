// The words of the real server for each kind of mistake.
#include "api/validate_errors.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/json_edit.hpp"

namespace tutti::api {
namespace {

constexpr std::size_t subdomain_chars_max = 253;
constexpr std::size_t label_chars_max = 63;

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/// [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool is_label(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back())
         && std::all_of(text.begin(), text.end(),
                        [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  for (;;) {
    auto dot = text.find('.');
    if (!is_label(text.substr(0, dot)))
      return false;
    if (dot == text.npos)
      return true;
    text.remove_prefix(dot + 1);
  }
}

/// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool is_qualified_part(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back())
         && std::all_of(text.begin(), text.end(),
                        [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string too_long(std::size_t most) {
  return fmt::format("must be no more than {} bytes", most);
}

constexpr std::string_view subdomain_words =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view label_words =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view qualified_words =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view label_value_words =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
    "'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view reason_words =
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    "used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

} // namespace

void field_errors::required(std::string path, std::string_view allowed, std::string_view detail) {
  auto text =
      detail.empty() ? std::string{"Required value"} : fmt::format("Required value: {}", detail);
  causes_.push_back({"FieldValueRequired", std::move(text), std::move(path), std::string{allowed}});
}

void field_errors::immutable(std::string path, std::string_view value) {
  invalid(std::move(path), value, "field is immutable", unchanged_words);
}

void field_errors::invalid(std::string path, std::string_view value, std::string_view detail,
                           std::string_view allowed) {
  causes_.push_back({"FieldValueInvalid", fmt::format("Invalid value: {}: {}", value, detail),
                     std::move(path), std::string{allowed}});
}

void field_errors::forbidden(std::string path, std::string_view detail, std::string_view allowed) {
  causes_.push_back({"FieldValueForbidden", fmt::format("Forbidden: {}", detail), std::move(path),
                     std::string{allowed}});
}

void field_errors::duplicate(std::string path, std::string_view value) {
  causes_.push_back({"FieldValueDuplicate", fmt::format("Duplicate value: {}", value),
                     std::move(path), "each only once"});
}

void field_errors::too_many(std::string path, std::size_t count, std::size_t most) {
  causes_.push_back(
      {"FieldValueTooMany",
       fmt::format("Too many: {}: must have at most {} item{}", count, most, most == 1 ? "" : "s"),
       std::move(path)});
}

void field_errors::not_supported(std::string path, std::string_view value,
                                 std::initializer_list<std::string_view> supported) {
  std::string list;
  for (auto word : supported)
    list += (list.empty() ? "" : ", ") + quoted(word);
  causes_.push_back(
      {"FieldValueNotSupported",
       fmt::format("Unsupported value: {}: supported values: {}", quoted(value), list),
       std::move(path)});
}

std::optional<refusal> field_errors::refuse(const boost::json::object& object) const {
  if (causes_.empty())
    return std::nullopt;
  auto api_version = text_at(object, "apiVersion");
  auto slash = api_version.find('/');
  auto group =
      slash == api_version.npos ? std::string{} : "." + std::string{api_version.substr(0, slash)};
  auto* metadata = object_at(object, "metadata");
  std::string all;
  for (auto& one : causes_)
    all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", one.field, one.message);
  if (causes_.size() > 1)
    all = "[" + all + "]";
  return refusal{422, "Invalid",
                 fmt::format("{}{} {} is invalid: {}", text_at(object, "kind"), group,
                             quoted(metadata ? text_at(*metadata, "name") : ""), all),
                 causes_};
}

std::string text_for_people(const refusal& x) {
  auto text = x.message;
  std::size_t from = 0;
  for (const auto& c : x.causes) {
    const auto said = c.field + ": " + c.message;
    const auto at = text.find(said, from);
    if (at == text.npos)
      continue;
    from = at + said.size();
    if (c.allowed.empty())
      continue;
    const auto more = "; allowed: " + c.allowed;
    text.insert(from, more);
    from += more.size();
  }
  return text;
}

std::string allowed_by(std::string (*problem)(std::string_view)) {
  if (problem == subdomain_problem)
    return "a name of lower-case letters, digits, '-' and '.'";
  if (problem == label_problem)
    return "a name of lower-case letters, digits and '-'";
  if (problem == path_segment_problem)
    return "a name without '/' and '%'";
  if (problem == condition_reason_problem)
    return "one word, for example MinimumBound";
  return "a name, for example example.com/rack";
}

std::string quoted(std::string_view text) {
  return boost::json::serialize(boost::json::string_view{text.data(), text.size()});
}

std::string subdomain_problem(std::string_view name) {
  if (name.size() > subdomain_chars_max)
    return too_long(subdomain_chars_max);
  return is_subdomain(name) ? std::string{} : std::string{subdomain_words};
}

std::string label_problem(std::string_view name) {
  if (name.size() > label_chars_max)
    return too_long(label_chars_max);
  if (is_label(name))
    return {};
  return is_subdomain(name) ? "must not contain dots" : std::string{label_words};
}

std::string label_key_problem(std::string_view key) {
  auto slash = key.find('/');
  auto name = slash == key.npos ? key : key.substr(slash + 1);
  if (name.find('/') != name.npos)
    return fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                       "'example.com/MyName')",
                       qualified_words);
  if (slash != key.npos) {
    auto prefix = key.substr(0, slash);
    if (prefix.empty())
      return "prefix part must be non-empty";
    if (auto problem = subdomain_problem(prefix); !problem.empty())
      return "prefix part " + problem;
  }
  if (name.empty())
    return "name part must be non-empty";
  if (name.size() > label_chars_max)
    return "name part " + too_long(label_chars_max);
  return is_qualified_part(name) ? std::string{} : fmt::format("name part {}", qualified_words);
}

std::string label_value_problem(std::string_view value) {
  if (value.size() > label_chars_max)
    return too_long(label_chars_max);
  return value.empty() || is_qualified_part(value) ? std::string{} : std::string{label_value_words};
}

std::string path_segment_problem(std::string_view name) {
  if (name == "." || name == "..")
    return fmt::format("may not be '{}'", name);
  for (char c : {'/', '%'})
    if (name.find(c) != name.npos)
      return fmt::format("may not contain '{}'", c);
  return {};
}

std::string condition_reason_problem(std::string_view reason) {
  auto is_letter = [](char c) { return is_alnum(c) && !(c >= '0' && c <= '9'); };
  auto is_inner = [](char c) { return is_alnum(c) || c == '_' || c == ',' || c == ':'; };
  bool is_fine = !reason.empty() && is_letter(reason.front())
                 && (is_alnum(reason.back()) || reason.back() == '_')
                 && std::all_of(reason.begin(), reason.end(), is_inner);
  return is_fine ? std::string{} : std::string{reason_words};
}

} // namespace tutti::api
