#include "sim/workload/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ensure.hpp"
#include "sim/workload/csv.hpp"

namespace tutti::sim::workload {

namespace {

/// A century: what a pod may run for at most.
constexpr double seconds_most = 3'600.0 * 24 * 365 * 100;
/// More GPUs, CPUs or nodes than one gang of any trace has.
constexpr std::int64_t amount_most = 100'000'000;
/// Rows that are wrong besides the first are named up to this number.
constexpr std::size_t rows_named = 5;

enum class column : std::uint8_t { submit, duration, gpus, nodes, cpus };
constexpr std::array<std::string_view, 5> column_names{"submit_s", "duration_s", "gpus", "nodes",
                                                       "cpus"};
constexpr std::size_t absent = ~std::size_t{0};

std::string_view name_of(column x) {
  return column_names[static_cast<std::size_t>(x)];
}

base::duration seconds(double s) {
  return base::duration{std::llround(s * 1e9)};
}

/// One row in the words of the table; an amount that no column says is -1.
struct row_values {
  double submit_s = 0;
  double duration_s = 0;
  std::int64_t gpus = -1;
  std::int64_t nodes = -1;
  std::int64_t cpus = -1;
};

class table_reader {
public:
  table_reader(const trace_options& how, const cluster_shape& shape) : how_(how), shape_(shape) {}

  base::result<gangs> read() {
    auto opened = csv_file::open(how_.path);
    if (!opened)
      return opened.error();
    std::vector<std::string> fields;
    auto has = opened->next(fields);
    if (!has)
      return has.error();
    if (!*has)
      return wrong(fmt::format("{} is empty", how_.path),
                   "the first line names the columns: submit_s, duration_s, and gpus or nodes");
    if (auto ok = take_header(fields); !ok)
      return ok.error();
    std::uint64_t rows = 0;
    for (has = opened->next(fields); has && *has; has = opened->next(fields), ++rows)
      take_row(fields, opened->line());
    if (!has)
      return has.error();
    if (!mistakes_.empty())
      return first_mistake();
    if (rows == 0)
      return wrong(fmt::format("{} has columns and no rows", how_.path),
                   "every row below the first is one gang");
    std::stable_sort(out_.arrivals.begin(), out_.arrivals.end(),
                     [](const arrival& a, const arrival& b) { return a.at < b.at; });
    out_.origin = how_.path;
    return std::move(out_);
  }

private:
  struct mistake {
    std::uint64_t line = 0;
    std::string what;
    std::string allowed;
  };

  static base::error wrong(std::string what, std::string allowed) {
    return {base::code::bad_input, std::move(what), std::move(allowed)};
  }

  base::error first_mistake() const {
    const auto& first = mistakes_.front();
    auto text = fmt::format("{}:{}: {}", how_.path, first.line, first.what);
    if (const auto more = wrong_rows_ - 1; more > 0) {
      std::vector<std::uint64_t> lines;
      for (std::size_t i = 1; i < mistakes_.size(); ++i)
        lines.push_back(mistakes_[i].line);
      text += fmt::format(" (and {} more row{} wrong: {}{})", more, more == 1 ? " is" : "s are",
                          fmt::join(lines, ", "), more > lines.size() ? ", …" : "");
    }
    return wrong(std::move(text), first.allowed);
  }

  base::result<void> take_header(const std::vector<std::string>& fields) {
    columns_ = fields.size();
    for (std::size_t i = 0; i < fields.size(); ++i)
      for (std::size_t c = 0; c < column_names.size(); ++c)
        if (fields[i] == column_names[c]) {
          if (places_[c] != absent)
            return wrong(fmt::format("{}:1: the column {} is there twice", how_.path, fields[i]),
                         "each column once");
          places_[c] = i;
        }
    const auto said = fmt::format("it has {}", fmt::join(fields, ", "));
    for (auto needed : {column::submit, column::duration})
      if (!has(needed))
        return wrong(
            fmt::format("{}:1: there is no column {}; {}", how_.path, name_of(needed), said),
            "needed are submit_s, duration_s, and gpus or nodes");
    if (!has(column::gpus) && !has(column::nodes))
      return wrong(
          fmt::format("{}:1: there is no column gpus and none called nodes; {}", how_.path, said),
          "needed are submit_s, duration_s, and gpus or nodes");
    return {};
  }

  bool has(column x) const { return places_[static_cast<std::size_t>(x)] != absent; }

  void complain(std::uint64_t line, std::string what, std::string allowed) {
    row_is_wrong_ = true;
    if (mistakes_.size() <= rows_named && (mistakes_.empty() || mistakes_.back().line != line))
      mistakes_.push_back({line, std::move(what), std::move(allowed)});
  }

  template <class Number>
  Number number(const std::vector<std::string>& fields, std::uint64_t line, column which,
                Number least, Number most, std::string_view unit) {
    const auto& text = fields[places_[static_cast<std::size_t>(which)]];
    Number out{};
    const auto* end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, out);
    if (failed == std::errc{} && rest == end && out >= least && out <= most)
      return out;
    complain(line, fmt::format("{} is \"{}\"", name_of(which), text),
             fmt::format("{} is {} from {} to {}", name_of(which), unit, least, most));
    return least;
  }

  void take_row(const std::vector<std::string>& fields, std::uint64_t line) {
    row_is_wrong_ = false;
    if (fields.size() != columns_) {
      complain(line,
               fmt::format("the row has {} fields, the first line {}", fields.size(), columns_),
               "one field for every column");
    } else {
      row_values x;
      x.submit_s = number<double>(fields, line, column::submit, 0, seconds_most, "seconds");
      x.duration_s = number<double>(fields, line, column::duration, 0, seconds_most, "seconds");
      const auto amount = [&](column which, std::int64_t least) -> std::int64_t {
        return has(which) ? number(fields, line, which, least, amount_most, "a whole number") : -1;
      };
      x.gpus = amount(column::gpus, has(column::nodes) ? 0 : 1);
      x.nodes = amount(column::nodes, 1);
      x.cpus = amount(column::cpus, 0);
      if (!row_is_wrong_)
        take(x, line);
    }
    wrong_rows_ += row_is_wrong_ ? 1 : 0;
  }

  void take(const row_values& x, std::uint64_t line) {
    const auto from_s = std::chrono::duration<double>(how_.from).count();
    if (x.submit_s < from_s)
      return;
    arrival out;
    out.at = seconds((x.submit_s - from_s) / how_.compress);
    if (how_.until && out.at > *how_.until)
      return;
    out.line = line;
    out.runs_for = std::max<base::duration>(seconds(x.duration_s), std::chrono::milliseconds{1});
    std::string why;
    deal_out(x, out, why);
    if (why.empty() && out.members > shape_.room_for(out.each, shape_.nodes))
      why = fmt::format("it asks for {} members of {}; the cluster has room for {}", out.members,
                        text_of(out.each), shape_.room_for(out.each, shape_.nodes));
    if (why.empty())
      out_.arrivals.push_back(out);
    else
      out_.rejected.push_back({out, std::move(why)});
  }

  static std::string text_of(const member_need& x) {
    std::string out = x.gpus > 0 ? fmt::format("{} GPUs", x.gpus) : std::string{};
    if (x.cpu_milli > 0)
      out += fmt::format("{}{} CPUs", out.empty() ? "" : " and ",
                         static_cast<double>(x.cpu_milli) / 1'000);
    return out.empty() ? "nothing" : out;
  }

  /// How many members, and what each asks for.
  void deal_out(const row_values& x, arrival& out, std::string& why) const {
    const auto ceil_of = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const bool says_amounts = has(column::gpus) && (x.gpus > 0 || x.cpus > 0);
    if (how_.takes_whole_nodes || !says_amounts) {
      const auto per_node = std::max<std::int64_t>(shape_.gpus_per_node, 1);
      out.members = static_cast<std::uint32_t>(x.nodes > 0 ? x.nodes : ceil_of(x.gpus, per_node));
      out.each = {shape_.gpus_per_node, shape_.cpus_per_node * 1'000};
      return;
    }
    const auto total = x.gpus > 0 ? x.gpus : x.cpus;
    const auto per_node = x.gpus > 0 ? shape_.gpus_per_node : shape_.cpus_per_node;
    if (per_node == 0) {
      out.members = static_cast<std::uint32_t>(std::max<std::int64_t>(x.nodes, 1));
      out.each.gpus = ceil_of(total, out.members);
      why = fmt::format("it asks for {} GPUs; the cluster has none", total);
      return;
    }
    const auto members = std::max(x.nodes, ceil_of(total, per_node));
    out.members = static_cast<std::uint32_t>(members);
    if (x.gpus > 0)
      out.each.gpus = ceil_of(total, members);
    else
      out.each.cpu_milli = ceil_of(total * 1'000, members);
  }

  const trace_options& how_;
  const cluster_shape& shape_;
  std::array<std::size_t, column_names.size()> places_{absent, absent, absent, absent, absent};
  std::size_t columns_ = 0;
  std::vector<mistake> mistakes_;
  std::uint64_t wrong_rows_ = 0;
  bool row_is_wrong_ = false;
  gangs out_;
};

} // namespace

base::result<gangs> read_trace(const trace_options& how, const cluster_shape& shape) {
  ensure(how.compress > 0, how.compress);
  return table_reader{how, shape}.read();
}

} // namespace tutti::sim::workload
