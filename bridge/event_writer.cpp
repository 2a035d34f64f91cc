// Series of events: when one is written, and what an answer means for it.
#include "bridge/event_writer.hpp"

#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "base/limits.hpp"
#include "bridge/backoff.hpp"
#include "bridge/limits.hpp"
#include "bridge/pod_requests.hpp"

namespace tutti::bridge {

void event_writer::seed(std::uint64_t seed, std::uint64_t incarnation) {
  seed_ = base::hash_combine(seed, incarnation);
}

digest event_writer::key_of(const protocol::emit_event& x) {
  return digest_of({x.uid, x.reason, x.action, x.is_warning ? "Warning" : "Normal"});
}

/// Never used before, in this life or another: the seed differs per life.
std::string event_writer::fresh_name(const protocol::emit_event& x) {
  return fmt::format("{}.{:016x}", x.about.name, base::hash_combine(seed_, ++last_name_));
}

bool event_writer::is_due(const series& s, base::time_point now) const {
  return s.written == 0
         || ((s.count > s.written || s.is_new_text)
             && now - s.last_write >= limits::series_refresh);
}

bool event_writer::emit(const protocol::emit_event& x, request_id id, base::time_point now,
                        exchange_window& window, protocol::effects& out) {
  auto known = by_key_.find(key_of(x));
  if (known != by_key_.end()) {
    auto& s = series_.at(known->second);
    if (now - s.last_seen < limits::series_idle) {
      s.last_seen = now;
      s.is_new_text = s.is_new_text || s.what.text != x.text;
      s.what.text = x.text;
      ++s.count;
      if (!s.is_open && is_due(s, now))
        window.enqueue(known->second, false);
      return false;
    }
    if (s.is_open)
      return false;
    forget(known->second);
  }
  if (series_.size() >= limits::event_series_remembered) {
    out.add(protocol::note{"status.event_dropped", {{"about", to_text(x.about)}}, false});
    return false;
  }
  series s;
  s.what = x;
  s.name = fresh_name(x);
  s.last_seen = now;
  by_key_.emplace(key_of(x), id);
  series_.emplace(id, std::move(s));
  window.enqueue(id, false);
  return true;
}

std::optional<protocol::http_request>
event_writer::next_exchange(request_id id, base::time_point now, base::wall_time wall) {
  const auto pos = series_.find(id);
  if (pos == series_.end() || pos->second.is_open || !is_due(pos->second, now))
    return std::nullopt;
  auto& s = pos->second;
  s.is_open = true;
  s.last_write = now;
  if (s.is_new_text && s.written > 0) {
    s.name = fresh_name(s.what);
    s.count = 1;
    s.written = 0;
  }
  s.is_new_text = false;
  s.sending = s.count;
  if (s.written == 0)
    return post_request(s, wall);
  const boost::json::object body{
      {"series", {{"count", s.count}, {"lastObservedTime", rfc3339_micro(wall)}}}};
  return protocol::http_request{
      .method = "PATCH",
      .target =
          fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events/{}", s.what.about.space, s.name),
      .body = boost::json::serialize(body),
      .content_type = "application/strategic-merge-patch+json"};
}

protocol::http_request event_writer::post_request(const series& s, base::wall_time wall) const {
  const auto& x = s.what;
  auto note = x.text;
  if (note.size() > limits::note_bytes) {
    auto end = limits::note_bytes;
    while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xc0) == 0x80)
      --end;
    note.resize(end);
  }
  const boost::json::object body{{"apiVersion", "events.k8s.io/v1"},
                                 {"kind", "Event"},
                                 {"metadata", {{"name", s.name}, {"namespace", x.about.space}}},
                                 {"eventTime", rfc3339_micro(wall)},
                                 {"type", x.is_warning ? "Warning" : "Normal"},
                                 {"reason", x.reason},
                                 {"action", x.action.empty() ? "Scheduling" : x.action},
                                 {"note", note},
                                 {"reportingController", options_.scheduler_name},
                                 {"reportingInstance", options_.instance},
                                 {"regarding",
                                  {{"apiVersion", x.is_pod ? "v1" : options_.group_api_version},
                                   {"kind", x.is_pod ? "Pod" : "PodGroup"},
                                   {"namespace", x.about.space},
                                   {"name", x.about.name},
                                   {"uid", x.uid}}}};
  return {.method = "POST",
          .target = fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", x.about.space),
          .body = boost::json::serialize(body),
          .content_type = "application/json"};
}

void event_writer::on_answer(request_id id, const condition_writer::answer& a, base::time_point now,
                             exchange_window& window, protocol::effects& out) {
  const auto pos = series_.find(id);
  if (pos == series_.end())
    return;
  auto& s = pos->second;
  s.is_open = false;
  const auto v = judge(operation::patch, a.status, a.body);
  switch (v) {
  case verdict::done:
  case verdict::look: // there already: our own POST whose answer was lost
    s.written = s.sending;
    s.tries = 0;
    return;
  case verdict::wait:
  case verdict::unknown: {
    // The name is ours alone, so a second POST finds the first.
    const auto asked = asked_wait(a.retry_after_ms);
    if (asked.count() > 0)
      window.pause(asked, now, out);
    const auto wait =
        backoff({base::limits::resend_first, limits::reconnect_longest}, s.tries, seed_, id);
    ++s.tries;
    if (s.written == 0)
      window.later(id, std::max(wait, asked), out);
    return;
  }
  case verdict::forbidden:
  case verdict::invalid:
    out.add(protocol::note{"status.event_refused",
                           {{"about", to_text(s.what.about)}, {"status", a.status}},
                           v == verdict::invalid});
    forget(id);
    return;
  case verdict::gone: // its namespace, or the Event's time has come
  case verdict::replaced:
  case verdict::relist:
  case verdict::too_new:
  case verdict::reconnect:
    forget(id);
    return;
  }
}

bool event_writer::sweep(base::time_point now, exchange_window& window) {
  std::vector<request_id> ended;
  for (auto& [id, s] : series_) {
    if (s.is_open)
      continue;
    if (s.written > 0 && s.count > s.written && is_due(s, now))
      window.enqueue(id, false);
    else if (now - s.last_seen >= limits::series_idle)
      ended.push_back(id);
  }
  for (const auto id : ended)
    forget(id);
  return !series_.empty();
}

void event_writer::forget(request_id id) {
  const auto pos = series_.find(id);
  ensure(pos != series_.end(), id);
  by_key_.erase(key_of(pos->second.what));
  series_.erase(pos);
}

} // namespace tutti::bridge
