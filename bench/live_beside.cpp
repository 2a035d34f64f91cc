#include "bench/live_beside.hpp"

#include <algorithm>
#include <thread>

#include <fmt/core.h>

#include "bench/embedded.hpp"
#include "bench/json_line.hpp"

namespace tutti::bench {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 300s;

struct measured_trial {
  double pods_per_second = 0;
  double p50_ms = 0;
  double p99_ms = 0;
};

double ms_between(moment a, moment b) {
  return std::chrono::duration<double, std::milli>(b - a).count();
}

/// One scheduler's turn.
class turn {
public:
  turn(live_cluster& on, std::string scheduler, int nodes)
      : on_(on), scheduler_(std::move(scheduler)), nodes_(nodes) {}

  measured_trial run(const trial& x) {
    measured_trial out;
    if (x.flood > 0)
      out.pods_per_second = flood(x);
    std::vector<double> ms;
    for (int i = 0; i < x.alone; ++i)
      ms.push_back(alone(x));
    on_.delete_pods();
    if (!ms.empty()) {
      out.p50_ms = quantile(ms, 0.5);
      out.p99_ms = quantile(ms, 0.99);
    }
    return out;
  }

private:
  gang_wish wish(const trial& x) {
    return {.name = fmt::format("{}-{}-{}-{}", scheduler_, nodes_, x.members, ++made_),
            .members = x.members,
            .scheduler = scheduler_,
            .in_one_rack = x.in_one_rack};
  }
  void wait_for(std::size_t pods) {
    if (!on_.wait_bound(pods, patience))
      fail(fmt::format("{} has bound only {} of {} pods", scheduler_, on_.bound_count(), pods));
  }
  static moment last_of(const std::map<std::string, moment>& all, const std::string& prefix) {
    auto last = moment::min();
    for (const auto& [name, at] : all)
      if (name.starts_with(prefix))
        last = std::max(last, at);
    return last;
  }

  double flood(const trial& x) {
    objects all;
    for (int i = 0; i < x.flood; ++i)
      add_gang(all, wish(x));
    const auto pods = static_cast<std::size_t>(x.flood) * static_cast<std::size_t>(x.members);
    const auto start = std::chrono::steady_clock::now();
    on_.create(all);
    wait_for(pods);
    const auto took = ms_between(start, last_of(on_.bound(), ""));
    on_.delete_pods();
    return 1'000 * static_cast<double>(pods) / took;
  }

  double alone(const trial& x) {
    const auto gang = wish(x);
    objects all;
    add_gang(all, gang);
    const auto before = on_.bound_count();
    on_.create(all);
    const auto whole = std::chrono::steady_clock::now();
    wait_for(before + static_cast<std::size_t>(x.members));
    // A part of the answer may be on its way while the gang is bound already.
    return std::max(0.0, ms_between(whole, last_of(on_.bound(), gang.name + "-")));
  }

  live_cluster& on_;
  std::string scheduler_;
  int nodes_; // groups of an earlier turn stay behind under their names
  int made_ = 0;
};

std::vector<measured_trial> all_of(turn& who, const std::vector<trial>& trials) {
  std::vector<measured_trial> out;
  for (const auto& x : trials)
    out.push_back(who.run(x));
  return out;
}

void print_beside(const std::string& what, double theirs, double ours, std::string_view unit,
                  bar_kind better) {
  print(fact{"live", what + ", kube-scheduler", theirs, unit});
  print(fact{"live", what + ", tutti", ours, unit});
  const bool more_is_better = better == bar_kind::at_least;
  // A time of nothing is one that the clock of the watch could not tell from the creation's end.
  const double ratio = more_is_better ? ours / theirs : ours / std::max(theirs, 0.01);
  print(measured{"live", what + ", tutti / kube-scheduler", ratio, "ratio", 1, better});
}

} // namespace

void measure_beside(live_cluster& on, int nodes, const std::vector<trial>& trials) {
  on.start_kube_scheduler();
  turn upstream{on, "default-scheduler", nodes};
  const auto theirs = all_of(upstream, trials);
  on.stop_kube_scheduler();
  std::vector<measured_trial> ours;
  {
    const auto scheduler = on.start_tutti();
    turn own{on, "tutti", nodes};
    ours = all_of(own, trials);
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto& x = trials[i];
    const auto what = fmt::format("{} nodes, gangs of {}{}", nodes, x.members,
                                  x.in_one_rack ? ", required rack" : "");
    if (x.flood > 0)
      print_beside(fmt::format("{}, {} at once", what, x.flood), theirs[i].pods_per_second,
                   ours[i].pods_per_second, "pods/s", bar_kind::at_least);
    if (x.alone > 0) {
      print_beside(what + ", alone, quorum to last Binding p50", theirs[i].p50_ms, ours[i].p50_ms,
                   "ms", bar_kind::at_most);
      print_beside(what + ", alone, quorum to last Binding p99", theirs[i].p99_ms, ours[i].p99_ms,
                   "ms", bar_kind::at_most);
    }
  }
}

} // namespace tutti::bench
