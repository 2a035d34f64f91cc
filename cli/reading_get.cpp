// The lists: gangs, nodes, shards; as tables or for machines.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "cli/output.hpp"
#include "cli/reading.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;

/// By namespace and name, whatever order the daemon keeps.
void sort_by_name(json::array& items) {
  std::vector<json::value> sorted(items.begin(), items.end());
  const auto key = [](const json::value& x) {
    return std::pair{cell(x.as_object(), "namespace"), cell(x.as_object(), "name")};
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::move(sorted.begin(), sorted.end(), items.begin());
}

/// Prints a whole list object as asked; false if the format is a table.
bool print_as_machine(const json::object& list, const std::string& format, const char* noun) {
  if (format == "json")
    std::fputs(pretty_json(list).c_str(), stdout);
  else if (format == "yaml")
    std::fputs(yaml_text(list).c_str(), stdout);
  else if (format == "name")
    for (const auto& x : list.at("items").as_array())
      fmt::print("{}/{}\n", noun, cell(x.as_object(), "name"));
  else
    return false;
  return true;
}

void print_gangs(const json::array& items, const read_options& how, std::int64_t now_ms) {
  std::vector<std::string> titles;
  if (how.all_spaces)
    titles.push_back("NAMESPACE");
  for (const char* t : {"NAME", "PRIORITY", "READY", "PHASE", "REASON"})
    titles.push_back(t);
  if (how.format == "wide")
    for (const char* t : {"ATTEMPTS", "DETAIL"})
      titles.push_back(t);
  titles.push_back("AGE");
  table out{titles};
  for (const auto& x : items) {
    const auto& row = x.as_object();
    std::vector<std::string> cells;
    if (how.all_spaces)
      cells.push_back(cell(row, "namespace"));
    cells.push_back(cell(row, "name"));
    cells.push_back(cell(row, "priority"));
    cells.push_back(fmt::format("{}/{}", number(row, "bound"),
                                std::max(number(row, "members"), number(row, "min"))));
    cells.push_back(cell(row, "phase"));
    cells.push_back(cell(row, "reason"));
    if (how.format == "wide") {
      cells.push_back(cell(row, "attempts"));
      cells.push_back(cell(row, "message").empty() ? cell(row, "detail") : cell(row, "message"));
    }
    cells.push_back(row.contains("created") && number(row, "created") > 0
                        ? age_text(now_ms - number(row, "created"))
                        : "<unknown>");
    out.add(std::move(cells));
  }
  std::fputs(out.text().c_str(), stdout);
}

base::result<void> get_gangs(const reader& from, const read_options& how,
                             const base::clock& clock) {
  auto list = from("/api/gangs");
  if (!list)
    return list.error();
  auto& items = list->at("items").as_array();
  if (!how.all_spaces)
    items.erase(std::remove_if(items.begin(), items.end(),
                               [&how](const json::value& x) {
                                 return cell(x.as_object(), "namespace") != how.space;
                               }),
                items.end());
  sort_by_name(items);
  if (print_as_machine(*list, how.format, "gang"))
    return {};
  if (items.empty()) {
    std::fputs(how.all_spaces
                   ? "no gangs\n"
                   : fmt::format("no gangs in namespace {}; -A shows all\n", how.space).c_str(),
               stderr);
    return {};
  }
  print_gangs(items, how, clock.wall_now().unix_ms);
  return {};
}

/// One column of a plain list: its title, and the cell of a row.
struct column {
  const char* title;
  std::function<std::string(const json::object&)> text;
};

base::result<void> get_plain(const reader& from, const std::string& path, const char* noun,
                             bool is_by_name, const std::vector<column>& columns,
                             const read_options& how) {
  auto list = from(path);
  if (!list)
    return list.error();
  if (is_by_name)
    sort_by_name(list->at("items").as_array());
  if (print_as_machine(*list, how.format, noun))
    return {};
  std::vector<std::string> titles;
  for (const auto& c : columns)
    titles.push_back(c.title);
  table out{titles};
  for (const auto& x : list->at("items").as_array()) {
    std::vector<std::string> cells;
    for (const auto& c : columns)
      cells.push_back(c.text(x.as_object()));
    out.add(std::move(cells));
  }
  std::fputs(out.text().c_str(), stdout);
  return {};
}

/// The cell of a field that is printed as it is.
column plain(const char* title, const char* field) {
  return {title, [field](const json::object& row) { return cell(row, field); }};
}

} // namespace

base::result<void> get(const reader& from, const std::string& noun, const read_options& how,
                       const base::clock& clock) {
  static const std::map<std::string, std::string, std::less<>> names{
      {"gangs", "gangs"}, {"gang", "gangs"}, {"g", "gangs"},       {"nodes", "nodes"},
      {"node", "nodes"},  {"no", "nodes"},   {"shards", "shards"}, {"shard", "shards"}};
  auto pos = names.find(noun);
  if (pos == names.end())
    return base::error{base::code::bad_input, fmt::format("there is no \"{}\" to get", noun),
                       "tutti get gangs | nodes | shards"};
  if (pos->second == "gangs")
    return get_gangs(from, how, clock);
  if (pos->second == "nodes")
    return get_plain(
        from, "/api/nodes", "node", true,
        {plain("NAME", "name"),
         {"DOMAIN", [](const auto& row) { return values_text(row, "domains"); }},
         plain("PODS", "pods"),
         plain("SCHEDULABLE", "schedulable"),
         {"FREE", [](const auto& row) { return amounts_text(row, "free"); }},
         {"ALLOCATABLE", [](const auto& row) { return amounts_text(row, "allocatable"); }}},
        how);
  return get_plain(from, "/api/shards", "shard", false,
                   {plain("NAME", "name"), plain("EPOCH", "epoch"),
                    plain("INCARNATION", "incarnation"), plain("NODES", "nodes"),
                    plain("PREPARED", "prepared"), plain("COMMITTED", "committed"),
                    plain("FRESH", "fresh")},
                   how);
}

} // namespace tutti::cli
