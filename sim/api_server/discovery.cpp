// Discovery documents in both forms, health, version and schemas.
#include "sim/api_server/discovery.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/openapi.hpp"
#include "base/hash.hpp"
#include "sim/api_server/openapi_v2.hpp"

namespace tutti::sim::api_server {

namespace {

namespace json = boost::json;

json::array verbs() {
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

json::object gvk(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

struct subresource {
  std::string_view name;
  std::string_view kind;
  std::string_view group;
  std::string_view version;
  json::array verbs;
};

std::vector<subresource> subresources_of(const endpoint& e) {
  std::vector<subresource> out;
  if (e.what->id == kind_id::pods) {
    out.push_back({"binding", "Binding", "", "v1", {"create"}});
    out.push_back({"eviction", "Eviction", "policy", "v1", {"create"}});
  }
  if (e.what->has_status)
    out.push_back({"status", e.what->kind, e.group, e.version, {"get", "patch", "update"}});
  return out;
}

json::object legacy_resource(const endpoint& e) {
  json::object r{{"name", e.what->plural},
                 {"singularName", e.what->singular},
                 {"namespaced", e.what->is_namespaced},
                 {"kind", e.what->kind},
                 {"verbs", verbs()}};
  if (!e.what->short_names.empty()) {
    json::array names;
    for (auto n : e.what->short_names)
      names.push_back(json::value(n));
    r["shortNames"] = std::move(names);
  }
  if (e.what->id == kind_id::pods)
    r["categories"] = json::array{"all"};
  return r;
}

json::object resource_list(const catalog& kinds, std::string_view group, std::string_view version) {
  json::array resources;
  std::string api_version;
  for (const auto& e : kinds.endpoints()) {
    if (e.group != group || e.version != version)
      continue;
    api_version = e.api_version;
    resources.push_back(legacy_resource(e));
    for (auto& s : subresources_of(e)) {
      json::object one{{"name", fmt::format("{}/{}", e.what->plural, s.name)},
                       {"singularName", ""},
                       {"namespaced", e.what->is_namespaced}};
      if (s.group != e.group || s.version != e.version) {
        one["group"] = s.group;
        one["version"] = s.version;
      }
      one["kind"] = s.kind;
      one["verbs"] = std::move(s.verbs);
      resources.push_back(std::move(one));
    }
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", api_version},
          {"resources", std::move(resources)}};
}

json::object aggregated_version(const catalog& kinds, std::string_view group,
                                std::string_view version) {
  json::array resources;
  for (const auto& e : kinds.endpoints()) {
    if (e.group != group || e.version != version)
      continue;
    json::object r{{"resource", e.what->plural},
                   {"responseKind", gvk(e.group, e.version, e.what->kind)},
                   {"scope", e.what->is_namespaced ? "Namespaced" : "Cluster"},
                   {"singularResource", e.what->singular},
                   {"verbs", verbs()}};
    auto legacy = legacy_resource(e);
    for (auto key : {"shortNames", "categories"})
      if (auto* v = legacy.if_contains(key))
        r[key] = *v;
    json::array subs;
    for (auto& s : subresources_of(e))
      subs.push_back(json::object{{"subresource", s.name},
                                  {"responseKind", gvk(s.group, s.version, s.kind)},
                                  {"verbs", std::move(s.verbs)}});
    if (!subs.empty())
      r["subresources"] = std::move(subs);
    resources.push_back(std::move(r));
  }
  return {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}};
}

std::vector<std::string_view> versions_of(const catalog& kinds, std::string_view group) {
  std::vector<std::string_view> out;
  for (const auto& e : kinds.endpoints())
    if (e.group == group && std::find(out.begin(), out.end(), e.version) == out.end())
      out.push_back(e.version);
  return out;
}

std::vector<std::string_view> groups_of(const catalog& kinds) {
  std::vector<std::string_view> out;
  for (const auto& e : kinds.endpoints())
    if (!e.group.empty() && std::find(out.begin(), out.end(), e.group) == out.end())
      out.push_back(e.group);
  return out;
}

json::object aggregated(const catalog& kinds, const std::vector<std::string_view>& groups) {
  json::array items;
  for (auto g : groups) {
    json::array versions;
    for (auto v : versions_of(kinds, g))
      versions.push_back(aggregated_version(kinds, g, v));
    json::object meta;
    if (!g.empty())
      meta["name"] = g;
    items.push_back(json::object{{"metadata", std::move(meta)}, {"versions", std::move(versions)}});
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", json::object{}},
          {"items", std::move(items)}};
}

json::object group_object(const catalog& kinds, std::string_view group) {
  json::array versions;
  for (auto v : versions_of(kinds, group))
    versions.push_back(
        json::object{{"groupVersion", fmt::format("{}/{}", group, v)}, {"version", v}});
  auto preferred = versions.front();
  return {{"name", group}, {"versions", std::move(versions)}, {"preferredVersion", preferred}};
}

constexpr std::string_view openapi_index = "/openapi/v3";
constexpr std::string_view aggregated_type =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// kubectl looks for the query parameter `fieldValidation` at the PATCH operation before it
/// believes that the server validates; the shortened documents name no parameters.
std::string with_field_validation(std::string_view document) {
  auto parsed = json::parse(document);
  json::object parameter{{"name", "fieldValidation"},
                         {"in", "query"},
                         {"schema", json::object{{"type", "string"}, {"uniqueItems", true}}}};
  if (auto* paths = parsed.get_object().if_contains("paths"); paths && paths->is_object())
    for (auto& [path, verbs] : paths->get_object())
      for (auto method : {"patch", "post", "put"})
        if (auto* op = verbs.get_object().if_contains(method))
          op->get_object()["parameters"] = json::array{parameter};
  json::object out{{"openapi", "3.0.0"},
                   {"info", json::object{{"title", "Kubernetes"}, {"version", "unversioned"}}}};
  auto& o = parsed.get_object();
  out["paths"] = o["paths"];
  if (auto* schemas = o.if_contains("schemas"))
    out["components"] = json::object{{"schemas", *schemas}};
  else if (auto* components = o.if_contains("components"))
    out["components"] = *components;
  return json::serialize(out);
}

} // namespace

discovery::discovery(const catalog& kinds) : release_(kinds.served_release()) {
  static std::mutex guard;
  static std::map<release, std::shared_ptr<const pages>> made;
  const std::lock_guard lock{guard};
  auto& mine = made[release_];
  if (!mine)
    mine = std::make_shared<const pages>(pages_of(kinds));
  pages_ = mine;
}

discovery::pages discovery::pages_of(const catalog& kinds) {
  pages out;
  out["/api"] = {R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]})",
                 json::serialize(aggregated(kinds, {""}))};
  out["/api/v1"] = {json::serialize(resource_list(kinds, "", "v1")), ""};
  json::array groups;
  for (auto g : groups_of(kinds)) {
    auto one = group_object(kinds, g);
    groups.push_back(one);
    one["kind"] = "APIGroup";
    one["apiVersion"] = "v1";
    out[fmt::format("/apis/{}", g)] = {json::serialize(one), ""};
    for (auto v : versions_of(kinds, g))
      out[fmt::format("/apis/{}/{}", g, v)] = {json::serialize(resource_list(kinds, g, v)), ""};
  }
  out["/apis"] = {json::serialize(json::object{
                      {"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", groups}}),
                  json::serialize(aggregated(kinds, groups_of(kinds)))};
  auto version = full_version(kinds.served_release());
  out["/version"] = {fmt::format(R"({{"major":"1","minor":"{}","gitVersion":"{}",)"
                                 R"("gitCommit":"","gitTreeState":"clean","buildDate":"",)"
                                 R"("goVersion":"","compiler":"tutti","platform":"linux/amd64"}})",
                                 version.substr(3, 2), version),
                     ""};
  json::object schemas;
  for (const auto& e : kinds.endpoints()) {
    auto where = e.group.empty() ? std::string{"api/v1"} : fmt::format("apis/{}", e.api_version);
    auto document = api::openapi_document(kinds.served_release(), e.api_version);
    if (schemas.contains(where) || document.empty())
      continue;
    auto whole = with_field_validation(document);
    schemas[where] = json::object{{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={:016X}",
                                                                    where, base::hash_of(whole))}};
    out[fmt::format("/openapi/v3/{}", where)] = {std::move(whole), ""};
  }
  out[std::string{openapi_index}] = {json::serialize(json::object{{"paths", std::move(schemas)}}),
                                     ""};
  return out;
}

std::optional<response> discovery::find(const target& path, std::string_view accept) const {
  auto where = path.path();
  while (where.size() > 1 && where.ends_with('/'))
    where.remove_suffix(1);
  response out;
  if (path.size() == 1 && (path[0] == "healthz" || path[0] == "livez" || path[0] == "readyz")) {
    out.content_type = "text/plain; charset=utf-8";
    out.body = "ok";
    return out;
  }
  if (where == "/openapi/v2")
    return openapi_v2(release_, accept);
  auto it = pages_->find(where);
  if (it == pages_->end())
    return std::nullopt;
  if (where == openapi_index)
    out.content_type = "text/plain; charset=utf-8"; // as real servers say of this JSON
  auto wants_aggregated = accept.find("g=apidiscovery.k8s.io;v=v2;") != std::string_view::npos
                          || accept.find("v=v2;g=apidiscovery.k8s.io") != std::string_view::npos;
  if (wants_aggregated && !it->second.aggregated.empty()) {
    out.content_type = aggregated_type;
    out.body = it->second.aggregated;
    return out;
  }
  out.body = it->second.plain;
  return out;
}

} // namespace tutti::sim::api_server
