// The table of API answers.
#include "bridge/verdicts.hpp"

namespace tutti::bridge {

std::string_view name_of(verdict v) {
  static constexpr std::array<std::string_view, verdict_count> names{
      "done",    "gone",    "replaced", "look",    "wait",     "forbidden",
      "invalid", "unknown", "relist",   "too_new", "reconnect"};
  return names.at(static_cast<std::size_t>(v));
}

verdict judge(operation what, int status, std::string_view body) {
  for (const auto& row : verdict_table) {
    if (row.what != what || status < row.lowest || status > row.highest)
      continue;
    if (row.says.empty() || body.find(row.says) != std::string_view::npos)
      return row.then;
  }
  return verdict::unknown;
}

} // namespace tutti::bridge
