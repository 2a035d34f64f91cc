// What both stores say of whose they are, and of being closed or broken, in the same words.
#pragma once

#include <string>

#include "base/result.hpp"
#include "persistence/recovery.hpp"
#include "persistence/store.hpp"

namespace tutti::persistence {

/// The identity that the store has from now on. `wanted.shards` = 0: as the store says, the default
/// in a new one. Errors: `foreign` if it belongs to another cluster, `bad_input` if it has another
/// number of shards.
base::result<identity> settle_identity(const recovered& found, const identity& wanted);

/// `has` with the cluster uid set. `foreign` if it has another.
base::result<identity> claimed_identity(identity has, const std::string& cluster_uid);

/// What is answered after `close`.
base::error closed_error();

/// What is answered to every write after one has failed: `io`.
base::error broken_error(const std::string& why = "an earlier write failed");

} // namespace tutti::persistence
