// Versions, paths and names per dialect.
#include "api/dialect.hpp"

#include <array>

#include "base/ensure.hpp"

namespace tutti::api {
namespace {

constexpr std::string_view group_prefix = "scheduling.k8s.io/";
constexpr std::array dialects{dialect::v1alpha1, dialect::v1alpha2, dialect::v1alpha3,
                              dialect::v1beta1, dialect::own};

} // namespace

std::string_view api_version_of(dialect d) {
  switch (d) {
  case dialect::v1alpha1:
    return "scheduling.k8s.io/v1alpha1";
  case dialect::v1alpha2:
    return "scheduling.k8s.io/v1alpha2";
  case dialect::v1alpha3:
    return "scheduling.k8s.io/v1alpha3";
  case dialect::v1beta1:
    return "scheduling.k8s.io/v1beta1";
  case dialect::own:
    return "tutti.dev/v1alpha1";
  }
  ensure(false, static_cast<int>(d));
  return {};
}

std::optional<dialect> dialect_of(std::string_view api_version) {
  for (auto d : dialects) {
    auto full = api_version_of(d);
    const bool is_bare = full.starts_with(group_prefix);
    if (api_version == full || (is_bare && api_version == full.substr(group_prefix.size())))
      return d;
  }
  return std::nullopt;
}

dialect newest_dialect_of(release r) {
  switch (r) {
  case release::v1_35:
    return dialect::v1alpha1;
  case release::v1_36:
    return dialect::v1alpha2;
  case release::v1_37:
    return dialect::v1beta1;
  }
  ensure(false, static_cast<int>(r));
  return {};
}

std::string_view scheduled_condition_of(dialect d) {
  switch (d) {
  case dialect::v1alpha1:
    return {};
  case dialect::v1alpha2:
    return "PodGroupScheduled";
  case dialect::v1alpha3:
  case dialect::v1beta1:
  case dialect::own:
    return "PodGroupInitiallyScheduled";
  }
  ensure(false, static_cast<int>(d));
  return {};
}

} // namespace tutti::api
