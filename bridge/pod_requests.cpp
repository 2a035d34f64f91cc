// The exact HTTP requests about one pod: Binding, touch, mark, removal.
#include "bridge/pod_requests.hpp"

#include <chrono>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "base/attempt_text.hpp"
#include "base/mutant.hpp"

namespace tutti::bridge {
namespace {

using boost::json::object;

std::string pod_path(const protocol::object_name& pod) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", pod.space, pod.name);
}

boost::json::string_view text(std::string_view x) {
  return {x.data(), x.size()};
}

std::string stamp(base::wall_time t, bool is_micro) {
  using namespace std::chrono;
  const auto whole = sys_time<milliseconds>{milliseconds{t.unix_ms}};
  const auto day = floor<days>(whole);
  const year_month_day date{day};
  const hh_mm_ss time{whole - day};
  const auto fraction =
      is_micro ? fmt::format(".{:03}000", time.subseconds().count()) : std::string{};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     fraction);
}

} // namespace

std::string rfc3339(base::wall_time t) {
  return stamp(t, false);
}

std::string rfc3339_micro(base::wall_time t) {
  return stamp(t, true);
}

protocol::http_request binding_request(const protocol::bind& what) {
  object body{{"apiVersion", "v1"},
              {"kind", "Binding"},
              {"metadata",
               {{"name", what.pod.name},
                {"namespace", what.pod.space},
                {"uid", what.uid.value},
                {"resourceVersion", what.resource_version},
                {"annotations",
                 {{text(attempt_annotation), to_text(what.attempt)},
                  {text(epoch_annotation), fmt::format("{}", what.attempt.epoch.value)},
                  {text(fence_annotation), to_text(fence{what.partition, what.fence})}}}}},
              {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", what.node.value}}}};
  if (base::is_planted(base::mutant::drop_uid_guard))
    body["metadata"].as_object().erase("uid");
  return {.method = "POST",
          .target = pod_path(what.pod) + "/binding",
          .body = boost::json::serialize(body),
          .content_type = "application/json",
          .is_urgent = true};
}

protocol::http_request get_pod_request(const protocol::object_name& pod) {
  return {
      .method = "GET", .target = pod_path(pod), .body = {}, .content_type = {}, .is_urgent = true};
}

protocol::http_request touch_request(const touch_spec& what) {
  object body{
      {"metadata",
       {{"uid", what.uid.value},
        {"annotations",
         {{text(fence_annotation), to_text(what.by)}, {text(touch_annotation), what.mark}}}}}};
  return {.method = "PATCH",
          .target = pod_path(what.pod),
          .body = boost::json::serialize(body),
          .content_type = "application/merge-patch+json",
          .is_urgent = true};
}

protocol::http_request disruption_request(const disruption_spec& what) {
  object condition{{"type", "DisruptionTarget"},
                   {"status", "True"},
                   {"reason", what.reason},
                   {"message", what.message},
                   {"lastTransitionTime", rfc3339(what.now)}};
  object body{{"metadata", {{"uid", what.uid.value}}},
              {"status", {{"conditions", boost::json::array{std::move(condition)}}}}};
  return {.method = "PATCH",
          .target = pod_path(what.pod) + "/status",
          .body = boost::json::serialize(body),
          .content_type = "application/strategic-merge-patch+json",
          .is_urgent = true};
}

protocol::http_request removal_request(const removal_spec& what) {
  object body{
      {"apiVersion", "v1"},
      {"kind", "DeleteOptions"},
      {"preconditions", {{"uid", what.uid.value}, {"resourceVersion", what.resource_version}}}};
  return {.method = "DELETE",
          .target = pod_path(what.pod),
          .body = boost::json::serialize(body),
          .content_type = "application/json",
          .is_urgent = true};
}

} // namespace tutti::bridge
