// The metrics of a bridge that is a process of its own, each with its row in
// docs/reference/metrics.md.
#include <map>

#include "actors/bridge_admin.hpp"
#include "actors/metrics_page.hpp"

namespace tutti::actors {

namespace {

/// "pods" of "/api/v1/pods": kinds are few.
std::string kind_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

void add_watches(metrics_page& out, const bridge_view& view) {
  std::map<label_values, std::size_t> fresh, objects, followers, bytes;
  std::map<label_values, double> age;
  for (const auto& w : view.watches) {
    const label_values kind{kind_of(w.path)};
    fresh[kind] += w.is_fresh ? 1 : 0;
    objects[kind] += w.objects;
    followers[kind] += w.followers;
    bytes[kind] += w.history_bytes;
    age[kind] = std::chrono::duration<double>(w.silent).count();
  }
  const auto gauge = [&out](const char* name, const char* help, const auto& all) {
    out.begin(name, "gauge", help);
    for (const auto& [kind, n] : all)
      out.sample({"resource"}, kind, n);
  };
  gauge("gang_bridge_watch_fresh", "1 while the watch of that kind is complete and heard of.",
        fresh);
  gauge("gang_bridge_objects", "Objects of that kind that are kept.", objects);
  gauge("gang_bridge_followers", "Watches of schedulers that are answered from there.", followers);
  gauge("gang_bridge_history_bytes", "Bytes of the last changes that are kept.", bytes);
  gauge("gang_view_age_seconds", "Since the last word of the API server's watch.", age);
}

} // namespace

std::string bridge_metrics_text(const bridge_health& how) {
  metrics_page out;
  if (const auto& view = how.view) {
    add_watches(out, *view);
    std::size_t waiting = 0, open = 0;
    for (const auto& s : view->schedulers) {
      waiting += s.waiting_bytes;
      open += s.open_exchanges;
    }
    out.one("gang_bridge_schedulers", "gauge", "Schedulers that are connected.",
            view->schedulers.size());
    out.one("gang_bridge_exchanges", "gauge", "Exchanges of schedulers that are open.", open);
    out.one("gang_bridge_queue_bytes", "gauge", "Bytes that wait to be told to schedulers.",
            waiting);
    out.one("gang_bridge_writes_in_flight", "gauge", "Writes without an answer yet.",
            view->writes_in_flight);
    std::map<label_values, std::uint64_t> writes, departures;
    for (const auto& [verb, n] : view->writes)
      writes[{verb}] = n;
    for (const auto& [cause, n] : view->departures)
      departures[{cause}] = n;
    out.counters("gang_bridge_writes_total", "Writes taken from schedulers.", {"verb"}, writes);
    out.one("gang_bridge_events_total", "counter", "Events of watches told to schedulers.",
            view->events);
    out.one("gang_bridge_event_bytes_total", "counter", "Their bytes.", view->watch_bytes);
    out.counters("gang_bridge_departures_total", "Connections of schedulers that have ended.",
                 {"cause"}, departures);
  }
  add_memory(out);
  add_api_calls(out, *how.calls);
  return out.take();
}

} // namespace tutti::actors
