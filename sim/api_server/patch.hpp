// The three kinds of JSON patch that kubectl and schedulers send.
#pragma once

#include <optional>
#include <string_view>

#include "sim/api_server/object.hpp"
#include "sim/api_server/refusal.hpp"

namespace tutti::sim::api_server {

/// RFC 7386: objects are merged, null removes, everything else replaces.
void merge_patch(json::value& into, const json::value& patch);

/// Kubernetes' own: lists that have a merge key (conditions by type, containers by name,
/// ownerReferences by uid, …) are merged entry by entry; `$patch: delete|replace`, `$retainKeys`
/// and `$deleteFromPrimitiveList/…` are obeyed, `$setElementOrder/…` is ignored. All other lists
/// (taints and tolerations among them) are replaced. Refused with 400 if a list entry lacks its
/// merge key.
std::optional<refusal> strategic_merge_patch(kind_id kind, json::value& into,
                                             const json::value& patch);

/// RFC 6902 without `copy` into itself; refused with 422 if a `test` fails, 400 if it is malformed.
std::optional<refusal> json_patch(json::value& into, const json::value& patch);

} // namespace tutti::sim::api_server
