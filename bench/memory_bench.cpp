// How much memory a scheduler needs for nodes, bound pods and pending gangs: the resident growth of
// a scheduler process of its own (`tutti local --server`) while its API server, in this process, is
// filled.
//
//   tutti_bench_memory            5,000 nodes, 20,000 bound pods, 3,000 gangs that fit nowhere
//   tutti_bench_memory --quick    5,000 nodes, 6,000 bound pods, 1,000 gangs
//
// Growth is measured between two moments of rest. It contains everything: the store, buffers, the
// flight recorder, and what the allocator keeps.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <csignal>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/arguments.hpp"
#include "bench/embedded.hpp"
#include "bench/json_line.hpp"
#include "bench/proc.hpp"
#include "bridge/http_client.hpp"

namespace {

using namespace tutti;
using namespace tutti::bench;
using namespace std::chrono_literals;
namespace json = boost::json;

constexpr int nodes = 5'000;
constexpr double kib_per_node_bar = 6;
constexpr double kib_per_bound_pod_bar = 1;
constexpr double kib_per_pending_gang_bar = 4;
constexpr int gang_of_bound_pods = 100;
constexpr auto patience = 120s;
constexpr auto look_interval = 200ms;
/// At rest: so many looks in a row the memory has not grown.
constexpr int quiet_looks = 10;

struct amounts {
  int bound_pods = 20'000;
  int pending_gangs = 3'000;
};

/// A port that nobody listens on now.
std::uint16_t free_port() {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const bool is_there = s >= 0 && ::bind(s, reinterpret_cast<sockaddr*>(&at), size) == 0
                        && ::getsockname(s, reinterpret_cast<sockaddr*>(&at), &size) == 0;
  ::close(s);
  if (!is_there)
    fail("no free port");
  return ntohs(at.sin_port);
}

/// `tutti local --server URL` as a process of its own; ends with this object.
class scheduler_process {
public:
  explicit scheduler_process(std::uint16_t api_port)
      : admin_(free_port()),
        client_(bridge::connect_by_tcp({"127.0.0.1", admin_}), {.connections = 1}) {
    const auto server = fmt::format("http://127.0.0.1:{}", api_port);
    const auto admin = fmt::format("127.0.0.1:{}", admin_);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execl(TUTTI_PROGRAM, "tutti", "local", "--quiet", "--server", server.c_str(), "--admin",
              admin.c_str(), nullptr);
      ::_exit(127);
    }
    if (pid_ < 0)
      fail("cannot start another process");
  }
  ~scheduler_process() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  scheduler_process(const scheduler_process&) = delete;

  std::uint64_t resident() const { return resident_bytes(pid_); }

  /// The JSON at a path of the admin address; null while it does not answer.
  json::value ask(const std::string& path) {
    std::promise<bridge::http_event> promise;
    auto answer = promise.get_future();
    protocol::http_request request{.method = "GET", .target = path};
    client_.start(++last_id_, std::move(request),
                  [&promise](bridge::http_event e) { promise.set_value(std::move(e)); });
    const auto event = answer.get();
    const auto* said = std::get_if<protocol::answered>(&event);
    boost::system::error_code ec;
    return said != nullptr && said->status == 200 ? json::parse(said->body, ec) : json::value{};
  }

  /// Waits until the status is as wanted and the memory does not grow; returns the memory.
  std::uint64_t at_rest(const std::string& what,
                        const std::function<bool(const json::object&)>& ok) {
    const auto until = std::chrono::steady_clock::now() + patience;
    std::uint64_t most = 0;
    for (int quiet = 0; quiet < quiet_looks;) {
      std::this_thread::sleep_for(look_interval);
      if (std::chrono::steady_clock::now() > until)
        fail("the scheduler does not come to rest: " + what);
      const auto status = ask("/api/status");
      const auto now = resident();
      const bool is_there = status.is_object() && ok(status.as_object());
      quiet = is_there && now <= most ? quiet + 1 : 0;
      most = std::max(most, now);
    }
    return resident();
  }

private:
  std::uint16_t admin_;
  bridge::http_client client_;
  std::uint64_t last_id_ = 0;
  pid_t pid_ = -1;
};

/// Gangs in a phase, as `tutti status` shows them.
std::int64_t in_phase(const json::object& status, std::string_view phase) {
  const auto* n = status.at("phases").as_object().if_contains(phase);
  return n == nullptr ? 0 : n->to_number<std::int64_t>();
}

bool is_synced(const json::object& status) {
  return status.at("synced").as_bool();
}

double print_growth(std::string_view bar, std::uint64_t before, std::uint64_t after, int count,
                    double limit) {
  const auto bytes = static_cast<double>(after) - static_cast<double>(before);
  print(measured{"memory", bar, bytes / count / 1024, "KiB", limit});
  return bytes;
}

void run(const amounts& n) {
  embedded api{{.listen = "127.0.0.1"}};
  scheduler_process who{api.api().port()};
  const auto empty = who.at_rest("empty", is_synced);
  print(fact{"memory", "empty scheduler", static_cast<double>(empty) / 1024 / 1024, "MiB"});

  api.apply(make_nodes(nodes));
  const auto with_nodes = who.at_rest("nodes", [](const json::object&) { return true; });
  if (const auto told = who.ask("/api/nodes").as_object().at("items").as_array().size();
      told != nodes)
    fail(fmt::format("the scheduler knows {} of {} nodes", told, nodes));
  print_growth("growth per node", empty, with_nodes, nodes, kib_per_node_bar);

  // Once more: the answer about all nodes was large.
  const auto before_pods = who.at_rest("nodes", [](const json::object&) { return true; });
  objects gangs;
  const int bound_gangs = n.bound_pods / gang_of_bound_pods;
  for (int i = 0; i < bound_gangs; ++i)
    add_gang(gangs, {fmt::format("bound-{:04}", i), gang_of_bound_pods});
  api.apply(std::move(gangs));
  const auto with_pods = who.at_rest("bound gangs", [&](const json::object& status) {
    return in_phase(status, "Bound") == bound_gangs;
  });
  print_growth("growth per bound pod", before_pods, with_pods, n.bound_pods, kib_per_bound_pod_bar);

  gangs = {};
  for (int i = 0; i < n.pending_gangs; ++i)
    add_gang(gangs, {fmt::format("waits-{:04}", i), 3, 2 * cpus_per_node});
  api.apply(std::move(gangs));
  const auto with_gangs = who.at_rest("pending gangs", [&](const json::object& status) {
    return in_phase(status, "Queued") + in_phase(status, "BackingOff") == n.pending_gangs
           && status.at("pools").as_object().at("queued").to_number<int>() == 0;
  });
  print_growth("growth per pending gang", with_pods, with_gangs, n.pending_gangs,
               kib_per_pending_gang_bar);
  print(fact{"memory", "whole scheduler", static_cast<double>(with_gangs) / 1024 / 1024, "MiB"});
}

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto asked = read_arguments(argc, argv, takes::nothing_more);
  run(asked.is_quick ? amounts{6'000, 1'000} : amounts{});
  return 0;
}
