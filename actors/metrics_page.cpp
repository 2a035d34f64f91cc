#include "actors/metrics_page.hpp"

#include <fstream>

#include <malloc.h>
#include <unistd.h>

#include "base/ensure.hpp"

namespace tutti::actors {

std::string metrics_page::labels(label_names names, const label_values& values,
                                 const std::string& at_most) {
  ensure(names.size() == values.size(), names.size(), values.size());
  std::string out;
  std::size_t i = 0;
  for (const auto name : names)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, values[i++]);
  if (!at_most.empty())
    out += fmt::format("{}le=\"{}\"", out.empty() ? "" : ",", at_most);
  return out.empty() ? out : "{" + out + "}";
}

/// What the kernel and the allocator say. What is free in the heap is used again, or given back in
/// a quiet moment.
void add_memory(metrics_page& out) {
  std::ifstream file{"/proc/self/statm"};
  std::uint64_t all = 0, resident = 0;
  if (file >> all >> resident)
    out.one("process_resident_memory_bytes", "gauge", "Memory of this process in pages of its own.",
            resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  const auto heap = ::mallinfo2();
  out.begin("gang_heap_bytes", "gauge", "Bytes of the heap, in use and free.");
  out.sample({"state"}, {"in_use"}, heap.uordblks + heap.hblkhd);
  out.sample({"state"}, {"free"}, heap.fordblks);
}

void add_api_calls(metrics_page& out, const api_calls& all) {
  std::map<label_values, std::uint64_t> rows;
  for (const auto& [what, n] : all.counts())
    rows[{what.first.verb, what.first.resource,
          what.second == 0 ? "unknown" : std::to_string(what.second)}] += n;
  out.counters("gang_api_requests_total", "Requests to the API server, by status.",
               {"verb", "resource", "code"}, rows);
  out.one("gang_missing_rights", "gauge", "Requests that the API server's access rules refuse.",
          all.missing().size());
}

} // namespace tutti::actors
