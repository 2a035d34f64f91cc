#include "bench/live_large.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "bench/embedded.hpp"
#include "bench/json_line.hpp"
#include "bench/proc.hpp"
#include "bridge/mirror_role.hpp"

namespace tutti::bench {

namespace {

using namespace std::chrono_literals;

constexpr double events_per_second_bar = 100'000;
constexpr auto patience = 300s;
constexpr int pods_at_once = 5'000;
constexpr const char* end_of_list = "k8s.io/initial-events-end";

void create_running_pods(live_cluster& on, int nodes, int pods) {
  for (int made = 0; made < pods; made += pods_at_once) {
    objects some;
    for (int i = made; i < std::min(pods, made + pods_at_once); ++i)
      some.push_back(make_bound_pod(fmt::format("running-{:05}", i), node_name(i % nodes)));
    on.create(some);
  }
}

/// The streams that the mirror asks for when it starts, as the server answers them.
struct recorded {
  std::uint64_t id = 0;
  std::vector<std::string> pieces;
  std::int64_t lines = 0;
};

/// Feeds a new mirror with the recordings; returns the seconds that it took for the longest.
double feed(const std::vector<recorded>& all) {
  bridge::mirror_role mirror{{.shards = 8, .levels = {rack_label}}};
  base::time_point now{1s};
  mirror.on(protocol::event{protocol::started{.epoch = base::epoch_no{1}, .seed = 1}}, now);
  double seconds = 0;
  for (const auto& stream : all) {
    mirror.on(protocol::event{protocol::stream_opened{stream.id}}, now);
    const auto start = std::chrono::steady_clock::now();
    for (const auto& piece : stream.pieces)
      mirror.on(protocol::event{protocol::stream_lines{stream.id, piece}}, now);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds = std::max(seconds, took.count());
  }
  return seconds;
}

std::vector<recorded> record_lists(live_cluster& on) {
  std::vector<recorded> out;
  bridge::mirror_role mirror{{.shards = 8, .levels = {rack_label}}};
  const auto asked =
      mirror.on(protocol::event{protocol::started{.epoch = base::epoch_no{1}, .seed = 1}},
                base::time_point{1s});
  for (const auto& e : asked.list())
    if (const auto* x = std::get_if<protocol::exchange>(&e)) {
      recorded one{.id = x->id, .pieces = on.record(x->request, end_of_list)};
      for (const auto& piece : one.pieces)
        one.lines += std::count(piece.begin(), piece.end(), '\n');
      out.push_back(std::move(one));
    }
  return out;
}

void measure_reading(live_cluster& on) {
  constexpr int rounds = 5;
  const auto all = record_lists(on);
  std::int64_t most = 0;
  double bytes = 0;
  for (const auto& x : all)
    if (x.lines > most) {
      most = x.lines;
      bytes = 0;
      for (const auto& piece : x.pieces)
        bytes += static_cast<double>(piece.size());
    }
  std::vector<double> seconds;
  for (int i = 0; i < rounds; ++i)
    seconds.push_back(feed(all));
  std::sort(seconds.begin(), seconds.end());
  const auto took = seconds[rounds / 2];
  print(measured{"live", "events of a recorded watch that the mirror takes in per second",
                 static_cast<double>(most) / took, "events/s", events_per_second_bar,
                 bar_kind::at_least});
  print(fact{"live", "events in the recording", static_cast<double>(most), "events"});
  print(fact{"live", "bytes of one of them", bytes / static_cast<double>(most), "bytes"});
}

} // namespace

void measure_large(live_cluster& on, int nodes, int pods) {
  create_running_pods(on, nodes, pods);
  objects gang;
  add_gang(gang, {.name = "first", .members = 3, .scheduler = "tutti"});
  on.create(gang);
  on.forget_bound();
  const auto start = std::chrono::steady_clock::now();
  {
    const auto scheduler = on.start_tutti();
    if (!on.wait_bound(3, patience))
      fail("the first gang is not bound");
    auto first = moment::max();
    for (const auto& [name, at] : on.bound())
      first = std::min(first, at);
    const std::chrono::duration<double> took = first - start;
    const auto with = fmt::format("{} nodes, {} running pods: ", nodes, pods);
    print(fact{"live", with + "start to first Binding", took.count(), "s"});
    print(fact{"live", with + "resident memory then",
               static_cast<double>(resident_bytes(scheduler->pid())) / (1 << 20), "MiB"});
  }
  measure_reading(on);
}

} // namespace tutti::bench
