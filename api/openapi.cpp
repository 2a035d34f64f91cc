// Finds the embedded OpenAPI documents.
#include "api/openapi.hpp"

#include <algorithm>
#include <string>

#include "api/openapi/embedded.hpp"
#include "base/ensure.hpp"

namespace tutti::api {
namespace {

// 1.35 has documents of its own where it differs, and borrows the others from 1.36.
std::string_view own_prefix(release r) {
  switch (r) {
  case release::v1_35:
    return "v1.35-";
  case release::v1_36:
    return "v1.36.3-";
  case release::v1_37:
    return "v1.37.2-";
  }
  return "?";
}

std::string_view find(std::string_view prefix, std::string_view name) {
  auto full = std::string{prefix} + std::string{name};
  for (auto& file : embedded_files())
    if (file.name == full)
      return file.text();
  return {};
}

/// What deploy/crds adds to a server, whatever its release.
constexpr std::string_view own_group_version = "tutti.dev/v1alpha1";

std::string_view find(release r, std::string_view name) {
  auto found = find(own_prefix(r), name);
  if (found.empty() && r == release::v1_35)
    found = find(own_prefix(release::v1_36), name);
  return found;
}

std::vector<std::string_view> served(release r) {
  std::vector<std::string_view> all{"v1", "coordination.k8s.io/v1", "events.k8s.io/v1", "policy/v1",
                                    "scheduling.k8s.io/v1"};
  switch (r) {
  case release::v1_35:
    all.push_back("scheduling.k8s.io/v1alpha1");
    break;
  case release::v1_36:
    all.push_back("scheduling.k8s.io/v1alpha2");
    break;
  case release::v1_37:
    all.push_back("scheduling.k8s.io/v1alpha3");
    all.push_back("scheduling.k8s.io/v1beta1");
    break;
  }
  all.push_back(own_group_version);
  return all;
}

} // namespace

const std::vector<std::string_view>& group_versions(release kubernetes) {
  static const std::vector<std::string_view> by_release[] = {
      served(release::v1_35), served(release::v1_36), served(release::v1_37)};
  return by_release[static_cast<std::size_t>(kubernetes)];
}

std::string_view openapi_document(release kubernetes, std::string_view group_version) {
  auto& known = group_versions(kubernetes);
  if (std::find(known.begin(), known.end(), group_version) == known.end())
    return {};
  std::string name{group_version};
  std::replace(name.begin(), name.end(), '/', '-');
  auto found = group_version == own_group_version
                   ? find(std::string_view{}, name)
                   : find(kubernetes, group_version == "v1" ? "core-v1" : name);
  ensure(!found.empty(), group_version);
  return found;
}

std::string_view openapi_document(std::string_view kubernetes, std::string_view group_version) {
  auto r = release_of(kubernetes);
  return r ? openapi_document(*r, group_version) : std::string_view{};
}

std::string_view discovery_document(release kubernetes) {
  return find(kubernetes, "discovery");
}

} // namespace tutti::api
