#include "sim/report/series.hpp"

#include <algorithm>

namespace tutti::sim::report {

namespace {

std::uint64_t ceil_of(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

} // namespace

series::series(const workload::cluster_shape& shape, std::uint64_t samples)
    : racks_per_group_(ceil_of(shape.domains(0), groups_most)),
      rack_rows_every_(
          std::max<std::uint64_t>(1, ceil_of(shape.domains(0) * samples, rack_cells_most))) {}

void series::take(const workload::simulation& of) {
  using workload::gang_state;
  const auto& room = of.book().room();
  const auto& racks = room.racks();
  sample x;
  x.at_s = std::chrono::duration<double>(of.elapsed()).count();
  x.units_used = room.units_used();
  const auto waiting = of.book().in(gang_state::waiting);
  x.waiting_gangs = waiting.gangs;
  x.waiting_members = waiting.members;
  x.running_gangs = of.book().in(gang_state::running).gangs;
  x.over_gangs = of.book().in(gang_state::over).gangs;
  x.empty_nodes = room.empty_nodes();
  x.fragmentation = room.fragmentation();
  std::vector<std::uint32_t> empty;
  empty.reserve(racks.size());
  for (std::size_t n = 0; n < racks.size(); ++n) {
    empty.push_back(racks[n].empty_nodes);
    x.rack_units_most = std::max(x.rack_units_most, racks[n].units_free);
    x.racks_full += racks[n].empty_nodes == 0 ? 1 : 0;
    if (n % racks_per_group_ == 0)
      x.groups.push_back(0);
    x.groups.back() = std::max(x.groups.back(),
                               static_cast<std::uint16_t>(std::min(racks[n].empty_nodes, 65'535u)));
  }
  const auto middle = empty.begin() + static_cast<std::ptrdiff_t>(empty.size() / 2);
  if (samples_.size() % rack_rows_every_ == 0) {
    rack_row row{x.at_s, empty, {}};
    for (const auto& rack : racks)
      row.units_free.push_back(rack.units_free);
    racks_.push_back(std::move(row));
  }
  x.rack_most = *std::max_element(empty.begin(), empty.end());
  std::nth_element(empty.begin(), middle, empty.end());
  x.rack_median = *middle;
  samples_.push_back(std::move(x));
}

/// Each sample stands for the time until the next.
double series::mean_use(std::int64_t units) const {
  double sum = 0;
  double time = 0;
  for (std::size_t n = 1; n < samples_.size(); ++n) {
    const auto lasts = samples_[n].at_s - samples_[n - 1].at_s;
    sum += lasts * static_cast<double>(samples_[n - 1].units_used);
    time += lasts;
  }
  return time > 0 && units > 0 ? 100 * sum / time / static_cast<double>(units) : 0;
}

} // namespace tutti::sim::report
