// The document that kubectl still asks for when it applies a `kind: List`.
#pragma once

#include <string_view>

#include "sim/api_server/catalog.hpp"
#include "sim/api_server/request.hpp"

namespace tutti::sim::api_server {

/// OpenAPI v2 that names no path and no kind: as protobuf if `accept` asks for that, as JSON
/// otherwise. kubectl refuses a List where there is no such document, and sends the items of kinds
/// that the document does not know on without a look of its own; each item then comes with
/// `fieldValidation=Strict` and is judged here. The kinds stand in OpenAPI v3.
response openapi_v2(release r, std::string_view accept);

} // namespace tutti::sim::api_server
