#include "sim/world/exchange_end.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/ensure.hpp"
#include "bridge/http_text.hpp"

namespace tutti::sim {

namespace http = boost::beast::http;

namespace {

std::string_view retry_after_in(const http::fields& headers) {
  const auto value = headers[http::field::retry_after];
  return {value.data(), value.size()};
}

} // namespace

struct exchange_end::parser {
  http::response_parser<http::string_body> http;
  parser() {
    http.eager(true);
    http.body_limit(boost::none);
  }
};

exchange_end::exchange_end(std::uint64_t id, bool is_stream)
    : id_(id), is_stream_(is_stream), parser_(std::make_unique<parser>()) {}
exchange_end::exchange_end(exchange_end&&) noexcept = default;
exchange_end::~exchange_end() = default;

std::vector<protocol::event> exchange_end::take(std::string_view bytes) {
  std::vector<protocol::event> out;
  const bool has_rest = !rest_.empty();
  if (has_rest)
    bytes = rest_ += bytes;
  auto& http = parser_->http;
  while (!is_over_) {
    boost::system::error_code failed;
    const auto used =
        bytes.empty() ? 0 : http.put(boost::asio::buffer(bytes.data(), bytes.size()), failed);
    bytes.remove_prefix(used);
    ensure(!failed || failed == http::error::need_more, failed.message());
    if (is_stream_ && !is_open_ && http.is_header_done() && http.get().result_int() == 200) {
      is_open_ = true;
      out.push_back(protocol::stream_opened{id_});
    }
    if (is_open_)
      hand_on_lines(out);
    if (http.is_done()) {
      is_over_ = true;
      if (is_open_)
        out.push_back(protocol::stream_closed{id_, pending_.empty() ? "" : "cut in a line"});
      else
        out.push_back(protocol::answered{id_, static_cast<int>(http.get().result_int()),
                                         std::move(http.get().body()),
                                         bridge::retry_after_ms(retry_after_in(http.get()))});
    }
    if (failed || used == 0)
      break;
  }
  if (has_rest)
    rest_.erase(0, rest_.size() - bytes.size());
  else
    rest_ = bytes;
  return out;
}

void exchange_end::hand_on_lines(std::vector<protocol::event>& out) {
  auto& body = parser_->http.get().body();
  if (pending_.empty())
    pending_.swap(body);
  else
    pending_ += std::exchange(body, {});
  const auto end = pending_.rfind('\n');
  if (end == std::string::npos)
    return;
  auto rest = pending_.substr(end + 1);
  pending_.resize(end + 1);
  out.push_back(protocol::stream_lines{id_, std::exchange(pending_, std::move(rest))});
}

std::vector<protocol::event> exchange_end::cut(std::string_view why) {
  if (is_over_)
    return {};
  is_over_ = true;
  if (is_open_)
    return {protocol::stream_closed{id_, std::string{why}}};
  return {protocol::answer_unknown{id_, std::string{why}}};
}

} // namespace tutti::sim
