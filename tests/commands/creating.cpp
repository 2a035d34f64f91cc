#include "creating.hpp"

#include <map>
#include <set>

#include <boost/json/serialize.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/manifest_text.hpp"

namespace tutti::commands {

namespace json = boost::json;

namespace {

/// Where objects of that kind are created.
std::string collection_of(const json::object& x) {
  static const std::map<std::string, std::string, std::less<>> plurals{
      {"ClusterRole", "clusterroles"},
      {"ClusterRoleBinding", "clusterrolebindings"},
      {"CustomResourceDefinition", "customresourcedefinitions"},
      {"Job", "jobs"},
      {"Namespace", "namespaces"},
      {"Node", "nodes"},
      {"Pod", "pods"},
      {"PodGroup", "podgroups"},
      {"PriorityClass", "priorityclasses"},
      {"Role", "roles"},
      {"RoleBinding", "rolebindings"}};
  static const std::set<std::string, std::less<>> of_the_cluster{
      "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Namespace",
      "Node",        "PriorityClass"};
  const std::string kind{x.at("kind").as_string()}, version{x.at("apiVersion").as_string()};
  const auto* space = x.at("metadata").as_object().if_contains("namespace");
  const auto within =
      of_the_cluster.contains(kind)
          ? std::string{}
          : fmt::format("/namespaces/{}", space ? space->as_string().c_str() : "default");
  return fmt::format("{}{}{}/{}", version.find('/') == version.npos ? "/api/" : "/apis/", version,
                     within, plurals.at(kind));
}

} // namespace

void create(const api_client& api, const std::string& manifest) {
  const auto documents = api::parse_documents(manifest);
  ASSERT_TRUE(documents) << documents.error().message();
  for (const auto& document : *documents) {
    const auto& object = document.content.as_object();
    const auto said = api.post(collection_of(object), json::serialize(object));
    EXPECT_EQ(said.status, 201) << said.body;
  }
}

} // namespace tutti::commands
