// The Kubernetes releases whose API we read, check and serve.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::api {

/// One minor release with all its workload feature gates on. Ordered by age.
enum class release : std::uint8_t { v1_35, v1_36, v1_37 };

/// All of them, newest first.
inline constexpr std::array releases{release::v1_37, release::v1_36, release::v1_35};

/// "1.37".
constexpr std::string_view name_of(release r) {
  switch (r) {
  case release::v1_35:
    return "1.35";
  case release::v1_36:
    return "1.36";
  case release::v1_37:
    return "1.37";
  }
  return "?";
}

/// The release of "1.37", "v1.37" or "1.37.2"; nothing if it is none that we know.
constexpr std::optional<release> release_of(std::string_view text) {
  if (text.starts_with('v'))
    text.remove_prefix(1);
  for (auto r : releases) {
    auto rest = text;
    if (!rest.starts_with(name_of(r)))
      continue;
    rest.remove_prefix(name_of(r).size());
    if (rest.empty() || rest.front() == '.')
      return r;
  }
  return std::nullopt;
}

} // namespace tutti::api
