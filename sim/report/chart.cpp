#include "sim/report/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::sim::report {

namespace {

/// More points than a screen is wide tell nothing.
constexpr std::size_t points_most = 480;
constexpr std::size_t columns_most = 240;
/// Shades of the heat map; the page's style sheet has a class for each.
constexpr int shades = 7;

/// The drawing area inside the picture.
struct frame {
  double left = 64;
  double top = 10;
  double width = 880;
  double height = 180;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};
constexpr double picture_width = 960;

/// Round steps, so that at most `count` of them reach `most`.
double step_for(double most, double count) {
  const auto rough = std::max(most, 1e-9) / count;
  const auto power = std::pow(10, std::floor(std::log10(rough)));
  for (const double nice : {1.0, 2.0, 5.0, 10.0})
    if (nice * power >= rough)
      return nice * power;
  return 10 * power;
}

/// … of time, in seconds.
double time_step(double span) {
  constexpr std::array steps{1.0,     5.0,     15.0,     60.0,     300.0,    900.0,    1'800.0,
                             3'600.0, 7'200.0, 14'400.0, 43'200.0, 86'400.0, 604'800.0};
  constexpr double marks_most = 9; // "1 h 30 min" is wide
  for (const auto s : steps)
    if (span / s <= marks_most)
      return s;
  return step_for(span / steps.back(), marks_most) * steps.back();
}

/// [first, last) of the samples behind point `n` of `points`.
std::pair<std::size_t, std::size_t> bucket(std::size_t n, std::size_t points, std::size_t samples) {
  return {n * samples / points, std::max(n * samples / points + 1, (n + 1) * samples / points)};
}

double gathered(const line& x, std::size_t first, std::size_t last) {
  const auto from = x.values.begin() + static_cast<std::ptrdiff_t>(first);
  const auto to = x.values.begin() + static_cast<std::ptrdiff_t>(last);
  switch (x.points) {
  case gather::mean: {
    double sum = 0;
    for (auto at = from; at != to; ++at)
      sum += *at;
    return sum / static_cast<double>(last - first);
  }
  case gather::most:
    return *std::max_element(from, to);
  case gather::last:
    return *(to - 1);
  }
  return 0;
}

void add_time_axis(std::string& out, const frame& f, double from_s, double to_s) {
  const auto span = std::max(to_s - from_s, 1.0);
  const auto step = time_step(span);
  for (double t = std::ceil(from_s / step) * step; t <= to_s + 1e-6; t += step) {
    const auto x = f.left + f.width * (t - from_s) / span;
    fmt::format_to(std::back_inserter(out),
                   "<text class=tick x={:.1f} y={:.1f} text-anchor=middle>{}</text>", x,
                   f.bottom() + 16, t == 0 ? "0" : span_text(t));
  }
}

void add_value_axis(std::string& out, const frame& f, double most, const std::string& unit) {
  const auto step = step_for(most, 4);
  for (double y = 0; y <= most * 1.0001; y += step) {
    const auto at = f.bottom() - f.height * y / most;
    fmt::format_to(std::back_inserter(out),
                   "<path class=grid d=\"M{:.0f} {:.1f}h{:.0f}\"/><text class=tick x={:.0f} "
                   "y={:.1f} text-anchor=end>{}{}</text>",
                   f.left, at, f.width, f.left - 6, at + 4, number_text(y), unit == "%" ? "%" : "");
  }
}

std::string figure(const std::string& title, const std::string& note, const std::string& inside) {
  return fmt::format("<figure><figcaption><b>{}</b> {}</figcaption>{}</figure>\n", escaped(title),
                     escaped(note), inside);
}

/// "[1,2.5,3]".
template <class List>
std::string list_text(const List& all) {
  std::string out = "[";
  for (const auto& x : all)
    fmt::format_to(std::back_inserter(out), "{}{:.6g}", out.size() > 1 ? "," : "",
                   static_cast<double>(x));
  return out + "]";
}

} // namespace

std::string to_html(const line_chart& chart) {
  if (chart.at_s.empty())
    return {};
  const frame f;
  const auto points = std::min(points_most, chart.at_s.size());
  const auto span = std::max(chart.at_s.back() - chart.at_s.front(), 1.0);
  std::vector<double> at;
  for (std::size_t n = 0; n < points; ++n)
    at.push_back(chart.at_s[bucket(n, points, chart.at_s.size()).second - 1]);
  std::vector<std::vector<double>> values(chart.lines.size());
  double most = 0;
  for (std::size_t l = 0; l < chart.lines.size(); ++l)
    for (std::size_t n = 0; n < points; ++n) {
      const auto [first, last] = bucket(n, points, chart.at_s.size());
      values[l].push_back(gathered(chart.lines[l], first, last));
      most = std::max(most, values[l].back());
    }
  const auto step = step_for(std::max(most, 1.0), 4);
  const auto top = chart.y_max ? *chart.y_max : std::ceil(std::max(most, 1.0) / step) * step;
  std::string out = fmt::format(
      "<svg class=lines viewBox=\"0 0 {} 220\" role=img aria-label=\"{}\" data-unit=\"{}\" "
      "data-at=\"{}\"",
      picture_width, escaped(chart.title), escaped(chart.unit), list_text(at));
  for (std::size_t l = 0; l < values.size(); ++l)
    fmt::format_to(std::back_inserter(out), " data-name{}=\"{}\" data-y{}=\"{}\"", l,
                   escaped(chart.lines[l].name), l, list_text(values[l]));
  out += ">";
  add_value_axis(out, f, top, chart.unit);
  add_time_axis(out, f, chart.at_s.front(), chart.at_s.back());
  for (std::size_t l = 0; l < values.size(); ++l) {
    std::string path;
    for (std::size_t n = 0; n < points; ++n)
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", n == 0 ? "M" : "L",
                     f.left + f.width * (at[n] - chart.at_s.front()) / span,
                     f.bottom() - f.height * std::min(values[l][n], top) / top);
    if (l == 0 && values.size() == 1)
      fmt::format_to(std::back_inserter(out), "<path class=area d=\"{}V{:.1f}H{:.1f}z\"/>", path,
                     f.bottom(), f.left + f.width * (at[0] - chart.at_s.front()) / span);
    fmt::format_to(std::back_inserter(out), "<path class=\"line l{}\" d=\"{}\"/>", l, path);
  }
  out += "</svg>";
  std::string legend;
  if (chart.lines.size() > 1)
    for (std::size_t l = 0; l < chart.lines.size(); ++l)
      legend += fmt::format("<span class=key><svg viewBox=\"0 0 24 8\"><path class=\"line l{}\" "
                            "d=\"M0 4h24\"/></svg>{}</span>",
                            l, escaped(chart.lines[l].name));
  if (!legend.empty())
    out = "<p class=legend>" + legend + "</p>" + out;
  return figure(chart.title, chart.note, out);
}

std::string to_html(const heat_map& map) {
  if (map.at_s.empty() || map.rows.empty())
    return {};
  ensure(map.cells.size() == map.at_s.size(), map.cells.size(), map.at_s.size());
  const auto columns = std::min(columns_most, map.at_s.size());
  const auto row_height = std::clamp(320.0 / static_cast<double>(map.rows.size()), 6.0, 24.0);
  const frame f{
      .left = 110, .width = 834, .height = row_height * static_cast<double>(map.rows.size())};
  const auto cell_width = f.width / static_cast<double>(columns);
  std::array<std::string, shades + 1> paths;
  std::string data = "[";
  std::vector<double> at;
  std::vector<std::size_t> moments;
  for (std::size_t c = 0; c < columns; ++c) {
    moments.push_back(bucket(c, columns, map.at_s.size()).second - 1);
    at.push_back(map.at_s[moments.back()]);
  }
  const auto shade_of = [&](std::uint16_t v) {
    return v == 0 ? 0 : 1 + std::min(shades - 1, static_cast<int>(shades * (v - 0.5) / map.most));
  };
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    data += r == 0 ? "[" : ",[";
    for (std::size_t c = 0; c < columns;) {
      const auto shade = shade_of(map.cells[moments[c]].at(r));
      auto end = c; // cells of one shade are one rectangle
      for (; end < columns && shade_of(map.cells[moments[end]].at(r)) == shade; ++end)
        fmt::format_to(std::back_inserter(data), "{}{}", end == 0 ? "" : ",",
                       map.cells[moments[end]][r]);
      const auto width = cell_width * static_cast<double>(end - c);
      fmt::format_to(std::back_inserter(paths[static_cast<std::size_t>(shade)]),
                     "M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z",
                     f.left + cell_width * static_cast<double>(c),
                     f.top + row_height * static_cast<double>(r), width, row_height - 0.5, -width);
      c = end;
    }
    data += "]";
  }
  data += "]";
  std::string names;
  for (const auto& name : map.rows)
    names += (names.empty() ? "" : "|") + name;
  std::string out = fmt::format(
      "<svg class=heat viewBox=\"0 0 {} {:.0f}\" role=img aria-label=\"{}\" data-unit=\"{}\" "
      "data-at=\"{}\" data-rows=\"{}\" data-cells=\"{}\" data-top={:.1f} data-step={:.3f}>",
      picture_width, f.bottom() + 30, escaped(map.title), escaped(map.unit), list_text(at),
      escaped(names), data, f.top, row_height);
  for (std::size_t s = 0; s < paths.size(); ++s)
    if (!paths[s].empty())
      out += fmt::format("<path class=q{} d=\"{}\"/>", s, paths[s]);
  const auto label_every =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(14 / row_height)));
  for (std::size_t r = 0; r < map.rows.size(); r += label_every)
    out +=
        fmt::format("<text class=tick x={:.0f} y={:.1f} text-anchor=end>{}</text>", f.left - 6,
                    f.top + row_height * (static_cast<double>(r) + 0.5) + 4, escaped(map.rows[r]));
  add_time_axis(out, f, map.at_s.front(), map.at_s.back());
  out += "</svg><p class=legend>";
  for (int s = 0; s <= shades; ++s)
    out += fmt::format(
        "<span class=key><svg viewBox=\"0 0 24 12\"><path class=q{} "
        "d=\"M0 0h24v12h-24z\"/></svg>{}</span>",
        s, s == 0 ? "none" : fmt::format("≤ {}", std::floor(map.most * s / shades + 0.5)));
  return figure(map.title, map.note, out + "</p>");
}

std::string to_html(const wait_chart& chart) {
  if (chart.bars.empty())
    return {};
  constexpr double row = 26;
  const frame f{.left = 110, .width = 640, .height = row * static_cast<double>(chart.bars.size())};
  double most = 1;
  for (const auto& b : chart.bars)
    most = std::max(most, b.most_s);
  constexpr double least = 1e-3;
  const auto decades = std::ceil(std::log10(most / least));
  const auto place = [&](double s) {
    return f.left + f.width * std::log10(std::max(s, least) / least) / decades;
  };
  std::string out = fmt::format("<svg class=waits viewBox=\"0 0 {} {:.0f}\" role=img "
                                "aria-label=\"{}\">",
                                picture_width, f.bottom() + 30, escaped(chart.title));
  for (double d = 0; d <= decades; ++d) {
    const auto s = least * std::pow(10, d);
    out += fmt::format("<path class=grid d=\"M{:.1f} {:.0f}v{:.0f}\"/><text class=tick x={:.1f} "
                       "y={:.0f} text-anchor=middle>{}</text>",
                       place(s), f.top, f.height, place(s), f.bottom() + 16,
                       s < 1 ? fmt::format("{:.0f} ms", s * 1'000) : number_text(s) + " s");
  }
  for (std::size_t n = 0; n < chart.bars.size(); ++n) {
    const auto& b = chart.bars[n];
    const auto y = f.top + row * (static_cast<double>(n) + 0.5);
    out += fmt::format(
        "<g><title>{}: median {}, 90 % {}, 99 % {}, longest {}</title>"
        "<text class=tick x={:.0f} y={:.1f} text-anchor=end>{}</text>"
        "<path class=thin d=\"M{:.1f} {:.1f}H{:.1f}\"/><path class=thick d=\"M{:.1f} "
        "{:.1f}H{:.1f}\"/>"
        "<circle class=dot cx={:.1f} cy={:.1f} r=5 /><path class=end d=\"M{:.1f} {:.1f}v10\"/>"
        "<text class=tick x={:.0f} y={:.1f}>{}</text></g>",
        escaped(b.name), span_text(b.p50_s), span_text(b.p90_s), span_text(b.p99_s),
        span_text(b.most_s), f.left - 6, y + 4, escaped(b.name), place(b.p50_s), y, place(b.most_s),
        place(b.p50_s), y, place(b.p90_s), place(b.p50_s), y, place(b.p99_s), y - 5, f.right() + 10,
        y + 4, escaped(b.note));
  }
  return figure(chart.title, chart.note, out + "</svg>");
}

} // namespace tutti::sim::report
