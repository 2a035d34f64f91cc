#include "sim/scenario/tally.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace tutti::sim::scenario {

namespace {

using api_server::kind_id;

/// As many as a person reads.
constexpr std::size_t events_kept = 40;
/// Kinds whose changes mean that the cluster is not what it was.
constexpr std::array watched_kinds{kind_id::nodes, kind_id::pods, kind_id::pod_groups,
                                   kind_id::workloads};

bool is_write(const protocol::http_request& r) {
  return r.method != "GET";
}

/// Leases are a heartbeat and events a comment: neither is work.
bool is_work(const asked_path& to) {
  return to.resource != "leases" && to.resource != "events";
}

/// How often an Event object says that it happened.
std::int64_t reports_in(const api_server::object& event) {
  api_server::draft parsed{event.body};
  const auto* series = api_server::look(parsed.doc(), {"series", "count"});
  const auto* count = series ? series : api_server::look(parsed.doc(), {"count"});
  return count && count->is_int64() ? std::max<std::int64_t>(count->get_int64(), 1) : 1;
}

std::string_view name_of(api_server::change x) {
  switch (x) {
  case api_server::change::added:
    return "ADDED";
  case api_server::change::modified:
    return "MODIFIED";
  case api_server::change::deleted:
    return "DELETED";
  }
  return "?";
}

} // namespace

asked_path path_of(std::string_view target) {
  asked_path out;
  const auto question = target.find('?');
  out.is_watch = question != std::string_view::npos
                 && target.substr(question).find("watch=") != std::string_view::npos;
  target = target.substr(0, question);
  std::vector<std::string> parts;
  while (!target.empty()) {
    const auto slash = target.find('/');
    if (slash != 0)
      parts.emplace_back(target.substr(0, slash));
    target = slash == std::string_view::npos ? std::string_view{} : target.substr(slash + 1);
  }
  std::size_t at = parts.empty() ? 0 : parts.front() == "apis" ? 3 : 2;
  const auto part = [&](std::size_t i) { return i < parts.size() ? parts[i] : std::string{}; };
  if (part(at) == "namespaces" && parts.size() > at + 2) {
    out.space = part(at + 1);
    at += 2;
  }
  out.resource = part(at);
  out.name = part(at + 1);
  out.subresource = part(at + 2);
  return out;
}

void tally::note(std::string what) {
  const auto at = std::chrono::duration<double>(world_.time().now().time_since_epoch()).count();
  events_.push_back(fmt::format("{:10.4f}s  {}", at, what));
  if (events_.size() > events_kept)
    events_.pop_front();
}

std::vector<std::string> tally::last_events() const {
  return {events_.begin(), events_.end()};
}

void tally::sent(const std::string& client, const protocol::http_request& request) {
  const auto to = path_of(request.target);
  if (!is_write(request) || to.resource == "leases")
    return;
  const auto count = [&](const std::string& what) {
    ++writes_[{client, what}];
    ++writes_[{"", what}];
  };
  count("all");
  count(to.resource);
  if (to.subresource == "binding")
    count("bindings");
  if (to.subresource == "status")
    count("status");
  if (request.method == "DELETE")
    count("deletes");
  if (is_work(to))
    note_activity();
}

void tally::restart() {
  writes_.clear();
  attempts_.clear();
  evicted_.clear();
  restarted_at_ = world_.api().plane().objects().last();
}

std::uint64_t tally::writes(const std::string& what, const std::string& client) const {
  const auto pos = writes_.find({client, what});
  return pos == writes_.end() ? 0 : pos->second;
}

std::uint64_t tally::attempts(const protocol::object_name& gang) const {
  const auto pos = attempts_.find(gang);
  return pos == attempts_.end() ? 0 : pos->second;
}

std::int64_t tally::reports(const api_server::object& event) const {
  return reports_since(world_.api().plane().objects(), event, restarted_at_);
}

std::int64_t reports_since(const api_server::store& all, const api_server::object& event,
                           api_server::revision from) {
  if (event.rev <= from)
    return 0;
  const auto then = all.difference_to(kind_id::events, from);
  const auto old = then ? then->find(event.key) : decltype(then->end()){};
  const bool was_there = then && old != then->end() && old->second;
  return reports_in(event) - (was_there ? reports_in(*old->second) : 0);
}

// ---------------------------------------------------------------- what is observed

/// An attempt counts as activity unless the same gang has failed since the world last changed.
void tally::stepped(process& who, const protocol::address& where, const protocol::event& e,
                    const protocol::effects& wanted) {
  if (where.kind == protocol::role_kind::gang) {
    if (const auto* r = std::get_if<protocol::received>(&e)) {
      if (const auto* x = std::get_if<protocol::begin_attempt>(&r->what)) {
        ++attempts_[x->who->name];
        under_way_.insert(where.key);
        if (!failed_.contains(where.key))
          note_activity();
        note(fmt::format("{} attempt {} of {} begins", who.name(), x->attempt.try_no,
                         protocol::to_text(x->who->name)));
      } else if (std::holds_alternative<protocol::resume_decision>(r->what)) {
        under_way_.insert(where.key);
        note_activity();
      }
    } else if (const auto* d = std::get_if<protocol::decided>(&e)) {
      if (d->winner && d->winner->what == protocol::verdict::committed) {
        started_.insert(where.key);
        note_activity();
        note(fmt::format("{} decided for {}", who.name(), protocol::to_text(d->winner->gang_name)));
      }
    }
  }
  for (const auto& w : wanted.list()) {
    if (const auto* n = std::get_if<protocol::note>(&w); n && n->is_error)
      alarms_.push_back(fmt::format("{} {}: {}", who.name(), protocol::to_text(where), n->what));
    const auto* s = std::get_if<protocol::send>(&w);
    if (const auto* over = s ? std::get_if<protocol::attempt_over>(&s->what) : nullptr;
        over && where.kind == protocol::role_kind::gang) {
      note(fmt::format("{} attempt of {} ends: {} {}", who.name(), where.key,
                       protocol::name_of(over->outcome), base::to_text(over->why)));
      attempt_ended({where.key}, over->outcome == protocol::attempt_outcome::bound);
    }
  }
}

void tally::attempt_ended(const base::gang_uid& gang, bool is_bound) {
  under_way_.erase(gang.value);
  if (is_bound || !failed_.contains(gang.value))
    note_activity();
  if (!is_bound)
    failed_.insert(gang.value);
}

void tally::arrives(std::string_view client, const protocol::http_request& request) {
  if (!is_write(request))
    return;
  const auto to = path_of(request.target);
  if (to.resource == "leases")
    return;
  note(fmt::format("{} {} {}", client, request.method, request.target));
  const bool marks = request.method == "PATCH" && to.subresource == "status"
                     && request.body.find("DisruptionTarget") != std::string::npos;
  if (to.resource == "pods"
      && (request.method == "DELETE" || to.subresource == "eviction" || marks))
    evicted_.insert(to.space + "/" + to.name);
}

void tally::api_turned() {
  const auto& objects = world_.api().plane().objects();
  if (objects.last() == seen_)
    return;
  for (const auto kind : watched_kinds)
    for (auto n = objects.event_after(kind, seen_); n < objects.end_event(kind); ++n) {
      const auto& e = objects.event_at(kind, n);
      note(fmt::format("api {} {} {}{}", name_of(e.what), api_server::info_of(kind).singular,
                       e.now->key, e.now->node_name.empty() ? "" : " on " + e.now->node_name));
      const bool is_condition_only =
          kind == kind_id::pod_groups
          || (kind == kind_id::pods && e.before && e.before->node_name == e.now->node_name
              && e.before->phase == e.now->phase && e.before->is_deleting == e.now->is_deleting);
      if (e.what == api_server::change::modified && is_condition_only)
        continue;
      failed_.clear();
      note_activity();
    }
  seen_ = objects.last();
}

void tally::began(process& who) {
  note(fmt::format("{} starts", who.name()));
  note_activity();
}

void tally::ended(process& who, std::string_view why) {
  note(fmt::format("{} ends: {}", who.name(), why));
  under_way_.clear();
  note_activity();
}

} // namespace tutti::sim::scenario
