// The verbs about the cluster: heat map of the racks, status.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "api/release.hpp"
#include "base/resources.hpp"
#include "cli/output.hpp"
#include "cli/reading.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;

/// Eight heights of a bar; the first is a blank for "nothing used".
constexpr std::array<const char*, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

const char* block_of(std::int64_t used, std::int64_t all) {
  if (all <= 0 || used <= 0)
    return blocks[0];
  const auto step = std::clamp<std::int64_t>((used * 8 + all - 1) / all, 1, 8);
  return blocks[static_cast<std::size_t>(step)];
}

bool print_as_machine(const json::object& x, const std::string& format) {
  if (format == "json")
    std::fputs(pretty_json(x).c_str(), stdout);
  else if (format == "yaml")
    std::fputs(yaml_text(x).c_str(), stdout);
  else
    return false;
  return true;
}

struct use {
  std::int64_t used = 0;
  std::int64_t all = 0;
};

use use_of(const json::object& rack, const char* what) {
  use u;
  if (const auto* used = rack.if_contains("used"); used != nullptr && used->is_object())
    u.used = number(used->as_object(), what);
  if (const auto* all = rack.if_contains("allocatable"); all != nullptr && all->is_object())
    u.all = number(all->as_object(), what);
  return u;
}

/// The extended resource that most racks have: the one worth a map of its own.
std::string scarce_resource(const json::array& racks) {
  std::map<std::string, int> seen;
  for (const auto& r : racks)
    if (const auto* all = r.as_object().if_contains("allocatable");
        all != nullptr && all->is_object())
      for (const auto& [name, amount] : all->as_object())
        if (std::string_view{name}.find('/') != std::string_view::npos)
          ++seen[std::string{name}];
  std::string best;
  for (const auto& [name, n] : seen)
    if (best.empty() || n > seen[best])
      best = name;
  return best;
}

std::string percent(const use& u) {
  return u.all <= 0 ? "-" : fmt::format("{}%", u.used * 100 / u.all);
}

void line(const char* title, const std::string& text) {
  fmt::print("{:<12}{}\n", title, text);
}

} // namespace

base::result<void> top_racks(const reader& from, const read_options& how) {
  auto list = from("/api/racks");
  if (!list)
    return list.error();
  if (print_as_machine(*list, how.format))
    return {};
  const auto& racks = list->at("items").as_array();
  if (how.format == "name") {
    for (const auto& r : racks)
      fmt::print("rack/{}\n", cell(r.as_object(), "name"));
    return {};
  }
  if (racks.empty()) {
    std::fputs("no node has a rack label\n", stderr);
    return {};
  }
  const auto scarce = scarce_resource(racks);
  const std::string what = scarce.empty() ? "cpu_milli" : scarce;
  std::string map;
  const auto shown = scarce.empty() ? std::string{"cpu"} : scarce;
  table out{{"RACK", "NODES", "CPU", scarce.empty() ? "MEMORY" : "DEVICES", "FREE", "MAP"}};
  use total;
  for (const auto& r : racks) {
    const auto& o = r.as_object();
    const auto cpu = use_of(o, "cpu_milli");
    const auto main = use_of(o, what.c_str());
    total.used += main.used;
    total.all += main.all;
    map += block_of(main.used, main.all);
    std::string bar;
    for (int i = 0; i < 10; ++i)
      bar += block_of(std::clamp<std::int64_t>(
                          main.used * 80 / std::max<std::int64_t>(main.all, 1) - i * 8, 0, 8),
                      8);
    auto name = cell(o, "name");
    if (name.empty())
      name = cell(o, "domain");
    out.add({name.empty() ? "<no rack>" : name, cell(o, "nodes"), percent(cpu),
             percent(scarce.empty() ? use_of(o, "memory_bytes") : main),
             base::amount_text(shown, main.all - main.used), bar});
  }
  fmt::print("{}\n", out.text());
  fmt::print("{} used {} of {} ({}), one column a rack:\n[{}]\n", shown,
             base::amount_text(shown, total.used), base::amount_text(shown, total.all),
             percent(total), map);
  return {};
}

base::result<void> print_status(const reader& from, const read_options& how) {
  auto s = from("/api/status");
  if (!s)
    return s.error();
  if (print_as_machine(*s, how.format))
    return {};
  line("Version", cell(*s, "version"));
  line("Shards", cell(*s, "shards"));
  line("View", cell(*s, "synced") == "true" ? "synced" : "waiting for the first list");
  std::string phases;
  if (const auto* by = s->if_contains("phases"); by != nullptr && by->is_object())
    for (const auto& [name, n] : by->as_object())
      phases += fmt::format("{}{} {}", phases.empty() ? "" : " · ", std::string{name},
                            json::serialize(n));
  line("Gangs", phases.empty() ? "none" : phases);
  line("Pods", cell(*s, "pods"));
  if (const auto* oldest = s->if_contains("oldest_pending");
      oldest != nullptr && oldest->is_object())
    line("Oldest",
         fmt::format("{}/{}: {}{}{}", cell(oldest->as_object(), "namespace"),
                     cell(oldest->as_object(), "name"), cell(oldest->as_object(), "reason"),
                     cell(oldest->as_object(), "detail").empty() ? "" : ": ",
                     cell(oldest->as_object(), "detail")));
  return {};
}

base::result<void> print_version(const reader& from, const read_options& how) {
  json::array releases;
  for (auto r : api::releases)
    releases.push_back(json::string{api::name_of(r)});
  json::object out{{"apiVersion", "tutti.dev/v1"},
                   {"kind", "Version"},
                   {"client", TUTTI_VERSION},
                   {"kubernetes", std::move(releases)},
                   {"scheduler", nullptr}};
  if (from)
    if (auto said = from("/api/version"); said)
      out["scheduler"] = cell(*said, "version");
  if (print_as_machine(out, how.format))
    return {};
  line("Client", TUTTI_VERSION);
  if (from)
    line("Scheduler", out["scheduler"].is_null() ? "<none answers>" : cell(out, "scheduler"));
  std::string spoken;
  for (const auto& r : out["kubernetes"].as_array())
    spoken += (spoken.empty() ? "" : ", ") + std::string{r.as_string()};
  line("Kubernetes", spoken);
  return {};
}

} // namespace tutti::cli
