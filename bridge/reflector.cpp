// Lists, watches and what to do when either breaks.
#include "bridge/reflector.hpp"

#include <algorithm>
#include <vector>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "bridge/backoff.hpp"
#include "bridge/http_text.hpp"
#include "bridge/json_read.hpp"
#include "bridge/limits.hpp"
#include "bridge/line_head.hpp"
#include "bridge/verdicts.hpp"
#include "bridge/versions.hpp"

namespace tutti::bridge {
namespace {

/// What a line of a watch usually is once it is parsed; only larger ones ask the allocator.
constexpr std::size_t line_bytes_usual = 8192;

boost::json::value parse(std::string_view text, boost::json::error_code& ec,
                         boost::json::monotonic_resource& memory) {
  return boost::json::parse(boost::json::string_view{text.data(), text.size()}, ec, &memory);
}

struct identity {
  std::string key;
  std::uint64_t uid = 0;
  std::uint64_t version = 0;
};

identity identity_of(const boost::json::object& object) {
  const auto* meta = object_at(object, "metadata");
  if (!meta)
    return {};
  return {bridge::key_of(*meta), base::hash_of(text_at(*meta, "uid")),
          version_of(text_at(*meta, "resourceVersion"))};
}

std::string_view version_text(const boost::json::object& object) {
  const auto* meta = object_at(object, "metadata");
  return meta ? text_at(*meta, "resourceVersion") : std::string_view{};
}

bool ends_initial_events(const boost::json::object& object) {
  const auto* meta = object_at(object, "metadata");
  const auto* notes = meta ? object_at(*meta, "annotations") : nullptr;
  return notes && text_at(*notes, "k8s.io/initial-events-end") == "true";
}

/// What stands behind "object" in a line that has been parsed: servers write the two fields of an
/// event in one way. Empty for any other.
std::string_view object_text(const boost::json::object& line, std::string_view text) {
  constexpr std::string_view before = R"({"type":")", between = R"(","object":)";
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  const auto head = before.size() + text_at(line, "type").size() + between.size();
  const bool is_usual = line.size() == 2 && text.size() > head && text.starts_with(before)
                        && text.substr(0, head).ends_with(between) && text[head] == '{'
                        && text.ends_with('}');
  return is_usual ? text.substr(head, text.size() - head - 1) : std::string_view{};
}

} // namespace

void reflector::start(std::uint64_t seed, base::time_point now, protocol::effects& out) {
  ensure(state_ == state::idle, options_.path);
  options_.seed = seed;
  begin_list(now, out);
  out.add(protocol::arm{{stall_timer, options_.channel}, base::limits::view_stale_after});
  arm_check(out);
}

void reflector::tell_again(base::time_point now, protocol::effects& out) {
  tells_all_ = true;
  list_again(now, out);
}

void reflector::list_again(base::time_point now, protocol::effects& out) {
  ensure(state_ != state::idle, options_.path);
  is_synced_ = false;
  is_trusted_ = false;
  hang_up(out);
  out.add(protocol::disarm{{retry_timer, options_.channel}});
  begin_list(now, out);
}

bool reflector::on(const protocol::event& e, base::time_point now, protocol::effects& out,
                   const sink& apply) {
  if (const auto* fired = std::get_if<protocol::timer_fired>(&e)) {
    const auto kind = fired->timer.kind;
    if (fired->timer.key != options_.channel
        || (kind != retry_timer && kind != stall_timer && kind != check_timer))
      return false;
    if (kind == check_timer)
      begin_check(out);
    else
      on_timer(kind, now, out);
    return true;
  }
  if (check_ && check_->is_asked && on_check(e, out)) {
    settle_check(now, out);
    return true;
  }
  auto is_mine = [this](std::uint64_t id) { return (id & 0x7f) == options_.channel; };
  auto is_open = [this](std::uint64_t id) {
    return (id & 0xff) == options_.channel && (id >> 8) == serial_ && state_ != state::waiting
           && state_ != state::idle;
  };
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (requires { x.id; }) {
          if (!is_mine(x.id))
            return false;
          if (!is_open(x.id))
            return true; // of an exchange that we gave up
          if constexpr (std::is_same_v<T, protocol::answered>)
            on_answered(x, now, out, apply);
          else if constexpr (std::is_same_v<T, protocol::answer_unknown>)
            fail({.why = x.why}, now, out);
          else if constexpr (std::is_same_v<T, protocol::stream_opened>)
            on_opened(now);
          else if constexpr (std::is_same_v<T, protocol::stream_lines>)
            on_lines(x.lines, now, out, apply);
          else if constexpr (std::is_same_v<T, protocol::stream_closed>)
            on_closed(x.why, now, out);
          settle_check(now, out);
          return true;
        }
        return false;
      },
      e);
}

// ---------------------------------------------------------------- asking

void reflector::ask(std::string target, bool is_stream, base::time_point now,
                    protocol::effects& out) {
  ++serial_;
  asked_ = now;
  heard_line_ = false;
  protocol::http_request request{
      .method = "GET", .target = std::move(target), .body = {}, .content_type = {}};
  request.is_stream = is_stream;
  out.add(protocol::exchange{serial_ << 8 | options_.channel, std::move(request)});
}

void reflector::begin_list(base::time_point now, protocol::effects& out) {
  ++list_no_;
  ++round_;
  drop_check(out);
  needs_list_ = true;
  continue_.clear();
  if (!options_.streams_list) {
    ask_page(now, out);
    return;
  }
  state_ = state::opening_list;
  ask(fmt::format("{}?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
                  "&resourceVersionMatch=NotOlderThan&timeoutSeconds={}",
                  options_.path, lifetime_seconds()),
      true, now, out);
}

void reflector::ask_page(base::time_point now, protocol::effects& out) {
  state_ = state::page_listing;
  auto target = fmt::format("{}?limit={}", options_.path, limits::page_size);
  if (!continue_.empty())
    target += "&continue=" + escaped_query(continue_);
  ask(std::move(target), false, now, out);
}

void reflector::begin_watch(base::time_point now, protocol::effects& out) {
  state_ = state::opening_watch;
  ask(fmt::format("{}?watch=true&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                  options_.path, escaped_query(resume_), lifetime_seconds()),
      true, now, out);
}

std::uint64_t reflector::lifetime_seconds() const {
  const auto shortest = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(limits::watch_lifetime).count());
  const auto who = base::hash_combine(options_.seed, options_.channel);
  return shortest + base::hash_combine(who, serial_) % (shortest + 1);
}

void reflector::hang_up(protocol::effects& out) {
  if (state_ != state::waiting && state_ != state::idle)
    out.add(protocol::hang_up{serial_ << 8 | options_.channel});
}

void reflector::resume_from(std::string_view version) {
  if (version.empty())
    return;
  const bool is_backwards =
      !resume_.empty() && is_not_newer(version_of(version), version_of(resume_));
  if (!is_backwards)
    resume_ = version;
}

void reflector::fail(failure f, base::time_point now, protocol::effects& out) {
  (void)now;
  last_failure_ = std::move(f.why);
  if (!f.keeps_trust)
    is_trusted_ = false;
  needs_list_ = needs_list_ || f.needs_list;
  state_ = state::waiting;
  const auto wait = backoff({limits::reconnect_first, limits::reconnect_longest}, tries_,
                            options_.seed, options_.channel);
  ++tries_;
  out.add(protocol::arm{{retry_timer, options_.channel}, std::max(wait, f.at_least)});
}

// ---------------------------------------------------------------- hearing

void reflector::on_answered(const protocol::answered& e, base::time_point now,
                            protocol::effects& out, const sink& apply) {
  const auto what = judge(operation::watch, e.status, e.body);
  const auto why = fmt::format("{} answers {}", options_.path, e.status);
  is_forbidden_ = what == verdict::forbidden;
  switch (what) {
  case verdict::done:
    if (state_ == state::page_listing)
      on_page(e.body, now, out, apply);
    else
      fail({.why = why + " without a stream"}, now, out);
    return;
  case verdict::invalid:
    if (state_ == state::opening_list) {
      options_.streams_list = false; // an older server, or its gate is off
      begin_list(now, out);
      return;
    }
    fail({.why = why, .needs_list = true}, now, out);
    return;
  case verdict::relist:
    fail({.why = why, .needs_list = true}, now, out);
    return;
  case verdict::too_new:
    fail({.why = why, .needs_list = true, .at_least = limits::too_new_wait}, now, out);
    return;
  case verdict::wait:
    fail({.why = why, .at_least = asked_wait(e.retry_after_ms)}, now, out);
    return;
  case verdict::forbidden:
    fail({.why = why, .at_least = limits::forbidden_wait}, now, out);
    return;
  case verdict::gone:
  case verdict::replaced:
  case verdict::look:
  case verdict::unknown:
  case verdict::reconnect:
    fail({.why = why}, now, out);
    return;
  }
}

void reflector::on_page(const std::string& body, base::time_point now, protocol::effects& out,
                        const sink& apply) {
  boost::json::monotonic_resource memory;
  boost::json::error_code ec;
  const auto page = parse(body, ec, memory);
  const auto* object = ec ? nullptr : page.if_object();
  const auto* meta = object ? object_at(*object, "metadata") : nullptr;
  if (!meta) {
    fail({.why = "a list that cannot be read"}, now, out);
    return;
  }
  last_heard_ = now;
  text_ = {};
  const auto* items = array_at(*object, "items");
  if (items)
    for (const auto& item : *items)
      if (const auto* x = item.if_object())
        apply_seen(*x, apply);
  continue_ = text_at(*meta, "continue");
  if (!continue_.empty()) {
    ask_page(now, out);
    return;
  }
  finish_list(std::string{text_at(*meta, "resourceVersion")}, apply);
  begin_watch(now, out);
}

void reflector::on_opened(base::time_point now) {
  last_heard_ = now;
  is_forbidden_ = false;
  if (state_ == state::opening_list) {
    state_ = state::stream_listing;
    return;
  }
  ensure(state_ == state::opening_watch, options_.path);
  state_ = state::watching;
  is_trusted_ = true;
}

void reflector::on_lines(const std::string& lines, base::time_point now, protocol::effects& out,
                         const sink& apply) {
  last_heard_ = now;
  heard_line_ = true;
  const auto serial = serial_;
  std::string_view rest = lines;
  while (!rest.empty() && serial == serial_ && state_ != state::waiting) {
    const auto end = std::min(rest.find('\n'), rest.size() - 1);
    const auto line = rest.substr(0, end + 1);
    rest.remove_prefix(end + 1);
    if (line.find_first_not_of("\r\n ") == std::string_view::npos)
      continue;
    if (is_repetition(line))
      continue;
    unsigned char first[line_bytes_usual];
    boost::json::monotonic_resource memory{first, sizeof first};
    boost::json::error_code ec;
    const auto value = parse(line, ec, memory);
    const auto* object = ec ? nullptr : value.if_object();
    if (object && on_line(*object, line, now, out, apply))
      continue;
    if (serial != serial_ || state_ == state::waiting)
      return;
    // What was read before the damage is kept; the rest is asked for again.
    hang_up(out);
    fail({.why = "a watch event that cannot be read"}, now, out);
  }
}

/// Good until the next call.
const std::string& reflector::key_of(const line_head& x) {
  looked_for_.assign(x.space);
  if (!x.space.empty())
    looked_for_ += '/';
  return looked_for_ += x.name;
}

/// True for exactly the version of an object that is known: a list that is heard again says little
/// else. Then all that such a line means has been done, and it need not be parsed.
bool reflector::is_repetition(std::string_view line) {
  const bool is_list = state_ != state::watching;
  if (is_list ? tells_all_ : base::is_planted(base::mutant::take_any_version))
    return false;
  const auto head = read_line_head(line);
  if (!head || (head->type != "ADDED" && head->type != "MODIFIED"))
    return false;
  const auto pos = objects_.find(key_of(*head));
  if (pos == objects_.end() || pos->second.version != version_of(head->version)
      || pos->second.uid != base::hash_of(head->uid))
    return false;
  pos->second.round = round_;
  if (!is_list) {
    tries_ = 0;
    resume_from(head->version);
  }
  return true;
}

bool reflector::on_line(const boost::json::object& line, std::string_view text,
                        base::time_point now, protocol::effects& out, const sink& apply) {
  const auto type = text_at(line, "type");
  const auto* object = object_at(line, "object");
  if (!object)
    return false;
  if (type == "ERROR") {
    on_error_line(*object, now, out);
    return true;
  }
  if (type == "BOOKMARK") {
    tries_ = 0;
    if (state_ == state::watching)
      resume_from(version_text(*object));
    else if (ends_initial_events(*object)) {
      finish_list(std::string{version_text(*object)}, apply);
      state_ = state::watching;
      is_trusted_ = true;
    }
    return true;
  }
  text_ = object_text(line, text);
  if (type == "DELETED")
    apply_deleted(*object, apply);
  else if (type == "ADDED" || type == "MODIFIED")
    apply_seen(*object, apply);
  else
    return false;
  if (state_ == state::watching) {
    tries_ = 0;
    resume_from(version_text(*object));
  }
  return true;
}

void reflector::on_error_line(const boost::json::object& status, base::time_point now,
                              protocol::effects& out) {
  const auto* code = status.if_contains("code");
  const auto reason = text_at(status, "reason");
  const auto message = std::string{text_at(status, "message")};
  auto number = code && code->is_int64() ? static_cast<int>(code->get_int64()) : 0;
  if (reason == "Expired" || reason == "Gone")
    number = 410;
  const auto what = judge(operation::watch, number, message);
  hang_up(out);
  const bool needs_list = (what == verdict::relist || what == verdict::too_new)
                          && !base::is_planted(base::mutant::resume_after_410);
  const auto wait =
      what == verdict::too_new ? base::duration{limits::too_new_wait} : base::duration::zero();
  fail({.why = fmt::format("watch error {} {}: {}", number, reason, message),
        .needs_list = needs_list,
        .at_least = wait},
       now, out);
}

void reflector::on_closed(const std::string& why, base::time_point now, protocol::effects& out) {
  if (!why.empty()) {
    fail({.why = why}, now, out);
    return;
  }
  if (state_ != state::watching) {
    fail({.why = "the stream ended before the list did"}, now, out);
    return;
  }
  // The server's own time limit. A stream that brought nothing is not asked for again at once.
  if (heard_line_)
    begin_watch(now, out);
  else
    fail({.why = "an empty watch ended", .keeps_trust = true}, now, out);
}

void reflector::on_timer(std::uint32_t kind, base::time_point now, protocol::effects& out) {
  if (kind == retry_timer) {
    if (state_ != state::waiting)
      return;
    if (needs_list_)
      begin_list(now, out);
    else
      begin_watch(now, out);
    return;
  }
  constexpr base::duration longest = base::limits::view_stale_after;
  if (now - last_heard_ >= longest)
    is_trusted_ = false;
  auto quiet_since = last_heard_;
  if (state_ != state::waiting) {
    quiet_since = std::max(last_heard_, asked_);
    if (now - quiet_since >= longest) {
      hang_up(out);
      fail({.why = "silent", .needs_list = true}, now, out);
      quiet_since = now;
    }
  }
  const auto left = longest - (now - quiet_since);
  out.add(protocol::arm{{stall_timer, options_.channel}, left.count() > 0 ? left : longest});
}

// ---------------------------------------------------------------- what is known

void reflector::finish_list(std::string version, const sink& apply) {
  std::vector<std::string> missing;
  for (const auto& [key, known] : objects_)
    if (known.round != round_ && !base::is_planted(base::mutant::keep_the_gone))
      missing.push_back(key);
  std::sort(missing.begin(), missing.end());
  for (const auto& key : missing) {
    const auto pos = objects_.find(key);
    apply({change::kind::deleted, pos->first, nullptr, pos->second.tag});
    objects_.erase(pos);
  }
  resume_ = std::move(version);
  needs_list_ = false;
  tells_all_ = false;
  is_synced_ = true;
  tries_ = 0;
}

void reflector::apply_seen(const boost::json::object& object, const sink& apply) {
  auto seen = identity_of(object);
  if (seen.key.empty())
    return;
  const bool is_list = state_ != state::watching;
  auto pos = objects_.find(seen.key);
  if (pos != objects_.end() && pos->second.uid != seen.uid
      && base::is_planted(base::mutant::go_by_the_name))
    pos->second.uid = seen.uid;
  if (pos != objects_.end() && pos->second.uid != seen.uid) {
    if (!is_list && is_not_newer(seen.version, pos->second.version))
      return; // of an earlier owner of the name
    apply({change::kind::deleted, pos->first, nullptr, pos->second.tag});
    objects_.erase(pos);
    pos = objects_.end();
  }
  if (pos == objects_.end()) {
    // In order, an object that we do not know is newer than all we heard; else it is a repetition.
    if (!is_list && is_not_newer(seen.version, version_of(resume_)))
      return;
    pos = objects_.emplace(std::move(seen.key), entry{seen.uid, seen.version, 0, round_}).first;
    apply({change::kind::added, pos->first, &object, pos->second.tag, text_});
    return;
  }
  auto& known = pos->second;
  known.round = round_;
  const bool is_old = is_list ? seen.version == known.version
                              : is_not_newer(seen.version, known.version)
                                    && !base::is_planted(base::mutant::take_any_version);
  if (is_old && !(is_list && tells_all_))
    return;
  known.version = seen.version;
  apply({change::kind::modified, pos->first, &object, known.tag, text_});
}

void reflector::apply_deleted(const boost::json::object& object, const sink& apply) {
  const auto seen = identity_of(object);
  if (check_) {
    check_->unheard.erase(seen.key);
    check_->ended.insert(seen.key);
  }
  const auto pos = objects_.find(seen.key);
  if (pos == objects_.end() || pos->second.uid != seen.uid)
    return;
  // A delete carries the version of the deletion; one below what we know is a repetition of the
  // past. Servers that leave the last version in place are believed.
  const bool is_older =
      seen.version != pos->second.version && is_not_newer(seen.version, pos->second.version);
  if (is_older)
    return;
  apply({change::kind::deleted, pos->first, &object, pos->second.tag, text_});
  objects_.erase(pos);
}

} // namespace tutti::bridge
