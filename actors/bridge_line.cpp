#include "actors/bridge_line.hpp"

#include <map>
#include <thread>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/core.h>
#include <pthread.h>

#include "actors/link_connection.hpp"
#include "actors/link_stream.hpp"
#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "bridge/backoff.hpp"
#include "bridge/stream_io.hpp"
#include "protocol/bridge_frames.hpp"

namespace tutti::actors {

namespace asio = boost::asio;
using base::code;
using base::error;
using bridge::http_event;

// Arguments of what is awaited have names: g++ 12 copies those without one byte by byte, strings
// too.

namespace {

/// How often exchanges without an answer are looked for.
constexpr auto sweep_interval = std::chrono::seconds{1};

class line_to_bridge final : public bridge::api_client {
public:
  explicit line_to_bridge(bridge_line_options how)
      : how_(std::move(how)),
        queue_(std::make_shared<link_queue>(io_.get_executor(), how_.queue_bytes_most)), rest_(io_),
        renewal_(io_), sweep_(io_) {
    if (how_.tls)
      identity_.emplace(*how_.tls, how_.machine, how_.times.certificates_last);
  }
  ~line_to_bridge() override;

  base::result<void> look_at_files();
  void begin();
  void start(std::uint64_t id, protocol::http_request request, callback heard) override;
  void hang_up(std::uint64_t id) override;

private:
  struct pending {
    std::string frame; ///< while it waits for a connection
    callback heard;
    bool is_stream = false;
    bool is_open = false; ///< a stream that was told so
    std::chrono::steady_clock::time_point since{};
  };

  asio::awaitable<void> keep();
  asio::awaitable<error> talk();
  asio::awaitable<void> sweep();
  void hear(std::string_view frame);
  void tell(std::uint64_t id, http_event what);
  void hand_over(std::uint64_t id, pending& x);
  void lose_all(const error& why);
  link_identity* who() { return identity_ ? &*identity_ : nullptr; }

  const bridge_line_options how_;
  asio::io_context io_{1};
  std::shared_ptr<link_queue> queue_;
  asio::steady_timer rest_;
  asio::steady_timer renewal_;
  asio::steady_timer sweep_;
  asio::cancellation_signal stop_;
  std::optional<link_identity> identity_;
  std::map<std::uint64_t, pending> pending_;
  std::shared_ptr<link_connection> now_;
  std::string cluster_; ///< of the first bridge that said one
  bool is_up_ = false;  ///< frames are taken
  bool is_over_ = false;
  std::thread thread_;
};

base::result<void> line_to_bridge::look_at_files() {
  if (identity_)
    if (auto ok = identity_->look(); !ok)
      return ok.error();
  return {};
}

void line_to_bridge::begin() {
  asio::co_spawn(io_, keep(), asio::bind_cancellation_slot(stop_.slot(), asio::detached));
  asio::co_spawn(io_, sweep(), asio::detached);
  if (identity_) {
    const renewal_ears tell{[this] { return is_over_; },
                            [this](const error& trouble) {
                              if (how_.failed)
                                how_.failed(trouble, true);
                            },
                            [this] {
                              if (const auto now = now_)
                                now->close({code::unavailable, "there is a new certificate"});
                            }};
    asio::co_spawn(io_,
                   watch_certificates(*identity_, renewal_, how_.times.certificates_last, tell),
                   asio::detached);
  }
  thread_ = std::thread([this] { io_.run(); });
  ::pthread_setname_np(thread_.native_handle(), "to-bridge");
}

line_to_bridge::~line_to_bridge() {
  ensure(std::this_thread::get_id() != thread_.get_id());
  asio::post(io_, [this] {
    is_over_ = true;
    pending_.clear();
    rest_.cancel();
    renewal_.cancel();
    sweep_.cancel();
    if (const auto now = now_)
      now->close({code::unavailable, "ended here"});
    stop_.emit(asio::cancellation_type::terminal);
  });
  if (thread_.joinable())
    thread_.join();
}

// ---------------------------------------------------------------- exchanges

void line_to_bridge::start(std::uint64_t id, protocol::http_request request, callback heard) {
  pending x;
  x.is_stream = request.is_stream;
  x.heard = std::move(heard);
  const bool is_too_long = request.body.size() > protocol::bridge_body_bytes_max;
  if (!is_too_long)
    x.frame = frame_of(protocol::frame_kind::exchange,
                       protocol::encode(protocol::exchange{id, std::move(request)}));
  asio::post(io_, [this, id, is_too_long, x = std::move(x)]() mutable {
    if (is_over_)
      return;
    x.since = std::chrono::steady_clock::now();
    const auto [pos, is_new] = pending_.emplace(id, std::move(x));
    ensure(is_new, id);
    if (is_too_long)
      tell(id, protocol::answer_unknown{id, "the request is longer than what a bridge passes on"});
    else if (is_up_)
      hand_over(id, pos->second);
  });
}

void line_to_bridge::hand_over(std::uint64_t id, pending& x) {
  if (!queue_->push(std::exchange(x.frame, {})))
    tell(id, protocol::answer_unknown{id, "too much waits for the bridge"});
}

void line_to_bridge::hang_up(std::uint64_t id) {
  asio::post(io_, [this, id] {
    const auto pos = pending_.find(id);
    if (pos == pending_.end())
      return;
    const bool was_sent = pos->second.frame.empty();
    pending_.erase(pos);
    // If this is lost the connection is, and with it the exchange.
    if (was_sent && is_up_)
      queue_->push(
          frame_of(protocol::frame_kind::exchange, protocol::encode(protocol::hang_up{id})));
  });
}

void line_to_bridge::hear(std::string_view frame) {
  auto said = protocol::decode_bridge_answer(frame);
  if (!said) {
    now_->close(said.error());
    return;
  }
  std::visit([this](auto& x) { tell(x.id, http_event{std::move(x)}); }, *said);
}

/// What was given up is not heard any more.
void line_to_bridge::tell(std::uint64_t id, http_event what) {
  const auto pos = pending_.find(id);
  if (pos == pending_.end())
    return;
  if (std::holds_alternative<protocol::stream_opened>(what))
    pos->second.is_open = true;
  const bool goes_on = std::holds_alternative<protocol::stream_opened>(what)
                       || std::holds_alternative<protocol::stream_lines>(what);
  if (goes_on) {
    pos->second.heard(std::move(what));
    return;
  }
  const auto heard = std::move(pos->second.heard);
  pending_.erase(pos);
  heard(std::move(what));
}

/// Upholds the rule for lost answers (2.9): whoever asked must look before it asks again.
void line_to_bridge::lose_all(const error& why) {
  auto lost = std::exchange(pending_, {});
  for (const auto& [id, x] : lost)
    x.heard(x.is_open ? http_event{protocol::stream_closed{id, why.message()}}
                      : http_event{protocol::answer_unknown{id, why.message()}});
}

/// A bridge that lives and does not answer: its own client has a time limit, so this is rare.
asio::awaitable<void> line_to_bridge::sweep() {
  while (!is_over_) {
    sweep_.expires_after(sweep_interval);
    const auto [ec] = co_await sweep_.async_wait(bridge::without_exceptions);
    if (ec)
      co_return;
    const auto before = std::chrono::steady_clock::now() - how_.timeout;
    std::vector<std::uint64_t> late;
    for (const auto& [id, x] : pending_)
      if (!x.is_stream && x.since < before)
        late.push_back(id);
    for (const auto id : late)
      tell(id, protocol::answer_unknown{id, "timeout"});
  }
}

// ---------------------------------------------------------------- the connection

asio::awaitable<void> line_to_bridge::keep() {
  co_await asio::this_coro::throw_if_cancelled(false);
  std::uint32_t tries = 0;
  while (!is_over_) {
    bool was_up = false;
    const auto why = co_await talk();
    was_up = std::exchange(is_up_, false);
    if (is_over_)
      co_return;
    if (how_.failed) // before those who asked hear that they are not answered
      how_.failed(why, why.what() != code::unavailable);
    if (was_up && how_.changed)
      how_.changed(&why);
    lose_all(why);
    tries = was_up ? 0 : tries + 1;
    rest_.expires_after(bridge::backoff({how_.times.retry_first, how_.times.retry_longest}, tries,
                                        base::hash_of(how_.scheduler), 0));
    co_await rest_.async_wait(bridge::without_exceptions);
  }
}

/// One connection to its end; why it ended.
asio::awaitable<error> line_to_bridge::talk() {
  const auto& called =
      how_.tls && !how_.tls->common_name.empty() ? how_.tls->common_name : how_.bridge.host;
  const dial_target target{how_.bridge, called, how_.times.patience};
  auto stream = co_await dial_stream(io_.get_executor(), target, who());
  if (!stream)
    co_return stream.error();
  if (is_over_)
    co_return error{code::unavailable, "ended here"};
  const auto me = now_ =
      std::make_shared<link_connection>(*stream, how_.times, protocol::frame_kind::exchange);
  const link_connection::judge anybody = [](const auto&) { return base::result<void>{}; };
  const protocol::link_hello ours{
      .cluster = cluster_, .replica = how_.scheduler, .purpose = protocol::link_purpose::bridge};
  const auto greeted = co_await me->greet(ours, anybody);
  auto why = greeted ? error{} : greeted.error();
  if (greeted && !is_over_) {
    if (cluster_.empty())
      cluster_ = greeted->cluster;
    const link_connection::ear hears = [this](std::string_view frame) { hear(frame); };
    // Under TLS 1.3 we learn only behind the greeting that our certificate was refused.
    const std::function<void()> lasts = [this] {
      is_up_ = true;
      if (how_.changed)
        how_.changed(nullptr);
      for (auto pos = pending_.begin(); pos != pending_.end();) {
        auto& [id, x] = *pos++; // it may be answered here
        if (!x.frame.empty())
          hand_over(id, x);
      }
    };
    why = co_await me->run(queue_, hears, lasts);
  }
  me->close(why);
  now_.reset();
  if (!is_up_ && why.what() == code::unavailable && why.hint().empty())
    co_return error{why.what(), why.message(),
                    "look at what the bridge says: it may not let this scheduler in"};
  co_return of_link(why);
}

} // namespace

base::result<std::unique_ptr<bridge::api_client>> open_bridge_line(bridge_line_options how) {
  auto made = std::make_unique<line_to_bridge>(std::move(how));
  if (auto ok = made->look_at_files(); !ok)
    return ok.error();
  made->begin();
  return std::unique_ptr<bridge::api_client>{std::move(made)};
}

} // namespace tutti::actors
