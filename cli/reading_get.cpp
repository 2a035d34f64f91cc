// The lists: gangs, nodes, shards, replicas, reservations; as tables or for machines.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/output.hpp"
#include "cli/reading.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;

/// How often `-w` looks: a person reads no faster.
constexpr std::chrono::milliseconds watch_interval{500};

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

std::vector<std::string> gang_titles(const read_options& how) {
  std::vector<std::string> titles;
  if (how.all_spaces)
    titles.push_back("NAMESPACE");
  for (const char* t : {"NAME", "PRIORITY", "READY", "PHASE", "REASON"})
    titles.push_back(t);
  if (how.format == "wide")
    for (const char* t : {"ATTEMPTS", "DETAIL"})
      titles.push_back(t);
  titles.push_back("AGE");
  return titles;
}

/// The last cell is the age, which changes by itself.
std::vector<std::string> gang_cells(const json::object& row, const read_options& how,
                                    std::int64_t now_ms) {
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
    cells.push_back(cell(row, "detail"));
  }
  cells.push_back(row.contains("created") && number(row, "created") > 0
                      ? age_text(now_ms - number(row, "created"))
                      : "<unknown>");
  return cells;
}

bool is_wanted(const json::object& row, const read_options& how) {
  if (!how.name.empty())
    return cell(row, "namespace") + "/" + cell(row, "name") == gang_name(how.name, how);
  return how.all_spaces || cell(row, "namespace") == how.space;
}

/// The gangs that are asked for, by name.
base::result<json::object> read_gangs(const reader& from, const read_options& how) {
  auto list = from("/api/gangs");
  if (!list)
    return list;
  auto& items = list->at("items").as_array();
  items.erase(
      std::remove_if(items.begin(), items.end(),
                     [&how](const json::value& x) { return !is_wanted(x.as_object(), how); }),
      items.end());
  sort_by_name(items);
  return list;
}

/// Follows the gangs: each is printed when it is new, has changed or has gone. What changes by
/// itself as time goes by is no news.
class gang_watch {
public:
  gang_watch(const read_options& how, const base::clock& clock)
      : how_(how), clock_(clock), table_(gang_titles(how)) {}

  void show(const json::array& items) {
    std::map<std::string, json::object> now;
    for (const auto& x : items) {
      const auto& row = x.as_object();
      now.emplace(cell(row, "namespace") + "/" + cell(row, "name"), row);
    }
    for (auto& [name, row] : known_)
      if (!now.contains(name)) {
        row["phase"] = "Deleted";
        row["reason"] = nullptr;
        print(row);
      }
    for (const auto& [name, row] : now) {
      const auto before = known_.find(name);
      if (before == known_.end() || news_in(row) != news_in(before->second))
        print(row);
    }
    known_ = std::move(now);
    std::fflush(stdout);
  }

private:
  std::string news_in(const json::object& row) const {
    if (how_.format == "json" || how_.format == "yaml") {
      auto lasting = row;
      for (const char* field : {"reason_for_ms", "next_try_in_ms", "tried_at_latest_in_ms"})
        lasting.erase(field);
      return json::serialize(lasting);
    }
    auto cells = gang_cells(row, how_, 0);
    cells.pop_back();
    return fmt::format("{}", fmt::join(cells, "\n"));
  }

  void print(const json::object& row) {
    if (how_.format == "json")
      std::fputs(pretty_json(row).c_str(), stdout);
    else if (how_.format == "yaml")
      std::fputs(("---\n" + yaml_text(row)).c_str(), stdout);
    else if (how_.format == "name")
      fmt::print("gang/{}\n", cell(row, "name"));
    else
      print_row(gang_cells(row, how_, clock_.wall_now().unix_ms));
  }

  void print_row(std::vector<std::string> cells) {
    const auto line = table_.line(std::move(cells));
    if (!std::exchange(has_titles_, true))
      std::fputs(table_.text().c_str(), stdout);
    std::fputs(line.c_str(), stdout);
  }

  const read_options& how_;
  const base::clock& clock_;
  table table_;
  bool has_titles_ = false;
  std::map<std::string, json::object> known_; ///< by "namespace/name", as last seen
};

base::result<void> watch_gangs(const reader& from, const read_options& how,
                               const base::clock& clock) {
  gang_watch all{how, clock};
  for (;;) {
    auto list = read_gangs(from, how);
    if (!list)
      return list.error();
    all.show(list->at("items").as_array());
    if (auto out = flush_output(); !out)
      return out;
    std::this_thread::sleep_for(watch_interval);
  }
}

base::result<void> get_gangs(const reader& from, const read_options& how,
                             const base::clock& clock) {
  if (how.watches)
    return watch_gangs(from, how, clock);
  auto list = read_gangs(from, how);
  if (!list)
    return list.error();
  const auto& items = list->at("items").as_array();
  if (items.empty() && !how.name.empty())
    return base::error{base::code::not_found, "no gang " + gang_name(how.name, how),
                       "`tutti get gangs -A` lists them"};
  if (print_as_machine(*list, how.format, "gang"))
    return {};
  if (items.empty()) {
    std::fputs(how.all_spaces
                   ? "no gangs\n"
                   : fmt::format("no gangs in namespace {}; -A shows all\n", how.space).c_str(),
               stderr);
    return {};
  }
  table out{gang_titles(how)};
  for (const auto& x : items)
    out.add(gang_cells(x.as_object(), how, clock.wall_now().unix_ms));
  std::fputs(out.text().c_str(), stdout);
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

base::result<void> get_reservations(const reader& from, const read_options& how) {
  std::vector<column> columns{
      {"GANG",
       [](const auto& row) {
         const auto space = cell(row, "namespace");
         return space.empty() ? cell(row, "gang") : space + "/" + cell(row, "gang");
       }},
      plain("ATTEMPT", "attempt"),
      plain("SHARD", "shard"),
      plain("STATE", "state"),
      {"HELD", [](const auto& row) { return cell(row, "held") + "/" + cell(row, "members"); }},
      {"AGE", [](const auto& row) { return age_text(number(row, "age_ms")); }}};
  if (how.format == "wide")
    columns.push_back({"NODES", [](const auto& row) {
                         std::string text;
                         for (const auto& node : row.at("nodes").as_array())
                           text += (text.empty() ? "" : ",") + std::string{node.as_string()};
                         return text;
                       }});
  return get_plain(from, "/api/reservations", "reservation", false, columns, how);
}

base::result<void> get_replicas(const reader& from, const read_options& how) {
  std::vector<column> columns{
      plain("NAME", "name"),
      {"ALIVE", [](const auto& row) { return cell(row, "alive") == "true" ? "yes" : "no"; }},
      plain("SHARDS", "shards"),
      plain("PARTITIONS", "partitions"),
      {"LINK",
       [](const auto& row) { return cell(row, "self") == "true" ? "self" : cell(row, "link"); }}};
  if (how.format == "wide") {
    columns.push_back(plain("ADDRESS", "address"));
    columns.push_back(plain("TROUBLE", "trouble"));
  }
  return get_plain(from, "/api/replicas", "replica", true, columns, how);
}

} // namespace

base::result<void> get(const reader& from, const std::string& noun, const read_options& how,
                       const base::clock& clock) {
  static const std::map<std::string, std::string, std::less<>> names{
      {"gangs", "gangs"},
      {"gang", "gangs"},
      {"g", "gangs"},
      {"nodes", "nodes"},
      {"node", "nodes"},
      {"no", "nodes"},
      {"shards", "shards"},
      {"shard", "shards"},
      {"replicas", "replicas"},
      {"replica", "replicas"},
      {"reservations", "reservations"},
      {"reservation", "reservations"}};
  auto pos = names.find(noun);
  if (pos == names.end())
    return base::error{base::code::bad_input, fmt::format("there is no \"{}\" to get", noun),
                       "tutti get gangs | nodes | shards | replicas | reservations"};
  if (pos->second == "gangs")
    return get_gangs(from, how, clock);
  if (how.watches)
    return base::error{base::code::bad_input, fmt::format("{} cannot be watched", pos->second),
                       "tutti get gangs -w"};
  if (!how.name.empty())
    return base::error{base::code::bad_input,
                       fmt::format("{} are listed all together, not by name", pos->second),
                       "tutti get " + pos->second};
  if (pos->second == "replicas")
    return get_replicas(from, how);
  if (pos->second == "reservations")
    return get_reservations(from, how);
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
