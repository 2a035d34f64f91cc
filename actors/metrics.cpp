// Every metric has its name, help and labels here, and its row in docs/reference/metrics.md.
#include "actors/metrics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "actors/asking.hpp"
#include "actors/metrics_meter.hpp"
#include "actors/metrics_page.hpp"

namespace tutti::actors {

namespace {

namespace json = boost::json;
using protocol::role_kind;

/// The numbers below `key` by their names; none if there are no such.
std::map<std::string, std::int64_t> numbers_at(const json::value& from, std::string_view key) {
  std::map<std::string, std::int64_t> out;
  const auto* all = from.if_object();
  const auto* part = all == nullptr ? nullptr : all->if_contains(key);
  if (part != nullptr && part->is_object())
    for (const auto& [name, n] : part->get_object())
      if (n.is_number())
        out[std::string{name}] = n.to_number<std::int64_t>();
  return out;
}

void add_store(metrics_page& out, scheduler& who) {
  const auto counted = who.store_counters();
  out.one("gang_store_syncs_total", "counter", "Synced writes of journal and decision log.",
          counted.syncs);
  out.one("gang_store_records_total", "counter", "Records written.", counted.records);
  out.one("gang_journal_bytes", "counter", "Bytes of records written.", counted.bytes);
  out.one("gang_store_free_bytes", "gauge", "Free space on the store's disk.", who.disk().free);
}

/// Notes that have a metric of their own, beside `gang_notes_total`.
void add_notes(metrics_page& out, scheduler& who) {
  const auto counts = who.notes().counts();
  std::map<label_values, std::uint64_t> by_name;
  for (const auto& [name, n] : counts)
    by_name[{name}] = n;
  out.counters("gang_notes_total", "Structured facts recorded, by name.", {"what"}, by_name);
  const auto of = [&](const char* what) {
    const auto pos = counts.find(what);
    return pos == counts.end() ? 0 : pos->second;
  };
  out.one("gang_fenced_total", "counter", "Bindings stopped by a newer owner's fence.",
          of("binder.fenced"));
  out.one("gang_binding_unknown_total", "counter",
          "Bindings whose outcome the answer did not tell: the pod is read to know it.",
          of("binder.unknown"));
  out.one("gang_repairs_total", "counter",
          "Attempts for members that a started gang lacks to its minimum.", of("queue.repair"));
  out.one("gang_degraded_total", "counter",
          "Times that a started gang stayed below its minimum beyond the repair deadline.",
          of("queue.degraded"));
  out.one("gang_degraded_evictions_total", "counter",
          "Degraded gangs whose members were evicted, by the operator's policy.",
          of("queue.evicts_degraded"));
  out.counters("gang_preemption_attempts_total",
               "Times that a gang without room asked who could go for it, by what came of it.",
               {"result"},
               {{{"planned"}, of("preemption.planned")}, {{"refused"}, of("preemption.refused")}});
  out.one("gang_preemption_victims_total", "counter",
          "Pods that were evicted to make room for a gang.", of("evictor.preempted"));
  out.one("gang_preemption_wasted_total", "counter",
          "Pods that had gone for an attempt which was then withdrawn.",
          of("gang.eviction_wasted"));
  out.one("gang_cancels_total", "counter", "Times that an operator took back what was under way.",
          of("gang.cancelled") + of("partition.slot_closed"));
  out.one("gang_external_pressure_total", "counter",
          "Reservations whose room others took, or whose node shrank or vanished.",
          of("shard.pressure"));
  out.counters("gang_invariant_violations_total",
               "Promises of the protocol seen broken: always 0, page somebody on 1.", {"id"},
               {{{"abort_after_commit"}, of("shard.abort_after_commit")}});
}

/// What kube-scheduler calls the place where a gang of ours waits; empty = its gangs do not wait
/// there.
std::string_view upstream_queue(std::string_view pool) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> names{
      {{"queued", "active"},
       {"backing_off", "backoff"},
       {"waiting", "unschedulable"},
       {"gated", "gated"}}};
  for (const auto& [ours, theirs] : names)
    if (ours == pool)
      return theirs;
  return {};
}

void add_gangs(metrics_page& out, scheduler& who) {
  const auto status = ask(who, protocol::to(role_kind::queue), "status");
  out.begin("gang_phase", "gauge", "Gangs by phase.");
  for (const auto& [phase, n] : numbers_at(status, "phases"))
    out.sample({"phase"}, {phase}, n);
  out.begin("gang_pending", "gauge", "Gangs that are not bound, by the reason of this moment.");
  for (const auto& [reason, n] : numbers_at(status, "reasons"))
    out.sample({"reason"}, {reason}, n);
  out.begin("scheduler_queued_entities", "gauge", "Gangs that wait, by queue.");
  for (const auto& [pool, n] : numbers_at(status, "pools"))
    if (const auto queue = upstream_queue(pool); !queue.empty())
      out.sample({"type", "queue"}, {"podgroup", std::string{queue}}, n);
}

void add_attempts(metrics_page& out, const measures& all) {
  std::map<label_values, std::uint64_t> results;
  for (const auto& [result, h] : all.attempt_duration)
    results[result] = h.count();
  out.counters("gang_attempts_total", "Attempts that ended, by outcome and primary reason.",
               {"outcome", "reason"}, all.attempts);
  out.counters("scheduler_podgroup_schedule_attempts_total",
               "Attempts begun and ended by this process, by result.", {"result"}, results);
  out.histograms("scheduler_podgroup_scheduling_attempt_duration_seconds",
                 "From the beginning of an attempt to its end, Bindings included.", {"result"},
                 all.attempt_duration);
  out.histograms("scheduler_podgroup_scheduling_algorithm_duration_seconds",
                 "From asking for a plan to having it, or the reason why there is none.", {},
                 {{{}, all.planning_duration}});
  out.histograms("gang_time_to_bound_seconds",
                 "From a gang's creation, as the API server wrote it down in whole seconds, to the "
                 "end of the attempt that bound its minimum for the first time.",
                 {}, {{{}, all.time_to_bound}});
  out.histograms("gang_phase_duration_seconds", "Time of attempts in a phase.", {"phase"},
                 all.phase_duration);
}

void add_protocol(metrics_page& out, const measures& all) {
  out.counters("gang_votes_total", "Votes of shards, by word and primary reason of a no.",
               {"vote", "reason"}, all.votes);
  out.histograms("gang_decision_sync_seconds",
                 "From handing a decision to the store until it is durable.", {},
                 {{{}, all.decision_duration}});
  out.counters("gang_bindings_total", "Answers about Bindings, by verdict.", {"verdict"},
               all.bindings);
  out.one("gang_epoch", "gauge", "The highest epoch that a coordinator partition has begun.",
          all.epoch.value);
}

void add_shards(metrics_page& out, scheduler& who) {
  std::map<std::string, std::int64_t> by_state;
  const auto here = shards_here(who);
  if (!here)
    return;
  std::int64_t silent = 0, oldest_ms = 0;
  for (const auto s : *here) {
    const auto one = ask(who, protocol::to_shard({s}), "shards");
    if (!one.is_object()) {
      ++silent;
      continue;
    }
    for (const auto* state : {"preparing", "prepared", "committed"})
      by_state[state] += one.at(state).to_number<std::int64_t>();
    if (one.at("in_doubt").to_number<std::int64_t>() > 0)
      oldest_ms = std::max(oldest_ms, one.at("in_doubt_oldest_ms").to_number<std::int64_t>());
  }
  out.begin("gang_reservations", "gauge", "Reservations that shards hold, by state.");
  for (const auto& [state, n] : by_state)
    out.sample({"state"}, {state}, n);
  out.one("gang_in_doubt_oldest_seconds", "gauge",
          "How long the oldest promise has waited for its decision; 0 = none waits.",
          static_cast<double>(oldest_ms) / 1000);
  out.one("gang_silent_shards", "gauge", "Shards of this replica that do not answer.", silent);
}

void add_view(metrics_page& out, scheduler& who) {
  const auto mirror = ask(who, protocol::to(role_kind::mirror), "mirror");
  out.begin("gang_view_age_seconds", "gauge", "Since the last word of the API server's watch.");
  const auto* all = mirror.if_object();
  const auto* list = all == nullptr ? nullptr : all->if_contains("resources");
  if (list == nullptr || !list->is_array())
    return;
  std::map<label_values, std::uint64_t> missed;
  for (const auto& x : list->get_array()) {
    const std::string_view path = x.at("path").as_string();
    const std::string resource{path.substr(path.rfind('/') + 1)};
    out.sample({"resource"}, {resource}, x.at("quietMs").to_number<double>() / 1000);
    missed[{resource}] = x.at("missed").to_number<std::uint64_t>();
  }
  out.counters("gang_watch_events_missed_total",
               "Objects of which a watch had not told what a list said.", {"resource"}, missed);
}

/// Replicas are few, and their names stay: they may be labels.
void add_links(metrics_page& out, const std::vector<link_state>& all) {
  if (all.empty())
    return;
  std::map<label_values, std::uint64_t> frames;
  out.begin("gang_link_up", "gauge", "1 while what is said to that replica leaves.");
  for (const auto& x : all) {
    out.sample({"replica"}, {x.replica}, x.is_up ? 1 : 0);
    frames[{x.replica, "sent"}] = x.sent;
    frames[{x.replica, "dropped"}] = x.dropped;
    frames[{x.replica, "heard"}] = x.heard;
  }
  out.counters("gang_link_frames_total", "Messages between this replica and that one.",
               {"replica", "fate"}, frames);
}

} // namespace

std::string metrics_text(scheduler& who) {
  metrics_page out;
  const auto measured = who.numbers().now();
  add_gangs(out, who);
  add_attempts(out, measured);
  add_protocol(out, measured);
  add_shards(out, who);
  add_store(out, who);
  add_memory(out);
  add_view(out, who);
  add_api_calls(out, who.calls());
  add_links(out, who.links());
  add_notes(out, who);
  return out.take();
}

} // namespace tutti::actors
