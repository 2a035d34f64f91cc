#include "cli/api_access.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>

#include <fmt/core.h>

#include "bridge/credentials.hpp"
#include "bridge/kubeconfig.hpp"

namespace tutti::cli {

namespace {

using base::code;
using base::error;

/// How often somebody who waits for a program looks whether to go on.
constexpr auto look_interval = std::chrono::milliseconds{20};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

base::result<bridge::kubeconfig> read_file(const std::string& path, bridge::machine& from) {
  const auto text = from.read(path);
  if (!text)
    return error{text.error().what(), fmt::format("{}: {}", path, text.error().message()),
                 "name another kubeconfig with --kubeconfig"};
  return bridge::read_kubeconfig(path, *text);
}

/// All files that are there; it is an error if none is.
base::result<bridge::kubeconfig> read_files(const std::vector<std::string>& paths,
                                            bridge::machine& from) {
  std::vector<bridge::kubeconfig> all;
  base::result<bridge::kubeconfig> missing{bridge::kubeconfig{}};
  for (const auto& path : paths) {
    auto one = read_file(path, from);
    if (!one && one.error().what() != code::not_found)
      return one.error();
    if (one)
      all.push_back(std::move(*one));
    else
      missing = one.error();
  }
  if (all.empty() && !missing)
    return missing.error();
  return bridge::merge(std::move(all));
}

base::result<bridge::kubeconfig> read_of_environment(const api_environment& environment,
                                                     bridge::machine& from) {
  auto paths = bridge::paths_in(environment.kubeconfig);
  if (paths.empty())
    paths.push_back((std::filesystem::path{environment.home} / ".kube" / "config").string());
  return read_files(paths, from);
}

} // namespace

api_environment api_environment::of_this_process() {
  return {.kubeconfig = variable("KUBECONFIG"),
          .home = variable("HOME"),
          .pod = {.host = variable("KUBERNETES_SERVICE_HOST"),
                  .port = variable("KUBERNETES_SERVICE_PORT")}};
}

base::result<bridge::server_url> read_server(const std::string& text) {
  const bool has_scheme = text.find("://") != text.npos;
  const auto host = text.starts_with(':') ? "127.0.0.1" : ""; // as in other addresses
  auto read = bridge::parse_server_url(has_scheme ? text : fmt::format("http://{}{}", host, text));
  if (!read)
    return error{code::bad_input, fmt::format("--server: {}", read.error().message()),
                 read.error().hint()};
  const bool has_port = text.find(':', has_scheme ? text.find("://") + 3 : 0) != text.npos;
  if (!has_scheme && !has_port)
    return error{code::bad_input, fmt::format("--server: \"{}\" has no port", text),
                 "write HOST:PORT for plain HTTP, or https://HOST[:PORT]"};
  return read;
}

base::result<bridge::cluster_access>
find_access(const api_flags& flags, const api_environment& environment, bridge::machine& from) {
  const bool names_config = flags.names_config();
  const bool asks_environment =
      flags.server.empty() && !names_config && !environment.kubeconfig.empty();
  base::result<bridge::cluster_access> found{bridge::cluster_access{}};
  if (names_config || asks_environment) {
    auto config = flags.kubeconfig.empty() ? read_of_environment(environment, from)
                                           : read_file(flags.kubeconfig, from);
    if (!config)
      return config.error();
    found = bridge::access_of(*config, flags.context);
  } else if (flags.server.empty()) {
    found = bridge::access_in_pod(environment.pod);
  }
  if (!found || flags.server.empty())
    return found;
  auto server = read_server(flags.server);
  if (!server)
    return server.error();
  if (!names_config)
    return bridge::access_of(*server);
  found->server = std::move(*server);
  found->server_name.clear(); // it was the other server's
  found->origin = fmt::format("--server, otherwise {}", found->origin);
  return found;
}

base::result<api_access> open_access(const bridge::cluster_access& where,
                                     std::shared_ptr<bridge::machine> from,
                                     const std::function<bool()>& is_told_to_stop) {
  api_access out;
  const auto& server = where.server;
  const bridge::tcp_target target{server.host, server.port};
  out.origin = where.origin;
  out.how.host_header = host_and_port(server);
  out.how.path = server.path;
  out.how.user_agent = fmt::format("tutti/{}", TUTTI_VERSION);
  out.name = server.is_tls ? to_text(server) : host_and_port(server);
  if (!server.is_tls) {
    out.by = bridge::connect_by_tcp(target);
    if (where.has_credentials())
      out.warnings.push_back(
          {code::bad_input,
           fmt::format("{} is called without TLS: nobody is told who we are", out.name),
           "write https:// to use the credentials of the kubeconfig"});
    return out;
  }
  if (where.skips_verification)
    out.dangers.push_back(
        {code::bad_input,
         fmt::format("{}: insecure-skip-tls-verify is set: anybody on the way may pass for it, and "
                     "gets our credentials",
                     out.name),
         "give the cluster's certificate-authority instead"});
  auto who = std::make_shared<bridge::credentials>(where, std::move(from));
  auto first = std::async(std::launch::async, [who] { return who->fetch(nullptr); });
  while (first.wait_for(look_interval) != std::future_status::ready)
    if (is_told_to_stop())
      who->give_up();
  if (auto found = first.get(); !found)
    return found.error();
  out.by = bridge::connect_by_tls(target);
  out.how.who = std::move(who);
  return out;
}

} // namespace tutti::cli
