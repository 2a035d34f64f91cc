// Pictures as inline SVG: lines over time, a heat map, bars of waiting times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sim::report {

/// "&amp;" and its kin.
std::string escaped(std::string_view text);
/// "1,234,567"; "12.5" and "0.04" keep what matters.
std::string number_text(double x);
/// "0.4 s", "12 s", "3 min 20 s", "5 h 10 min", "2 d 3 h".
std::string span_text(double seconds);

/// How several samples become one point of a picture.
enum class gather : std::uint8_t { mean, most, last };

struct line {
  std::string name;
  std::vector<double> values; ///< one for each moment
  gather points = gather::mean;
};

struct line_chart {
  std::string title;
  std::string unit; ///< behind each value: "%", "gangs"
  std::string note; ///< what the numbers mean
  std::vector<double> at_s;
  std::vector<line> lines;     ///< one or two
  std::optional<double> y_max; ///< else from the values
};

/// A figure; an empty text if there is no moment.
std::string to_html(const line_chart& x);

struct heat_map {
  std::string title;
  std::string unit;
  std::string note;
  std::vector<double> at_s;
  std::vector<std::string> rows;                 ///< names, from above
  std::vector<std::vector<std::uint16_t>> cells; ///< [moment][row]
  double most = 1;                               ///< the darkest value
};
std::string to_html(const heat_map& x);

struct wait_bar {
  std::string name;
  std::string note; ///< behind the bar
  double p50_s = 0;
  double p90_s = 0;
  double p99_s = 0;
  double most_s = 0;
};
struct wait_chart {
  std::string title;
  std::string note;
  std::vector<wait_bar> bars;
};
/// From the median to the 99th percentile, on a scale of powers of ten.
std::string to_html(const wait_chart& x);

} // namespace tutti::sim::report
