// HTTP framing around the handler. The only file that instantiates Beast's parser.
#include "sim/api_server/connection.hpp"

#include <algorithm>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

namespace tutti::sim::api_server {

namespace {

namespace http = boost::beast::http;

/// Servers refuse larger objects, too.
constexpr std::size_t body_max = 3u << 20;
/// A client that does not read gets no more events until it has taken these.
constexpr std::size_t output_max = 8u << 20;
/// A chunk's size and its line ends.
constexpr std::size_t chunk_frame_most = 24;

std::string_view phrase_of(int status) {
  auto phrase = http::obsolete_reason(static_cast<http::status>(status));
  return {phrase.data(), phrase.size()};
}

std::string_view view(boost::beast::string_view s) {
  return {s.data(), s.size()};
}

} // namespace

struct connection::parser {
  http::request_parser<http::string_body> http;
  bool has_continued = false;
  parser() {
    http.eager(true);
    http.body_limit(body_max);
  }
};

connection::connection(control_plane& plane) : plane_(plane), parser_(std::make_unique<parser>()) {}
connection::~connection() = default;

void connection::receive(std::string_view bytes) {
  if (is_closing_ || is_done_)
    return;
  input_.append(bytes);
  std::size_t used = 0;
  while (!is_closing_ && used < input_.size()) {
    boost::system::error_code failed;
    auto n =
        parser_->http.put(boost::asio::buffer(input_.data() + used, input_.size() - used), failed);
    used += n;
    if (failed == http::error::need_more || (!failed && n == 0 && !parser_->http.is_done()))
      break;
    if (failed) {
      auto r = bad_request(failed.message());
      if (failed == http::error::body_limit) {
        r.code = 413;
        r.reason = "RequestEntityTooLarge";
        r.message = "Request entity too large: limit is 3145728";
      }
      refuse(r);
      break;
    }
    if (parser_->http.is_done())
      take_request();
  }
  input_.erase(0, used);
  if (!is_closing_ && parser_->http.is_header_done() && !parser_->has_continued
      && boost::beast::iequals(parser_->http.get()[http::field::expect], "100-continue")) {
    parser_->has_continued = true;
    if (pending_.empty())
      output_ += "HTTP/1.1 100 Continue\r\n\r\n";
  }
}

void connection::take_request() {
  const auto& message = parser_->http.get();
  request r;
  r.method = view(message.method_string());
  r.target = view(message.target());
  r.body = message.body();
  r.content_type = view(message[http::field::content_type]);
  r.accept = view(message[http::field::accept]);
  pending p{plane_.handle(r), !message.keep_alive(), false};
  is_closing_ = p.is_last;
  pending_.push_back(std::move(p));
  parser_ = std::make_unique<parser>();
}

void connection::refuse(const refusal& r) {
  pending p;
  p.what.now.status = r.code;
  p.what.now.body = to_status(r);
  p.is_last = true;
  is_closing_ = true;
  pending_.push_back(std::move(p));
}

void connection::write_head(const response& r, bool is_stream, bool is_last) {
  auto to = std::back_inserter(output_);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\nCache-Control: no-cache, private\r\nContent-Type: {}\r\n",
                 r.status, phrase_of(r.status), r.content_type);
  if (!r.warning.empty())
    fmt::format_to(to, "Warning: 299 - {}\r\n", json::serialize(json::value(r.warning)));
  if (r.retry_after_s > 0)
    fmt::format_to(to, "Retry-After: {}\r\n", r.retry_after_s);
  if (is_last)
    output_ += "Connection: close\r\n";
  if (is_stream)
    output_ += "Transfer-Encoding: chunked\r\n\r\n";
  else
    fmt::format_to(to, "Content-Length: {}\r\n\r\n", r.body.size());
}

bool connection::pump_stream(pending& p, base::time_point now) {
  auto& stream = *p.what.stream;
  if (!std::exchange(p.has_begun, true))
    write_head(p.what.now, true, p.is_last);
  auto sent_before = stream.events_sent();
  std::string lines;
  bool has_more = true;
  while (has_more && output_.size() < output_max) {
    lines.clear();
    has_more = stream.poll(now, lines);
    if (!lines.empty()) {
      output_.reserve(output_.size() + lines.size() + chunk_frame_most);
      fmt::format_to(std::back_inserter(output_), "{:x}\r\n", lines.size());
      output_.append(lines).append("\r\n");
    }
  }
  watch_events_ += stream.events_sent() - sent_before;
  if (!stream.is_over())
    return false;
  output_ += "0\r\n\r\n";
  return true;
}

void connection::pump(base::time_point now) {
  while (!pending_.empty()) {
    auto& p = pending_.front();
    if (p.what.after > plane_.objects().durable())
      return;
    if (p.what.stream) {
      if (!pump_stream(p, now))
        return;
    } else {
      write_head(p.what.now, false, p.is_last);
      output_ += p.what.now.body;
    }
    is_done_ = p.is_last;
    pending_.pop_front();
  }
}

std::optional<base::time_point> connection::next_deadline() const {
  if (pending_.empty() || !pending_.front().what.stream)
    return std::nullopt;
  return pending_.front().what.stream->next_deadline();
}

void connection::fail(std::string_view why) {
  if (!pending_.empty() && !pending_.front().has_begun) {
    response r;
    r.status = 500;
    auto refused = internal_error(std::string{why});
    refused.reason = "InternalError";
    r.body = to_status(refused);
    write_head(r, false, true);
    output_ += r.body;
  }
  pending_.clear();
  is_closing_ = is_done_ = true;
}

} // namespace tutti::sim::api_server
