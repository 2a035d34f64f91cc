#include "bridge/exec_credential.hpp"

#include <boost/json.hpp>
#include <fmt/core.h>

#include "api/timestamp.hpp"
#include "bridge/base64.hpp"
#include "bridge/json_read.hpp"
#include "bridge/printable.hpp"

namespace tutti::bridge {
namespace {

namespace json = boost::json;

/// So much of a field that is wrong is shown.
constexpr std::size_t printed_bytes_shown = 60;

json::object cluster_info(const cluster_access& cluster, std::string_view authority) {
  json::object out{{"server", to_text(cluster.server)}};
  if (!cluster.server_name.empty())
    out["tls-server-name"] = cluster.server_name;
  if (cluster.skips_verification)
    out["insecure-skip-tls-verify"] = true;
  if (!authority.empty())
    out["certificate-authority-data"] = to_base64(authority);
  if (!cluster.exec_config.is_null())
    out["config"] = cluster.exec_config;
  return out;
}

} // namespace

std::string exec_info(const exec_plugin& plugin, const cluster_access& cluster,
                      std::string_view authority) {
  json::object spec{{"interactive", false}};
  if (plugin.wants_cluster)
    spec["cluster"] = cluster_info(cluster, authority);
  return json::serialize(json::object{
      {"kind", "ExecCredential"}, {"apiVersion", plugin.api_version}, {"spec", std::move(spec)}});
}

base::result<exec_credential> read_exec_credential(const exec_plugin& plugin,
                                                   std::string_view printed) {
  const auto wrong = [&](std::string_view what) {
    return base::error{base::code::bad_input,
                       fmt::format("{}: {} printed {}", plugin.place, plugin.command, what),
                       "run it by hand; it must print an ExecCredential in JSON"};
  };
  boost::system::error_code ec;
  const auto parsed = json::parse({printed.data(), printed.size()}, ec);
  if (ec || !parsed.is_object())
    return wrong("no JSON object");
  const auto& top = parsed.get_object();
  if (text_at(top, "kind") != "ExecCredential")
    return wrong("no ExecCredential");
  if (const auto said = text_at(top, "apiVersion"); said != plugin.api_version)
    return wrong(fmt::format("apiVersion \"{}\", not {}", printable(said, printed_bytes_shown),
                             plugin.api_version));
  const auto* said = object_at(top, "status");
  if (said == nullptr)
    return wrong("no status");
  exec_credential out{.token = std::string{text_at(*said, "token")},
                      .certificate = std::string{text_at(*said, "clientCertificateData")},
                      .key = std::string{text_at(*said, "clientKeyData")},
                      .expires = {}};
  if (out.certificate.empty() != out.key.empty())
    return wrong("a certificate without its key, or a key without its certificate");
  if (out.token.empty() && out.certificate.empty())
    return wrong("neither a token nor a certificate");
  if (const auto text = text_at(*said, "expirationTimestamp"); !text.empty()) {
    const auto when = api::parse_timestamp(text);
    if (!when)
      return wrong(fmt::format("expirationTimestamp \"{}\", which is no time",
                               printable(text, printed_bytes_shown)));
    out.expires = *when;
  }
  return out;
}

} // namespace tutti::bridge
