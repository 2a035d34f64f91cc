#include "cli/cancel.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "cli/output.hpp"

namespace tutti::cli {

namespace {

bool is_blank(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isspace(c) != 0; });
}

} // namespace

base::result<void> cancel_gang(const reader& daemon, const std::string& what,
                               const read_options& how, const cancel_options& about) {
  if (is_blank(about.reason))
    return base::error{base::code::bad_input, "--reason is empty",
                       "say why: people will read it in an event of the gang"};
  auto path = gang_path(what, how) + "/cancel?reason=" + path_segment(about.reason);
  for (const auto& pod : about.members)
    path += "&member=" + path_segment(pod);
  auto said = daemon(path);
  if (!said)
    return said.error();
  fmt::print("gang/{}: {}\n", cell(*said, "name"), cell(*said, "text"));
  return {};
}

} // namespace tutti::cli
