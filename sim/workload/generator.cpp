#include "sim/workload/generator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/random.hpp"
#include "sim/workload/philly.hpp"

namespace tutti::sim::workload {

namespace {

double sum_of_shares() {
  return std::accumulate(philly::sizes.begin(), philly::sizes.end(), 0.0,
                         [](double sum, const auto& x) { return sum + x.jobs; });
}

/// Mean run time of gangs of this size, divided by that of all.
double stretch_of(const philly::size_share& x) {
  if (x.gpu_time == 0)
    return 1;
  const auto of_size = [](const philly::size_share& s) {
    return s.gpu_time / static_cast<double>(s.gpus);
  };
  double all = 0;
  for (const auto& s : philly::sizes)
    all += s.gpu_time == 0 ? 0 : of_size(s);
  return of_size(x) / x.jobs / (all / sum_of_shares());
}

const philly::size_share& draw_size(base::random_stream& dice) {
  auto at = dice.uniform() * sum_of_shares();
  for (const auto& x : philly::sizes) {
    if (at < x.jobs)
      return x;
    at -= x.jobs;
  }
  return philly::sizes.front();
}

/// Between two published points the logarithm of the run time is spread evenly.
double draw_seconds(base::random_stream& dice) {
  const auto at = dice.uniform() * 100;
  auto from = philly::duration_share{philly::shortest_s, 0};
  for (const auto& to : philly::durations) {
    if (at < to.jobs)
      return from.seconds_at_most
             * std::pow(to.seconds_at_most / from.seconds_at_most,
                        (at - from.jobs) / (to.jobs - from.jobs));
    from = to;
  }
  return from.seconds_at_most;
}

/// How much busier than in the mean it is at this time.
double busyness(double seconds) {
  const auto hour = static_cast<std::size_t>(std::fmod(seconds / 3'600, 24.0));
  const auto mean = std::accumulate(philly::by_hour.begin(), philly::by_hour.end(), 0.0)
                    / static_cast<double>(philly::by_hour.size());
  return philly::by_hour.at(hour) / mean;
}

double rate_per_second(const generator_options& how, const cluster_shape& shape) {
  const auto gpus = static_cast<double>(shape.gpus());
  if (how.load)
    return *how.load / 100 * gpus / philly_gpu_seconds();
  return philly::jobs / (philly::days * 86'400) * gpus / philly::cluster_gpus;
}

} // namespace

const std::vector<std::string_view>& generated_workloads() {
  static const std::vector<std::string_view> names{"philly"};
  return names;
}

double philly_gpu_seconds() {
  double out = 0;
  for (const auto& x : philly::sizes)
    out += x.jobs / sum_of_shares() * static_cast<double>(x.gpus) * stretch_of(x)
           * philly::mean_duration_s;
  return out;
}

gangs generate_philly(const generator_options& how, const cluster_shape& shape) {
  ensure(shape.gpus_per_node > 0, shape.gpus_per_node);
  base::random_stream times{how.seed, "arrivals"};
  base::random_stream sizes{how.seed, "sizes"};
  base::random_stream durations{how.seed, "durations"};
  const auto busiest = *std::max_element(philly::by_hour.begin(), philly::by_hour.end());
  const auto peak = rate_per_second(how, shape) * busyness(0) * busiest / philly::by_hour.front();
  const auto end_s = std::chrono::duration<double>(how.until).count();
  gangs out;
  out.origin = fmt::format("generated: philly, seed {}", how.seed);
  // Thinning (Lewis, Shedler 1979): arrivals at the highest rate, of which each hour keeps its
  // part.
  for (double at = 0;;) {
    at -= std::log(1 - times.uniform()) / peak;
    if (at > end_s)
      return out;
    if (times.uniform() * peak >= rate_per_second(how, shape) * busyness(at))
      continue;
    const auto& size = draw_size(sizes);
    const auto members = (size.gpus + shape.gpus_per_node - 1) / shape.gpus_per_node;
    const auto runs_s = draw_seconds(durations) * stretch_of(size);
    arrival x{.at = base::duration{std::llround(at * 1e9)},
              .members = static_cast<std::uint32_t>(members),
              .each = {(size.gpus + members - 1) / members, 0},
              .runs_for = base::duration{std::llround(runs_s * 1e9)}};
    const auto room = shape.room_for(x.each, shape.nodes);
    if (x.members <= room)
      out.arrivals.push_back(x);
    else
      out.rejected.push_back(
          {x, fmt::format("it asks for {} members of {} GPUs; the cluster has room for {}",
                          x.members, x.each.gpus, room)});
  }
}

} // namespace tutti::sim::workload
