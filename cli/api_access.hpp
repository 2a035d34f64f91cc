// Finds the API server that a scheduler is to work for, and makes what speaks to it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/cluster_access.hpp"
#include "bridge/http_client.hpp"
#include "bridge/machine.hpp"

namespace tutti::cli {

/// What the command line says of the API server.
struct api_flags {
  std::string server;     ///< "HOST:PORT" (plain HTTP) or a URL; goes before the kubeconfig's
  std::string kubeconfig; ///< this file alone
  std::string context;    ///< empty = the current one
  /// Where kubectl would go if nothing is named: by the files of $KUBECONFIG, else ~/.kube/config.
  bool as_kubectl = false;

  /// A kubeconfig leads to the server.
  bool names_config() const { return !kubeconfig.empty() || !context.empty() || as_kubectl; }
};

/// What the environment says of it.
struct api_environment {
  std::string kubeconfig; ///< $KUBECONFIG: files, separated by ":"
  std::string home;       ///< $HOME
  bridge::pod_environment pod;

  static api_environment of_this_process();
};

/// Where flags, files and environment lead:
/// - --kubeconfig FILE: that file alone;
/// - --context NAME alone, or `as_kubectl`: the files of $KUBECONFIG, those that are there, else
///   ~/.kube/config;
/// - neither, but a server: that server, and nobody's name;
/// - nothing: the files of $KUBECONFIG if it is set, else the pod's service account.
///
/// `--server` replaces the address that a kubeconfig has, as with kubectl. `bad_input` or
/// `not_found` with file, field and cure.
base::result<bridge::cluster_access>
find_access(const api_flags& flags, const api_environment& environment, bridge::machine& from);

/// Reads "HOST:PORT" and URLs. `bad_input` for anything else.
base::result<bridge::server_url> read_server(const std::string& text);

/// What an HTTP client is made of, and what people should know of it.
struct api_access {
  bridge::connector_ptr by;
  bridge::http_client::options how;
  std::string name;   ///< of the server, in messages
  std::string origin; ///< where it was found
  std::vector<base::error> warnings;
  std::vector<base::error> dangers; ///< warnings for those, too, who want to hear of errors only
};
/// Reads the credentials once, so that what is wrong with them is said before anything begins. A
/// program that prints them may take its time: `is_told_to_stop` is asked again and again
/// meanwhile, and after a yes the program is killed; `unavailable`.
base::result<api_access> open_access(const bridge::cluster_access& where,
                                     std::shared_ptr<bridge::machine> from,
                                     const std::function<bool()>& is_told_to_stop);

} // namespace tutti::cli
