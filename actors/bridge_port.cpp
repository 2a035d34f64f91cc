#include "actors/bridge_port.hpp"

#include <future>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <pthread.h>

#include "actors/link_connection.hpp"
#include "actors/link_stream.hpp"
#include "bridge/stream_io.hpp"

namespace tutti::actors {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::code;
using base::error;

// Arguments of what is awaited have names: g++ 12 copies those without one byte by byte, strings
// too.

namespace {

/// How long whoever looks waits for the port's thread, which never waits itself.
constexpr auto look_patience = std::chrono::seconds{2};
/// How often an ending port looks whether the last answers have come.
constexpr auto ending_look = std::chrono::milliseconds{10};

struct visit {
  asio::cancellation_signal stop;
  std::shared_ptr<link_connection> now; ///< null: not that far
};

error ended() {
  return {code::unavailable, "the bridge ends"};
}

class port_of_bridge final : public bridge_port {
public:
  explicit port_of_bridge(options how)
      : how_(std::move(how)), acceptor_(io_), renewal_(io_), ending_(io_),
        work_(io_.get_executor()) {
    if (how_.tls)
      identity_.emplace(*how_.tls, how_.machine, how_.times.certificates_last);
  }
  ~port_of_bridge() override { end({}); }

  base::result<void> listen();
  void begin(http_carrier& http, std::uint64_t seed) override;
  void serve_cluster(const std::string& uid) override {
    asio::post(io_, [this, uid] { cluster_ = uid; });
  }
  void end(base::duration patience) override;
  std::uint16_t port() const override { return port_; }
  std::optional<bridge_view> look() override;
  std::shared_ptr<api_calls> calls() const override { return calls_; }

private:
  asio::awaitable<void> accept();
  asio::awaitable<void> welcome(tcp::socket socket, std::shared_ptr<visit> x);
  asio::awaitable<error> serve(tcp::socket socket, visit& x, std::string& name);
  asio::awaitable<void> end_in_order(base::duration patience);
  void close_all(const error& why);
  void say(const std::string& scheduler, const error* why) const {
    if (how_.changed && !is_ending_)
      how_.changed(scheduler, why);
  }
  link_identity* who() { return identity_ ? &*identity_ : nullptr; }

  const options how_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer renewal_;
  asio::steady_timer ending_;
  std::uint16_t port_ = 0;
  std::optional<link_identity> identity_;
  std::string cluster_;
  std::set<std::shared_ptr<visit>> visits_;
  std::optional<bridge_desk> desk_;
  std::shared_ptr<api_calls> calls_;
  stranger_news news_;
  bool is_ending_ = false;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

base::result<void> port_of_bridge::listen() {
  if (identity_)
    if (auto ok = identity_->look(); !ok)
      return ok.error();
  if (auto ok = listen_at(acceptor_, how_.listen); !ok)
    return ok;
  boost::system::error_code ec;
  port_ = acceptor_.local_endpoint(ec).port();
  return {};
}

void port_of_bridge::begin(http_carrier& http, std::uint64_t seed) {
  desk_.emplace(bridge_desk::parts{io_, http, how_.machine->clock(), seed});
  calls_ = desk_->calls();
  asio::co_spawn(io_, accept(), asio::detached);
  if (identity_) {
    const renewal_ears tell{[this] { return is_ending_; },
                            [this](const error& trouble) { say({}, &trouble); },
                            [this] {
                              close_all({code::unavailable, "there is a new certificate"});
                            }};
    asio::co_spawn(io_,
                   watch_certificates(*identity_, renewal_, how_.times.certificates_last, tell),
                   asio::detached);
  }
  thread_ = std::thread([this] { io_.run(); });
  ::pthread_setname_np(thread_.native_handle(), "bridge");
}

/// Runs until the last coroutine has ended: each holds what it works on.
void port_of_bridge::end(base::duration patience) {
  if (!thread_.joinable())
    return;
  asio::post(io_, [this, patience] {
    is_ending_ = true;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    renewal_.cancel();
    desk_->begin_ending();
    asio::co_spawn(io_, end_in_order(patience), asio::detached);
  });
  thread_.join();
}

asio::awaitable<void> port_of_bridge::end_in_order(base::duration patience) {
  for (base::duration waited{}; desk_->has_writes_in_flight() && waited < patience;
       waited += ending_look) {
    ending_.expires_after(ending_look);
    co_await ending_.async_wait(bridge::without_exceptions);
  }
  ending_.expires_after(ending_look); // the last answers leave
  co_await ending_.async_wait(bridge::without_exceptions);
  close_all(ended());
  const auto visits = visits_; // each takes itself out
  for (const auto& x : visits)
    x->stop.emit(asio::cancellation_type::terminal);
  while (!visits_.empty()) {
    ending_.expires_after(ending_look);
    co_await ending_.async_wait(bridge::without_exceptions);
  }
  desk_.reset();
  work_.reset();
}

void port_of_bridge::close_all(const error& why) {
  const auto visits = visits_;
  for (const auto& x : visits)
    if (x->now)
      x->now->close(why);
}

asio::awaitable<void> port_of_bridge::accept() {
  while (!is_ending_) {
    auto [ec, socket] = co_await acceptor_.async_accept(bridge::without_exceptions);
    if (ec && !acceptor_.is_open())
      co_return;
    if (ec) { // no descriptors are left, say: they come back
      asio::steady_timer pause{io_, how_.times.retry_first};
      co_await pause.async_wait(bridge::without_exceptions);
    } else if (visits_.size() < limits::link_guests_max) {
      auto x = std::make_shared<visit>();
      visits_.insert(x);
      asio::co_spawn(io_, welcome(std::move(socket), x),
                     asio::bind_cancellation_slot(x->stop.slot(), asio::detached));
    }
  }
}

asio::awaitable<void> port_of_bridge::welcome(tcp::socket socket, std::shared_ptr<visit> x) {
  co_await asio::this_coro::throw_if_cancelled(false);
  std::string name;
  const auto why = co_await serve(std::move(socket), *x, name);
  if (x->now)
    x->now->close(why);
  visits_.erase(x);
  if (!name.empty() || news_.is_news(why.message()))
    say(name, &why);
}

/// Sets `name` once its owner was let in.
asio::awaitable<error> port_of_bridge::serve(tcp::socket socket, visit& x, std::string& name) {
  const auto made = co_await welcome_stream(std::move(socket), who(), how_.times.patience);
  if (!made)
    co_return made.error();
  const auto me = x.now =
      std::make_shared<link_connection>(made->stream, how_.times, protocol::frame_kind::exchange);
  const link_connection::judge may_come = [&made, this](const auto& called) {
    return check_name(*made, who(), called);
  };
  const protocol::link_hello ours{
      .cluster = cluster_, .replica = bridge_name, .purpose = protocol::link_purpose::bridge};
  const auto greeted = co_await me->greet(ours, may_come);
  if (!greeted)
    co_return greeted.error();
  if (is_ending_)
    co_return ended();
  name = greeted->replica;
  const auto out = std::make_shared<link_queue>(io_.get_executor(), how_.queue_bytes_most);
  const auto id = desk_->arrive(name, out, [me](error why) { me->close(std::move(why)); });
  out->refill_with([this, id] { desk_->refill(id); });
  say(name, nullptr);
  const link_connection::ear hear = [this, id](std::string_view frame) { desk_->hear(id, frame); };
  const std::function<void()> nobody_waits;
  auto why = co_await me->run(out, hear, nobody_waits);
  out->close();
  desk_->leave(id);
  co_return of_link(why);
}

std::optional<bridge_view> port_of_bridge::look() {
  auto promised = std::make_shared<std::promise<bridge_view>>();
  auto coming = promised->get_future();
  asio::post(io_, [this, promised] {
    if (desk_)
      promised->set_value(desk_->look());
  });
  if (coming.wait_for(look_patience) != std::future_status::ready)
    return std::nullopt;
  return coming.get();
}

} // namespace

base::result<std::unique_ptr<bridge_port>> bridge_port::open(options how) {
  auto made = std::make_unique<port_of_bridge>(std::move(how));
  if (auto ok = made->listen(); !ok)
    return ok.error();
  return std::unique_ptr<bridge_port>{std::move(made)};
}

} // namespace tutti::actors
