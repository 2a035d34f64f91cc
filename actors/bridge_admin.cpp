#include "actors/bridge_admin.hpp"

#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/core.h>

namespace tutti::actors {

namespace {

namespace json = boost::json;

/// A name, and what is wrong; empty = nothing.
using check = std::pair<std::string, std::string>;

std::vector<check> checks_of(const bridge_health& how) {
  std::vector<check> out{
      {"api-server", how.has_server ? "" : "the API server has not said yet which cluster it is"}};
  if (!how.view) {
    out.emplace_back("watch-sync", "the bridge's thread does not answer");
    return out;
  }
  std::string stale;
  for (const auto& w : how.view->watches)
    if (!w.is_fresh)
      stale += fmt::format("{}{}{}{}", stale.empty() ? "" : "; ", w.path,
                           w.trouble.empty() ? " is being listed" : ": ", w.trouble);
  out.emplace_back("watch-sync", stale);
  std::string missing;
  for (const auto& right : how.calls->missing())
    missing += fmt::format("{}{}", missing.empty() ? "may not " : ", ", to_text(right.what));
  out.emplace_back("rights", missing);
  return out;
}

http_reply ready(const bridge_health& how, const std::string& path, bool is_verbose) {
  const auto name = path.substr(std::string_view{"/readyz"}.size());
  bool ok = true, has_looked = false;
  std::string text;
  for (const auto& [what, why] : checks_of(how)) {
    if (name.size() > 1 && name.substr(1) != what)
      continue;
    text += why.empty() ? fmt::format("[+]{} ok\n", what)
                        : fmt::format("[-]{} failed: {}\n", what, why);
    ok = ok && why.empty();
    has_looked = true;
  }
  if (!has_looked)
    return {404, "text/plain", "there is no such check; /readyz?verbose lists them\n"};
  if (ok && !is_verbose)
    return {200, "text/plain", "ok\n"};
  text += ok ? "readyz check passed\n" : "readyz check failed\n";
  return {ok ? 200 : 503, "text/plain", std::move(text)};
}

http_reply doing(const bridge_health& how) {
  json::array watches, schedulers;
  if (how.view) {
    for (const auto& w : how.view->watches)
      watches.push_back(json::object{
          {"path", w.path},
          {"fresh", w.is_fresh},
          {"objects", w.objects},
          {"followers", w.followers},
          {"quietMs", std::chrono::duration_cast<std::chrono::milliseconds>(w.silent).count()}});
    for (const auto& s : how.view->schedulers)
      schedulers.push_back(json::object{{"name", s.name},
                                        {"openExchanges", s.open_exchanges},
                                        {"waitingBytes", s.waiting_bytes}});
  }
  const json::object out{{"apiVersion", "tutti.dev/v1"},
                         {"kind", "Bridge"},
                         {"version", how.version},
                         {"watches", std::move(watches)},
                         {"schedulers", std::move(schedulers)}};
  return {200, "application/json", json::serialize(out)};
}

} // namespace

http_reply answer_bridge_admin(const bridge_health& how, const std::string& method,
                               const std::string& target) {
  const auto path = target.substr(0, target.find('?'));
  if (method != "GET" && method != "HEAD")
    return {405, "text/plain", "a bridge is read only: GET\n"};
  if (path == "/livez" || path == "/healthz")
    return how.view ? http_reply{200, "text/plain", "ok\n"}
                    : http_reply{503, "text/plain", "the bridge's thread does not answer\n"};
  if (path == "/readyz" || path.starts_with("/readyz/"))
    return ready(how, path, target.find("?verbose") != std::string::npos);
  if (path == "/metrics")
    return {200, "text/plain; version=0.0.4", bridge_metrics_text(how)};
  if (path == "/api/bridge")
    return doing(how);
  return {404, "text/plain", "there is /livez /readyz /metrics /api/bridge\n"};
}

} // namespace tutti::actors
