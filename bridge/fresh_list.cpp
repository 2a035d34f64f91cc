#include "bridge/fresh_list.hpp"

#include <charconv>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "bridge/cache_limits.hpp"
#include "bridge/http_text.hpp"
#include "bridge/json_read.hpp"
#include "bridge/limits.hpp"

namespace tutti::bridge {

std::optional<std::uint64_t> version_number(std::string_view text) {
  std::uint64_t out = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, ec] = std::from_chars(text.data(), end, out);
  const bool is_number = ec == std::errc{} && rest == end && !text.empty();
  return is_number ? std::optional{out} : std::nullopt;
}

void fresh_list::ask(std::uint64_t who, protocol::effects& out) {
  next_.insert(who);
  if (state_ == state::idle)
    begin(out);
}

void fresh_list::forget(std::uint64_t who) {
  askers_.erase(who);
  next_.erase(who);
}

void fresh_list::begin(protocol::effects& out) {
  askers_.merge(next_);
  next_.clear();
  items_.clear();
  is_late_ = false;
  if (askers_.empty()) {
    state_ = state::idle;
    return;
  }
  state_ = state::asking;
  get("limit=1", out);
}

void fresh_list::get(const std::string& query, protocol::effects& out) {
  ++serial_;
  out.add(
      protocol::exchange{serial_ << 8 | options_.channel,
                         {.method = "GET", .target = fmt::format("{}?{}", options_.path, query)}});
}

std::optional<std::uint64_t> fresh_list::awaited() const {
  return state_ == state::waiting ? std::optional{version_} : std::nullopt;
}

std::optional<std::uint64_t> fresh_list::listed() const {
  return state_ == state::listed ? std::optional{version_} : std::nullopt;
}

bool fresh_list::on(const protocol::event& e, protocol::effects& out) {
  if (const auto* fired = std::get_if<protocol::timer_fired>(&e)) {
    if (fired->timer != protocol::timer_id{late_timer, options_.channel})
      return false;
    is_late_ = true;
    return true;
  }
  const auto is_mine = [&](std::uint64_t id) { return (id & 0xff) == options_.channel; };
  const bool is_awaited = state_ == state::asking || state_ == state::paging;
  const auto is_open = [&](std::uint64_t id) { return is_awaited && id >> 8 == serial_; };
  if (const auto* x = std::get_if<protocol::answered>(&e); x && is_mine(x->id)) {
    if (is_open(x->id))
      hear(*x, out);
    return true;
  }
  if (const auto* x = std::get_if<protocol::answer_unknown>(&e); x && is_mine(x->id)) {
    if (is_open(x->id))
      fail(*x);
    return true;
  }
  return false;
}

void fresh_list::hear(const protocol::answered& x, protocol::effects& out) {
  if (x.status != 200)
    return fail(x);
  boost::json::monotonic_resource memory;
  boost::system::error_code ec;
  const auto page = boost::json::parse(x.body, ec, &memory);
  const auto* list = ec ? nullptr : page.if_object();
  const auto* meta = list ? object_at(*list, "metadata") : nullptr;
  const auto version = meta ? version_number(text_at(*meta, "resourceVersion")) : std::nullopt;
  if (!version)
    return fail(protocol::answer_unknown{x.id, "a list that cannot be read"});
  version_ = *version; // of all pages the same
  if (state_ == state::asking) {
    state_ = state::waiting;
    out.add(protocol::arm{{late_timer, options_.channel}, limits::catch_up});
    return;
  }
  if (const auto* items = array_at(*list, "items"))
    for (const auto& item : *items)
      items_.push_back(std::make_shared<const std::string>(boost::json::serialize(item)));
  if (const auto more = text_at(*meta, "continue"); !more.empty())
    get(fmt::format("limit={}&continue={}", limits::page_size, escaped_query(more)), out);
  else
    state_ = state::listed;
}

void fresh_list::fail(http_event what) {
  items_.clear();
  failure_ = std::move(what);
  state_ = state::failed;
}

void fresh_list::read_pages(protocol::effects& out) {
  ensure(is_late(), options_.path);
  state_ = state::paging;
  get(fmt::format("limit={}", limits::page_size), out);
}

std::set<std::uint64_t> fresh_list::finish(protocol::effects& out) {
  if (state_ == state::waiting)
    out.add(protocol::disarm{{late_timer, options_.channel}});
  auto those = std::exchange(askers_, {});
  begin(out);
  return those;
}

void fresh_list::ask_again(protocol::effects& out) {
  begin(out);
}

} // namespace tutti::bridge
