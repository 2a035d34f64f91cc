#include "actors/metrics.hpp"

#include <chrono>

#include <boost/json.hpp>
#include <fmt/core.h>

namespace tutti::actors {

namespace {

namespace json = boost::json;

void head(std::string& out, const char* name, const char* type, const char* help) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

/// Gauges of the queue: gangs by phase and by reason of the present moment.
void add_gangs(std::string& out, const json::value& status) {
  head(out, "gang_phase", "gauge", "Gangs by phase.");
  if (const auto* o = status.if_object())
    if (const auto* phases = o->if_contains("phases"))
      if (const auto* by_name = phases->if_object())
        for (const auto& [phase, n] : *by_name)
          out += fmt::format("gang_phase{{phase=\"{}\"}} {}\n", std::string_view{phase},
                             json::serialize(n));
}

} // namespace

std::string metrics_text(scheduler& who) {
  std::string out;
  head(out, "gang_notes_total", "counter", "Structured facts recorded, by name.");
  for (const auto& [name, n] : who.notes().counts())
    out += fmt::format("gang_notes_total{{what=\"{}\"}} {}\n", name, n);
  const auto counted = who.store_counters();
  head(out, "gang_store_syncs_total", "counter", "Synced writes of journal and decision log.");
  out += fmt::format("gang_store_syncs_total {}\n", counted.syncs);
  head(out, "gang_store_records_total", "counter", "Records written.");
  out += fmt::format("gang_store_records_total {}\n", counted.records);
  head(out, "gang_journal_bytes", "counter", "Bytes of records written.");
  out += fmt::format("gang_journal_bytes {}\n", counted.bytes);
  const auto text = who.desk().ask(protocol::to(protocol::role_kind::queue), "status", {},
                                   std::chrono::seconds{2});
  boost::system::error_code ec;
  add_gangs(out, text.empty() ? json::value{} : json::parse(text, ec));
  return out;
}

} // namespace tutti::actors
