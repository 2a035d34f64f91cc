#include "actors/tcp_links.hpp"

#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/core.h>

#include "actors/link_connection.hpp"
#include "actors/link_stream.hpp"
#include "base/hash.hpp"
#include "bridge/backoff.hpp"
#include "bridge/printable.hpp"
#include "bridge/stream_io.hpp"

namespace tutti::actors {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::code;
using base::error;

// Arguments of what is awaited have names: g++ 12 copies those without one byte by byte, strings
// too.

namespace {

/// What this replica says to another: connected, or trying to be.
struct line {
  line(asio::io_context& io, std::string name, std::string where, std::size_t queue_bytes)
      : replica(std::move(name)), reached_at(std::move(where)),
        queue(std::make_shared<link_queue>(io.get_executor(), queue_bytes)), rest(io) {}
  const std::string replica;
  const std::string reached_at;
  const std::shared_ptr<link_queue> queue;
  asio::steady_timer rest;
  asio::cancellation_signal stop;
  std::shared_ptr<link_connection> now;
  bool is_over = false;
};

/// A connection that somebody has made to us.
struct guest {
  asio::cancellation_signal stop;
  std::shared_ptr<link_connection> now; ///< null: not that far
};

error ended() {
  return {code::unavailable, "ended here"};
}

class sockets final : public tcp_links {
public:
  explicit sockets(options how)
      : how_(std::move(how)), hello_{.cluster = how_.cluster, .replica = how_.replica},
        acceptor_(io_), renewal_(io_) {
    if (how_.tls)
      identity_.emplace(*how_.tls, how_.machine, how_.times.certificates_last);
  }

  ~sockets() override { end(); }

  base::result<void> listen();
  void begin(ear hears) override;
  void end() override;
  std::uint16_t port() const override { return port_; }
  void carry(const std::string& replica, std::string frame) override;
  void reach(const std::vector<protocol::peer>& live) override;
  std::vector<link_state> states() const override;

private:
  asio::awaitable<void> accept();
  asio::awaitable<void> welcome(tcp::socket socket, std::shared_ptr<guest> x);
  asio::awaitable<error> serve(tcp::socket socket, guest& x, std::string& name);
  asio::awaitable<void> keep(std::shared_ptr<line> x);
  asio::awaitable<error> talk(line& x, bool& was_up);
  asio::awaitable<base::result<bridge::byte_stream_ptr>> connect(const line& x);
  void reach_here(const std::vector<protocol::peer>& live);
  void say(const std::string& replica, const error* why);
  void close_all(const error& why);
  static void stop(line& x, const error& why);

  const options how_;
  const protocol::link_hello hello_;
  const std::shared_ptr<link_queue> nothing_to_say_;
  const std::function<void()> nobody_waits_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer renewal_;
  std::uint16_t port_ = 0;
  std::optional<link_identity> identity_;
  ear hears_;
  std::map<std::string, std::shared_ptr<line>> lines_; // of the links' thread
  std::set<std::shared_ptr<guest>> guests_;
  stranger_news news_;
  bool is_ending_ = false;

  mutable std::mutex mutex_; // guards what follows
  std::map<std::string, std::pair<link_state, std::shared_ptr<link_queue>>> known_;
  std::thread thread_;
};

base::result<void> sockets::listen() {
  if (identity_)
    if (auto ok = identity_->look(); !ok)
      return ok.error();
  if (auto ok = listen_at(acceptor_, how_.listen); !ok)
    return ok;
  boost::system::error_code ec;
  port_ = acceptor_.local_endpoint(ec).port();
  return {};
}

void sockets::begin(ear hears) {
  hears_ = std::move(hears);
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
}

/// Runs until the last coroutine has ended: each holds what it works on, and none waits any more
/// but for a look-up of a name that the system has begun.
void sockets::end() {
  if (!thread_.joinable())
    return;
  asio::post(io_, [this] {
    is_ending_ = true;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    renewal_.cancel();
    close_all(ended());
    for (const auto& [name, x] : lines_)
      stop(*x, ended());
    const auto guests = guests_; // each takes itself out
    for (const auto& x : guests)
      x->stop.emit(asio::cancellation_type::terminal);
  });
  thread_.join();
}

void sockets::close_all(const error& why) {
  for (const auto& [name, x] : lines_)
    if (const auto now = x->now)
      now->close(why);
  const auto guests = guests_;
  for (const auto& x : guests)
    if (x->now)
      x->now->close(why);
}

void sockets::stop(line& x, const error& why) {
  x.is_over = true;
  if (const auto now = x.now)
    now->close(why);
  x.stop.emit(asio::cancellation_type::terminal);
}

void sockets::say(const std::string& replica, const error* why) {
  {
    const std::lock_guard lock{mutex_};
    if (auto pos = known_.find(replica); pos != known_.end()) {
      pos->second.first.is_up = why == nullptr;
      pos->second.first.trouble = why == nullptr ? std::string{} : why->message();
    }
  }
  if (how_.changed && !is_ending_)
    how_.changed(replica, why);
}

// ---- what others say

asio::awaitable<void> sockets::accept() {
  while (!is_ending_) {
    auto [ec, socket] = co_await acceptor_.async_accept(bridge::without_exceptions);
    if (ec && !acceptor_.is_open())
      co_return;
    if (ec) { // no descriptors are left, say: they come back
      asio::steady_timer pause{io_, how_.times.retry_first};
      co_await pause.async_wait(bridge::without_exceptions);
    } else if (guests_.size() < limits::link_guests_max) {
      auto x = std::make_shared<guest>();
      guests_.insert(x);
      asio::co_spawn(io_, welcome(std::move(socket), x),
                     asio::bind_cancellation_slot(x->stop.slot(), asio::detached));
    }
  }
}

asio::awaitable<void> sockets::welcome(tcp::socket socket, std::shared_ptr<guest> x) {
  co_await asio::this_coro::throw_if_cancelled(false);
  std::string name;
  const auto why = co_await serve(std::move(socket), *x, name);
  if (x->now)
    x->now->close(why);
  guests_.erase(x);
  if (name.empty() && news_.is_news(why.message()))
    say({}, &why);
}

/// Sets `name` once its owner was let in.
asio::awaitable<error> sockets::serve(tcp::socket socket, guest& x, std::string& name) {
  auto* who = identity_ ? &*identity_ : nullptr;
  const auto made = co_await welcome_stream(std::move(socket), who, how_.times.patience);
  if (!made)
    co_return made.error();
  const auto me = x.now = std::make_shared<link_connection>(made->stream, how_.times);
  const link_connection::judge may_come = [&made, who](const auto& called) {
    return check_name(*made, who, called);
  };
  const auto greeted = co_await me->greet(hello_, may_come);
  if (!greeted)
    co_return greeted.error();
  if (is_ending_)
    co_return ended();
  name = greeted->replica;
  const link_connection::ear hear = [this, &name](std::string_view frame) {
    {
      const std::lock_guard lock{mutex_};
      if (auto pos = known_.find(name); pos != known_.end())
        ++pos->second.first.heard;
    }
    hears_(name, frame);
  };
  auto why = co_await me->run(nothing_to_say_, hear, nobody_waits_);
  co_return why;
}

// ---- what is said to others

void sockets::carry(const std::string& replica, std::string frame) {
  auto whole = frame_of(protocol::frame_kind::envelope, frame); // may be long: not under the lock
  const std::lock_guard lock{mutex_};
  const auto pos = known_.find(replica);
  if (pos == known_.end())
    return;
  auto& [state, queue] = pos->second;
  ++(queue->push(std::move(whole)) ? state.sent : state.dropped);
}

void sockets::reach(const std::vector<protocol::peer>& live) {
  asio::post(io_, [this, live] { reach_here(live); });
}

void sockets::reach_here(const std::vector<protocol::peer>& live) {
  if (is_ending_)
    return;
  std::map<std::string, std::string> wanted;
  for (const auto& p : live)
    if (!p.reached_at.empty())
      wanted[p.replica] = p.reached_at;
  std::erase_if(lines_, [&](const auto& entry) {
    const auto& x = entry.second;
    const auto pos = wanted.find(x->replica);
    if (pos != wanted.end() && pos->second == x->reached_at)
      return false;
    stop(*x, {code::unavailable, "not alive any more, or elsewhere"});
    const std::lock_guard lock{mutex_};
    known_.erase(x->replica);
    return true;
  });
  for (const auto& [name, where] : wanted) {
    if (lines_.contains(name))
      continue;
    auto x = std::make_shared<line>(io_, name, where, how_.queue_bytes_most);
    {
      const std::lock_guard lock{mutex_};
      known_[name] = {
          link_state{.replica = name, .reached_at = where, .trouble = "not reached yet"}, x->queue};
    }
    lines_[name] = x;
    asio::co_spawn(io_, keep(x), asio::bind_cancellation_slot(x->stop.slot(), asio::detached));
  }
}

asio::awaitable<void> sockets::keep(std::shared_ptr<line> x) {
  co_await asio::this_coro::throw_if_cancelled(false);
  std::uint32_t tries = 0;
  std::string said; // the same trouble is not told again
  while (!x->is_over) {
    bool was_up = false;
    const auto why = co_await talk(*x, was_up);
    if (x->is_over)
      break;
    tries = was_up ? 0 : tries + 1;
    if (was_up || said != why.message())
      say(x->replica, &why);
    said = why.message();
    x->rest.expires_after(bridge::backoff({how_.times.retry_first, how_.times.retry_longest}, tries,
                                          base::hash_of(how_.replica), base::hash_of(x->replica)));
    co_await x->rest.async_wait(bridge::without_exceptions);
  }
}

asio::awaitable<base::result<bridge::byte_stream_ptr>> sockets::connect(const line& x) {
  const auto where = parse_host_port(x.reached_at);
  if (!where)
    co_return where.error().in("the link address in its Lease");
  const dial_target target{*where, identity_ ? identity_->name_of(x.replica) : x.replica,
                           how_.times.patience};
  auto stream = co_await dial_stream(io_.get_executor(), target, identity_ ? &*identity_ : nullptr);
  co_return stream;
}

/// One connection to its end; why it ended. Sets `was_up` if the other side has taken us.
asio::awaitable<error> sockets::talk(line& x, bool& was_up) {
  auto stream = co_await connect(x);
  if (!stream)
    co_return stream.error();
  const auto me = x.now = std::make_shared<link_connection>(*stream, how_.times);
  const link_connection::judge may_come = [&x](const auto& who) -> base::result<void> {
    if (who == x.replica)
      return {};
    return error{code::foreign,
                 fmt::format("there is replica {}", bridge::printable(who, name_bytes_shown)),
                 "its Lease names an address that is another's by now"};
  };
  const auto greeted = co_await me->greet(hello_, may_come);
  auto why = greeted ? ended() : greeted.error();
  if (greeted && !x.is_over) {
    const link_connection::ear deaf;
    const std::function<void()> lasts = [&] {
      was_up = true;
      say(x.replica, nullptr);
    };
    why = co_await me->run(x.queue, deaf, lasts);
  }
  me->close(why);
  x.now.reset();
  co_return of_link(why); // under TLS 1.3 we learn only now that our certificate was refused
}

std::vector<link_state> sockets::states() const {
  const std::lock_guard lock{mutex_};
  std::vector<link_state> out;
  for (const auto& [name, x] : known_)
    out.push_back(x.first);
  return out;
}

} // namespace

base::result<std::unique_ptr<tcp_links>> tcp_links::open(options how) {
  auto made = std::make_unique<sockets>(std::move(how));
  if (auto ok = made->listen(); !ok)
    return ok.error();
  return std::unique_ptr<tcp_links>{std::move(made)};
}

} // namespace tutti::actors
