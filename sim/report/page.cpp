#include "sim/report/page.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "sim/report/chart.hpp"
#include "sim/report/page_parts.hpp"

namespace tutti::sim::report {

namespace {

using workload::gang_state;

/// Rejected gangs that are listed on the page; all of them are in the table.
constexpr std::size_t rejected_shown = 50;

std::vector<double> times(const results& of) {
  std::vector<double> out;
  for (const auto& x : of.over_time.samples())
    out.push_back(x.at_s);
  return out;
}

line values(const results& of, std::string name, gather points,
            const std::function<double(const sample&)>& value) {
  line out{std::move(name), {}, points};
  for (const auto& x : of.over_time.samples())
    out.values.push_back(value(x));
  return out;
}

std::string tile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=tile><b>{}</b>{}</div>", escaped(value), escaped(name));
}

std::string topology_text(const workload::cluster_shape& shape) {
  std::string out;
  std::string inner = "node";
  for (const auto& level : shape.levels) {
    out += fmt::format("{}{} {}{} a {}", out.empty() ? "" : ", ", number_text(level.holds), inner,
                       level.holds == 1 ? "" : "s", level.name);
    inner = level.name;
  }
  return out;
}

std::string head(const results& of) {
  const auto& how = of.run.how();
  const auto elapsed = std::chrono::duration<double>(of.run.elapsed()).count();
  return fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width,initial-scale=1\"><title>tutti sim: {} nodes, {}</title>\n"
      "<style>{}</style></head><body>\n<h1>{} nodes, {} of a cluster</h1>\n"
      "<p class=soft>{}. {} GPUs and {} CPUs a node; {}.</p><p class=soft>Made by "
      "<code>{}</code></p>\n",
      number_text(how.shape.nodes), span_text(elapsed), page_style, number_text(how.shape.nodes),
      span_text(elapsed), escaped(of.origin), how.shape.gpus_per_node, how.shape.cpus_per_node,
      escaped(topology_text(how.shape)), escaped(of.command));
}

std::string tiles(const results& of) {
  const auto& book = of.run.book();
  const auto& all = of.waits.back();
  const auto count = [](auto n) { return number_text(static_cast<double>(n)); };
  std::string out = "<div class=tiles>";
  out += tile(
      fmt::format("{:.1f} %", of.over_time.mean_use(book.room().units())),
      fmt::format("mean use of {} {}s", number_text(of.units(book.room().units())), of.unit()));
  out += tile(count(all.gangs), "gangs submitted");
  out += tile(count(book.in(gang_state::over).gangs), "have ended");
  out += tile(count(book.in(gang_state::running).gangs), "run at the end");
  out += tile(count(all.waiting), "wait at the end");
  out += tile(count(of.rejected.size()), "rejected: too large for the cluster");
  out += tile(span_text(all.p50_s), "median wait");
  out += tile(span_text(all.p99_s), "99 % waited at most");
  return out + "</div>\n";
}

std::string use_and_queue(const results& of) {
  const auto total = of.units(of.run.book().room().units());
  const auto at = times(of);
  std::string out = "<h2>How full, and who waits</h2>\n";
  out += to_html(line_chart{
      .title = "Utilisation",
      .unit = "%",
      .note = fmt::format("{}s of bound members, of all {}", of.unit(), number_text(total)),
      .at_s = at,
      .lines = {values(of, "in use", gather::mean,
                       [&](const sample& x) { return 100 * of.units(x.units_used) / total; })},
      .y_max = 100});
  out += to_html(line_chart{
      .title = "Queue length",
      .unit = "",
      .note = "submitted and not bound yet",
      .at_s = at,
      .lines = {values(of, "gangs waiting", gather::most,
                       [](const sample& x) { return static_cast<double>(x.waiting_gangs); }),
                values(of, "their members", gather::most,
                       [](const sample& x) { return static_cast<double>(x.waiting_members); })}});
  out += to_html(line_chart{.title = "Running",
                            .unit = "gangs",
                            .note = "whole gangs that are bound and have not ended",
                            .at_s = at,
                            .lines = {values(of, "running", gather::mean, [](const sample& x) {
                              return static_cast<double>(x.running_gangs);
                            })}});
  return out;
}

std::string room_left(const results& of) {
  const auto at = times(of);
  const auto& shape = of.run.how().shape;
  const auto& rack = shape.levels.front().name;
  std::string out = "<h2>What would still fit</h2>\n";
  out += to_html(line_chart{
      .title = fmt::format("Largest gang that fits into one {}", rack),
      .unit = "nodes",
      .note = fmt::format("members that take a whole node; a {} has {}", rack,
                          number_text(shape.levels.front().holds)),
      .at_s = at,
      .lines = {values(of, fmt::format("in the best {}", rack), gather::last,
                       [](const sample& x) { return static_cast<double>(x.rack_most); }),
                values(of, fmt::format("in the {} in the middle", rack), gather::last,
                       [](const sample& x) { return static_cast<double>(x.rack_median); })}});
  const auto per_group = of.over_time.racks_per_group();
  heat_map map{.title = fmt::format("Largest gang that fits, by {}", rack),
               .unit = "whole nodes",
               .note = per_group == 1
                           ? "each row is one"
                           : fmt::format("each row is {} of them, and shows the best", per_group),
               .at_s = at,
               .most = static_cast<double>(shape.levels.front().holds)};
  const auto racks = shape.domains(0);
  for (std::size_t first = 0; first < racks; first += per_group)
    map.rows.push_back(per_group == 1
                           ? workload::domain_name(shape, 0, first)
                           : fmt::format("{} {}–{}", rack, first,
                                         std::min<std::size_t>(first + per_group, racks) - 1));
  for (const auto& x : of.over_time.samples())
    map.cells.push_back(x.groups);
  out += to_html(map);
  out += to_html(line_chart{
      .title = "Fragmentation",
      .unit = "%",
      .note = fmt::format("of the free {}s: beside something that runs, so no gang of whole nodes "
                          "can have them",
                          of.unit()),
      .at_s = at,
      .lines = {values(of, "fragmented", gather::mean,
                       [](const sample& x) { return x.fragmentation; })},
      .y_max = 100});
  return out;
}

std::string waits(const results& of) {
  wait_chart chart{
      .title = "Waiting times",
      .note = fmt::format("from submission to the last Binding, by {} of the gang: ring median, "
                          "bar to 90 %, stroke 99 %, line to the longest",
                          of.size_unit()),
      .bars = {}};
  auto table = fmt::format(
      "<div class=scroll><table><tr><th>{}<th>gangs<th>bound<th>wait at the "
      "end<th>rejected<th>median<th>90 %<th>99 %<th>longest<th>still waiting since</tr>",
      of.size_unit());
  for (const auto& x : of.waits) {
    const bool is_all = &x == &of.waits.back();
    if (x.bound > 0 && !is_all)
      chart.bars.push_back({x.size_text(),
                            fmt::format("{} gangs", number_text(static_cast<double>(x.bound))),
                            x.p50_s, x.p90_s, x.p99_s, x.most_s});
    const auto count = [](std::uint64_t n) { return number_text(static_cast<double>(n)); };
    const auto span = [&](double s) { return x.bound > 0 ? span_text(s) : std::string{"–"}; };
    table += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
                         is_all ? "all" : x.size_text(), count(x.gangs), count(x.bound),
                         count(x.waiting), count(x.rejected), span(x.p50_s), span(x.p90_s),
                         span(x.p99_s), span(x.most_s),
                         x.waiting > 0 ? span_text(x.longest_still_s) : "–");
  }
  return "<h2>How long gangs waited</h2>\n" + to_html(chart) + table + "</table></div>\n";
}

std::string reasons(const results& of) {
  if (of.reasons.empty())
    return {};
  std::string out = "<h2>Why gangs wait at the end</h2>\n<div class=scroll><table>"
                    "<tr><th>reason<th>gangs</tr>";
  for (const auto& [reason, n] : of.reasons)
    out +=
        fmt::format("<tr><td>{}<td>{}</tr>", escaped(reason), number_text(static_cast<double>(n)));
  return out + "</table></div>\n";
}

std::string rejected(const results& of) {
  if (of.rejected.empty())
    return {};
  std::string out = fmt::format(
      "<h2>Rejected</h2>\n<p class=soft>{} gangs are too large for the cluster and were not "
      "submitted{}.</p><div class=scroll><table><tr><th>row<th>submitted at<th>members<th "
      "class=text>why</tr>",
      number_text(static_cast<double>(of.rejected.size())),
      of.rejected.size() > rejected_shown
          ? fmt::format("; these are the first {}, gangs.csv has all", rejected_shown)
          : std::string{});
  for (std::size_t n = 0; n < std::min(of.rejected.size(), rejected_shown); ++n) {
    const auto& x = of.rejected[n];
    out += fmt::format("<tr><td>{}<td>{}<td>{}<td class=text>{}</tr>",
                       x.what.line > 0 ? fmt::format("{}", x.what.line) : "–",
                       span_text(std::chrono::duration<double>(x.what.at).count()),
                       number_text(x.what.members), escaped(x.why));
  }
  return out + "</table></div>\n";
}

std::string numbers(const results& of) {
  std::string out = "<h2>All numbers</h2>\n<div class=scroll><table>";
  for (const auto& x : summary_of(of))
    out += fmt::format("<tr><td>{}<td>{}<td class=text>{}</tr>", escaped(x.name), escaped(x.value),
                       escaped(x.meaning));
  return out + "</table></div>\n";
}

} // namespace

std::string html_page(const results& of) {
  return head(of) + tiles(of) + use_and_queue(of) + room_left(of) + waits(of) + reasons(of)
         + rejected(of) + numbers(of)
         + fmt::format("<script>{}</script></body></html>\n", page_script);
}

} // namespace tutti::sim::report
