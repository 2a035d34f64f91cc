// Prometheus' text form, and what every process of ours says in it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "actors/api_calls.hpp"
#include "actors/metrics_meter.hpp"

namespace tutti::actors {

/// Names of labels, in the order of their values.
using label_names = std::initializer_list<std::string_view>;

/// Writes one metric after the other.
class metrics_page {
public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  template <class Number>
  void sample(label_names names, const label_values& values, Number x) {
    text_ += fmt::format("{}{} {}\n", name_, labels(names, values), x);
  }
  template <class Number>
  void one(std::string_view name, std::string_view type, std::string_view help, Number x) {
    begin(name, type, help);
    sample({}, {}, x);
  }
  void counters(std::string_view name, std::string_view help, label_names names,
                const std::map<label_values, std::uint64_t>& all) {
    begin(name, "counter", help);
    for (const auto& [values, n] : all)
      sample(names, values, n);
  }
  void histograms(std::string_view name, std::string_view help, label_names names,
                  const std::map<label_values, histogram>& all) {
    begin(name, "histogram", help);
    for (const auto& [values, h] : all) {
      for (std::size_t i = 0; i < histogram::bucket_count; ++i)
        text_ += fmt::format("{}_bucket{} {}\n", name,
                             labels(names, values, fmt::format("{:g}", histogram::bound(i))),
                             h.at_most(i));
      text_ += fmt::format("{}_bucket{} {}\n", name, labels(names, values, "+Inf"), h.count());
      text_ += fmt::format("{}_sum{} {}\n", name, labels(names, values), h.sum_seconds());
      text_ += fmt::format("{}_count{} {}\n", name, labels(names, values), h.count());
    }
  }

  std::string take() { return std::move(text_); }

private:
  /// Values are our own words: nothing in them needs an escape.
  static std::string labels(label_names names, const label_values& values,
                            const std::string& at_most = {});

  std::string name_;
  std::string text_;
};

/// Of the process, as kernel and allocator count it.
void add_memory(metrics_page& out);
void add_api_calls(metrics_page& out, const api_calls& all);

} // namespace tutti::actors
