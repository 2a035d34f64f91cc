// What is said to a credential plugin, and what it prints: client.authentication.k8s.io/v1,
// v1beta1.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/cluster_access.hpp"

namespace tutti::bridge {

/// Printed by a plugin. A token, or a certificate with its key, or all of them.
struct exec_credential {
  std::string token;
  std::string certificate;                ///< PEM
  std::string key;                        ///< PEM
  std::optional<base::wall_time> expires; ///< none: as long as nobody refuses it
};

/// The value of $KUBERNETES_EXEC_INFO. `authority` is the PEM text of the cluster's, for plugins
/// that want to know the cluster.
std::string exec_info(const exec_plugin& plugin, const cluster_access& cluster,
                      std::string_view authority);

/// Reads what the plugin printed. `bad_input` with its place and the cure if that is no credential
/// of the version that it was asked for.
base::result<exec_credential> read_exec_credential(const exec_plugin& plugin,
                                                   std::string_view printed);

} // namespace tutti::bridge
