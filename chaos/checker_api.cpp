// The judge's eye on the API server: what arrives there, and what its objects become.
#include "chaos/checker.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "chaos/action.hpp"

namespace tutti::chaos {

namespace json = boost::json;

namespace {

std::string at(const json::value& x, std::string_view pointer) {
  boost::system::error_code failed;
  const auto* found = x.find_pointer(pointer, failed);
  return found != nullptr && found->is_string() ? std::string{found->as_string()} : std::string{};
}

/// "default/a-1" of "/api/v1/namespaces/default/pods/a-1/binding".
std::string pod_of(std::string_view target) {
  constexpr std::string_view before_space = "/namespaces/";
  constexpr std::string_view before_name = "/pods/";
  const auto path = target.substr(0, target.find('?'));
  const auto space = path.find(before_space);
  const auto name = path.find(before_name);
  if (space == std::string_view::npos || name == std::string_view::npos)
    return {};
  const auto space_from = space + before_space.size();
  const auto rest = path.substr(name + before_name.size());
  return std::string{path.substr(space_from, name - space_from)} + "/"
         + std::string{rest.substr(0, rest.find('/'))};
}

} // namespace

void checker::arrives(std::string_view, const protocol::http_request& request) {
  const auto word = request_word(request.method, request.target);
  if (word == "bind")
    check_binding(request);
  else if (word == "evict")
    check_eviction(request);
}

/// Upholds S3.
void checker::check_binding(const protocol::http_request& request) {
  if (!look("S3"))
    return;
  boost::system::error_code failed;
  const auto body = json::parse(request.body, failed);
  const auto uid = at(body, "/metadata/uid");
  const auto node = at(body, "/target/name");
  if (failed || !decided_.contains({uid, node}))
    say("S3", fmt::format("{} is to be bound to {}, and no durable decision says so",
                          pod_of(request.target), node));
  else if (check_terms(uid, node); !asked_.contains({uid, at(body, "/metadata/resourceVersion")}))
    say("S3",
        fmt::format("{} is to be bound to {} as of a version that no coordinator has looked at",
                    pod_of(request.target), node));
}

/// Upholds S9.
void checker::check_eviction(const protocol::http_request& request) {
  if (!look("S9"))
    return;
  const auto name = pod_of(request.target);
  for (const auto& [uid, pod] : truth_.pods())
    if (pod.name == name && !victims_.contains(uid) && !is_of_degraded(pod))
      say("S9", fmt::format("pod {} is to be evicted, and neither does a durable plan name it nor "
                            "is its gang shown as degraded under a policy to evict",
                            name));
}

bool checker::is_of_degraded(const pod_truth& pod) const {
  const auto group = truth_.groups().find(pod.group);
  return on_.how().scheduler.evicts_degraded && group != truth_.groups().end()
         && group->second.is_degraded;
}

void checker::pod_changed(const pod_truth* before, const pod_truth* now) {
  follow_departed(before, now);
  if (now == nullptr || before == nullptr || now->node == before->node)
    return;
  if (look("S6") && !before->node.empty())
    say("S6", fmt::format("pod {} was on {} and is on \"{}\"", now->name, before->node, now->node));
  if (before->node.empty() && now->is_ours) {
    check_bound_by(*now);
    check_node(*now);
  }
}

/// Upholds S1b. A node that shrank, or others who came, within the time that a view may lag, are
/// not the Binding's fault.
void checker::check_node(const pod_truth& newly_bound) {
  if (!look("S1b"))
    return;
  const auto t = on_.time().now();
  const auto sum = room_.here(newly_bound.node) - room_.brought(newly_bound.node, t - view_lag);
  const auto lacks = base::first_shortage(sum, truth_.offered_lately(newly_bound.node, t));
  if (!lacks.fits())
    say("S1b", fmt::format("with pod {} node {} has {} {} of {}", newly_bound.name,
                           newly_bound.node, lacks.name, lacks.need, lacks.room));
}

} // namespace tutti::chaos
