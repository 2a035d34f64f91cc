// One byte after the other: also the bytes of UTF-8 are none that we know to be harmless.
#include "bridge/printable.hpp"

#include <algorithm>

namespace tutti::bridge {

std::string printable(std::string_view text, std::size_t most) {
  std::string out{text.substr(0, most)};
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > most ? out + "…" : out;
}

} // namespace tutti::bridge
