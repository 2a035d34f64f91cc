#include "sim/report/waits.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

namespace tutti::sim::report {

namespace {

using workload::gang_life;
using workload::gang_state;

/// 0 for 0, 1 for 1, 2 for 2, 3 for 3 and 4, 4 for 5 to 8, …
int class_of(std::uint64_t size) {
  return size == 0 ? 0 : 1 + static_cast<int>(std::bit_width(size - 1));
}

struct collected {
  wait_row row;
  std::vector<double> waits_s;

  void take(const gang_life& x, base::time_point zero, base::time_point end) {
    const auto came = zero + x.what.at;
    if (came > end)
      return;
    ++row.gangs;
    if (x.bound_at) {
      ++row.bound;
      waits_s.push_back(std::chrono::duration<double>(*x.bound_at - came).count());
    } else {
      ++row.waiting;
      row.longest_still_s =
          std::max(row.longest_still_s, std::chrono::duration<double>(end - came).count());
    }
  }

  wait_row finish() {
    std::sort(waits_s.begin(), waits_s.end());
    if (waits_s.empty())
      return row;
    const auto at = [this](double q) {
      return waits_s[static_cast<std::size_t>(q * static_cast<double>(waits_s.size() - 1))];
    };
    row.p50_s = at(0.5);
    row.p90_s = at(0.9);
    row.p99_s = at(0.99);
    row.most_s = waits_s.back();
    double sum = 0;
    for (const auto w : waits_s)
      sum += w;
    row.mean_s = sum / static_cast<double>(waits_s.size());
    return row;
  }
};

} // namespace

std::string wait_row::size_text() const {
  return size_from == size_to ? fmt::format("{}", size_to)
                              : fmt::format("{}-{}", size_from, size_to);
}

std::vector<wait_row> waits_of(const workload::simulation& run,
                               const std::vector<workload::rejected_gang>& rejected) {
  const bool counts_gpus = run.how().shape.gpus_per_node > 0;
  const auto end = run.zero() + run.elapsed();
  std::map<int, collected> by_class;
  collected all;
  const auto of = [&](const workload::arrival& x) -> collected& {
    const auto size = counts_gpus ? static_cast<std::uint64_t>(x.gpus()) : x.members;
    const auto number = class_of(size);
    auto& out = by_class[number];
    out.row.size_to = number == 0 ? 0 : std::uint64_t{1} << (number - 1);
    out.row.size_from = number < 2 ? out.row.size_to : out.row.size_to / 2 + 1;
    all.row.size_to = std::max(all.row.size_to, size);
    return out;
  };
  for (const auto& x : run.book().gangs()) {
    of(x.what).take(x, run.zero(), end);
    all.take(x, run.zero(), end);
  }
  for (const auto& x : rejected) {
    ++of(x.what).row.rejected;
    ++all.row.rejected;
  }
  std::vector<wait_row> out;
  for (auto& [_, x] : by_class)
    out.push_back(x.finish());
  out.push_back(all.finish());
  return out;
}

} // namespace tutti::sim::report
