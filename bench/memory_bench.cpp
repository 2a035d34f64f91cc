// How much memory a scheduler needs for nodes, bound pods and pending gangs: the resident growth of
// a scheduler process of its own (`tutti local --server`) while its API server, in this process, is
// filled.
//
//   tutti_bench_memory            to 5,000 nodes, 160,000 bound pods, 40,000 gangs without room
//   tutti_bench_memory --quick    to 5,000 nodes, 6,000 bound pods, 2,000 gangs
//
// Each kind is added in steps, and memory is looked at after each, at rest. It contains everything:
// the store, buffers, the flight recorder, and what the allocator keeps. What one more of a kind
// costs is the slope from the first step to the last; what the first step costs beyond it is
// constant: tables and buffers that are bounded and full from then on, and what a wave leaves in
// the heap for the next one. So that it is constant the steps are of one size. Both are printed,
// and the same of the bytes that the process has asked its allocator for and not given back, and of
// those that are free there. Where the slope of the resident bytes is below that of the bytes in
// use, new objects fill what was free; the bar is then held by the latter.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <csignal>
#include <fmt/core.h>

#include "bench/arguments.hpp"
#include "bench/child.hpp"
#include "bench/embedded.hpp"
#include "bench/json_line.hpp"
#include "bench/proc.hpp"
#include "bridge/http_client.hpp"

namespace {

using namespace tutti;
using namespace tutti::bench;
using namespace std::chrono_literals;
namespace json = boost::json;

constexpr double kib_per_node_bar = 6;
constexpr double kib_per_bound_pod_bar = 1;
constexpr double kib_per_pending_gang_bar = 4;
constexpr int gang_of_bound_pods = 100;
constexpr int members_of_pending_gang = 3;
constexpr auto patience = 600s;
constexpr auto look_interval = 2s;
/// At rest: so many looks in a row the memory has not grown.
constexpr int quiet_looks = 4;

/// How many there are after each step.
struct amounts {
  std::vector<int> nodes{1'000, 5'000};
  std::vector<int> bound_pods{20'000, 40'000, 60'000, 80'000, 100'000, 120'000, 140'000, 160'000};
  std::vector<int> pending_gangs{10'000, 20'000, 30'000, 40'000};
};

/// Of the scheduler process.
struct bytes {
  double resident = 0;
  double in_use = 0; ///< asked for and not given back
  double free = 0;   ///< given back to the allocator, and kept by it
};

/// `tutti local --server URL` as a process of its own; ends with this object.
class scheduler_process {
public:
  explicit scheduler_process(sim::api_server::server& api)
      : api_(api), admin_(free_port()),
        client_(bridge::connect_by_tcp({"127.0.0.1", admin_}), {.connections = 1}),
        child_({TUTTI_PROGRAM, "local", "--quiet", "--server",
                fmt::format("http://127.0.0.1:{}", api_.port()), "--admin",
                fmt::format("127.0.0.1:{}", admin_)}) {}
  scheduler_process(const scheduler_process&) = delete;

  /// The JSON at a path of the admin address; null while it does not answer.
  json::value ask(const std::string& path) {
    boost::system::error_code ec;
    auto out = json::parse(text_at(path), ec);
    return ec ? json::value{} : out;
  }

  /// Waits until the status is as wanted, nobody writes anything and the memory does not grow;
  /// returns the memory.
  bytes at_rest(const std::string& what, const std::function<bool(const json::object&)>& ok) {
    const auto until = std::chrono::steady_clock::now() + patience;
    std::uint64_t most = 0;
    auto written = api_.last_resource_version();
    for (int quiet = 0; quiet < quiet_looks;) {
      std::this_thread::sleep_for(look_interval);
      if (std::chrono::steady_clock::now() > until)
        fail("the scheduler does not come to rest: " + what);
      const auto status = ask("/api/status");
      const auto now = resident_bytes(child_.pid());
      const bool is_there = status.is_object() && ok(status.as_object());
      const auto version = api_.last_resource_version();
      const bool is_still = std::exchange(written, version) == version && now <= most;
      quiet = is_there && is_still ? quiet + 1 : 0;
      most = std::max(most, now);
    }
    const auto in_use = metric("gang_heap_bytes{state=\"in_use\"}");
    const auto free = metric("gang_heap_bytes{state=\"free\"}");
    return {static_cast<double>(resident_bytes(child_.pid())), in_use, free};
  }

private:
  std::string text_at(const std::string& path) {
    std::promise<bridge::http_event> promise;
    auto answer = promise.get_future();
    protocol::http_request request{.method = "GET", .target = path};
    client_.start(++last_id_, std::move(request),
                  [&promise](bridge::http_event e) { promise.set_value(std::move(e)); });
    const auto event = answer.get();
    const auto* said = std::get_if<protocol::answered>(&event);
    return said != nullptr && said->status == 200 ? said->body : std::string{};
  }

  double metric(const std::string& sample) {
    const auto page = text_at("/metrics");
    const auto pos = page.find("\n" + sample + " ");
    if (pos == std::string::npos)
      fail("there is no metric " + sample);
    return std::stod(page.substr(pos + sample.size() + 2));
  }

  sim::api_server::server& api_;
  std::uint16_t admin_;
  bridge::http_client client_;
  std::uint64_t last_id_ = 0;
  child child_;
};

/// Gangs in a phase, as `tutti status` shows them.
std::int64_t in_phase(const json::object& status, std::string_view phase) {
  const auto* n = status.at("phases").as_object().if_contains(phase);
  return n == nullptr ? 0 : n->to_number<std::int64_t>();
}

bool is_synced(const json::object& status) {
  return status.at("synced").as_bool();
}

/// Nodes that the mirror knows; 0 if it was too busy to say so.
std::int64_t nodes_mirrored(const json::object& status) {
  boost::system::error_code ec;
  const auto* n = status.at("mirror").find_pointer("/resources/0/objects", ec);
  return n == nullptr ? 0 : n->to_number<std::int64_t>();
}

/// One kind of object, in steps.
struct kind {
  std::string name; ///< of one
  double limit_kib = 0;
  std::vector<int> counts; ///< after each step
  std::function<objects(int from, int until)> make;
  std::function<bool(const json::object& status, int count)> is_there;
};

/// The slope from the first step to the last, and what they cost beyond it.
struct line {
  double kib_each = 0;
  double mib_constant = 0;
};
line line_through(double before, const std::vector<double>& after, const std::vector<int>& counts) {
  const auto last = counts.size() - 1;
  const auto each = (after[last] - after.front()) / (counts[last] - counts.front());
  return {each / 1024, (after[last] - before - each * counts[last]) / 1024 / 1024};
}

void measure(embedded& api, scheduler_process& who, const kind& k) {
  const auto before = who.at_rest("before any " + k.name, is_synced);
  std::vector<double> resident, in_use, free;
  int made = 0;
  for (const auto count : k.counts) {
    api.apply(k.make(made, count));
    made = count;
    const auto now = who.at_rest(fmt::format("{} x {}", count, k.name),
                                 [&](const json::object& x) { return k.is_there(x, count); });
    resident.push_back(now.resident);
    in_use.push_back(now.in_use);
    free.push_back(now.free);
    const auto with = fmt::format("with {} x {}", count, k.name);
    print(fact{"memory", with, now.resident / 1024 / 1024, "MiB"});
    print(fact{"memory", with + ", in use", now.in_use / 1024 / 1024, "MiB"});
  }
  const auto all = line_through(before.resident, resident, k.counts);
  const auto asked = line_through(before.in_use, in_use, k.counts);
  const auto idle = line_through(before.free, free, k.counts);
  const auto lasting = std::max(all.kib_each, asked.kib_each);
  print(measured{"memory", "growth per " + k.name, lasting, "KiB", k.limit_kib});
  print(fact{"memory", "of it resident per " + k.name, all.kib_each, "KiB"});
  print(fact{"memory", "of it in use per " + k.name, asked.kib_each, "KiB"});
  print(fact{"memory", "of it free in the heap per " + k.name, idle.kib_each, "KiB"});
  print(fact{"memory", "constant beside each " + k.name, all.mib_constant, "MiB"});
  print(fact{"memory", "of it in use beside each " + k.name, asked.mib_constant, "MiB"});
}

objects gangs_named(const char* name, int from, int until, int members, std::int64_t cpus) {
  objects out;
  for (int i = from; i < until; ++i)
    add_gang(out, {fmt::format("{}-{:05}", name, i), members, cpus});
  return out;
}

std::vector<kind> kinds_of(const amounts& n) {
  return {{"node", kib_per_node_bar, n.nodes,
           [](int from, int until) { return make_nodes(from, until); },
           [](const json::object& status, int count) { return nodes_mirrored(status) == count; }},
          {"bound pod", kib_per_bound_pod_bar, n.bound_pods,
           [](int from, int until) {
             return gangs_named("bound", from / gang_of_bound_pods, until / gang_of_bound_pods,
                                gang_of_bound_pods, 1);
           },
           [](const json::object& status, int count) {
             return in_phase(status, "Bound") == count / gang_of_bound_pods;
           }},
          {"pending gang", kib_per_pending_gang_bar, n.pending_gangs,
           [](int from, int until) {
             return gangs_named("waits", from, until, members_of_pending_gang, 2 * cpus_per_node);
           },
           [](const json::object& status, int count) {
             return in_phase(status, "Queued") + in_phase(status, "BackingOff") == count
                    && status.at("pools").as_object().at("queued").to_number<int>() == 0;
           }}};
}

void run(const amounts& n) {
  embedded api{{.listen = "127.0.0.1"}};
  scheduler_process who{api.api()};
  const auto empty = who.at_rest("empty", is_synced);
  print(fact{"memory", "empty scheduler", empty.resident / 1024 / 1024, "MiB"});
  for (const auto& k : kinds_of(n))
    measure(api, who, k);
}

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto asked = read_arguments(argc, argv, takes::nothing_more);
  run(asked.is_quick
          ? amounts{.bound_pods = {2'000, 4'000, 6'000}, .pending_gangs = {500, 1'000, 2'000}}
          : amounts{});
  return 0;
}
