#include "cli/cluster_objects.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "api/dialect.hpp"
#include "bridge/http_text.hpp"
#include "bridge/json_read.hpp"
#include "cli/doorkeeper.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace json = boost::json;
using namespace std::chrono_literals;
using base::code;
using base::error;

namespace {

constexpr auto patience = 60s;
constexpr int page_size = 500;

/// Asks one question after the other.
class asker {
public:
  asker(doorkeeper& door, std::string server) : door_(door), server_(std::move(server)) {}

  /// The items of all pages. Each gets the kind, which items of a list do not have.
  base::result<void> list(const std::string& path, const std::string& version,
                          const std::string& kind, std::vector<json::object>& into) {
    std::string next;
    do {
      auto page = get(
          fmt::format("{}?limit={}{}", path, page_size, next.empty() ? next : "&continue=" + next));
      if (!page)
        return page.error();
      auto* items = page->if_contains("items");
      for (auto& each : items != nullptr && items->is_array() ? items->get_array() : nothing_) {
        auto* item = each.if_object();
        const auto* about = item != nullptr ? bridge::object_at(*item, "metadata") : nullptr;
        if (about == nullptr || bridge::text_at(*about, "name").empty())
          return error{code::unavailable, server_ + ": an item of " + path + " has no name",
                       "look whether it is an API server"};
        (*item)["apiVersion"] = version;
        (*item)["kind"] = kind;
        for (const char* of_the_server : {"uid", "resourceVersion", "managedFields"})
          item->at("metadata").as_object().erase(of_the_server);
        into.push_back(std::move(*item));
      }
      const auto* meta = bridge::object_at(*page, "metadata");
      next = meta != nullptr ? bridge::escaped_query(bridge::text_at(*meta, "continue")) : "";
    } while (!next.empty());
    return {};
  }

private:
  base::result<json::object> get(std::string target) {
    auto promised = std::make_shared<std::promise<protocol::event>>();
    auto coming = promised->get_future();
    const auto id = ++last_id_;
    door_.start(id, {.method = "GET", .target = target},
                [promised](protocol::event e) { promised->set_value(std::move(e)); });
    if (coming.wait_for(patience) != std::future_status::ready) {
      door_.hang_up(id);
      return error{code::unavailable, server_ + ": no answer to " + target, "try again"};
    }
    const auto heard = coming.get();
    const auto* said = std::get_if<protocol::answered>(&heard);
    if (said == nullptr)
      return error{code::unavailable, server_ + ": no whole answer to " + target, "try again"};
    if (said->status == 403)
      return error{code::forbidden, target + ": " + bridge::status_message(said->body),
                   "plans need the rights to list nodes, pods, groups, namespaces and priority "
                   "classes"};
    if (said->status == 410)
      return error{code::unavailable, server_ + ": the list has changed while it was read",
                   "try again"};
    boost::system::error_code ec;
    auto body = json::parse(said->body, ec);
    if (said->status != 200 || ec || !body.is_object())
      return error{code::unavailable,
                   fmt::format("{}: answers {} to {}", server_, said->status, target),
                   "look at its health: kubectl get --raw /readyz"};
    return std::move(body.as_object());
  }

  doorkeeper& door_;
  const std::string server_;
  std::uint64_t last_id_ = 0;
  json::array nothing_;
};

/// Of a later release the newest that we know: what is served decides.
api::release release_for(const std::string& text) {
  return api::release_of(text).value_or(api::releases.front());
}

} // namespace

base::result<cluster_objects> read_cluster(const api_flags& flags, const base::clock& clock) {
  const auto machine = bridge::this_machine(clock);
  const auto where = find_access(flags, api_environment::of_this_process(), *machine);
  if (!where)
    return where.error();
  auto access = open_access(*where, machine, [] { return false; });
  if (!access)
    return access.error();
  for (const auto& danger : access->dangers)
    print_warning(danger);
  doorkeeper door{access->by,
                  access->how,
                  {access->name, "look at the address, the network and its firewalls"},
                  clock};
  const auto facts = door.ask(patience);
  if (!facts)
    return facts.error();
  const auto spoken = facts->spoken();
  if (spoken == api::dialect::own)
    return error{code::bad_input, access->name + " has PodGroups of tutti.dev",
                 "plans know those of scheduling.k8s.io only"};
  door.open();
  asker ask{door, access->name};
  cluster_objects out{release_for(facts->kubernetes), {}};
  struct wanted {
    std::string path, version, kind;
  };
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
    if (auto ok = ask.list(x.path, x.version, x.kind, out.all); !ok)
      return ok.error();
  return out;
}

} // namespace tutti::cli
