// The four versions in which Kubernetes speaks of groups of pods.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/release.hpp"

namespace tutti::api {

/// One release serves one alpha; 1.37 serves v1alpha3 and v1beta1 with the same fields. `own` is
/// for clusters that serve none of them: PodGroups of our own kind (deploy/crds), with those of the
/// fields of v1beta1 that need no help from the server, and pods that name theirs by a label.
enum class dialect : std::uint8_t { v1alpha1, v1alpha2, v1alpha3, v1beta1, own };

/// By which pods name their PodGroup in the dialect `own`.
inline constexpr std::string_view group_label = "tutti.dev/pod-group";

/// "scheduling.k8s.io/v1beta1"; "tutti.dev/v1alpha1" for `own`.
std::string_view api_version_of(dialect d);
/// The dialect of an apiVersion ("scheduling.k8s.io/v1beta1") or bare version of scheduling.k8s.io
/// ("v1beta1"); nothing if it is none of ours.
std::optional<dialect> dialect_of(std::string_view api_version);

/// The newest that a release serves with all its gates on.
dialect newest_dialect_of(release r);

/// The condition by which a PodGroup says that it was scheduled; empty in v1alpha1, which has none.
std::string_view scheduled_condition_of(dialect d);

/// Priorities are resolved by the server for its own kinds only: elsewhere a group has that of its
/// members.
constexpr bool has_group_priorities(dialect d) {
  return d != dialect::v1alpha1 && d != dialect::own;
}

/// v1alpha1 has no PodGroup: pods name an entry of a Workload instead.
constexpr bool has_pod_groups(dialect d) {
  return d != dialect::v1alpha1;
}

} // namespace tutti::api
