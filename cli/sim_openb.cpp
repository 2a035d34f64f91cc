#include "cli/sim_openb.hpp"

#include <charconv>
#include <cmath>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "sim/openb/replay.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;
namespace openb = sim::openb;
using base::code;
using base::error;

constexpr std::uint64_t seeds_most = 10'000;

struct seed_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

base::result<seed_range> read_seeds(const std::string& text) {
  seed_range out;
  const auto read = [](std::string_view words, std::uint64_t& into) {
    const auto [last, failed] = std::from_chars(words.data(), words.data() + words.size(), into);
    return failed == std::errc{} && last == words.data() + words.size();
  };
  const auto dash = text.find('-');
  const bool is_read = read(std::string_view{text}.substr(0, dash), out.first)
                       && read(dash == std::string::npos ? std::string_view{text}
                                                         : std::string_view{text}.substr(dash + 1),
                               out.last);
  if (!is_read || out.first > out.last || out.last - out.first >= seeds_most)
    return error{code::bad_input, fmt::format("--seeds {}: no range of seeds", text),
                 "write the first and the last, such as 42-51"};
  return out;
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    if (end > at)
      out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

base::result<std::vector<openb::contestant>> read_policies(const std::string& text) {
  if (text.empty())
    return openb::contestants();
  std::vector<openb::contestant> out;
  for (const auto& name : names_in(text)) {
    auto found = openb::find_contestant(name);
    if (!found) {
      std::string known;
      for (const auto& c : openb::contestants())
        known += (known.empty() ? "" : ", ") + c.name;
      return error{code::bad_input, fmt::format("--policy {}: there is none of that name", name),
                   "one of " + known};
    }
    out.push_back(std::move(*found));
  }
  return out;
}

/// Several runs of one policy on one workload.
struct summary {
  double mean = 0; // per cent, as all
  double deviation = 0;
  double mean_at_100 = 0;
  double refused = 0; // pods a run
};

summary summary_of(const std::vector<openb::replay_result>& runs) {
  summary out;
  const auto n = static_cast<double>(runs.size());
  for (const auto& r : runs) {
    out.mean += 100 * r.in_use / n;
    out.mean_at_100 += 100 * r.in_use_at_100 / n;
    out.refused += static_cast<double>(r.refused) / n;
  }
  double squares = 0;
  for (const auto& r : runs)
    squares += std::pow(100 * r.in_use - out.mean, 2);
  out.deviation = runs.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return out;
}

/// What the publication says of its own workload at 130 per cent.
std::string published(const openb::contestant& who, const std::string& workload, double arrival) {
  return workload == "default" && arrival == 1.3 && who.published_mean > 0
             ? fmt::format("{:.2f}", who.published_mean)
             : "";
}

} // namespace

int run_openb(const openb_options& how) {
  const auto seeds = read_seeds(how.seeds);
  const auto who = read_policies(how.policies);
  if (!seeds || !who) {
    print_error(!seeds ? seeds.error() : who.error());
    return wrong_usage;
  }
  table shown{
      {"WORKLOAD", "POLICY", "RUNS", "IN USE %", "DEVIATION", "AT 100 %", "PUBLISHED", "REFUSED"}};
  json::array rows;
  for (const auto& workload : names_in(how.workloads)) {
    const auto trace = openb::read_trace({how.data, workload});
    if (!trace) {
      print_error(trace.error());
      return wrong_file;
    }
    const auto usual = openb::usual_pods(*trace);
    for (const auto& c : *who) {
      std::vector<openb::replay_result> runs;
      for (auto seed = seeds->first; seed <= seeds->last; ++seed)
        runs.push_back(openb::replay(*trace, usual, c, {seed, how.arrival}));
      const auto x = summary_of(runs);
      shown.add({workload, c.name, std::to_string(runs.size()), fmt::format("{:.2f}", x.mean),
                 fmt::format("{:.2f}", x.deviation), fmt::format("{:.2f}", x.mean_at_100),
                 published(c, workload, how.arrival), fmt::format("{:.0f}", x.refused)});
      rows.push_back(json::object{{"workload", workload},
                                  {"policy", c.name},
                                  {"runs", runs.size()},
                                  {"in_use_percent", x.mean},
                                  {"deviation", x.deviation},
                                  {"in_use_percent_at_100", x.mean_at_100},
                                  {"refused", x.refused}});
    }
  }
  fmt::print("{}", how.format == "json" ? pretty_json(rows) : shown.text());
  return done;
}

} // namespace tutti::cli
