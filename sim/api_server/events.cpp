// The two faces of Event: core/v1, in which it is kept, and events.k8s.io/v1.
#include <array>
#include <utility>

#include "sim/api_server/registry.hpp"

namespace tutti::sim::api_server {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names{{
    // events.k8s.io/v1, core/v1
    {"regarding", "involvedObject"},
    {"note", "message"},
    {"reportingController", "reportingComponent"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
}};

void rename(json::object& doc, std::string_view from, std::string_view to) {
  auto* v = doc.if_contains(from);
  if (!v)
    return;
  json::value moved(std::move(*v), doc.storage());
  doc.stable_erase(from);
  doc[to] = std::move(moved);
}

} // namespace

/// What older clients sort and print by is there even if nobody has set it, as real servers have
/// it.
void to_core_event(json::object& doc) {
  for (auto [modern, core] : names)
    rename(doc, modern, core);
  doc.emplace("source", json::object(doc.storage()));
  doc.emplace("firstTimestamp", nullptr);
  doc.emplace("lastTimestamp", nullptr);
}

void to_new_event(json::object& doc) {
  for (auto [modern, core] : names)
    rename(doc, core, modern);
}

} // namespace tutti::sim::api_server
