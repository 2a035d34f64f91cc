// Asio around the connections: reading, writing, accepting, and the turn that follows each batch.
#include "sim/api_server/server.hpp"

#include <pthread.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/seed.hpp"
#include "sim/api_server/connection.hpp"
#include "sim/api_server/disk.hpp"
#include "sim/api_server/rehearsal.hpp"

namespace tutti::sim::api_server {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using stream_socket = asio::generic::stream_protocol::socket;

using namespace std::chrono_literals;

/// How old a look at the disk may be when a request is judged by it: the reserve outlasts it.
constexpr auto disk_look_lasts = 20ms;
/// Enough for a pipelined burst of bindings; larger bodies take several reads.
constexpr std::size_t read_bytes = 64u << 10;

control_plane::options plane_options(const server::options& o, release kubernetes,
                                     std::uint64_t seed) {
  control_plane::options out;
  out.kubernetes = kubernetes;
  out.default_scheduler = o.default_scheduler;
  out.seed = seed;
  out.keeps.is_durable_at_once = o.data_dir.empty();
  out.nodes.is_on = o.runs_pods;
  return out;
}

} // namespace

struct server::inside {
  struct session {
    session(stream_socket s, control_plane& plane) : socket(std::move(s)), http(plane) {}
    stream_socket socket;
    connection http;
    std::array<char, read_bytes> buffer;
    std::string writing; ///< on its way; empty if no write is under way
    bool is_closed = false;
  };
  struct waiter {
    revision after = 0;
    std::promise<base::result<applied>> promise;
    base::result<applied> value;
  };

  inside(const control_plane::options& o, std::unique_ptr<disk> on, const base::clock& time)
      : clock(time), how(o), plane(o, time), store_on_disk(std::move(on)), timer(io), acceptor(io) {
  }

  const base::clock& clock;
  const control_plane::options how;
  control_plane plane;
  std::unique_ptr<disk> store_on_disk;
  asio::io_context io;
  asio::steady_timer timer;
  asio::ip::tcp::acceptor acceptor;
  std::list<std::shared_ptr<session>> sessions;
  std::list<waiter> waiters;
  std::thread thread;
  bool has_turn = false;
  bool is_syncing = false;
  persistence::disk_space space; ///< of the disk, when it was looked at last
  base::time_point looks_again{};
  std::string failure; ///< the disk's, if it has failed
  std::uint64_t watch_events_of_closed = 0;
  std::atomic<std::uint16_t> port{0};
  std::atomic<revision> last{0};
  std::atomic<std::size_t> pending{0};
  std::atomic<std::uint64_t> watch_events{0};
  std::atomic<bool> is_stopped{false};

  base::result<void> listen(const listen_address& at);
  base::result<applied> apply_here(std::function<base::result<applied>()> writes);
  void accept();
  void add(stream_socket s);
  void read(const std::shared_ptr<session>& s);
  void flush(const std::shared_ptr<session>& s);
  void close(const std::shared_ptr<session>& s);
  void request_turn();
  void turn();
  void look_at_disk();
  void sync();
  void synced(revision up_to, base::result<void> done);
  void arm();
  void publish();
};

base::result<void> server::inside::listen(const listen_address& at) {
  error_code failed;
  auto address = asio::ip::make_address(at.host, failed);
  if (failed)
    return base::error{base::code::bad_input, fmt::format("{} is no IP address", at.host)};
  asio::ip::tcp::endpoint where{address, at.port};
  acceptor.open(where.protocol(), failed);
  if (!failed)
    acceptor.set_option(asio::socket_base::reuse_address{true}, failed);
  if (!failed)
    acceptor.bind(where, failed);
  if (!failed)
    acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed == asio::error::address_in_use)
    return base::error{base::code::already_exists,
                       fmt::format("port {} on {} is in use", at.port, at.host),
                       "choose another one with --listen, or port 0 for any free one"};
  if (failed)
    return base::error{base::code::io, fmt::format("cannot listen on {}:{}: {}", at.host, at.port,
                                                   failed.message())};
  port = acceptor.local_endpoint().port();
  accept();
  return {};
}

void server::inside::accept() {
  acceptor.async_accept([this](error_code failed, asio::ip::tcp::socket s) {
    if (failed == asio::error::operation_aborted || !acceptor.is_open())
      return;
    if (!failed) {
      s.set_option(asio::ip::tcp::no_delay{true}, failed);
      add(stream_socket{std::move(s)});
    }
    accept();
  });
}

void server::inside::add(stream_socket s) {
  auto made = std::make_shared<session>(std::move(s), plane);
  sessions.push_back(made);
  read(made);
}

void server::inside::read(const std::shared_ptr<session>& s) {
  s->socket.async_read_some(asio::buffer(s->buffer), [this, s](error_code failed, std::size_t n) {
    if (failed || !failure.empty())
      return close(s);
    look_at_disk();
    s->http.receive({s->buffer.data(), n});
    request_turn();
    read(s);
  });
}

void server::inside::flush(const std::shared_ptr<session>& s) {
  if (s->is_closed || !s->writing.empty())
    return;
  if (s->http.output().empty()) {
    if (s->http.is_done())
      close(s);
    return;
  }
  std::swap(s->writing, s->http.output());
  asio::async_write(s->socket, asio::buffer(s->writing), [this, s](error_code failed, std::size_t) {
    s->writing.clear();
    if (failed)
      return close(s);
    s->http.pump(clock.now());
    flush(s);
  });
}

void server::inside::close(const std::shared_ptr<session>& s) {
  if (std::exchange(s->is_closed, true))
    return;
  watch_events_of_closed += s->http.watch_events();
  error_code ignored;
  s->socket.shutdown(asio::socket_base::shutdown_both, ignored);
  s->socket.close(ignored);
  sessions.remove(s);
}

void server::inside::request_turn() {
  if (std::exchange(has_turn, true))
    return;
  asio::post(io, [this] { turn(); }); // behind all reads that are ready now
}

void server::inside::turn() {
  has_turn = false;
  auto now = clock.now();
  if (failure.empty())
    plane.on_time(now);
  sync();
  auto copy = sessions; // closing takes a session out of the list
  for (const auto& s : copy) {
    s->http.pump(now);
    flush(s);
  }
  for (auto it = waiters.begin(); it != waiters.end();) {
    if (it->after > plane.objects().durable()) {
      ++it;
      continue;
    }
    it->promise.set_value(std::move(it->value));
    it = waiters.erase(it);
  }
  publish();
  arm();
}

/// F9: a full disk is seen before it is written to. Requests that would write are refused, and what
/// is applied already waits in memory, unanswered, until there is space.
void server::inside::look_at_disk() {
  const auto now = clock.now();
  if (!store_on_disk || now < looks_again)
    return;
  looks_again = now + disk_look_lasts;
  space = store_on_disk->look();
  plane.say_disk(space);
}

void server::inside::sync() {
  if (!store_on_disk || is_syncing || !plane.objects().has_writes() || !failure.empty())
    return;
  look_at_disk();
  if (space.has_none())
    return;
  is_syncing = true;
  auto up_to = plane.objects().last();
  store_on_disk->write(
      plane.objects().take_writes(), up_to, [this, up_to](base::result<void> done) {
        asio::post(io, [this, up_to, done = std::move(done)] { synced(up_to, done); });
      });
}

void server::inside::synced(revision up_to, base::result<void> done) {
  is_syncing = false;
  if (done) {
    plane.objects().mark_durable(up_to);
    return turn();
  }
  failure = done.error().message();
  for (const auto& s : sessions) {
    s->http.fail(failure);
    flush(s);
  }
  for (auto& w : waiters)
    w.promise.set_value(done.error());
  waiters.clear();
}

void server::inside::arm() {
  auto next = plane.next_deadline();
  for (const auto& s : sessions)
    if (auto own = s->http.next_deadline(); own && (!next || *own < *next))
      next = own;
  if (space.has_none() && plane.objects().has_writes()) {
    const auto look = clock.now() + std::chrono::milliseconds{persistence::disk_look_interval_ms};
    next = next ? std::min(*next, look) : look;
  }
  if (!next)
    return;
  auto wait = std::max(*next - clock.now(), base::duration{0});
  timer.expires_after(wait);
  timer.async_wait([this](error_code failed) {
    if (!failed)
      turn();
  });
}

void server::inside::publish() {
  last = plane.objects().last();
  pending = plane.pending_work();
  auto sum = watch_events_of_closed;
  for (const auto& s : sessions)
    sum += s->http.watch_events();
  watch_events = sum;
}

server::server(std::unique_ptr<inside> in) : in_(std::move(in)) {}

server::~server() {
  stop();
}

base::result<std::unique_ptr<server>> server::open(const options& o, const base::clock& time) {
  auto kubernetes = api::release_of(o.kubernetes);
  if (!kubernetes)
    return base::error{base::code::bad_input,
                       fmt::format("Kubernetes {} is not served", o.kubernetes),
                       "use 1.37, 1.36 or 1.35"};
  std::unique_ptr<disk> kept;
  if (!o.data_dir.empty()) {
    auto opened = disk::open(o.data_dir, *kubernetes,
                             {.seed = o.seed, .reserve = o.disk_reserve, .env = o.env});
    if (!opened)
      return opened.error();
    kept = std::move(opened.value());
  }
  const auto seed = kept ? kept->seed() : o.seed ? *o.seed : base::draw_seed();
  auto in = std::make_unique<inside>(plane_options(o, *kubernetes, seed), std::move(kept), time);
  if (in->store_on_disk)
    if (auto loaded = in->store_on_disk->load(in->plane.objects()); !loaded)
      return loaded.error();
  in->plane.begin();
  if (o.listen)
    if (auto listening = in->listen(*o.listen); !listening)
      return listening.error();
  in->publish();
  in->request_turn();
  in->thread = std::thread{[raw = in.get()] {
    ::pthread_setname_np(::pthread_self(), "api.serve");
    auto guard = asio::make_work_guard(raw->io);
    raw->io.run();
  }};
  return std::unique_ptr<server>{new server{std::move(in)}};
}

base::result<int> server::connect() {
  if (in_->is_stopped)
    return base::error{base::code::unavailable, "the API server is stopped"};
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return base::error{base::code::io, "no more socket pairs"};
  stream_socket ours{in_->io};
  error_code failed;
  ours.assign(asio::generic::stream_protocol{AF_UNIX, 0}, ends[0], failed);
  ensure(!failed, failed.message());
  auto shared = std::make_shared<stream_socket>(std::move(ours));
  asio::post(in_->io, [in = in_.get(), shared] { in->add(std::move(*shared)); });
  return ends[1];
}

std::uint16_t server::port() const {
  return in_->port;
}

/// Lets the serving thread write, and returns when that is durable.
base::result<applied> server::inside::apply_here(std::function<base::result<applied>()> writes) {
  if (is_stopped)
    return base::error{base::code::unavailable, "the API server is stopped"};
  std::promise<base::result<applied>> promise;
  auto future = promise.get_future();
  asio::post(io, [this, &writes, promise = std::move(promise)]() mutable {
    waiter w;
    w.promise = std::move(promise);
    look_at_disk();
    w.value = writes();
    w.after = plane.objects().last();
    waiters.push_back(std::move(w));
    turn();
  });
  return future.get();
}

base::result<applied> server::apply(std::vector<json::object> objects,
                                    std::vector<std::string> places) {
  return in_->apply_here([&] { return in_->plane.apply(objects, places); });
}

base::result<applied> server::apply_whole(std::vector<json::object> objects,
                                          std::vector<std::string> places,
                                          const base::step_watch& watch) {
  return in_->apply_here([&]() -> base::result<applied> {
    if (auto ok = rehearse(in_->plane, in_->how, in_->clock, objects, places, watch); !ok)
      return ok.error();
    return in_->plane.apply(objects, places, [&](std::size_t done) {
      return base::goes_on(watch, objects.size() + done);
    });
  });
}

revision server::last_resource_version() const {
  return in_->last;
}

std::size_t server::pending_work() const {
  return in_->pending;
}

std::map<std::string, std::uint64_t, std::less<>> server::requests() const {
  if (in_->is_stopped)
    return in_->plane.requests().counters();
  std::promise<std::map<std::string, std::uint64_t, std::less<>>> promise;
  auto future = promise.get_future();
  asio::post(in_->io,
             [in = in_.get(), &promise] { promise.set_value(in->plane.requests().counters()); });
  return future.get();
}

std::uint64_t server::watch_events() const {
  return in_->watch_events;
}

void server::stop() {
  if (in_->is_stopped.exchange(true))
    return;
  asio::post(in_->io, [in = in_.get()] {
    error_code ignored;
    in->acceptor.close(ignored);
    in->timer.cancel();
    in->io.stop();
  });
  in_->thread.join();
  in_->store_on_disk.reset(); // its thread may still post; nobody runs that any more
  for (auto& w : in_->waiters)
    w.promise.set_value(base::error{base::code::unknown_outcome, "the API server was stopped"});
  in_->waiters.clear();
  in_->sessions.clear();
}

} // namespace tutti::sim::api_server
