// Label selectors: read from JSON, and asked.
#include "api/selector.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/core.h>

#include "api/json_cursor.hpp"
#include "base/trimmed.hpp"

namespace tutti::api {
namespace {

using operation = label_requirement::operation;

/// An integer as servers read label values: an optional sign and digits, nothing else.
std::optional<std::int64_t> integer_in(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-')
    text.remove_prefix(1);
  std::int64_t out = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failure != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return out;
}

bool compares(const label_requirement& requirement, std::string_view value) {
  if (requirement.values.size() != 1)
    return false;
  auto bound = integer_in(requirement.values.front());
  auto there = integer_in(value);
  if (!bound || !there)
    return false;
  return requirement.how == operation::gt ? *there > *bound : *there < *bound;
}

bool contains(const std::vector<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void put_in_order(label_selector& selector) {
  std::stable_sort(selector.requirements.begin(), selector.requirements.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
}

/// Nothing but blanks is passed over in the text of a selector.
std::string_view trimmed(std::string_view text) {
  return base::trimmed(text, " ");
}

/// Cuts at commas that stand outside of parentheses.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t start = 0;
  bool is_inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(')
      is_inside = true;
    if (text[i] == ')')
      is_inside = false;
    if (text[i] == ',' && !is_inside) {
      out.push_back(trimmed(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  out.push_back(trimmed(text.substr(start)));
  return out;
}

bool is_key(std::string_view text) {
  return !text.empty() && text.find_first_of(" !=()<>,") == std::string_view::npos;
}

/// "key in (a,b)" and "key notin (a,b)".
std::optional<label_requirement> parse_set(std::string_view part) {
  auto space = part.find(' ');
  auto open = part.find('(');
  if (space == std::string_view::npos || open == std::string_view::npos || part.back() != ')')
    return std::nullopt;
  if (space > open)
    return std::nullopt;
  auto word = trimmed(part.substr(space, open - space));
  label_requirement out{std::string{part.substr(0, space)}, operation::in, {}};
  if (word == "notin")
    out.how = operation::not_in;
  else if (word != "in")
    return std::nullopt;
  for (auto value : parts_of(part.substr(open + 1, part.size() - open - 2)))
    out.values.emplace_back(value);
  return is_key(out.key) ? std::optional{out} : std::nullopt;
}

std::optional<label_requirement> parse_part(std::string_view part) {
  if (part.find('(') != std::string_view::npos)
    return parse_set(part);
  if (part.starts_with('!')) {
    label_requirement out{std::string{trimmed(part.substr(1))}, operation::does_not_exist, {}};
    return is_key(out.key) ? std::optional{out} : std::nullopt;
  }
  struct mark {
    std::string_view sign;
    operation how;
  };
  static constexpr mark marks[] = {{"!=", operation::not_in},
                                   {"==", operation::in},
                                   {"=", operation::in},
                                   {">", operation::gt},
                                   {"<", operation::lt}};
  for (auto [sign, how] : marks)
    if (auto pos = part.find(sign); pos != std::string_view::npos) {
      label_requirement out{std::string{trimmed(part.substr(0, pos))},
                            how,
                            {std::string{trimmed(part.substr(pos + sign.size()))}}};
      bool is_value_fine = out.values[0].find_first_of(" !=<>") == std::string::npos;
      bool needs_integer = how == operation::gt || how == operation::lt;
      if (!is_key(out.key) || !is_value_fine || (needs_integer && !integer_in(out.values[0])))
        return std::nullopt;
      return out;
    }
  if (!is_key(part))
    return std::nullopt;
  return label_requirement{std::string{part}, operation::exists, {}};
}

/// `find(key)` gives the place of the label in `labels`, or their end.
template <class Labels, class Find>
bool all_hold(const label_selector& selector, const Labels& labels, Find find) {
  if (selector.requirements.empty())
    return selector.selects_all;
  return std::all_of(selector.requirements.begin(), selector.requirements.end(),
                     [&](const label_requirement& x) {
                       auto pos = find(x.key);
                       if (pos == labels.end())
                         return holds(x, nullptr);
                       std::string_view value = pos->second;
                       return holds(x, &value);
                     });
}

} // namespace

bool holds(const label_requirement& requirement, const std::string_view* value) {
  switch (requirement.how) {
  case operation::in:
    return value != nullptr && contains(requirement.values, *value);
  case operation::not_in:
    return value == nullptr || !contains(requirement.values, *value);
  case operation::exists:
    return value != nullptr;
  case operation::does_not_exist:
    return value == nullptr;
  case operation::gt:
  case operation::lt:
    return value != nullptr && compares(requirement, *value);
  }
  return false;
}

bool matches(const label_selector& selector, const string_map& labels) {
  return all_hold(selector, labels, [&](std::string_view key) { return labels.find(key); });
}

bool matches_list(const label_selector& selector,
                  const std::vector<std::pair<std::string, std::string>>& labels) {
  return all_hold(selector, labels, [&](std::string_view key) {
    auto pos = std::lower_bound(labels.begin(), labels.end(), key,
                                [](const auto& x, std::string_view k) { return x.first < k; });
    return pos != labels.end() && pos->first == key ? pos : labels.end();
  });
}

std::optional<operation> operation_of(std::string_view word) {
  if (word == "In")
    return operation::in;
  if (word == "NotIn")
    return operation::not_in;
  if (word == "Exists")
    return operation::exists;
  if (word == "DoesNotExist")
    return operation::does_not_exist;
  if (word == "Gt")
    return operation::gt;
  if (word == "Lt")
    return operation::lt;
  return std::nullopt;
}

base::result<label_selector> decode_label_selector(const boost::json::value& json) {
  cursor::mistakes found;
  cursor root(json, found);
  label_selector out;
  root["matchLabels"].members([&](std::string_view key, const cursor& x) {
    out.requirements.push_back({std::string{key}, operation::in, {x.text()}});
  });
  root["matchExpressions"].each([&](const cursor& x) {
    auto word = x["operator"].text();
    auto how = operation_of(word);
    if (!how || *how == operation::gt || *how == operation::lt) {
      x["operator"].mistake(fmt::format("unknown operator \"{}\"", word));
      return;
    }
    auto& one = out.requirements.emplace_back(label_requirement{x["key"].text(), *how, {}});
    x["values"].each([&](const cursor& v) { one.values.push_back(v.text()); });
  });
  if (found.first)
    return *found.first;
  out.selects_all = root.is_set() && out.requirements.empty();
  put_in_order(out);
  return out;
}

base::result<label_selector> parse_label_selector(std::string_view text) {
  label_selector out;
  if (trimmed(text).empty()) {
    out.selects_all = true;
    return out;
  }
  for (auto part : parts_of(text)) {
    auto requirement = parse_part(part);
    if (!requirement)
      return base::error{base::code::bad_input,
                         fmt::format("label selector \"{}\": cannot read \"{}\"", text, part)};
    out.requirements.push_back(std::move(*requirement));
  }
  put_in_order(out);
  return out;
}

} // namespace tutti::api
