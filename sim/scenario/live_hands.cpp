#include "sim/scenario/live_hands.hpp"

#include <array>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace tutti::sim::scenario {

namespace {

namespace json = boost::json;
using api_server::kind_id;
using api_server::text_at;

constexpr auto look_interval = std::chrono::milliseconds{100};
constexpr auto class_patience = std::chrono::seconds{10};
constexpr const char* merge_patch = "application/merge-patch+json";

std::string message_of(const live_answer& said) {
  boost::system::error_code failed;
  const auto body = json::parse(said.body, failed);
  return !failed && body.is_object() ? std::string{text_at(body.get_object(), {"message"})}
                                     : said.body;
}

json::object marked(json::object x) {
  api_server::child(api_server::child(x, "metadata"), "labels")[made_by_a_story] = "yes";
  return x;
}

/// What the short words leave out and a genuine server wants: groups in composite groups name a
/// Workload, which need not be there.
json::object completed(json::object x) {
  const auto kind = text_at(x, {"kind"});
  const bool is_in_tree =
      kind == "CompositePodGroup"
      || (kind == "PodGroup" && api_server::look(x, {"spec", "parentCompositePodGroupName"}));
  const std::string name{text_at(x, {"metadata", "name"})};
  if (!is_in_tree)
    return x;
  auto& spec = api_server::child(x, "spec");
  if (!spec.contains("workloadRef"))
    spec["workloadRef"] = {{"workloadName", name}, {"templateName", name}};
  return x;
}

/// Classes are looked up in a copy that the server itself keeps, and that is a moment behind.
bool is_too_early(const refusal& x) {
  return x && x->find("no PriorityClass with name") != std::string::npos;
}

std::string key_in(const json::object& x) {
  return api_server::key_of(text_at(x, {"metadata", "namespace"}),
                            text_at(x, {"metadata", "name"}));
}

} // namespace

refusal live_hands::ask(const std::string& method, const std::string& target,
                        const json::value& body, const std::string& content_type) {
  protocol::http_request request{.method = method, .target = target, .content_type = content_type};
  if (!body.is_null())
    request.body = json::serialize(body);
  const auto said = door_.ask(request);
  if (said.status >= 200 && said.status < 300)
    return std::nullopt;
  return fmt::format("{} {}: {} {}", method, target, said.status, message_of(said));
}

std::string live_hands::path(kind_id kind, const std::string& key,
                             const std::string& subresource) const {
  const auto* end = kinds_.preferred(kind);
  auto out = end ? path_of(*end, key) : fmt::format("/api/v1/{}", api_server::info_of(kind).plural);
  return subresource.empty() ? out : out + "/" + subresource;
}

std::optional<std::string> live_hands::collection_of(const json::object& x) const {
  const auto* end = kinds_.find_kind(text_at(x, {"apiVersion"}), text_at(x, {"kind"}));
  if (!end)
    return std::nullopt;
  auto one = path_of(*end, key_in(x));
  return one.substr(0, one.rfind('/'));
}

refusal live_hands::try_to_apply(json::object x) {
  const auto where = collection_of(x);
  if (!where)
    return fmt::format("no kind {} in {}", text_at(x, {"kind"}), text_at(x, {"apiVersion"}));
  return ask("POST", *where + "?dryRun=All", marked(completed(std::move(x))));
}

/// Only of nodes the server takes a status along with the rest.
refusal live_hands::apply(json::object x) {
  const auto where = collection_of(x);
  if (!where)
    return fmt::format("no kind {} in {}", text_at(x, {"kind"}), text_at(x, {"apiVersion"}));
  const auto one = fmt::format("{}/{}", *where, text_at(x, {"metadata", "name"}));
  auto status = x.contains("status") ? x.at("status") : json::value{};
  const auto body = marked(completed(std::move(x)));
  auto refused = ask("POST", *where, body);
  for (const auto from = door_.now();
       is_too_early(refused) && door_.now() - from < class_patience;) {
    door_.pause(look_interval);
    refused = ask("POST", *where, body);
  }
  if (refused && refused->find(": 409 ") != std::string::npos)
    refused = ask("PATCH", one, body, merge_patch);
  if (refused || status.is_null() || text_at(body, {"kind"}) == "Node")
    return refused;
  return ask("PATCH", one + "/status", json::object{{"status", std::move(status)}}, merge_patch);
}

refusal live_hands::remove(kind_id kind, const std::string& key, bool at_once) {
  return ask("DELETE", path(kind, key) + (at_once ? "?gracePeriodSeconds=0" : ""), nullptr);
}

refusal live_hands::merge(kind_id kind, const std::string& key, const std::string& subresource,
                          const json::value& changes) {
  return ask("PATCH", path(kind, key, subresource), changes, merge_patch);
}

// ---------------------------------------------------------------- whose is it

namespace {

bool is_of_a_story(const api_server::object& x) {
  for (const auto& [name, value] : x.labels)
    if (name == made_by_a_story)
      return true;
  return false;
}

/// Pods first: groups and claims are kept by those that use them.
constexpr std::array swept_kinds{kind_id::pods,
                                 kind_id::pod_groups,
                                 kind_id::workloads,
                                 kind_id::composite_pod_groups,
                                 kind_id::resource_claims,
                                 kind_id::pod_disruption_budgets,
                                 kind_id::config_maps,
                                 kind_id::resource_slices,
                                 kind_id::device_classes,
                                 kind_id::priority_classes,
                                 kind_id::leases,
                                 kind_id::nodes,
                                 kind_id::namespaces};

/// No controller may be there that would take a finalizer off.
void end_one(live_hands& hands, kind_id kind, const api_server::object& x) {
  if (x.body.find("\"finalizers\"") != std::string::npos && kind != kind_id::namespaces)
    hands.merge(kind, x.key, {}, json::object{{"metadata", {{"finalizers", nullptr}}}});
  hands.remove(kind, x.key, true);
  if (kind != kind_id::namespaces)
    return;
  hands.ask("PUT", hands.path(kind, x.key, "finalize"),
            json::object{{"apiVersion", "v1"},
                         {"kind", "Namespace"},
                         {"metadata", {{"name", x.key}}},
                         {"spec", {{"finalizers", json::array{}}}}});
}

} // namespace

base::result<std::optional<std::string>> find_foreign(cluster_copy& copy,
                                                      const std::string& scheduler) {
  if (auto ok = copy.read(cluster_copy::extent::all); !ok)
    return ok.error();
  const auto& all = copy.objects();
  for (const auto& [key, x] : all.all(kind_id::nodes))
    if (!is_of_a_story(*x))
      return std::optional{fmt::format("the node {}", key)};
  for (const auto& [key, x] : all.all(kind_id::pods))
    if (!is_of_a_story(*x) && !x->is_finished() && x->scheduler_name == scheduler)
      return std::optional{fmt::format("the pod {}", key)};
  return std::optional<std::string>{};
}

base::result<void> sweep(live_door& door, const sweep_options& how) {
  live_hands hands{door, how.kubernetes};
  cluster_copy copy{door, how.kubernetes};
  std::set<std::string, std::less<>> uids;
  const auto deadline = door.now() + how.patience;
  for (;;) {
    if (auto ok = copy.read(cluster_copy::extent::all); !ok)
      return ok;
    std::string left;
    for (const auto kind : swept_kinds)
      for (const auto& [key, x] : copy.objects().all(kind)) {
        if (!is_of_a_story(*x))
          continue;
        left = fmt::format("{} {}", api_server::info_of(kind).singular, key);
        uids.insert(x->uid);
        end_one(hands, kind, *x);
      }
    if (left.empty())
      break;
    if (door.now() >= deadline)
      return base::error{base::code::unavailable, fmt::format("{} does not go away", left)};
    door.pause(look_interval);
  }
  for (const auto& [key, event] : copy.objects().all(kind_id::events)) {
    api_server::draft parsed{event->body};
    if (uids.contains(text_at(parsed.doc(), {"involvedObject", "uid"})))
      hands.remove(kind_id::events, key);
  }
  return {};
}

} // namespace tutti::sim::scenario
