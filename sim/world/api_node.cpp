#include "sim/world/api_node.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "bridge/http_text.hpp"

namespace tutti::sim {

namespace {

std::string canned(int status, std::int64_t retry_after_s) {
  const auto body = fmt::format(R"({{"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                R"("message":"injected","code":{}}})",
                                status);
  return fmt::format("HTTP/1.1 {} Injected\r\nContent-Type: application/json\r\n{}"
                     "Content-Length: {}\r\n\r\n{}",
                     status,
                     retry_after_s > 0 ? fmt::format("Retry-After: {}\r\n", retry_after_s) : "",
                     body.size(), body);
}

/// "/api/v1/pods?watch=1" is about pods.
bool is_about(const std::string& target, const std::string& resource) {
  const auto path = target.substr(0, target.find('?'));
  return resource.empty() || path.ends_with("/" + resource);
}

} // namespace

api_node::api_node(options how, timeline& time, base::random_stream& network)
    : how_(how), time_(time), network_(network), plane_(how.plane, time) {
  plane_.begin();
  turn();
}

base::duration api_node::latency() {
  return draw(network_, how_.latency_least, how_.latency_most);
}

bool api_node::is_cut_off(const std::string& client) const {
  const auto pos = cut_off_.find(client);
  return pos != cut_off_.end() && pos->second;
}

std::uint64_t api_node::start(const std::string& client, std::uint64_t id,
                              protocol::http_request request, hear heard) {
  const auto verdict = judge_ ? judge_(client, request) : api_verdict{};
  const auto key = ++last_key_;
  const bool is_stream = request.is_stream;
  auto& x = live_
                .emplace(key, exchange{.client = client,
                                       .request = std::move(request),
                                       .heard = std::move(heard),
                                       .end = exchange_end{id, is_stream}})
                .first->second;
  x.delay = verdict.delay;
  const auto patience = verdict.is_silent ? how_.client_timeout : latency() + latency();
  if (is_cut_off(client)) {
    break_off(key, "timeout", how_.client_timeout);
    return key;
  }
  switch (verdict.becomes) {
  case api_verdict::what::serve:
    break;
  case api_verdict::what::answer:
    send_back(key, x, canned(verdict.status, verdict.retry_after_s), latency() + verdict.delay);
    return key;
  case api_verdict::what::lost:
    break_off(key, verdict.is_silent ? "timeout" : "connection reset", patience);
    return key;
  case api_verdict::what::applied_lost:
    x.answer_is_lost = true;
    break_off(key, verdict.is_silent ? "timeout" : "connection reset", patience + latency());
    break;
  }
  x.is_on_its_way = true;
  time_.after(latency(), [this, key] { arrive(key); });
  return key;
}

void api_node::forget(std::uint64_t key) {
  const auto pos = live_.find(key);
  if (pos == live_.end())
    return;
  pos->second.heard = nullptr;
  if (!pos->second.is_on_its_way)
    live_.erase(pos);
}

void api_node::cut_watches(const std::string& client, const std::string& resource) {
  for (auto& [key, x] : live_)
    if (x.request.is_stream && (client.empty() || x.client == client)
        && is_about(x.request.target, resource))
      break_off(key, "connection reset", latency());
}

void api_node::cut_off(const std::string& client, bool is_cut) {
  cut_off_[client] = is_cut;
  if (is_cut)
    for (auto& [key, x] : live_)
      if (x.client == client && !x.request.is_stream)
        break_off(key, "timeout", how_.client_timeout);
  if (is_cut)
    return;
  // What TCP could not bring meanwhile comes now.
  for (auto& [key, x] : live_)
    if (x.client == client)
      for (std::size_t n = 0; n < x.pieces.size(); ++n)
        time_.after(latency(), [this, key = key] { deliver(key); });
  turn();
}

void api_node::arrive(std::uint64_t key) {
  const auto pos = live_.find(key);
  if (pos == live_.end())
    return;
  auto& x = pos->second;
  x.is_on_its_way = false;
  if (is_cut_off(x.client)) {
    if (!x.heard)
      live_.erase(pos);
    return;
  }
  if (on_arrival_)
    on_arrival_(x.client, x.request);
  x.at_server = std::make_unique<api_server::connection>(plane_);
  x.at_server->receive(bridge::request_text(x.request, {"kubernetes", x.client, {}}));
  turn();
  if (const auto again = live_.find(key); again != live_.end() && !again->second.heard)
    live_.erase(again);
}

api_server::response api_node::ask(const protocol::http_request& request) {
  api_server::request r;
  r.method = request.method;
  r.target = request.target;
  r.body = request.body;
  r.content_type = request.content_type.empty() ? std::string_view{"application/json"}
                                                : std::string_view{request.content_type};
  auto answer = plane_.handle(r);
  turn();
  return std::move(answer.now);
}

void api_node::turn() {
  ensure(!is_turning_, last_key_);
  is_turning_ = true;
  plane_.on_time(time_.now());
  for (auto& [key, x] : live_)
    if (x.at_server)
      pump(key, x);
  is_turning_ = false;
  if (after_turn_)
    after_turn_();
  arm();
}

void api_node::pump(std::uint64_t key, exchange& x) {
  if (is_cut_off(x.client))
    return; // its bytes wait in the server
  x.at_server->pump(time_.now());
  auto bytes = std::exchange(x.at_server->output(), {});
  if (bytes.empty() || x.answer_is_lost)
    return;
  if (!x.request.is_stream) {
    send_back(key, x, std::move(bytes), latency() + x.delay);
    return;
  }
  const auto late = std::exchange(x.delay, {}); // of the answer, not of all that follows
  const auto verdict = watch_judge_ ? watch_judge_(x.client, x.request.target) : watch_verdict{};
  if (verdict.is_cut) {
    break_off(key, "connection reset", latency());
    x.answer_is_lost = true;
    return;
  }
  send_back(key, x, std::move(bytes), latency() + late + verdict.delay, verdict.copies);
}

/// What one connection carries arrives in order.
void api_node::send_back(std::uint64_t key, exchange& x, std::string bytes, base::duration delay,
                         std::uint32_t copies) {
  x.pieces.emplace_back(std::move(bytes), copies);
  x.last_delivery = std::max(x.last_delivery, time_.now() + delay);
  time_.at(x.last_delivery, [this, key] { deliver(key); });
}

/// Lines are dropped and doubled as whole lines: the framing around them stays what it was.
void api_node::deliver(std::uint64_t key) {
  const auto pos = live_.find(key);
  if (pos == live_.end() || pos->second.pieces.empty() || is_cut_off(pos->second.client))
    return;
  const auto [bytes, copies] = std::move(pos->second.pieces.front());
  pos->second.pieces.pop_front();
  std::vector<protocol::event> events;
  for (auto& e : pos->second.end.take(bytes)) {
    auto* lines = std::get_if<protocol::stream_lines>(&e);
    if (lines != nullptr && line_editor_)
      lines->lines =
          line_editor_(pos->second.client, pos->second.request.target, std::move(lines->lines));
    if (lines != nullptr && lines->lines.empty())
      continue;
    const auto times = lines != nullptr ? copies : 1;
    for (std::uint32_t n = 0; n < times; ++n)
      events.push_back(e);
  }
  tell(key, std::move(events));
}

void api_node::say_again(
    const std::function<bool(const std::string& client, const std::string& target)>& is_meant,
    const std::string& lines) {
  std::vector<std::uint64_t> keys;
  for (const auto& [key, x] : live_)
    if (x.request.is_stream && x.heard && is_meant(x.client, x.request.target))
      keys.push_back(key);
  for (const auto key : keys)
    if (const auto pos = live_.find(key); pos != live_.end())
      tell(key, {protocol::stream_lines{pos->second.end.id(), lines}});
}

std::size_t api_node::under_way() const {
  std::size_t n = 0;
  for (const auto& [key, x] : live_)
    if (!is_cut_off(x.client))
      n += x.pieces.size() + (x.request.is_stream ? 0 : 1);
  return n;
}

void api_node::break_off(std::uint64_t key, std::string why, base::duration after) {
  time_.after(after, [this, key, why = std::move(why)] {
    if (const auto pos = live_.find(key); pos != live_.end())
      tell(key, pos->second.end.cut(why));
  });
}

void api_node::tell(std::uint64_t key, std::vector<protocol::event> events) {
  for (auto& e : events) {
    const auto pos = live_.find(key);
    if (pos == live_.end() || !pos->second.heard)
      break;
    pos->second.heard(std::move(e));
  }
  const auto pos = live_.find(key);
  if (pos != live_.end() && pos->second.end.is_over())
    forget(key);
}

void api_node::arm() {
  auto next = plane_.next_deadline();
  for (const auto& [key, x] : live_)
    if (x.at_server && !is_cut_off(x.client)) // else nothing of it is served when it is due
      if (const auto own = x.at_server->next_deadline(); own && (!next || *own < *next))
        next = own;
  if (!next || (armed_ && *armed_ <= *next && *armed_ > time_.now()))
    return;
  armed_ = std::max(*next, time_.now());
  time_.at(*armed_, [this, when = *armed_] {
    if (armed_ == when)
      armed_.reset();
    turn();
  });
}

} // namespace tutti::sim
