// What kubeconfig files say, as values: read, and merged as kubectl merges them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "base/result.hpp"

namespace tutti::bridge {

/// Bytes that stand in a field itself, or in a file that it names.
struct text_source {
  std::string data;  ///< the bytes
  std::string file;  ///< relative paths are made relative to the kubeconfig's folder
  std::string place; ///< "FILE: users[admin].user.client-key", for errors

  bool is_given() const { return !data.empty() || !file.empty(); }
  /// A contradiction: nobody knows which of the two is meant.
  bool is_given_twice() const { return !data.empty() && !file.empty(); }
  friend bool operator==(const text_source&, const text_source&) = default;
};

/// A program that prints credentials (client.authentication.k8s.io).
struct exec_plugin {
  std::string command; ///< looked up in $PATH if it has no slash
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment; ///< added to ours
  std::string api_version;
  std::string install_hint;     ///< shown where the command is not found
  std::string interactive_mode; ///< Never, IfAvailable, Always; empty = not said
  bool wants_cluster = false;   ///< it is told about the cluster, too
  std::string place;

  friend bool operator==(const exec_plugin&, const exec_plugin&) = default;
};

/// The entries of the three lists. `place` is "FILE: clusters[NAME]".
struct kube_cluster {
  std::string server;
  std::string server_name; ///< tls-server-name
  bool skips_verification = false;
  text_source authority;
  std::string proxy_url;
  boost::json::value exec_config; ///< the extension for plugins; null = none
  std::string place;
};
struct kube_user {
  text_source certificate;
  text_source key;
  std::string token;
  std::string token_file;
  std::string username;
  std::string password;
  std::optional<exec_plugin> exec;
  std::vector<std::string> not_built; ///< fields that change who we are, and that we do not know
  std::string place;
};
struct kube_context {
  std::string cluster;
  std::string user;
  std::string place;
};

struct kubeconfig {
  std::vector<std::string> files; ///< those it was read from
  std::string current_context;
  std::map<std::string, kube_cluster> clusters;
  std::map<std::string, kube_user> users;
  std::map<std::string, kube_context> contexts;
};

/// Reads the text of one file, YAML or JSON. Unknown fields are passed over, as kubectl does; a
/// field of the wrong type, a name that is there twice, or another kind of file is `bad_input`,
/// with file and field. Data in base64 are decoded. What contradicts itself is said when it is
/// used.
base::result<kubeconfig> read_kubeconfig(const std::string& path, std::string_view text);

/// The first file that has an entry of a name, or a current context, wins; entries are never mixed.
kubeconfig merge(std::vector<kubeconfig> all);

/// The paths in a value of $KUBECONFIG, in order; empty ones are left out.
std::vector<std::string> paths_in(std::string_view list);

} // namespace tutti::bridge
