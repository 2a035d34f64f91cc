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

/// So many shards fit on the one screen of `tutti status`.
constexpr std::size_t shards_shown = 16;

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

std::int64_t greatest(const json::array& rows, std::string_view field) {
  std::int64_t most = 0;
  for (const auto& r : rows)
    most = std::max(most, number(r.as_object(), field));
  return most;
}

/// "synced, fresh, heard 2s ago": how far the picture of the cluster can be trusted.
std::string view_text(const json::object& status) {
  const auto* mirror = status.if_contains("mirror");
  if (mirror == nullptr || !mirror->is_object())
    return "the mirror does not answer";
  const auto& o = mirror->as_object();
  if (cell(o, "synced") != "true")
    return "waiting for the first list";
  std::int64_t quiet_ms = 0;
  std::string lost;
  if (const auto* all = o.if_contains("resources"); all != nullptr && all->is_array())
    for (const auto& r : all->as_array()) {
      quiet_ms = std::max(quiet_ms, number(r.as_object(), "quietMs"));
      if (cell(r.as_object(), "fresh") != "true")
        lost += (lost.empty() ? "" : ", ") + cell(r.as_object(), "path");
    }
  return fmt::format("synced, {}, heard {} ago", lost.empty() ? "fresh" : "stale: " + lost,
                     age_text(quiet_ms));
}

/// "0", or how many promises wait for a decision and for how long the oldest does.
std::string in_doubt_text(const json::array& shards) {
  std::int64_t all = 0, oldest_ms = 0;
  for (const auto& s : shards)
    if (const auto n = number(s.as_object(), "in_doubt"); n > 0) {
      all += n;
      oldest_ms = std::max(oldest_ms, number(s.as_object(), "in_doubt_oldest_ms"));
    }
  return all == 0 ? "0" : fmt::format("{}, the oldest for {}", all, age_text(oldest_ms));
}

std::string oldest_text(const json::object& gang) {
  const auto detail = cell(gang, "detail");
  return fmt::format("{}/{}: {}{}{}, for {}", cell(gang, "namespace"), cell(gang, "name"),
                     cell(gang, "reason"), detail.empty() ? "" : ": ", detail,
                     age_text(number(gang, "reason_for_ms")));
}

/// All of a few shards; of many those that are worth a look, and how many are not shown.
void print_shards(const json::array& shards) {
  table out{{"SHARD", "EPOCH", "NODES", "IN-DOUBT", "COMMITTED", "VIEW"}};
  std::size_t left_out = 0;
  for (const auto& s : shards) {
    const auto& o = s.as_object();
    const bool is_fresh = cell(o, "fresh") == "true";
    if (shards.size() > shards_shown && is_fresh && number(o, "in_doubt") == 0) {
      ++left_out;
      continue;
    }
    out.add({cell(o, "name"), cell(o, "epoch"), cell(o, "nodes"), cell(o, "in_doubt"),
             cell(o, "committed"), is_fresh ? "fresh" : "stale"});
  }
  if (left_out < shards.size())
    fmt::print("\n{}", out.text());
  if (left_out > 0)
    fmt::print("\n{} shards are fresh and have nothing in doubt: tutti get shards\n", left_out);
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
  json::array none;
  const auto* listed = s->if_contains("shardList");
  const auto& shards = listed != nullptr && listed->is_array() ? listed->as_array() : none;
  line("Version", cell(*s, "version"));
  line("Epoch", std::to_string(greatest(shards, "epoch")));
  line("Shards", fmt::format("{} of {} answer", shards.size(), number(*s, "shards")));
  line("View", view_text(*s));
  std::string phases;
  if (const auto* by = s->if_contains("phases"); by != nullptr && by->is_object())
    for (const auto& [name, n] : by->as_object())
      phases += fmt::format("{}{} {}", phases.empty() ? "" : " · ", std::string{name},
                            json::serialize(n));
  line("Gangs", phases.empty() ? "none" : phases);
  line("Pods", cell(*s, "pods"));
  line("In doubt", in_doubt_text(shards));
  if (const auto* oldest = s->if_contains("oldest_pending");
      oldest != nullptr && oldest->is_object())
    line("Oldest", oldest_text(oldest->as_object()));
  print_shards(shards);
  return {};
}

base::result<void> print_version(const reader& from, const read_options& how) {
  json::array releases;
  for (auto r : api::releases)
    releases.push_back(json::string{api::name_of(r)});
  json::object out{{"apiVersion", "tutti.dev/v1"}, {"kind", "Version"},
                   {"client", TUTTI_VERSION},      {"kubernetes", std::move(releases)},
                   {"scheduler", nullptr},         {"groups", nullptr}};
  if (from)
    if (auto said = from("/api/version"); said) {
      out["scheduler"] = cell(*said, "version");
      out["groups"] = cell(*said, "groups");
    }
  if (print_as_machine(out, how.format))
    return {};
  line("Client", TUTTI_VERSION);
  if (from)
    line("Scheduler", out["scheduler"].is_null() ? "<none answers>" : cell(out, "scheduler"));
  std::string spoken;
  for (const auto& r : out["kubernetes"].as_array())
    spoken += (spoken.empty() ? "" : ", ") + std::string{r.as_string()};
  line("Kubernetes", spoken);
  if (!out["groups"].is_null())
    line("Groups", cell(out, "groups"));
  return {};
}

} // namespace tutti::cli
