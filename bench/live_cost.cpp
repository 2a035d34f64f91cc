#include "bench/live_cost.hpp"

#include <algorithm>
#include <thread>

#include <fmt/core.h>

#include "bench/audit.hpp"
#include "bench/embedded.hpp"
#include "bench/json_line.hpp"

namespace tutti::bench {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr double rate_bar = 0.9;
constexpr double requests_per_pod_bar = 2.0;
constexpr double requests_per_gang_allowed = 8;
constexpr auto patience = 300s;
/// The log has grown by nothing of ours for so long: conditions and events are written.
constexpr auto quiet = 2s;
/// What the scheduler may have under way at once: its window of Bindings and those of the others.
constexpr std::size_t at_once = bridge::limits::connections;
constexpr std::string_view tutti_agent = "tutti/";

struct wave {
  std::vector<gang_wish> gangs;
  int pods = 0;
};

wave wave_of(const std::vector<gang_count>& what, const std::string& prefix,
             const std::string& scheduler) {
  wave out;
  for (const auto& x : what)
    for (int i = 0; i < x.gangs; ++i) {
      out.gangs.push_back({.name = fmt::format("{}-{}-{}", prefix, x.members, i),
                           .members = x.members,
                           .scheduler = scheduler});
      out.pods += x.members;
    }
  return out;
}

objects objects_of(const wave& w) {
  objects out;
  for (const auto& x : w.gangs)
    add_gang(out, x);
  return out;
}

/// Pods per second from the first that was seen bound to the last.
double rate_of(const live_cluster& on) {
  auto first = moment::max(), last = moment::min();
  const auto bound = on.bound();
  for (const auto& [name, at] : bound) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
  return static_cast<double>(bound.size()) / std::chrono::duration<double>(last - first).count();
}

std::int64_t sum(const request_counts& all) {
  std::int64_t n = 0;
  for (const auto& [what, count] : all)
    n += count;
  return n;
}

request_counts wait_until_quiet(const live_cluster& on, std::uint64_t from) {
  auto seen = audited(on.audit_log(), from, std::string{tutti_agent});
  for (;;) {
    std::this_thread::sleep_for(quiet);
    auto now = audited(on.audit_log(), from, std::string{tutti_agent});
    if (sum(now) == sum(seen))
      return now;
    seen = std::move(now);
  }
}

double bind_by_tutti(live_cluster& on, const wave& w, request_counts& asked) {
  on.create(objects_of(w));
  const auto from = audit_size(on.audit_log());
  {
    const auto scheduler = on.start_tutti();
    if (!on.wait_bound(static_cast<std::size_t>(w.pods), patience))
      fail(fmt::format("only {} of {} pods are bound", on.bound_count(), w.pods));
    wait_until_quiet(on, from);
  } // its watches are in the log once it has ended
  asked = wait_until_quiet(on, from);
  return rate_of(on);
}

protocol::http_request binding(const std::string& pod_json, int node) {
  const auto parsed = json::parse(pod_json);
  const auto& meta = parsed.at("metadata").as_object();
  const json::object body{{"apiVersion", "v1"},
                          {"kind", "Binding"},
                          {"metadata",
                           {{"name", meta.at("name")},
                            {"uid", meta.at("uid")},
                            {"resourceVersion", meta.at("resourceVersion")},
                            {"annotations", {{"example.com/attempt", "0123456789abcdef/1/1"}}}}},
                          {"target", {{"kind", "Node"}, {"name", node_name(node)}}}};
  return {.method = "POST",
          .target = fmt::format("/api/v1/namespaces/default/pods/{}/binding",
                                std::string_view{meta.at("name").as_string()}),
          .body = json::serialize(body)};
}

protocol::http_request condition(const std::string& group) {
  const json::object body{{"status",
                           {{"conditions",
                             {{{"type", "PodGroupInitiallyScheduled"},
                               {"status", "True"},
                               {"reason", "Scheduled"},
                               {"message", "3 of 3 members are bound"},
                               {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}}}};
  return {.method = "PATCH",
          .target =
              "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/" + group + "/status",
          .body = json::serialize(body),
          .content_type = "application/strategic-merge-patch+json"};
}

protocol::http_request look_at(const std::string& group) {
  return {.method = "GET",
          .target = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/" + group};
}

protocol::http_request event_about(const std::string& group, int i) {
  const json::object body{
      {"apiVersion", "events.k8s.io/v1"},
      {"kind", "Event"},
      {"metadata", {{"name", fmt::format("{}.{}", group, i)}, {"namespace", "default"}}},
      {"eventTime", "2026-01-01T00:00:00.000000Z"},
      {"reportingController", "bare"},
      {"reportingInstance", "bare-1"},
      {"action", "Binding"},
      {"reason", "Scheduled"},
      {"type", "Normal"},
      {"note", "3 members are bound"},
      {"regarding",
       {{"apiVersion", "scheduling.k8s.io/v1beta1"},
        {"kind", "PodGroup"},
        {"name", group},
        {"namespace", "default"}}}};
  return {.method = "POST",
          .target = "/apis/events.k8s.io/v1/namespaces/default/events",
          .body = json::serialize(body)};
}

/// Counts of a kind of request, dealt out evenly over the gangs.
class dealer {
public:
  dealer(const request_counts& asked, const std::string& what, std::size_t gangs) : per_gang_(0) {
    if (const auto pos = asked.find(what); pos != asked.end())
      per_gang_ = static_cast<double>(pos->second) / static_cast<double>(gangs);
  }
  int next() {
    due_ += per_gang_;
    const auto n = static_cast<int>(due_);
    due_ -= n;
    return n;
  }

private:
  double per_gang_;
  double due_ = 0;
};

/// What `asked` counts of Bindings, conditions and Events. Bindings go before all else, as the
/// scheduler sends them, and nothing waits for an answer.
double bind_without_deciding(live_cluster& on, const wave& w, const request_counts& asked) {
  std::vector<std::string> pods;
  for (auto& x : on.create(objects_of(w)))
    if (x.find("\"kind\":\"Pod\"") != x.npos)
      pods.push_back(std::move(x));
  dealer conditions{asked, "patch podgroups/status", w.gangs.size()};
  dealer events{asked, "create events", w.gangs.size()};
  dealer looks{asked, "get podgroups", w.gangs.size()};
  std::vector<protocol::http_request> all;
  for (std::size_t i = 0; i < pods.size(); ++i)
    all.push_back(binding(pods[i], static_cast<int>(i % 100)));
  for (const auto& gang : w.gangs) {
    for (int i = looks.next(); i > 0; --i)
      all.push_back(look_at(gang.name));
    for (int i = conditions.next(); i > 0; --i)
      all.push_back(condition(gang.name));
    for (int i = events.next(); i > 0; --i)
      all.push_back(event_about(gang.name, i));
  }
  on.send(std::move(all), at_once);
  if (!on.wait_bound(static_cast<std::size_t>(w.pods), patience))
    fail("the bare requests have not bound every pod");
  return rate_of(on);
}

} // namespace

void measure_cost(live_cluster& on, const std::vector<gang_count>& gangs) {
  const auto ours = wave_of(gangs, "decided", "tutti");
  request_counts asked;
  const auto rate = bind_by_tutti(on, ours, asked);
  on.delete_pods();
  const auto bare = bind_without_deciding(on, wave_of(gangs, "bare", "nobody"), asked);
  on.delete_pods();
  print(measured{"live", "pods bound per second, as part of what bare requests reach", rate / bare,
                 "ratio", rate_bar, bar_kind::at_least});
  print(fact{"live", "pods bound per second by tutti", rate, "pods/s"});
  print(fact{"live", "pods bound per second by bare requests", bare, "pods/s"});
  const auto over = static_cast<double>(sum(asked))
                    - requests_per_gang_allowed * static_cast<double>(ours.gangs.size());
  print(measured{"live", "requests per bound pod, besides 8 per gang", over / ours.pods, "requests",
                 requests_per_pod_bar});
  for (const auto& [what, n] : asked)
    print(fact{"live", "requests: " + what, static_cast<double>(n), "requests"});
}

} // namespace tutti::bench
