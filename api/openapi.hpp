// What a Kubernetes API server says about its own API: OpenAPI v3 schemas and discovery, embedded.
#pragma once

#include <string_view>
#include <vector>

#include "api/release.hpp"

namespace tutti::api {

/// The OpenAPI v3 document of a group version ("v1", "scheduling.k8s.io/v1beta1") in the shortened
/// form of api/openapi/README.md. Empty if that release does not serve it. Lives as long as the
/// process.
std::string_view openapi_document(release kubernetes, std::string_view group_version);
/// The same for a release by its name ("1.37"); empty also for a release that we do not know.
std::string_view openapi_document(std::string_view kubernetes, std::string_view group_version);

/// Aggregated discovery as `{"api": APIGroupDiscoveryList, "apis": APIGroupDiscoveryList}`. It
/// names more groups than there are documents for.
std::string_view discovery_document(release kubernetes);

/// Group versions that there is a document for, "v1" first, then by name.
const std::vector<std::string_view>& group_versions(release kubernetes);

} // namespace tutti::api
