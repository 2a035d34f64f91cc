// Looks names up, and says what contradicts itself, as kubectl's validation does.
#include "bridge/cluster_access.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bridge/http_text.hpp"

namespace tutti::bridge {
namespace {

using base::code;
using base::error;

error wrong(const std::string& place, std::string_view what, std::string hint) {
  return {code::bad_input, fmt::format("{}: {}", place, what), std::move(hint)};
}

template <class Map>
std::string names_of(const Map& entries) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries)
    names.push_back(name);
  return names.empty() ? "there is none in the file"
                       : fmt::format("there are: {}", fmt::join(names, ", "));
}

std::string files_of(const kubeconfig& all) {
  return all.files.empty() ? "no kubeconfig file" : fmt::format("{}", fmt::join(all.files, ":"));
}

base::result<const kube_context*> find_context(const kubeconfig& all, const std::string& wanted) {
  const auto& name = wanted.empty() ? all.current_context : wanted;
  if (name.empty())
    return wrong(files_of(all), "current-context: is not set, and no context was asked for",
                 "give --context NAME; " + names_of(all.contexts));
  const auto pos = all.contexts.find(name);
  if (pos == all.contexts.end())
    return wrong(files_of(all),
                 fmt::format("{}there is no context \"{}\"",
                             wanted.empty() ? "current-context: " : "contexts: ", name),
                 "give --context NAME; " + names_of(all.contexts));
  return &pos->second;
}

/// What stands in the file itself and in one that it names, too, is wrong.
base::result<void> check_source(const text_source& x) {
  if (!x.is_given_twice())
    return {};
  const auto name = x.place.substr(x.place.rfind('.') + 1);
  return wrong(x.place, fmt::format("is there beside {}-data", name), "remove one of the two");
}

base::result<void> take_cluster(const kube_cluster& c, cluster_access& out) {
  if (c.server.empty())
    return wrong(c.place + ".cluster.server", "is missing", "for example https://10.0.0.1:6443");
  auto url = parse_server_url(c.server);
  if (!url)
    return url.error().in(c.place + ".cluster.server");
  if (!c.proxy_url.empty())
    return wrong(c.place + ".cluster.proxy-url", "proxies are not built in",
                 "remove it if the server is reached directly, or run `kubectl proxy` and name its "
                 "address as the server");
  if (auto ok = check_source(c.authority); !ok)
    return ok;
  if (c.skips_verification && c.authority.is_given())
    return wrong(c.place + ".cluster.insecure-skip-tls-verify",
                 "is there beside a certificate-authority",
                 "remove one of the two; keep the authority");
  out.server = std::move(*url);
  out.server_name = c.server_name;
  out.skips_verification = c.skips_verification;
  out.authority = c.authority;
  out.exec_config = c.exec_config;
  return {};
}

base::result<void> check_exec(const exec_plugin& x) {
  if (x.command.empty())
    return wrong(x.place + ".command", "is missing", "name the program that prints credentials");
  if (x.api_version != "client.authentication.k8s.io/v1"
      && x.api_version != "client.authentication.k8s.io/v1beta1")
    return wrong(x.place + ".apiVersion",
                 x.api_version.empty() ? "is missing"
                                       : fmt::format("is {}, which is not known", x.api_version),
                 "write client.authentication.k8s.io/v1, or v1beta1 if the program knows no other");
  const auto& mode = x.interactive_mode;
  if (mode == "Always")
    return wrong(x.place + ".interactiveMode",
                 "is Always: the program would ask a person, and a scheduler has none",
                 "use another user, for example a service account's token");
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable")
    return wrong(x.place + ".interactiveMode", fmt::format("is {}", mode),
                 "write Never, IfAvailable or Always");
  if (mode.empty() && x.api_version.ends_with("/v1"))
    return wrong(x.place + ".interactiveMode", "is missing, and v1 wants it",
                 "write interactiveMode: Never");
  return {};
}

base::result<void> take_user(const kube_user& u, cluster_access& out) {
  if (!u.not_built.empty())
    return wrong(fmt::format("{}.user.{}", u.place, u.not_built.front()), "is not built in",
                 "use a user with a token, a client certificate or an exec plugin");
  const bool has_name = !u.username.empty() || !u.password.empty();
  if (has_name && (!u.token.empty() || !u.token_file.empty()))
    return wrong(u.place + ".user", "has a token and a username",
                 "keep one way of saying who you are");
  if (has_name && u.username.empty())
    return wrong(u.place + ".user.username", "is missing beside the password", "write it");
  if (!is_header_word(u.token))
    return wrong(u.place + ".user.token", no_header_word, "write the token alone");
  for (const auto* source : {&u.certificate, &u.key})
    if (auto ok = check_source(*source); !ok)
      return ok;
  if (u.certificate.is_given() && !u.key.is_given())
    return wrong(u.place + ".user.client-key", "is missing beside the client certificate",
                 "give client-key or client-key-data");
  if (u.key.is_given() && !u.certificate.is_given())
    return wrong(u.place + ".user.client-certificate", "is missing beside the key",
                 "give client-certificate or client-certificate-data");
  if (u.exec)
    if (auto ok = check_exec(*u.exec); !ok)
      return ok;
  out.certificate = u.certificate;
  out.key = u.key;
  out.token = u.token;
  if (!u.token_file.empty())
    out.token_file = {{}, u.token_file, u.place + ".user.tokenFile"};
  out.username = u.username;
  out.password = u.password;
  out.exec = u.exec;
  return {};
}

} // namespace

base::result<cluster_access> access_of(const kubeconfig& all, const std::string& context) {
  const auto found = find_context(all, context);
  if (!found)
    return found.error();
  const auto& chosen = **found;
  const auto cluster = all.clusters.find(chosen.cluster);
  if (chosen.cluster.empty() || cluster == all.clusters.end())
    return wrong(chosen.place + ".context.cluster",
                 chosen.cluster.empty() ? "is missing"
                                        : fmt::format("there is no cluster \"{}\"", chosen.cluster),
                 names_of(all.clusters));
  cluster_access out;
  if (auto ok = take_cluster(cluster->second, out); !ok)
    return ok.error();
  if (!chosen.user.empty()) {
    const auto user = all.users.find(chosen.user);
    if (user == all.users.end())
      return wrong(chosen.place + ".context.user",
                   fmt::format("there is no user \"{}\"", chosen.user), names_of(all.users));
    if (auto ok = take_user(user->second, out); !ok)
      return ok.error();
  }
  out.origin = fmt::format("context {} of {}", context.empty() ? all.current_context : context,
                           files_of(all));
  return out;
}

cluster_access access_of(const server_url& server) {
  cluster_access out;
  out.server = server;
  out.origin = "by its address alone";
  return out;
}

base::result<cluster_access> access_in_pod(const pod_environment& pod) {
  if (pod.host.empty() || pod.port.empty())
    return error{code::bad_input,
                 "this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
                 "give --kubeconfig FILE"};
  const bool is_ipv6 = pod.host.find(':') != pod.host.npos;
  const auto host = is_ipv6 ? fmt::format("[{}]", pod.host) : pod.host;
  auto url = parse_server_url(fmt::format("https://{}:{}", host, pod.port));
  if (!url)
    return url.error().in("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT");
  const auto file = [&](const char* name) {
    auto path = fmt::format("{}/{}", pod.folder, name);
    return text_source{{}, path, "service account of this pod"};
  };
  auto out = access_of(*url);
  out.authority = file("ca.crt");
  out.token_file = file("token");
  out.origin = "service account of this pod";
  return out;
}

} // namespace tutti::bridge
