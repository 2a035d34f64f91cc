// HTTP/1.1 exchanges and streams over a pool of connections, each with a time limit.
#include "bridge/http_client.hpp"

#include <deque>
#include <map>
#include <thread>
#include <vector>

#include <pthread.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/ensure.hpp"
#include "bridge/byte_stream.hpp"
#include "bridge/http_text.hpp"

namespace tutti::bridge {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using response_parser = http::response_parser<http::string_body>;

std::int64_t retry_after_of(const http::fields& headers) {
  const auto value = headers[http::field::retry_after];
  return retry_after_ms({value.data(), value.size()});
}

/// One exchange and all that happens to it. Lives on the client's thread.
struct exchange {
  std::uint64_t id = 0;
  protocol::http_request request;
  http_client::callback heard;
  byte_stream_ptr stream; // while it runs
  bool is_over = false;   // given up or reported: nobody listens any more
  bool has_timed_out = false;
};
using exchange_ptr = std::shared_ptr<exchange>;

struct connection {
  byte_stream_ptr stream;
  bool was_used = false;
  std::string rest;       // read and not parsed yet
  bool needs_more = true; // what is in `rest` is no use without more
  std::vector<char> buffer = std::vector<char>(limits::read_bytes_first); // for one read
};

} // namespace

class http_client::impl {
public:
  impl(connector_ptr where, options how)
      : where_(std::move(where)), how_(std::move(how)), work_(io_.get_executor()),
        thread_([this] { io_.run(); }) {
    ensure(how_.connections > 0);
    ::pthread_setname_np(thread_.native_handle(), "http");
  }

  ~impl() {
    ensure(std::this_thread::get_id() != thread_.get_id());
    io_.stop();
    thread_.join();
  }

  void start(std::uint64_t id, protocol::http_request request, callback heard) {
    asio::post(io_, [this, id, request = std::move(request), heard = std::move(heard)]() mutable {
      begin(id, std::move(request), std::move(heard));
    });
  }

  void hang_up(std::uint64_t id) {
    asio::post(io_, [this, id] {
      const auto pos = live_.find(id);
      if (pos == live_.end())
        return;
      const auto x = pos->second;
      x->is_over = true;
      live_.erase(pos);
      if (x->stream)
        x->stream->close();
    });
  }

private:
  void begin(std::uint64_t id, protocol::http_request request, callback heard) {
    auto x = std::make_shared<exchange>();
    x->id = id;
    x->request = std::move(request);
    x->heard = std::move(heard);
    const bool is_new = live_.emplace(id, x).second;
    ensure(is_new, id);
    if (x->request.is_stream) {
      asio::co_spawn(io_, run_stream(std::move(x)), asio::detached);
      return;
    }
    (x->request.is_urgent ? urgent_ : others_).push_back(std::move(x));
    if (!idle_.empty()) {
      idle_.back()->cancel();
      idle_.pop_back();
    } else if (workers_ < how_.connections) {
      ++workers_;
      asio::co_spawn(io_, work_off(), asio::detached);
    }
  }

  exchange_ptr next() {
    for (auto* queue : {&urgent_, &others_})
      while (!queue->empty()) {
        auto x = std::move(queue->front());
        queue->pop_front();
        if (!x->is_over)
          return x;
      }
    return nullptr;
  }

  /// One worker per pooled connection: takes exchanges while there are any, then waits.
  asio::awaitable<void> work_off() {
    connection c;
    for (;;) {
      auto x = next();
      if (!x) {
        asio::steady_timer wake{io_, asio::steady_timer::time_point::max()};
        idle_.push_back(&wake);
        co_await wake.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      co_await run_single(*x, c);
      x->stream = nullptr;
    }
  }

  asio::awaitable<void> run_single(exchange& x, connection& c) {
    const bool may_repeat = x.request.method == "GET";
    for (;;) {
      const bool was_kept = c.stream != nullptr && c.was_used;
      if (co_await try_single(x, c))
        co_return;
      drop(c);
      // The server may have closed a kept connection before we wrote; a GET may be sent twice.
      if (was_kept && may_repeat && !x.has_timed_out && !x.is_over)
        continue;
      report(x, protocol::answer_unknown{x.id, x.has_timed_out ? "timeout" : why_});
      co_return;
    }
  }

  /// True if the answer is reported or nobody listens; false if something went wrong: see `why_`.
  asio::awaitable<bool> try_single(exchange& x, connection& c) {
    if (!c.stream) {
      auto made = co_await where_->connect(io_.get_executor());
      if (!made) {
        why_ = made.error().message();
        co_return false;
      }
      c.stream = std::move(*made);
    }
    if (x.is_over)
      co_return true;
    x.stream = c.stream;
    const auto watchdog = guard(x);
    response_parser parser;
    parser.body_limit(limits::body_bytes_max);
    parser.eager(true);
    if (!co_await send(x, *c.stream))
      co_return false;
    if (!co_await receive(c, parser, [&] { return parser.is_done(); }))
      co_return false;
    c.was_used = true;
    const auto& answer = parser.get();
    if (!answer.keep_alive() || x.is_over)
      drop(c);
    auto body = std::move(parser.get().body());
    report(x, protocol::answered{x.id, static_cast<int>(answer.result_int()), std::move(body),
                                 retry_after_of(answer)});
    co_return true;
  }

  /// A watch: the head decides whether it is one; then lines are handed on as they come.
  asio::awaitable<void> run_stream(exchange_ptr x) {
    connection c;
    auto made = co_await where_->connect(io_.get_executor());
    if (!made) {
      report(*x, protocol::answer_unknown{x->id, made.error().message()});
      co_return;
    }
    c.stream = std::move(*made);
    if (x->is_over)
      co_return;
    x->stream = c.stream;
    response_parser parser;
    parser.body_limit(boost::none);
    parser.eager(true);
    auto watchdog = guard(*x);
    bool is_fine = co_await send(*x, *c.stream);
    if (is_fine)
      is_fine = co_await receive(c, parser, [&] { return parser.is_header_done(); });
    const bool is_stream = is_fine && parser.get().result_int() == 200;
    if (is_fine && !is_stream)
      is_fine = co_await receive(c, parser, [&] { return parser.is_done(); });
    watchdog.reset();
    if (!is_fine)
      report(*x, protocol::answer_unknown{x->id, x->has_timed_out ? "timeout" : why_});
    else if (!is_stream)
      report(*x, protocol::answered{x->id, static_cast<int>(parser.get().result_int()),
                                    std::move(parser.get().body()), retry_after_of(parser.get())});
    else
      co_await hand_on_lines(*x, c, parser);
    drop(c);
    x->stream = nullptr;
  }

  asio::awaitable<void> hand_on_lines(exchange& x, connection& c, response_parser& parser) {
    tell(x, protocol::stream_opened{x.id});
    std::string pending;
    for (;;) {
      pending += std::exchange(parser.get().body(), {});
      if (const auto end = pending.rfind('\n'); end != std::string::npos) {
        auto rest = pending.substr(end + 1);
        pending.resize(end + 1);
        tell(x, protocol::stream_lines{x.id, std::exchange(pending, std::move(rest))});
      }
      if (x.is_over)
        co_return;
      if (pending.size() > limits::line_bytes_max) {
        report(x, protocol::stream_closed{x.id, "a line above the limit"});
        co_return;
      }
      if (parser.is_done()) {
        report(x, protocol::stream_closed{x.id, pending.empty() ? "" : "cut in a line"});
        co_return;
      }
      // One more piece, whatever it completes.
      bool has_read = false;
      if (!co_await receive(c, parser, [&] { return std::exchange(has_read, true); })) {
        report(x, protocol::stream_closed{x.id, why_});
        co_return;
      }
    }
  }

  asio::awaitable<bool> send(exchange& x, byte_stream& stream) {
    const auto text =
        request_text(x.request, {how_.host_header, how_.user_agent, how_.bearer_token});
    const auto written = co_await stream.write_all(asio::buffer(text));
    if (!written)
      why_ = written.error().message(); // how much of it left is not known
    co_return written.has_value();
  }

  /// Reads and parses until `is_enough`, which is asked before each piece. False if the connection
  /// ended before or the answer is no HTTP.
  template <class Enough>
  asio::awaitable<bool> receive(connection& c, response_parser& parser, Enough is_enough) {
    while (!is_enough()) {
      if (c.needs_more) {
        const auto n = co_await c.stream->read_some(asio::buffer(c.buffer));
        if (!n) {
          why_ = n.error().message();
          co_return false;
        }
        if (*n == 0)
          co_return ends_with_connection(parser);
        c.rest.append(c.buffer.data(), *n);
        if (*n == c.buffer.size() && *n < limits::read_bytes_most)
          c.buffer.resize(*n * 2);
      }
      boost::beast::error_code ec;
      const auto used = parser.put(asio::buffer(c.rest), ec);
      c.rest.erase(0, used);
      if (ec && ec != http::error::need_more) {
        why_ = ec.message();
        co_return false;
      }
      c.needs_more = ec || used == 0 || c.rest.empty();
    }
    co_return true;
  }

  /// An answer without a length ends where the connection does; any other is cut.
  bool ends_with_connection(response_parser& parser) {
    boost::beast::error_code ec;
    if (parser.got_some())
      parser.put_eof(ec);
    const bool is_whole = parser.got_some() && !ec && parser.is_done();
    if (!is_whole)
      why_ = "the connection was closed";
    return is_whole;
  }

  /// Closes the exchange's stream when it takes too long; lives as long as the try.
  std::unique_ptr<asio::steady_timer> guard(exchange& x) {
    auto timer = std::make_unique<asio::steady_timer>(io_, how_.timeout);
    const auto pos = live_.find(x.id);
    const std::weak_ptr<exchange> weak = pos == live_.end() ? exchange_ptr{} : pos->second;
    timer->async_wait([weak](const boost::system::error_code& ec) {
      const auto late = weak.lock();
      if (ec || !late || !late->stream)
        return;
      late->has_timed_out = true;
      late->stream->close();
    });
    return timer;
  }

  void tell(exchange& x, http_event e) {
    if (!x.is_over)
      x.heard(std::move(e));
  }

  void report(exchange& x, http_event e) {
    tell(x, std::move(e));
    if (!x.is_over)
      live_.erase(x.id);
    x.is_over = true;
  }

  void drop(connection& c) {
    if (c.stream)
      c.stream->close();
    c = {};
  }

  connector_ptr where_;
  options how_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::map<std::uint64_t, exchange_ptr> live_;
  std::deque<exchange_ptr> urgent_;
  std::deque<exchange_ptr> others_;
  std::vector<asio::steady_timer*> idle_;
  std::size_t workers_ = 0;
  std::string why_;    // of the last failure
  std::thread thread_; // last: it uses all of the above
};

http_client::http_client(connector_ptr where, options how)
    : impl_(std::make_unique<impl>(std::move(where), std::move(how))) {}

http_client::~http_client() = default;

void http_client::start(std::uint64_t id, protocol::http_request request, callback heard) {
  impl_->start(id, std::move(request), std::move(heard));
}

void http_client::hang_up(std::uint64_t id) {
  impl_->hang_up(id);
}

} // namespace tutti::bridge
