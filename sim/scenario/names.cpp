#include "sim/scenario/names.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::sim::scenario {

namespace {

/// No story needs a range of more names than the largest cluster has pods.
constexpr std::size_t range_max = 200'000;

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

struct counted {
  std::string_view before;
  std::string_view digits;
};

counted split_number(std::string_view text) {
  auto at = text.size();
  while (at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])))
    --at;
  return {text.substr(0, at), text.substr(at)};
}

std::size_t to_number(std::string_view digits) {
  std::size_t n = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return n;
}

/// Values that may be dealt out: a range whose two ends make sense.
bool is_range(const std::string& text) {
  const auto at = text.find("..");
  if (at == std::string::npos || at == 0)
    return false;
  const auto first = split_number(std::string_view{text}.substr(0, at));
  const auto last = split_number(std::string_view{text}.substr(at + 2));
  return !first.digits.empty() && !last.digits.empty();
}

} // namespace

std::string full_name::key() const {
  return space + "/" + api_name();
}

std::string full_name::api_name() const {
  return lower(name);
}

full_name split_name(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return {.space = "default", .name = std::string{text}};
  return {.space = lower(text.substr(0, slash)), .name = std::string{text.substr(slash + 1)}};
}

std::vector<std::string> expand(const std::string& text, const tree& where) {
  const auto at = text.find("..");
  if (at == std::string::npos)
    return {text};
  const auto first = split_number(std::string_view{text}.substr(0, at));
  auto last = split_number(std::string_view{text}.substr(at + 2));
  const auto slash = first.before.rfind('/');
  const auto short_before =
      slash == std::string_view::npos ? first.before : first.before.substr(slash + 1);
  const bool is_same = last.before == first.before || last.before == short_before;
  const auto from = to_number(first.digits);
  const auto to = to_number(last.digits);
  if (first.digits.empty() || last.digits.empty() || !is_same || from > to
      || to - from >= range_max)
    fail(where, fmt::format("\"{}\" is no range of names; allowed: a0..a9", text));
  const bool is_padded = first.digits.size() > 1 && first.digits.front() == '0';
  std::vector<std::string> out;
  for (auto n = from; n <= to; ++n)
    out.push_back(fmt::format("{}{:0{}}", first.before, n, is_padded ? first.digits.size() : 1));
  return out;
}

std::vector<std::string> expand_all(const tree& x) {
  std::vector<std::string> out;
  for (const auto& text : texts_of(x))
    for (auto& name : expand(text, x))
      out.push_back(std::move(name));
  return out;
}

std::size_t dealt(std::size_t i, std::size_t names, std::size_t values) {
  ensure(i < names && values > 0 && values <= names, i, names, values);
  return i * values / names;
}

tree with_dealt(const tree& x, std::size_t i, std::size_t names) {
  auto out = x;
  if (x.is == tree::kind::text && is_range(x.text)) {
    const auto values = expand(x.text, x);
    if (values.size() > names)
      fail(x, fmt::format("{} values of \"{}\" for {} names", values.size(), x.text, names));
    out.text = values[dealt(i, names, values.size())];
  }
  for (auto& item : out.items)
    item = with_dealt(item, i, names);
  for (auto& f : out.fields)
    f.value = with_dealt(f.value, i, names);
  return out;
}

std::string label_key(const std::string& word) {
  if (word == "rack" || word == "block")
    return "example.com/" + word;
  if (word == "zone")
    return "topology.kubernetes.io/zone";
  if (word == "hostname")
    return "kubernetes.io/hostname";
  return word;
}

std::string resource_name(const std::string& word) {
  return word == "gpu" ? "example.com/gpu" : word;
}

} // namespace tutti::sim::scenario
