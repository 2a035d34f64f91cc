#include "sim/scenario/live_kubelet.hpp"

#include <boost/json.hpp>

#include "sim/scenario/shorthand.hpp"

namespace tutti::sim::scenario {

namespace {

using api_server::kind_id;

std::int64_t grace_of(const api_server::object& pod) {
  api_server::draft parsed{pod.body};
  const auto* found = api_server::look(parsed.doc(), {"metadata", "deletionGracePeriodSeconds"});
  return found && found->is_int64() ? found->get_int64() : 0;
}

} // namespace

void live_kubelet::react() {
  std::map<std::string, base::time_point> still;
  for (const auto& [key, pod] : copy_.objects().all(kind_id::pods)) {
    if (pod->node_name.empty() || !copy_.objects().find(kind_id::nodes, pod->node_name))
      continue;
    if (!pod->is_deleting) {
      if (pod->phase == "Pending" || pod->phase.empty())
        hands_.merge(kind_id::pods, key, "status",
                     boost::json::object{{"status", {{"phase", "Running"}}}});
      continue;
    }
    const auto grace_s = grace_of(*pod);
    if (grace_s >= grace_of_never_s)
      continue;
    const auto known = ends_at_.find(pod->uid);
    const auto due =
        known != ends_at_.end() ? known->second : door_.now() + std::chrono::seconds{grace_s};
    if (door_.now() < due) {
      still[pod->uid] = due;
      continue;
    }
    copy_.note_ending(pod->uid); // it was told to end before: whose victim it is, is known
    hands_.remove(kind_id::pods, key, true);
  }
  ends_at_ = std::move(still);
}

} // namespace tutti::sim::scenario
