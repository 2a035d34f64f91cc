// The files that the build embeds, before anyone gives them a meaning; see api/openapi.hpp for
// that.
#pragma once

#include <span>
#include <string_view>

namespace tutti::api {

/// One file of this folder: its name without ".json", and its bytes (a zero follows them).
struct embedded_file {
  std::string_view name;
  const char* begin = nullptr;
  const char* end = nullptr;

  std::string_view text() const { return {begin, static_cast<std::size_t>(end - begin)}; }
};

/// All of them, ascending by name. They live as long as the process.
std::span<const embedded_file> embedded_files();

} // namespace tutti::api
