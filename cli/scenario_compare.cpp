#include "cli/scenario_compare.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/result.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;

/// What was found may be a whole event log.
constexpr std::size_t longest_cell = 220;

std::string text_at(const json::object& x, std::string_view field) {
  const auto* v = x.if_contains(field);
  return v != nullptr && v->is_string() ? std::string{v->get_string()} : std::string{};
}

/// One line that a table can hold.
std::string cell(std::string text) {
  std::string out;
  for (const char c : text)
    out += c == '\n' ? std::string{" "} : c == '|' ? std::string{"\\|"} : std::string{c};
  if (out.size() <= longest_cell)
    return out;
  auto end = longest_cell;
  while ((static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) // inside a character
    --end;
  return out.substr(0, end) + "…";
}

struct played {
  std::string title, outcome, why;
  bool is_loose = false;
  std::vector<std::string> lacking;

  bool is_played() const { return !outcome.empty() && outcome != "not supported"; }
};

played read_one(const json::object& x) {
  played out{text_at(x, "title"), text_at(x, "outcome"), {}, x.contains("without"), {}};
  if (const auto* needs = x.if_contains("needs"); needs && needs->is_array())
    for (const auto& n : needs->get_array())
      if (n.is_string())
        out.lacking.emplace_back(n.get_string());
  if (const auto* failure = x.if_contains("failure"); failure && failure->is_object())
    out.why = fmt::format("`{}`: {}", text_at(failure->get_object(), "wanted"),
                          text_at(failure->get_object(), "found"));
  return out;
}

std::map<std::string, played> read_all(const json::object& results) {
  std::map<std::string, played> out;
  if (const auto* items = results.if_contains("items"); items && items->is_array())
    for (const auto& item : items->get_array())
      if (item.is_object())
        out[text_at(item.get_object(), "id")] = read_one(item.get_object());
  return out;
}

std::string short_outcome(const played& x) {
  if (x.outcome == "not supported")
    return "–";
  const auto word = x.outcome == "failed as expected" ? std::string{"failed, as known"} : x.outcome;
  return x.is_loose && x.is_played() ? word + ", loosely" : word;
}

std::string counts_of(const std::string& name, const std::map<std::string, played>& all) {
  std::size_t passed = 0, failed = 0, none = 0;
  for (const auto& [id, x] : all)
    ++(!x.is_played() ? none : x.outcome.starts_with("passed") ? passed : failed);
  return fmt::format("| {} | {} | {} | {} |\n", name, passed, failed, none);
}

std::string why_not_played(const std::string& name, const std::map<std::string, played>& all) {
  std::map<std::string, std::set<std::string>> by_reason;
  for (const auto& [id, x] : all)
    if (!x.is_played())
      by_reason[fmt::format("{}", fmt::join(x.lacking, ", "))].insert(id);
  std::vector<std::pair<std::string, std::set<std::string>>> rows{by_reason.begin(),
                                                                  by_reason.end()};
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  auto out = fmt::format("\n## Not played with {}\n\n| lacks | scenarios |\n|---|---|\n", name);
  for (const auto& [reason, ids] : rows)
    out += fmt::format("| {} | {}: {} |\n", cell(reason), ids.size(), fmt::join(ids, ", "));
  return out;
}

base::result<json::object> read_results(const std::string& path) {
  std::ifstream in{path};
  if (!in)
    return base::error{base::code::not_found, fmt::format("{}: cannot be read", path)};
  std::ostringstream text;
  text << in.rdbuf();
  boost::system::error_code failed;
  auto read = json::parse(text.str(), failed);
  if (failed || !read.is_object() || text_at(read.get_object(), "kind") != "ScenarioResults")
    return base::error{base::code::bad_input, fmt::format("{}: no results of scenarios", path),
                       "write it with: tutti scenario run FILE… -o json"};
  return std::move(read.get_object());
}

/// Of a file, or of all *.json in a folder, by name.
base::result<json::object> read_place(const std::string& place) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(place, failed))
    return read_results(place);
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator{place, failed})
    if (entry.path().extension() == ".json")
      files.insert(entry.path().string());
  json::array items;
  for (const auto& file : files) {
    auto one = read_results(file);
    if (!one)
      return one.error();
    if (auto* some = one->if_contains("items"); some && some->is_array())
      for (auto& item : some->get_array())
        items.push_back(std::move(item));
  }
  return json::object{{"items", std::move(items)}};
}

} // namespace

std::string comparison(const compared& ours, const compared& theirs) {
  const auto a = read_all(ours.results), b = read_all(theirs.results);
  auto out = std::string{"| scheduler | passed | failed | not played |\n|---|---|---|---|\n"}
             + counts_of(ours.name, a) + counts_of(theirs.name, b);
  out += fmt::format("\n## Each scenario\n\nNothing in the last column: the story holds. `–`: not "
                     "played, see below. Loosely: without facts about the scheduler's memory, and "
                     "with the steps of a batch one after the other.\n\n| id | scenario | {} | {} "
                     "| first thing that is not as "
                     "the story says |\n|---|---|---|---|---|\n",
                     ours.name, theirs.name);
  std::set<std::string> ids;
  for (const auto* all : {&a, &b})
    for (const auto& [id, x] : *all)
      if (x.is_played())
        ids.insert(id);
  for (const auto& id : ids) {
    const auto x = a.contains(id) ? a.at(id) : played{};
    const auto y = b.contains(id) ? b.at(id) : played{};
    std::string why;
    if (!x.why.empty())
      why = fmt::format("{}: {}", ours.name, cell(x.why));
    if (!y.why.empty())
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", theirs.name, cell(y.why));
    out +=
        fmt::format("| {} | {} | {} | {} | {} |\n", id, cell(x.title.empty() ? y.title : x.title),
                    short_outcome(x), short_outcome(y), why);
  }
  return out + why_not_played(ours.name, a) + why_not_played(theirs.name, b);
}

int compare_scenarios(const compare_options& how) {
  const auto ours = read_place(how.ours), theirs = read_place(how.theirs);
  for (const auto* read : {&ours, &theirs})
    if (!*read) {
      print_error(read->error());
      return wrong_file;
    }
  fmt::print("{}", comparison({how.our_name, *ours}, {how.their_name, *theirs}));
  return done;
}

} // namespace tutti::cli
