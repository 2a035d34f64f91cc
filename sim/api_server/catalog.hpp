// Which kinds the server keeps and under which versions it shows them; one table that routing,
// discovery and the store share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/release.hpp"

namespace tutti::sim::api_server {

/// Every kind that can be kept. The order is that of the store's tables.
enum class kind_id : std::uint8_t {
  namespaces,
  nodes,
  pods,
  events,
  priority_classes,
  workloads,
  pod_groups,
  composite_pod_groups,
  leases,
  pod_disruption_budgets,
  config_maps,
  resource_slices,
  resource_claims,
  device_classes,
  gang_decisions,
  gang_decision_chunks,
  partition_maps
};
inline constexpr std::size_t kind_count = 17;

/// What is the same in every version of a kind.
struct kind_info {
  kind_id id = kind_id::pods;
  std::string_view group;
  std::string_view plural;
  std::string_view singular;
  std::string_view kind;
  std::vector<std::string_view> short_names;
  bool is_namespaced = true;
  bool has_status = false;
};

/// One kind under one version: the thing that a path names.
struct endpoint {
  const kind_info* what = nullptr;
  std::string group; ///< differs from `what->group` for events only
  std::string version;
  std::string api_version; ///< "v1", "scheduling.k8s.io/v1beta1"
  std::string head;        ///< `{"kind":"Pod","apiVersion":"v1",`: goes before a stored body
};

using api::release;
/// "v1.37.2": what `/version` says.
std::string_view full_version(release r);

const kind_info& info_of(kind_id id);

class catalog {
public:
  explicit catalog(release r);

  release served_release() const { return release_; }
  /// All endpoints, groups together, preferred version first.
  const std::vector<endpoint>& endpoints() const { return endpoints_; }
  /// Null if there is none.
  const endpoint* find(std::string_view group, std::string_view version,
                       std::string_view plural) const;
  /// By the fields of a manifest.
  const endpoint* find_kind(std::string_view api_version, std::string_view kind) const;
  /// The version in which the kind is stored; null if this release does not serve the kind.
  const endpoint* preferred(kind_id id) const;
  bool has_group(std::string_view group) const;
  bool has_version(std::string_view group, std::string_view version) const;

private:
  release release_;
  std::vector<endpoint> endpoints_;
};

} // namespace tutti::sim::api_server
