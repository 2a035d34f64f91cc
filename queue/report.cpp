// Rows and details of gangs for people, from the queue as it stands.
#include "queue/report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "queue/gate.hpp"
#include "queue/here.hpp"

namespace tutti::queue {

namespace {

namespace json = boost::json;
using base::reason_code;
using protocol::phase;

/// Degraded is a word for people: it stands before whatever the gang waits for meanwhile.
bool reads_degraded(const gang_entry& g) {
  return g.is_degraded
         && !(g.life && g.life->is_placed
              && (g.life->where == pool::attempting || g.life->where == pool::settling));
}

phase phase_of(const gang_entry& g) {
  if (reads_degraded(g))
    return phase::degraded;
  if (!g.life || !g.life->is_placed)
    return phase::bound;
  switch (g.life->where) {
  case pool::gated:
    return phase::gated;
  case pool::queued:
  case pool::waiting:
    return phase::queued;
  case pool::backing_off:
    return phase::backing_off;
  case pool::attempting:
    return g.life->attempt->at;
  case pool::settling:
    return phase::binding;
  }
  return phase::queued;
}

std::uint32_t bound_of(const gang_entry& g, const tally& t) {
  if (!g.life)
    return t.bound;
  if (g.life->attempt)
    return std::max(t.bound, g.life->attempt->bound);
  return t.bound + g.owed();
}

std::int64_t ms(base::duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

/// Null where there is no reason: `<none>` is a word for tables.
json::value reason_value(reason_code x) {
  return x == reason_code::none ? json::value{} : json::value(base::name_of(x));
}

/// What stands beside the reason: of a refused gang, which has no detail of its own, the text of
/// its explanation without that word.
std::string detail_of(const gang_life& life) {
  if (!life.detail.empty() || !life.why || life.why->primary != life.reason)
    return life.detail;
  const auto text = base::to_text(*life.why);
  const auto rest = text.find_first_not_of(":;, ", base::name_of(life.reason).size());
  return rest == text.npos ? std::string{} : text.substr(rest);
}

json::object stray_row(const base::gang_uid& uid, const stray& s) {
  return {{"namespace", s.name.space},
          {"name", s.name.name},
          {"uid", uid.value},
          {"kind", "PodGroup"},
          {"pool", "attempting"},
          {"members", s.attempt.members},
          {"bound", s.attempt.bound},
          {"phase", protocol::name_of(s.attempt.at)},
          {"reason", base::name_of(reason_of(s.attempt))}};
}

json::object remembered_row(const base::gang_uid& uid, const remembered& m) {
  json::object out{{"namespace", m.name.space},
                   {"name", m.name.name},
                   {"uid", uid.value},
                   {"kind", m.is_lone_pod ? "Pod" : "PodGroup"},
                   {"pool", m.rest_ms > 0 ? "backing_off" : "waiting"},
                   {"phase", m.rest_ms > 0 ? "BackingOff" : "Queued"},
                   {"attempts", m.attempts}};
  out["reason"] = base::name_of(m.why ? m.why->primary : reason_code::queued_behind);
  return out;
}

json::value pods_of(const gang_entry& g) {
  json::array out;
  for (const auto* pod : g.members) {
    const char* state = pod->is_terminal   ? "Finished"
                        : pod->is_deleting ? "Terminating"
                        : pod->is_bound()  ? "Bound"
                        : pod->is_gated    ? "Gated"
                                           : "Pending";
    out.push_back(json::object{{"name", pod->name},
                               {"uid", pod->uid.text()},
                               {"state", state},
                               {"node", pod->node()},
                               {"created", pod->created_ms}});
  }
  return out;
}

} // namespace

reason_code reason_of(const attempt_now& x) {
  if (x.reason != reason_code::none)
    return x.reason;
  switch (x.at) {
  case phase::gated:
  case phase::queued:
  case phase::backing_off:
  case phase::planning:
  case phase::preparing:
    return reason_code::reserving;
  case phase::evicting:
    return reason_code::waiting_for_victims;
  case phase::decided:
  case phase::binding:
  case phase::bound:
    return reason_code::binding;
  case phase::withdrawing:
    return reason_code::reservation_conflict;
  case phase::degraded:
    return reason_code::degraded;
  }
  return reason_code::reserving;
}

std::string reader::read(std::string_view what, std::string_view name) const {
  if (what == "gangs")
    return json::serialize(gangs());
  if (what == "status")
    return json::serialize(status());
  if (what == "quiet")
    return json::serialize(quiet());
  if (what != "gang")
    return {};
  const auto slash = name.find('/');
  if (slash == std::string_view::npos)
    return {};
  const protocol::object_name wanted{std::string{name.substr(0, slash)},
                                     std::string{name.substr(slash + 1)}};
  if (const auto* g = from_.gangs.find_named(wanted); g && is_shown(*g))
    return json::serialize(gang(*g));
  for (const auto& [uid, s] : from_.departed)
    if (s.name == wanted)
      return json::serialize(with_api_lost(stray_row(uid, s)));
  for (const auto& [uid, m] : from_.remembered)
    if (m.name == wanted) {
      auto out = with_api_lost(remembered_row(uid, m));
      if (m.why)
        out["explanation"] = to_json(*m.why);
      return json::serialize(out);
    }
  return {};
}

std::int64_t reader::ms_until(base::time_point t) const {
  return std::max<std::int64_t>(ms(t - from_.now), 0);
}

/// Hidden are gangs of other schedulers and lone pods that are finished or leaving.
bool reader::is_shown(const gang_entry& g) const {
  if (g.life)
    return true;
  if (g.is_lone_pod())
    return g.members.front()->scheduler >= 0 && g.members.front()->is_live();
  return g.members.empty() || count(g).ours > 0;
}

/// While everything is told anew, a group whose members come before itself has no uid yet: an
/// attempt of its name is taken for its own.
bool reader::is_told_by_its_attempt(const gang_entry& g) const {
  return !from_.is_synced && g.uid().value.empty()
         && std::any_of(from_.departed.begin(), from_.departed.end(),
                        [&](const auto& s) { return s.second.name == g.name(); });
}

bool reader::is_api_lost() const {
  return from_.api_lost && from_.now - *from_.api_lost >= api_lost_shown_after;
}

/// Of a gang that is not at rest, as its row has it.
reason_code reader::shown_reason(const gang_entry& g) const {
  if (is_api_lost() && g.life->where != pool::waiting)
    return reason_code::api_unavailable;
  return reads_degraded(g) ? reason_code::degraded : g.life->reason;
}

/// While the API server is out of reach nothing that a gang waits for can happen or be seen. What
/// it waited for before stays in the detail.
json::object reader::with_api_lost(json::object row) const {
  const auto* where = row.if_contains("pool");
  const bool is_pending =
      where && where->as_string() != name_of(pool::waiting); // else it has numbers
  if (!is_pending || !is_api_lost())
    return row;
  auto text = fmt::format("no complete and fresh view of the API server for {} s",
                          ms(from_.now - *from_.api_lost) / 1000);
  const auto* own = row.if_contains("reason");
  const auto* detail = row.if_contains("detail");
  if (own && own->is_string())
    text += fmt::format("; {}", std::string_view{own->as_string()});
  if (detail)
    text += fmt::format(": {}", std::string_view{detail->as_string()});
  row["reason"] = base::name_of(reason_code::api_unavailable);
  row["detail"] = std::move(text);
  row["reason_for_ms"] = ms(from_.now - *from_.api_lost);
  return row;
}

json::object reader::row(const gang_entry& g) const {
  const auto t = count(g);
  json::object out{{"namespace", g.space()},
                   {"name", g.short_name()},
                   {"uid", g.uid().value},
                   {"kind", g.is_lone_pod() ? "Pod" : "PodGroup"},
                   {"priority", g.priority()},
                   {"members", t.live()},
                   {"min", g.min_count()},
                   {"bound", bound_of(g, t)},
                   {"phase", protocol::name_of(phase_of(g))},
                   {"reason", reason_value(reason_code::none)},
                   {"attempts", g.attempts},
                   {"created", g.created_ms()}};
  if (!is_placed_here(g, from_.how, from_.here))
    out["elsewhere"] = true;
  if (!g.life)
    return out;
  const auto& life = *g.life;
  out["pool"] = name_of(life.where);
  out["reason"] = reason_value(life.reason);
  const auto detail = detail_of(life);
  if (!detail.empty())
    out["detail"] = detail;
  if (reads_degraded(g)) {
    out["reason"] = base::name_of(reason_code::degraded);
    out["detail"] = fmt::format("{}/{} members are bound; {}{}{}", t.bound, g.min_count(),
                                base::name_of(life.reason), detail.empty() ? "" : ": ", detail);
  }
  out["reason_for_ms"] = ms(from_.now - life.since);
  if (life.where == pool::backing_off)
    out["next_try_in_ms"] = ms_until(life.due);
  if (life.where == pool::waiting)
    out["tried_at_latest_in_ms"] = ms_until(life.due);
  return out;
}

json::array reader::gangs() const {
  std::map<const gang_entry*, std::size_t> position; // lookups only
  std::map<const gang_entry*, const gang_entry*> behind;
  const gang_entry* last = nullptr;
  for (const auto* g : from_.where.in(pool::queued)) {
    position.emplace(g, position.size() + 1);
    behind.emplace(g, last);
    last = g;
  }
  json::array out;
  std::set<std::pair<protocol::object_name, bool>> shown;
  for (const auto* g : from_.gangs.all()) {
    if (!is_shown(*g) || is_told_by_its_attempt(*g))
      continue;
    shown.emplace(g->name(), g->is_lone_pod());
    auto one = row(*g);
    if (const auto pos = position.find(g); pos != position.end()) {
      one["position"] = pos->second;
      if (const auto* before = behind.at(g))
        one["detail"] = protocol::to_text(before->name());
    }
    out.push_back(with_api_lost(std::move(one)));
  }
  for (const auto& [uid, s] : from_.departed)
    out.push_back(with_api_lost(stray_row(uid, s)));
  // What has been told since is what is so: a gang may have been bound or made anew meanwhile.
  for (const auto& [uid, m] : from_.remembered)
    if (!from_.departed.contains(uid) && !shown.contains({m.name, m.is_lone_pod}))
      out.push_back(with_api_lost(remembered_row(uid, m)));
  return out;
}

json::object reader::gang(const gang_entry& g) const {
  auto out = with_api_lost(row(g));
  const auto& queued = from_.where.in(pool::queued);
  if (g.life && g.life->is_placed && g.life->where == pool::queued) {
    const auto pos = std::find(queued.begin(), queued.end(), &g);
    out["position"] = std::distance(queued.begin(), pos) + 1;
  }
  out["pods"] = pods_of(g);
  if (!g.life)
    return out;
  const auto& life = *g.life;
  out["refused"] = life.refused;
  out["errors"] = life.errors;
  out["conflicts"] = life.conflicts;
  if (life.why) {
    auto why = *life.why;
    why.view_version = life.view_seen;
    out["explanation"] = to_json(why);
  }
  json::array history;
  for (const auto& a : life.history)
    history.push_back(json::object{{"ordinal", a.ordinal},
                                   {"try", a.try_no},
                                   {"outcome", protocol::name_of(a.outcome)},
                                   {"reason", reason_value(a.reason)},
                                   {"bound", a.bound},
                                   {"took_ms", ms(a.until - a.from)},
                                   {"ended_ms_ago", ms(from_.now - a.until)}});
  out["history"] = std::move(history);
  return out;
}

json::object reader::status() const {
  std::map<std::string_view, std::int64_t> phases, reasons;
  const gang_entry* oldest = nullptr;
  for (const auto* g : from_.gangs.all()) {
    if (!is_shown(*g))
      continue;
    ++phases[protocol::name_of(phase_of(*g))];
    if (g->life && phase_of(*g) != phase::bound)
      ++reasons[base::name_of(shown_reason(*g))];
    if (g->life && (!oldest || g->created_ms() < oldest->created_ms()))
      oldest = g;
  }
  for (const auto& [uid, s] : from_.departed)
    ++phases[protocol::name_of(s.attempt.at)];
  json::object by_phase, by_pool, by_reason;
  for (const auto& [name, n] : phases)
    by_phase[name] = n;
  for (const auto& [name, n] : reasons)
    by_reason[name] = n;
  for (std::size_t i = 0; i < pool_count; ++i)
    by_pool[name_of(static_cast<pool>(i))] = from_.where.size(static_cast<pool>(i));
  json::object out{{"synced", from_.is_synced},
                   {"phases", std::move(by_phase)},
                   {"pools", std::move(by_pool)},
                   {"reasons", std::move(by_reason)},
                   {"pods", from_.gangs.pod_count()}};
  out["oldest_pending"] = oldest ? json::value(with_api_lost(row(*oldest))) : json::value();
  return out;
}

/// Quiet: nothing can run, nothing runs, and whoever rests was refused on this very state.
json::object reader::quiet() const {
  const auto& where = from_.where;
  const auto active = where.size(pool::queued) + where.size(pool::settling);
  const auto attempting = where.size(pool::attempting) + from_.departed.size();
  const auto& resting = where.in(pool::backing_off);
  const auto stale = static_cast<std::size_t>(std::count_if(
      resting.begin(), resting.end(), [](const gang_entry* g) { return g->life->is_stale; }));
  return {{"quiet", from_.is_synced && active == 0 && attempting == 0 && stale == 0},
          {"active", active},
          {"attempting", attempting},
          {"backing_off", resting.size()},
          {"stale_backoff", stale}};
}

} // namespace tutti::queue
