#include "cli/cluster_objects.hpp"

#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "api/dialect.hpp"
#include "bridge/http_text.hpp"
#include "bridge/json_read.hpp"
#include "cli/api_questions.hpp"

namespace tutti::cli {

namespace json = boost::json;
using base::code;
using base::error;

namespace {

constexpr int page_size = 500;

constexpr const char* rights =
    "plans need the rights to list nodes, pods, groups, namespaces and priority classes";

/// A kind of object as it is listed.
struct wanted {
  std::string path, version, kind;
};

/// The items of all pages. Each gets the kind, which items of a list do not have.
base::result<void> list(api_questions& ask, const wanted& what, std::vector<json::object>& into) {
  std::string next;
  do {
    auto page = ask.get(fmt::format("{}?limit={}{}", what.path, page_size,
                                    next.empty() ? next : "&continue=" + next),
                        rights);
    if (!page)
      return page.error();
    json::array nothing;
    auto* items = page->if_contains("items");
    for (auto& each : items != nullptr && items->is_array() ? items->get_array() : nothing) {
      auto* item = each.if_object();
      const auto* about = item != nullptr ? bridge::object_at(*item, "metadata") : nullptr;
      if (about == nullptr || bridge::text_at(*about, "name").empty())
        return error{code::unavailable, ask.name() + ": an item of " + what.path + " has no name",
                     "look whether it is an API server"};
      (*item)["apiVersion"] = what.version;
      (*item)["kind"] = what.kind;
      for (const char* of_the_server : {"uid", "resourceVersion", "managedFields"})
        item->at("metadata").as_object().erase(of_the_server);
      into.push_back(std::move(*item));
    }
    const auto* meta = bridge::object_at(*page, "metadata");
    next = meta != nullptr ? bridge::escaped_query(bridge::text_at(*meta, "continue")) : "";
  } while (!next.empty());
  return {};
}

/// Of a later release the newest that we know: what is served decides.
api::release release_for(const std::string& text) {
  return api::release_of(text).value_or(api::releases.front());
}

} // namespace

base::result<cluster_objects> read_cluster(const api_flags& flags, const base::clock& clock) {
  auto ask = api_questions::open(flags, clock);
  if (!ask)
    return ask.error();
  const auto facts = ask->facts();
  if (!facts)
    return facts.error();
  const auto spoken = facts->spoken();
  if (spoken == api::dialect::own)
    return error{code::bad_input, ask->name() + " has PodGroups of tutti.dev",
                 "plans know those of scheduling.k8s.io only"};
  cluster_objects out{release_for(facts->kubernetes), {}};
  std::vector<wanted> kinds{
      {"/api/v1/namespaces", "v1", "Namespace"},
      {"/api/v1/nodes", "v1", "Node"},
      {"/apis/scheduling.k8s.io/v1/priorityclasses", "scheduling.k8s.io/v1", "PriorityClass"}};
  if (spoken) {
    const std::string version{api::api_version_of(*spoken)};
    kinds.push_back(api::has_pod_groups(*spoken)
                        ? wanted{"/apis/" + version + "/podgroups", version, "PodGroup"}
                        : wanted{"/apis/" + version + "/workloads", version, "Workload"});
  }
  kinds.push_back({"/api/v1/pods", "v1", "Pod"});
  for (const auto& x : kinds)
    if (auto ok = list(*ask, x, out.all); !ok)
      return ok.error();
  return out;
}

} // namespace tutti::cli
