#include "bench/live_cluster.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <future>
#include <thread>

#include <fmt/core.h>
#include <unistd.h>

#include "bench/embedded.hpp"
#include "cli/api_access.hpp"

namespace tutti::bench {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using namespace std::chrono_literals;

/// What creates objects has so many requests under way.
constexpr std::size_t created_at_once = 64;
/// kube-scheduler's own benchmark allows it as many requests per second.
constexpr const char* kube_scheduler_qps = "5000";

std::string script(const std::string& name) {
  return std::string{TUTTI_SOURCE_DIR} + "/scripts/" + name;
}

/// What came instead of what was asked for.
std::string why_not(const bridge::http_event& e) {
  if (const auto* said = std::get_if<protocol::answered>(&e))
    return fmt::format("{} {}", said->status, said->body);
  if (const auto* closed = std::get_if<protocol::stream_closed>(&e))
    return closed->why.empty() ? "the server has ended it" : closed->why;
  return "no answer";
}

/// Exchanges of one batch: some run, the rest waits.
class batch {
public:
  batch(bridge::http_client& by, std::atomic<std::uint64_t>& last_id,
        std::vector<protocol::http_request> all)
      : by_(by), last_id_(last_id), all_(std::move(all)), answers_(all_.size()) {}

  std::vector<std::string> run(std::size_t at_once) {
    {
      const std::lock_guard held{lock_};
      for (std::size_t i = 0; i < at_once && next_ < all_.size(); ++i)
        send_next();
    }
    std::unique_lock held{lock_};
    is_done_.wait(held, [this] { return answered_ == all_.size(); });
    return std::move(answers_);
  }

private:
  void send_next() {
    const auto i = next_++;
    by_.start(++last_id_, all_[i], [this, i](const bridge::http_event& e) { hear(i, e); });
  }
  void hear(std::size_t i, const bridge::http_event& e) {
    const auto* said = std::get_if<protocol::answered>(&e);
    if (said == nullptr || said->status >= 300)
      fail(fmt::format("{} {}: {}", all_[i].method, all_[i].target, why_not(e)));
    const std::lock_guard held{lock_};
    answers_[i] = said->body;
    ++answered_;
    if (next_ < all_.size())
      send_next();
    if (answered_ == all_.size())
      is_done_.notify_one();
  }

  bridge::http_client& by_;
  std::atomic<std::uint64_t>& last_id_;
  std::vector<protocol::http_request> all_;
  std::vector<std::string> answers_;
  std::mutex lock_;
  std::condition_variable is_done_;
  std::size_t next_ = 0;
  std::size_t answered_ = 0;
};

/// The first value of a field that stands in `metadata` before anything that could contain it.
/// Nothing else of a line is read: what is measured beside us must not wait for our reading.
std::string first_value(std::string_view line, std::string_view field) {
  const auto begin = line.find(field);
  if (begin == line.npos)
    return {};
  const auto rest = line.substr(begin + field.size());
  return std::string{rest.substr(0, rest.find('"'))};
}

} // namespace

std::string why_no_control_plane() {
  const auto said = fs::temp_directory_path() / fmt::format("tutti-bench-assets-{}", ::getpid());
  child look{
      {"sh", "-c",
       fmt::format("'{}' --find >/dev/null 2>'{}'", script("kube_assets.sh"), said.string())}};
  const auto code = look.wait();
  std::ifstream file{said};
  std::string line;
  std::getline(file, line);
  fs::remove(said);
  return code == 0 ? "" : line.empty() ? "the parts of a control plane are not there" : line;
}

protocol::http_request creation_of(const json::object& what) {
  const std::string_view kind = what.at("kind").as_string();
  std::string path = "/api/v1/nodes";
  if (kind == "Pod")
    path = "/api/v1/namespaces/default/pods";
  else if (kind == "PodGroup")
    path = fmt::format("/apis/{}/namespaces/default/podgroups",
                       std::string_view{what.at("apiVersion").as_string()});
  return {.method = "POST", .target = std::move(path), .body = json::serialize(what)};
}

live_cluster::live_cluster() : home_(temporary_directory()), state_(home_ / "plane") {
  child start{{script("control_plane.sh"), "start", "-d", state_.string(), "--scheduler",
               "--scheduler-arg", fmt::format("--kube-api-qps={}", kube_scheduler_qps),
               "--scheduler-arg", fmt::format("--kube-api-burst={}", kube_scheduler_qps), "--while",
               std::to_string(::getpid())}};
  if (start.wait() != 0)
    fail("the control plane does not start");
  stop_kube_scheduler();
  const auto machine = bridge::this_machine(clock_);
  const auto where = cli::find_access({.kubeconfig = file("kubeconfig")}, {}, *machine);
  if (!where)
    fail(where.error().message());
  auto access = cli::open_access(*where, machine, [] { return false; });
  if (!access)
    fail(access.error().message());
  access->how.user_agent = "tutti-bench";
  access->how.failed = [](const base::error& e, bool) { fail(e.message()); };
  client_ = std::make_unique<bridge::http_client>(access->by, access->how);
  watch_bound();
}

live_cluster::~live_cluster() {
  client_.reset();
  child{{script("control_plane.sh"), "stop", "-d", state_.string()}}.wait();
  std::error_code ignored;
  fs::remove_all(home_, ignored);
}

/// Pods appear in it when they have a node. A server under load closes a watch whose reader it
/// takes for slow: it is opened again where it was.
void live_cluster::watch_bound() {
  const protocol::http_request request{
      .method = "GET",
      .target = fmt::format("/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=86400"
                            "&fieldSelector=spec.nodeName%21%3D{}{}",
                            seen_.empty() ? "" : "&resourceVersion=", seen_),
      .is_stream = true};
  client_->start(++last_id_, request, [this](const bridge::http_event& e) {
    if (const auto* told = std::get_if<protocol::stream_lines>(&e))
      read_bound(told->lines);
    else if (std::get_if<protocol::stream_closed>(&e) != nullptr)
      watch_bound();
    else if (std::get_if<protocol::stream_opened>(&e) == nullptr)
      fail("no watch of bound pods: " + why_not(e));
  });
}

void live_cluster::read_bound(std::string_view lines) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard held{lock_};
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    const auto line = lines.substr(0, end);
    lines.remove_prefix(end == lines.npos ? lines.size() : end + 1);
    const auto name = first_value(line, "\"metadata\":{\"name\":\"");
    if (line.starts_with("{\"type\":\"ADDED\""))
      bound_.emplace(name, now);
    else if (line.starts_with("{\"type\":\"DELETED\""))
      bound_.erase(name);
    else if (line.starts_with("{\"type\":\"ERROR\""))
      fail("the watch of bound pods: " + std::string{line});
    seen_ = first_value(line, "\"resourceVersion\":\"");
  }
}

std::vector<std::string> live_cluster::send(std::vector<protocol::http_request> all,
                                            std::size_t at_once) {
  return batch{*client_, last_id_, std::move(all)}.run(at_once);
}

std::vector<std::string> live_cluster::create(const objects& what) {
  std::vector<protocol::http_request> all;
  all.reserve(what.size());
  for (const auto& x : what)
    all.push_back(creation_of(x));
  return send(std::move(all), created_at_once);
}

void live_cluster::delete_pods() {
  send({{.method = "DELETE",
         .target = "/api/v1/namespaces/default/pods",
         .body = R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})"}},
       1);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (bound_count() > 0) {
    if (std::chrono::steady_clock::now() > until)
      fail("deleted pods do not go away");
    std::this_thread::sleep_for(20ms);
  }
}

std::vector<std::string> live_cluster::record(protocol::http_request stream,
                                              const std::string& end) {
  std::vector<std::string> pieces;
  std::promise<void> is_whole;
  auto whole = is_whole.get_future();
  bool is_over = false;
  const auto id = ++last_id_;
  client_->start(id, stream, [&, target = stream.target](const bridge::http_event& e) {
    const auto* told = std::get_if<protocol::stream_lines>(&e);
    if (is_over || std::get_if<protocol::stream_opened>(&e) != nullptr)
      return;
    if (told == nullptr)
      fail(fmt::format("{}: {}", target, why_not(e)));
    pieces.push_back(told->lines);
    is_over = told->lines.find(end) != std::string::npos;
    if (is_over)
      is_whole.set_value();
  });
  whole.wait();
  client_->hang_up(id);
  // The client's thread may be about to call once more; an exchange after the hang-up is not.
  send({{.method = "GET", .target = "/version"}}, 1);
  return pieces;
}

std::map<std::string, moment> live_cluster::bound() const {
  const std::lock_guard held{lock_};
  return bound_;
}

std::size_t live_cluster::bound_count() const {
  const std::lock_guard held{lock_};
  return bound_.size();
}

void live_cluster::forget_bound() {
  const std::lock_guard held{lock_};
  bound_.clear();
}

bool live_cluster::wait_bound(std::size_t pods, std::chrono::seconds patience) const {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (bound_count() < pods) {
    if (std::chrono::steady_clock::now() > until)
      return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

void live_cluster::control(const std::string& verb, const std::string& part) const {
  if (child{{script("control_plane.sh"), verb, part, "-d", state_.string()}}.wait() != 0)
    fail(fmt::format("cannot {} {}", verb, part));
}

void live_cluster::start_kube_scheduler() const {
  control("again", "kube-scheduler");
}

void live_cluster::stop_kube_scheduler() const {
  control("kill", "kube-scheduler");
}

std::unique_ptr<child> live_cluster::start_tutti() {
  const auto store = home_ / fmt::format("store-{}", ++schedulers_);
  return std::make_unique<child>(std::vector<std::string>{
      TUTTI_PROGRAM, "scheduler", "--quiet", "--kubeconfig", file("kubeconfig"), "--data-dir",
      store.string(), "--admin", "", "--topology", rack_label});
}

} // namespace tutti::bench
