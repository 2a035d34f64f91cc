#include "sim/scenario/fragment.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace tutti::sim::scenario {

namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// Both in small letters.
bool contains(const std::string& message, const std::string& piece) {
  for (auto at = message.find(piece); at != std::string::npos; at = message.find(piece, at + 1)) {
    const auto end = at + piece.size();
    const bool cuts_before = at > 0 && is_digit(piece.front()) && is_digit(message[at - 1]);
    const bool cuts_behind =
        end < message.size() && is_digit(piece.back()) && is_digit(message[end]);
    if (!cuts_before && !cuts_behind)
      return true;
  }
  return false;
}

} // namespace

bool fragment::is_in(std::string_view message) const {
  const auto text = lower(message);
  return std::any_of(any_of.begin(), any_of.end(),
                     [&](const std::string& piece) { return contains(text, lower(piece)); });
}

std::string fragment::text() const {
  return any_of.size() == 1 ? fmt::format("\"{}\"", any_of.front())
                            : fmt::format("one of \"{}\"", fmt::join(any_of, "\", \""));
}

fragment read_fragment(const tree& x) {
  fragment out{texts_of(x)};
  const bool is_empty = std::any_of(out.any_of.begin(), out.any_of.end(),
                                    [](const std::string& piece) { return piece.empty(); });
  if (out.any_of.empty() || is_empty)
    fail(x, "an empty fragment is in every message");
  return out;
}

std::vector<fragment> read_fragments(const tree& x) {
  if (x.is == tree::kind::text)
    return {read_fragment(x)};
  std::vector<fragment> out;
  for (const auto& item : list_of(x).items)
    out.push_back(read_fragment(item));
  return out;
}

const fragment* first_missing(const std::vector<fragment>& all, std::string_view message) {
  const auto pos =
      std::find_if(all.begin(), all.end(), [&](const fragment& f) { return !f.is_in(message); });
  return pos == all.end() ? nullptr : &*pos;
}

} // namespace tutti::sim::scenario
