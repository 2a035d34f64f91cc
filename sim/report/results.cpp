#include "sim/report/results.hpp"

#include <map>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "protocol/address.hpp"

namespace tutti::sim::report {

namespace {

namespace json = boost::json;
using workload::gang_state;

/// The queue's own word on who waits.
std::vector<std::pair<std::string, std::uint64_t>> reasons_of(const workload::simulation& run) {
  const auto text = run.ask_queue("gangs");
  boost::system::error_code failed;
  const auto all = json::parse(text.empty() ? "[]" : text, failed);
  std::map<std::string, std::uint64_t> counts;
  if (!failed && all.is_array())
    for (const auto& one : all.get_array()) {
      const auto* row = one.if_object();
      const auto* phase = row ? row->if_contains("phase") : nullptr;
      if (!phase || !phase->is_string() || phase->get_string() == "Bound")
        continue;
      const auto* reason = row->if_contains("reason");
      ++counts[reason && reason->is_string() && !reason->get_string().empty()
                   ? std::string{reason->get_string()}
                   : std::string{phase->get_string()}];
    }
  return {counts.begin(), counts.end()};
}

} // namespace

results results_of(const workload::simulation& run, const series& over_time,
                   const workload::gangs& asked, std::string command) {
  return {.origin = asked.origin,
          .command = std::move(command),
          .run = run,
          .over_time = over_time,
          .rejected = asked.rejected,
          .waits = waits_of(run, asked.rejected),
          .reasons = reasons_of(run)};
}

std::vector<fact> summary_of(const results& of) {
  const auto& how = of.run.how();
  const auto& book = of.run.book();
  const auto& all = of.waits.back();
  std::uint64_t most_waiting = 0;
  for (const auto& x : of.over_time.samples())
    most_waiting = std::max(most_waiting, x.waiting_gangs);
  const auto count = [](auto n) { return fmt::format("{}", n); };
  const auto one_digit = [](double x) { return fmt::format("{:.1f}", x); };
  return {
      {"workload", of.origin, "where the gangs come from"},
      {"nodes", count(how.shape.nodes), "of the simulated cluster"},
      {"units", fmt::format("{:.0f}", of.units(book.room().units())),
       fmt::format("{}s of the simulated cluster", of.unit())},
      {"seed", count(how.seed), "of everything that is drawn"},
      {"virtual_seconds",
       fmt::format("{:.0f}", std::chrono::duration<double>(of.run.elapsed()).count()),
       "time that has passed in the cluster"},
      {"gangs_submitted", count(all.gangs), "whose time had come"},
      {"gangs_rejected", count(of.rejected.size()), "too large for the cluster, not submitted"},
      {"gangs_bound", count(all.bound), "whose members have all been bound"},
      {"gangs_over", count(book.in(gang_state::over).gangs), "whose members have all ended"},
      {"gangs_running", count(book.in(gang_state::running).gangs),
       "bound, and not over at the end"},
      {"gangs_waiting", count(all.waiting), "not bound at the end"},
      {"most_waiting", count(most_waiting), "gangs in the longest queue of any sample"},
      {"mean_utilisation_percent", one_digit(of.over_time.mean_use(book.room().units())),
       fmt::format("{}s in use, mean over time", of.unit())},
      {"wait_p50_s", fmt::format("{:.3f}", all.p50_s), "from submission to the last Binding"},
      {"wait_p90_s", fmt::format("{:.3f}", all.p90_s), ""},
      {"wait_p99_s", fmt::format("{:.3f}", all.p99_s), ""},
      {"wait_most_s", fmt::format("{:.3f}", all.most_s), ""},
      {"refused_requests", count(of.run.users().refusals()),
       "requests of users that the API server refused"},
  };
}

} // namespace tutti::sim::report
