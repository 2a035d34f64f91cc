// The life of one condition: read, compared, patched, and read again when somebody interfered.
#include "bridge/condition_writer.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "bridge/backoff.hpp"
#include "bridge/http_text.hpp"
#include "bridge/json_read.hpp"
#include "bridge/pod_requests.hpp"

namespace tutti::bridge {
namespace {

constexpr std::string_view scheduled_condition = "PodGroupInitiallyScheduled";

/// At most `limit` bytes, cut at a character.
std::string cut(std::string text, std::size_t limit) {
  if (text.size() <= limit)
    return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80)
    --limit;
  text.resize(limit);
  return text;
}

} // namespace

bool condition_writer::say(const protocol::set_condition& x, request_id id, exchange_window& window,
                           protocol::effects& out) {
  ensure(!x.reason.empty(), x.type, x.name.name);
  auto type = x.type;
  if (!x.is_pod && type == scheduled_condition)
    type = api::scheduled_condition_of(spoken_);
  if (type.empty())
    return false; // this dialect has nowhere to say it
  content wanted{x.status, x.reason, cut(x.message, limits::message_bytes)};
  const auto key = key_of(x.is_pod, x.uid, type);
  if (const auto pos = by_key_.find(key); pos != by_key_.end()) {
    auto& e = entries_.at(pos->second);
    if (is_final(e, wanted))
      return false;
    if (e.known && !e.is_open && !is_needed(e, wanted))
      settle(pos->second); // back to what is written already
    else
      e.wanted = std::move(wanted);
    return false;
  }
  auto known = memory_.look(key);
  if (known && !is_needed(*known, x.is_pod, type, wanted))
    return false;
  if (entries_.size() >= limits::conditions_waiting) {
    ++dropped_;
    out.add(protocol::note{"status.dropped", {{"object", to_text(x.name)}}, true});
    return false;
  }
  by_key_.emplace(key, id);
  auto& e = entries_[id];
  e.name = x.name;
  e.is_pod = x.is_pod;
  e.uid = x.uid;
  e.type = std::move(type);
  e.wanted = std::move(wanted);
  e.known = std::move(known);
  memory_.forget(key);
  window.enqueue(id, false);
  return true;
}

digest condition_writer::key_of(bool is_pod, std::string_view uid, std::string_view type) {
  return digest_of({is_pod ? "pod" : "group", uid, type});
}

bool condition_writer::is_group_start(bool is_pod, std::string_view type) const {
  return !is_pod && type == api::scheduled_condition_of(spoken_);
}

/// True, once said or about to be said of a group, is the last word.
bool condition_writer::is_final(const entry& e, const content& c) const {
  if (c.status || !is_group_start(e.is_pod, e.type))
    return false;
  const bool is_true = e.known && e.known->is_there && e.known->status;
  return is_true || e.wanted.status || (e.is_patching && e.sent.status);
}

/// Whether the server would have to be told.
bool condition_writer::is_needed(const known_condition& there, bool is_pod, std::string_view type,
                                 const content& c) const {
  if (there.is_there && there.status == c.status && there.words == words_of(c))
    return false;
  if (there.is_there && there.status && !c.status && is_group_start(is_pod, type))
    return false;
  return !(is_pod && there.is_bound && !c.status);
}

bool condition_writer::is_needed(const entry& e, const content& c) const {
  ensure(e.known.has_value(), e.name.name);
  return !is_final(e, c) && is_needed(*e.known, e.is_pod, e.type, c);
}

std::optional<protocol::http_request> condition_writer::next_exchange(request_id id,
                                                                      base::wall_time now) {
  const auto pos = entries_.find(id);
  if (pos == entries_.end() || pos->second.is_open)
    return std::nullopt;
  auto& e = pos->second;
  e.is_open = true;
  e.is_patching = e.known.has_value();
  if (e.is_patching)
    return patch_request(e, now);
  return protocol::http_request{
      .method = "GET", .target = path_of(e), .body = {}, .content_type = {}};
}

protocol::http_request condition_writer::patch_request(entry& e, base::wall_time now) const {
  e.sent = e.wanted;
  const bool has_turned = !e.known->is_there || e.known->status != e.sent.status;
  e.sent_since = has_turned || e.known->since.empty() ? rfc3339(now) : e.known->since;
  boost::json::object condition{{"type", e.type},
                                {"status", e.sent.status ? "True" : "False"},
                                {"reason", e.sent.reason},
                                {"message", e.sent.message},
                                {"lastTransitionTime", e.sent_since}};
  boost::json::object body{
      {"metadata", {{"uid", e.uid}, {"resourceVersion", e.known->resource_version}}},
      {"status", {{"conditions", boost::json::array{std::move(condition)}}}}};
  if (!e.is_pod && spoken_ == api::dialect::own)
    return apply_request(e, std::move(body));
  return {.method = "PATCH",
          .target = path_of(e) + "/status",
          .body = boost::json::serialize(body),
          .content_type = "application/strategic-merge-patch+json"};
}

/// Servers know strategic merge for their own kinds only, and any other merge would replace the
/// list. What is applied replaces what was applied under the same name before: one name per
/// condition.
protocol::http_request condition_writer::apply_request(const entry& e,
                                                       boost::json::object body) const {
  body["apiVersion"] = api::api_version_of(spoken_);
  body["kind"] = "PodGroup";
  body["metadata"].as_object()["name"] = e.name.name;
  body["metadata"].as_object()["namespace"] = e.name.space;
  return {.method = "PATCH",
          .target = fmt::format("{}/status?fieldManager={}&force=true", path_of(e),
                                escaped_query("tutti/" + e.type)),
          .body = boost::json::serialize(body),
          .content_type = "application/apply-patch+yaml"}; // JSON is YAML, too
}

std::string condition_writer::path_of(const entry& e) const {
  if (e.is_pod)
    return fmt::format("/api/v1/namespaces/{}/pods/{}", e.name.space, e.name.name);
  return fmt::format("/apis/{}/namespaces/{}/podgroups/{}", api::api_version_of(spoken_),
                     e.name.space, e.name.name);
}

void condition_writer::on_answer(request_id id, const answer& a, base::time_point now,
                                 exchange_window& window, protocol::effects& out) {
  const auto pos = entries_.find(id);
  if (pos == entries_.end())
    return;
  auto& e = pos->second;
  ensure(e.is_open, e.name.name);
  e.is_open = false;
  const bool was_patching = std::exchange(e.is_patching, false);
  const auto v = judge(was_patching ? operation::patch : operation::read, a.status, a.body);
  switch (v) {
  case verdict::gone:
  case verdict::replaced:
    forget(id); // nobody is left to read it
    return;
  case verdict::invalid:
    out.add(protocol::note{"status.refused",
                           {{"object", to_text(e.name)}, {"answer", cut(std::string{a.body}, 512)}},
                           true});
    forget(id);
    return;
  case verdict::forbidden:
    out.add(protocol::note{"status.forbidden", {{"object", to_text(e.name)}}, true});
    retry(id, e, limits::forbidden_wait, window, out);
    return;
  case verdict::wait: {
    const auto asked = asked_wait(a.retry_after_ms);
    if (asked.count() > 0)
      window.pause(asked, now, out);
    retry(id, e, asked, window, out);
    return;
  }
  case verdict::done:
  case verdict::look:
  case verdict::unknown:
  case verdict::relist:
  case verdict::too_new:
  case verdict::reconnect:
    break;
  }
  if (was_patching)
    on_patch(id, e, v, a.body, window, out);
  else
    on_read(id, e, v, a.body, window, out);
}

void condition_writer::on_read(request_id id, entry& e, verdict v, std::string_view body,
                               exchange_window& window, protocol::effects& out) {
  const parsed_json read{body};
  const auto* object = v == verdict::done ? read.object() : nullptr;
  const auto* meta = object ? object_at(*object, "metadata") : nullptr;
  if (!meta) {
    retry(id, e, {}, window, out);
    return;
  }
  if (text_at(*meta, "uid") != e.uid) {
    forget(id); // the name belongs to somebody else now
    return;
  }
  known_condition known;
  known.resource_version = text_at(*meta, "resourceVersion");
  if (const auto* spec = object_at(*object, "spec"))
    known.is_bound = e.is_pod && !text_at(*spec, "nodeName").empty();
  const auto* status = object_at(*object, "status");
  const auto* list = status ? array_at(*status, "conditions") : nullptr;
  if (list)
    for (const auto& item : *list) {
      const auto* c = item.if_object();
      if (!c || text_at(*c, "type") != e.type)
        continue;
      known.is_there = true;
      known.status = text_at(*c, "status") == "True";
      known.words = digest_of({text_at(*c, "reason"), text_at(*c, "message")});
      known.since = text_at(*c, "lastTransitionTime");
    }
  e.known = std::move(known);
  if (is_needed(e, e.wanted))
    window.enqueue(id, true);
  else
    settle(id);
}

void condition_writer::on_patch(request_id id, entry& e, verdict v, std::string_view body,
                                exchange_window& window, protocol::effects& out) {
  if (v != verdict::done) {
    e.known.reset(); // changed by somebody, or written and not heard of: look
    retry(id, e, {}, window, out);
    return;
  }
  ++writes_;
  e.tries = 0;
  const parsed_json read{body};
  const auto* object = read.object();
  const auto* meta = object ? object_at(*object, "metadata") : nullptr;
  const auto version = meta ? text_at(*meta, "resourceVersion") : std::string_view{};
  e.known->is_there = true;
  e.known->status = e.sent.status;
  e.known->words = words_of(e.sent);
  e.known->since = e.sent_since;
  e.known->resource_version = version;
  if (version.empty())
    e.known.reset();
  const bool has_more = e.wanted != e.sent;
  if (has_more && (!e.known || is_needed(e, e.wanted)))
    window.enqueue(id, false);
  else
    settle(id);
}

void condition_writer::retry(request_id id, entry& e, base::duration at_least,
                             exchange_window& window, protocol::effects& out) {
  const auto wait = backoff({base::limits::resend_first, limits::reconnect_longest}, e.tries, seed_,
                            base::hash_of(e.uid));
  ++e.tries;
  window.later(id, std::max(wait, at_least), out);
}

/// It needs no writing any more.
void condition_writer::settle(request_id id) {
  const auto& e = entries_.at(id);
  if (e.known)
    memory_.keep(key_of(e.is_pod, e.uid, e.type), *e.known);
  forget(id);
}

void condition_writer::forget(request_id id) {
  const auto pos = entries_.find(id);
  ensure(pos != entries_.end(), id);
  const auto& e = pos->second;
  by_key_.erase(key_of(e.is_pod, e.uid, e.type));
  entries_.erase(pos);
}

} // namespace tutti::bridge
