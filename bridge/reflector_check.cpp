// What the server has, compared with what its watch has told: a watch that seems healthy may have
// swallowed an event, and nobody would ever hear of it.
#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "bridge/http_text.hpp"
#include "bridge/limits.hpp"
#include "bridge/line_head.hpp"
#include "bridge/reflector.hpp"
#include "bridge/verdicts.hpp"
#include "bridge/versions.hpp"

namespace tutti::bridge {

std::uint64_t reflector::check_exchange() const {
  return check_serial_ << 8 | check_bit | options_.channel;
}

void reflector::arm_check(protocol::effects& out) {
  const auto shortest = std::chrono::duration_cast<std::chrono::milliseconds>(check_every);
  const auto who = base::hash_combine(options_.seed, options_.channel | check_bit);
  const auto more =
      base::hash_combine(who, check_serial_) % static_cast<std::uint64_t>(shortest.count() + 1);
  out.add(
      protocol::arm{{check_timer, options_.channel}, shortest + std::chrono::milliseconds{more}});
}

/// Only beside a watch that is believed: every other one ends in a list anyhow.
void reflector::begin_check(protocol::effects& out) {
  drop_check(out);
  ++check_serial_;
  arm_check(out);
  if (state_ != state::watching || !is_fresh() || !is_number(version_of(resume_)))
    return;
  check_.emplace();
  ++round_; // whoever has it is known to be there: by a page, or by the watch since
  ask_check_page(fmt::format("{}?limit={}&resourceVersion={}&resourceVersionMatch=NotOlderThan",
                             options_.path, limits::page_size, escaped_query(resume_)),
                 out);
}

void reflector::ask_check_page(std::string target, protocol::effects& out) {
  check_->is_asked = true;
  out.add(protocol::exchange{
      check_exchange(),
      {.method = "GET", .target = std::move(target), .body = {}, .content_type = {}}});
}

void reflector::drop_check(protocol::effects& out) {
  if (check_ && check_->is_asked)
    out.add(protocol::hang_up{check_exchange()});
  check_.reset();
}

/// True if the event was of this check's exchange.
bool reflector::on_check(const protocol::event& e, protocol::effects& out) {
  if (const auto* a = std::get_if<protocol::answered>(&e); a && a->id == check_exchange()) {
    on_check_answered(*a, out);
    return true;
  }
  const auto* u = std::get_if<protocol::answer_unknown>(&e);
  if (!u || u->id != check_exchange())
    return false;
  check_.reset();
  return true;
}

/// A page that does not come is no reason to worry: the next check will say.
void reflector::on_check_answered(const protocol::answered& e, protocol::effects& out) {
  ensure(check_ && check_->is_asked, options_.path);
  check_->is_asked = false;
  const auto page = judge(operation::read, e.status, e.body) == verdict::done
                        ? read_page_heads(e.body)
                        : std::nullopt;
  if (!page || !is_number(version_of(page->version))) {
    check_.reset();
    return;
  }
  for (const auto& x : page->items)
    compare(x);
  if (!page->token.empty()) {
    ask_check_page(fmt::format("{}?limit={}&continue={}", options_.path, limits::page_size,
                               escaped_query(page->token)),
                   out);
    return;
  }
  check_->up_to = version_of(page->version);
}

/// The watch may be behind the list, or before it; which of the two is seen when it has come as
/// far.
void reflector::compare(const line_head& there) {
  const auto version = version_of(there.version);
  const auto pos = objects_.find(key_of(there));
  if (pos == objects_.end()) {
    if (!check_->ended.contains(looked_for_))
      check_->unheard[looked_for_] = version;
    return;
  }
  pos->second.round = round_;
  if (!is_not_newer(version, pos->second.version))
    check_->unheard[looked_for_] = version;
}

/// Once the watch has told everything up to the list: what it has not told by now it never will.
void reflector::settle_check(base::time_point now, protocol::effects& out) {
  if (!check_ || !check_->up_to || state_ != state::watching
      || !is_not_newer(*check_->up_to, version_of(resume_)))
    return;
  const auto done = *std::exchange(check_, std::nullopt);
  const auto is_swallowed = [this](const auto& x) {
    const auto pos = objects_.find(x.first);
    return pos == objects_.end() || !is_not_newer(x.second, pos->second.version);
  };
  const auto unheard = std::count_if(done.unheard.begin(), done.unheard.end(), is_swallowed);
  const auto gone = std::count_if(objects_.begin(), objects_.end(),
                                  [this](const auto& x) { return x.second.round != round_; });
  if (unheard + gone == 0)
    return;
  swallowed_ += static_cast<std::uint64_t>(unheard + gone);
  out.add(protocol::note{
      "mirror.events_missed",
      {{"path", options_.path}, {"objects", static_cast<std::int64_t>(unheard + gone)}}});
  list_again(now, out);
}

} // namespace tutti::bridge
