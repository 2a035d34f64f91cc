// One cluster and one user out of kubeconfig files, or out of a pod: how to reach an API server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "base/result.hpp"
#include "bridge/kubeconfig.hpp"
#include "bridge/server_url.hpp"

namespace tutti::bridge {

/// Everything that a connection is made from. Files are named, not read.
struct cluster_access {
  server_url server;
  std::string server_name; ///< expected in the certificate; empty = the server's host
  bool skips_verification = false;
  text_source authority; ///< not given = the system's
  text_source certificate;
  text_source key;
  std::string token;
  text_source token_file; ///< read again and again; goes before `token`
  std::string username;
  std::string password;
  std::optional<exec_plugin> exec;
  boost::json::value exec_config; ///< for the plugin; null = none
  std::string origin;             ///< "context kind of FILE", for people

  /// Somebody could be recognised.
  bool has_credentials() const {
    return certificate.is_given() || !token.empty() || token_file.is_given() || !username.empty()
           || exec.has_value();
  }
};

/// What `context` stands for; empty = the files' current one. `bad_input`, with file, field and
/// cure, for a name that is not there, what contradicts itself, and what is not built (proxies,
/// impersonation, auth-provider): nothing that changes who we are or whom we trust is passed over.
base::result<cluster_access> access_of(const kubeconfig& all, const std::string& context);

/// A server by its URL alone: the system's authorities, and nobody's name.
cluster_access access_of(const server_url& server);

/// Where a pod finds its API server.
struct pod_environment {
  std::string host; ///< $KUBERNETES_SERVICE_HOST
  std::string port; ///< $KUBERNETES_SERVICE_PORT
  /// Where the kubelet puts token and ca.crt.
  std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};
/// `bad_input` if the environment is not that of a pod. Whether the files are there is seen when
/// they are read.
base::result<cluster_access> access_in_pod(const pod_environment& pod);

} // namespace tutti::bridge
