// HTTP/1.1 exchanges and streams over a pool of connections, each with a time limit.
#include "bridge/http_client.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
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
#include <boost/asio/thread_pool.hpp>
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
  bool was_refused = false; // with 401: another identity was tried
};
using exchange_ptr = std::shared_ptr<exchange>;

struct connection {
  byte_stream_ptr stream;
  identity_ptr who; // it was opened for
  bool was_used = false;
  std::string rest;       // read and not parsed yet
  bool needs_more = true; // what is in `rest` is no use without more
  std::vector<char> buffer = std::vector<char>(limits::read_bytes_first); // for one read
};

/// What became of one try.
enum class outcome {
  over,   ///< reported, or nobody listens
  unsent, ///< there is nobody to speak for, or no connection: see `why_`
  broken, ///< no whole answer: see `why_`
  refused ///< 401, and there is another identity to try
};

base::time_point now() {
  return base::time_point{std::chrono::steady_clock::now().time_since_epoch()};
}

/// Counts against the budget of writes. What tells replicas of each other is little, and a takeover
/// must not wait behind the Bindings of the living.
bool costs(const protocol::http_request& x) {
  return x.method != "GET" && !x.target.starts_with("/apis/coordination.k8s.io/")
         && !x.target.starts_with("/apis/tutti.dev/v1alpha1/partitionmaps");
}

/// The TLS of a connection is that of whoever it was opened for.
bool is_for(const connection& c, const identity_ptr& who) {
  return c.who == who || (c.who && who && c.who->tls == who->tls);
}

} // namespace

class http_client::impl {
public:
  impl(connector_ptr where, options how)
      : where_(std::move(where)), how_(std::move(how)), budget_(how_.writes),
        work_(io_.get_executor()), thread_([this] { io_.run(); }) {
    ensure(how_.connections > 0);
    if (how_.who)
      helper_.emplace(1);
    ::pthread_setname_np(thread_.native_handle(), "http");
  }

  ~impl() {
    ensure(std::this_thread::get_id() != thread_.get_id());
    io_.stop();
    thread_.join();
    if (helper_) {
      how_.who->give_up();
      helper_->stop();
      helper_->join();
    }
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
    if (!wake_one() && workers_ < how_.connections) {
      ++workers_;
      asio::co_spawn(io_, work_off(), asio::detached);
    }
  }

  /// False if nobody is idle.
  bool wake_one() {
    if (idle_.empty())
      return false;
    idle_.back()->cancel();
    idle_.pop_back();
    return true;
  }

  /// The first that may leave now. If some may not, `wait_` says how long they must wait.
  exchange_ptr next() {
    const auto wait = budget_.wait(now());
    wait_.reset();
    for (auto* queue : {&urgent_, &others_}) {
      while (!queue->empty() && queue->front()->is_over)
        queue->pop_front();
      const auto pos = std::find_if(queue->begin(), queue->end(), [&](const auto& x) {
        return wait == base::duration::zero() || (!x->is_over && !costs(x->request));
      });
      if (pos == queue->end()) {
        if (!queue->empty())
          wait_ = wait;
        continue;
      }
      auto x = std::move(*pos);
      queue->erase(pos);
      if (costs(x->request))
        budget_.spend();
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
        if (wait_)
          wake.expires_after(*wait_);
        idle_.push_back(&wake);
        const auto [woken] = co_await wake.async_wait(asio::as_tuple(asio::use_awaitable));
        if (!woken)
          std::erase(idle_, &wake); // by the time alone: nobody has taken it out
        continue;
      }
      // Who waited for the budget has been taken for this: another must look at what still waits.
      if (budget_.has_limit() && !(urgent_.empty() && others_.empty()))
        wake_one();
      co_await run_single(*x, c);
      x->stream = nullptr;
    }
  }

  asio::awaitable<void> run_single(exchange& x, connection& c) {
    const bool may_repeat = x.request.method == "GET";
    for (;;) {
      const bool was_kept = c.stream != nullptr && c.was_used;
      const auto became = co_await try_single(x, c);
      if (became == outcome::over)
        co_return;
      if (became == outcome::refused)
        continue; // nothing was done: also a write may be sent again
      if (became == outcome::broken) {
        drop(c);
        // The server may have closed a kept connection before we wrote; a GET may be sent twice.
        if (was_kept && may_repeat && !x.has_timed_out && !x.is_over)
          continue;
      }
      report(x, unknown(x));
      co_return;
    }
  }

  asio::awaitable<outcome> try_single(exchange& x, connection& c) {
    if (!co_await open(c))
      co_return outcome::unsent;
    if (x.is_over)
      co_return outcome::over;
    x.stream = c.stream;
    const auto watchdog = guard(x);
    response_parser parser;
    parser.body_limit(limits::body_bytes_max);
    parser.eager(true);
    const auto who = c.who;
    if (!co_await send(x, c))
      co_return outcome::broken;
    if (!co_await receive(c, parser, [&] { return parser.is_done(); }))
      co_return outcome::broken;
    c.was_used = true;
    const auto& answer = parser.get();
    if (!answer.keep_alive() || x.is_over)
      drop(c);
    x.stream = nullptr; // what is given up from here on is not about this connection any more
    if (answer.result_int() == 401) {
      if (co_await has_another(x, who))
        co_return outcome::refused;
      tell_failure(unknown_to_server(), true);
    }
    report_answer(x, parser);
    co_return outcome::over;
  }

  /// A watch: the head decides whether it is one; then lines are handed on as they come.
  asio::awaitable<void> run_stream(exchange_ptr x) {
    connection c;
    auto became = outcome::refused;
    while (became == outcome::refused) {
      drop(c);
      became = co_await try_stream(*x, c);
    }
    if (became != outcome::over)
      report(*x, unknown(*x));
    drop(c);
    x->stream = nullptr;
  }

  asio::awaitable<outcome> try_stream(exchange& x, connection& c) {
    if (!co_await open(c))
      co_return outcome::unsent;
    if (x.is_over)
      co_return outcome::over;
    x.stream = c.stream;
    response_parser parser;
    parser.body_limit(boost::none);
    parser.eager(true);
    auto watchdog = guard(x);
    const auto who = c.who;
    if (!co_await send(x, c))
      co_return outcome::broken;
    if (!co_await receive(c, parser, [&] { return parser.is_header_done(); }))
      co_return outcome::broken;
    if (parser.get().result_int() == 200) {
      watchdog.reset();
      co_await hand_on_lines(x, c, parser);
      co_return outcome::over;
    }
    if (!co_await receive(c, parser, [&] { return parser.is_done(); }))
      co_return outcome::broken;
    watchdog.reset();
    if (parser.get().result_int() == 401) {
      if (co_await has_another(x, who))
        co_return outcome::refused;
      tell_failure(unknown_to_server(), true);
    }
    report_answer(x, parser);
    co_return outcome::over;
  }

  /// Whom to speak for. `refused` is who the server did not want; null at first.
  asio::awaitable<base::result<identity_ptr>> identify(identity_ptr refused) {
    if (!how_.who)
      co_return identity_ptr{};
    if (!refused)
      if (auto known = how_.who->known())
        co_return known;
    auto fetch = [source = how_.who, refused]() -> asio::awaitable<base::result<identity_ptr>> {
      co_return source->fetch(refused);
    };
    co_return co_await asio::co_spawn(*helper_, std::move(fetch), asio::use_awaitable);
  }

  /// After a 401: true if it makes sense to ask again, as somebody else or with a new token.
  asio::awaitable<bool> has_another(exchange& x, identity_ptr refused) {
    if (!how_.who || !refused || std::exchange(x.was_refused, true))
      co_return false;
    const auto other = co_await identify(refused);
    if (!other)
      tell_failure(other.error(), true);
    co_return other&&* other != refused && !x.is_over;
  }

  /// Has a connection for whom we speak for now; false if there is none: see `why_`.
  asio::awaitable<bool> open(connection& c) {
    const identity_ptr nobody_refused;
    auto who = co_await identify(nobody_refused);
    if (!who) {
      why_ = who.error().message();
      tell_failure(who.error(), true); // files and programs of ours: also one that only fails
      co_return false;
    }
    if (c.stream && !is_for(c, *who))
      drop(c);
    if (!c.stream) {
      auto made = co_await where_->connect(io_.get_executor(), *who);
      if (!made)
        co_return fail(made.error());
      c.stream = std::move(*made);
    }
    c.who = *who;
    co_return true;
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

  asio::awaitable<bool> send(exchange& x, connection& c) {
    const std::string_view authorization = c.who ? c.who->authorization : std::string_view{};
    const auto text =
        request_text(x.request, {how_.host_header, how_.user_agent, authorization, how_.path});
    const auto written = co_await c.stream->write_all(asio::buffer(text));
    co_return written || fail(written.error()); // how much of it left is not known
  }

  /// Reads and parses until `is_enough`, which is asked before each piece. False if the connection
  /// ended before or the answer is no HTTP.
  template <class Enough>
  asio::awaitable<bool> receive(connection& c, response_parser& parser, Enough is_enough) {
    while (!is_enough()) {
      if (c.needs_more) {
        const auto n = co_await c.stream->read_some(asio::buffer(c.buffer));
        if (!n)
          co_return fail(n.error());
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
        co_return fail({base::code::unavailable, "no HTTP answer: " + ec.message()});
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
    return is_whole || fail({base::code::unavailable, "the connection was closed"});
  }

  /// Remembers and tells what broke; false, for the callers to return.
  bool fail(const base::error& e) {
    why_ = e.message();
    tell_failure(e, e.what() == base::code::bad_input);
    return false;
  }

  void tell_failure(const base::error& e, bool needs_human) {
    if (how_.failed)
      how_.failed(e, needs_human);
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

  protocol::answer_unknown unknown(const exchange& x) const {
    return {x.id, x.has_timed_out ? "timeout" : why_};
  }

  void report_answer(exchange& x, response_parser& parser) {
    auto& answer = parser.get();
    const auto wait = retry_after_of(answer);
    report(x, protocol::answered{x.id, static_cast<int>(answer.result_int()),
                                 std::move(answer.body()), wait});
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
  write_budget budget_;
  std::optional<base::duration> wait_; // of what waits for the budget, at the last look
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::optional<asio::thread_pool> helper_; // waits for files and programs of `how_.who`
  std::map<std::uint64_t, exchange_ptr> live_;
  std::deque<exchange_ptr> urgent_;
  std::deque<exchange_ptr> others_;
  std::vector<asio::steady_timer*> idle_;
  std::size_t workers_ = 0;
  std::string why_;    // of the last failure
  std::thread thread_; // last: it uses all of the above
};

base::error unknown_to_server() {
  return {
      base::code::forbidden, "the server does not know who we are (401)",
      "look at the user of the kubeconfig: its token or certificate is missing, has expired, or "
      "is another cluster's"};
}

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
