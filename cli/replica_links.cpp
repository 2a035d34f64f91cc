#include "cli/replica_links.hpp"

#include <utility>

#include <boost/asio/ip/address.hpp>
#include <fmt/core.h>

#include "protocol/link_frames.hpp"

namespace tutti::cli {

using base::code;
using base::error;

namespace {

/// 0.0.0.0 and [::]: to listen there is to listen everywhere, and nobody can call it.
bool is_everywhere(const std::string& host) {
  boost::system::error_code ec;
  const auto address = boost::asio::ip::make_address(host, ec);
  return !ec && address.is_unspecified();
}

error wrong(std::string what, std::string hint) {
  return {code::bad_input, std::move(what), std::move(hint)};
}

base::result<void> check_alone(const replica_flags& how) {
  const bool speaks = !how.bridge.empty(); // certificates are for the bridge, too
  const std::pair<const char*, bool> given[] = {
      {"--link", !how.link.empty()},
      {"--link-address", !how.address.empty()},
      {"--link-tls", !speaks && !how.tls_dir.empty()},
      {"--link-name", !speaks && !how.certificate_name.empty()},
      {"--link-plain", !speaks && how.is_plain},
      {"--lease-duration", how.lease_s != 0}};
  for (const auto& [flag, is_given] : given)
    if (is_given)
      return wrong(fmt::format("{} is for one of several replicas", flag),
                   "give each of them a name of its own with --replica");
  return {};
}

/// Of connections, whoever is at the other end.
base::result<void> check_certificates(const replica_flags& how) {
  if (!how.tls_dir.empty() && how.is_plain)
    return wrong("--link-tls and --link-plain exclude each other", "leave one of them out");
  if (!how.certificate_name.empty() && how.tls_dir.empty())
    return wrong("--link-name needs --link-tls", "without certificates there are no names in them");
  return {};
}

base::result<void> check_way_to_bridge(const replica_flags& how) {
  if (how.bridge.empty())
    return {};
  const auto where = actors::parse_host_port(how.bridge);
  if (!where)
    return where.error().in("--bridge");
  if (where->port == 0 || is_everywhere(where->host))
    return wrong(fmt::format("--bridge {} cannot be called", how.bridge),
                 "give the host and port by which `tutti bridge` is reached from here");
  if (how.tls_dir.empty() && !how.is_plain && !actors::is_loopback(where->host))
    return wrong("a bridge on another machine needs --link-tls",
                 "who is on the way can read and change everything; --link-plain if nobody is");
  return {};
}

} // namespace

base::result<void> check_replica(const replica_flags& how) {
  if (auto ok = check_way_to_bridge(how); !ok)
    return ok;
  if (how.is_alone()) {
    const auto ok = check_alone(how);
    return ok ? check_certificates(how) : ok;
  }
  if (!protocol::is_replica_name(how.name))
    return wrong(fmt::format("--replica \"{}\" is no name", how.name),
                 fmt::format("lower case letters, digits and -, at most {} of them; the name of "
                             "the pod will do",
                             protocol::replica_name_bytes_max));
  if (how.link.empty())
    return wrong("--replica needs --link", "for example --link 0.0.0.0:10452 --link-address "
                                           "THIS-HOST:10452 --link-tls /etc/tutti/link");
  const auto listens = actors::parse_host_port(how.link);
  if (!listens)
    return listens.error().in("--link");
  if (const auto called = actors::parse_host_port(how.address);
      !how.address.empty() && (!called || called->port == 0 || is_everywhere(called->host)))
    return wrong(fmt::format("--link-address {} cannot be called", how.address),
                 "give the host and port by which the other replicas reach this one");
  if (how.address.empty() && is_everywhere(listens->host))
    return wrong(fmt::format("--link {} cannot be called", how.link),
                 "add --link-address HOST:PORT, by which the other replicas reach this one");
  if (auto ok = check_certificates(how); !ok)
    return ok;
  if (how.tls_dir.empty() && !how.is_plain && !actors::is_loopback(listens->host))
    return wrong(
        "a link that other machines reach needs --link-tls",
        "whoever reaches it can change what is reserved; --link-plain if only replicas do");
  return {};
}

base::result<std::unique_ptr<actors::tcp_links>>
open_links(const replica_flags& how, std::string cluster, std::shared_ptr<bridge::machine> machine,
           std::function<void(const std::string& replica, const error* why)> changed) {
  actors::tcp_links::options o;
  o.replica = how.name;
  o.cluster = std::move(cluster);
  auto where = actors::parse_host_port(how.link);
  if (!where)
    return where.error().in("--link");
  o.listen = std::move(*where);
  if (!how.tls_dir.empty())
    o.tls = actors::link_files{how.tls_dir, how.certificate_name};
  o.machine = std::move(machine);
  o.changed = std::move(changed);
  auto opened = actors::tcp_links::open(std::move(o));
  if (!opened)
    return opened.error().in(how.tls_dir.empty() ? "--link" : "--link, --link-tls");
  return opened;
}

base::result<std::unique_ptr<bridge::api_client>>
open_line(const replica_flags& how, std::shared_ptr<bridge::machine> machine,
          std::function<void(const error& e, bool needs_human)> failed,
          std::function<void(const error* why)> changed) {
  auto where = actors::parse_host_port(how.bridge);
  if (!where)
    return where.error().in("--bridge");
  actors::bridge_line_options o;
  o.scheduler = how.is_alone() ? lone_name : how.name;
  o.bridge = std::move(*where);
  if (!how.tls_dir.empty())
    o.tls = actors::link_files{how.tls_dir, how.certificate_name};
  o.machine = std::move(machine);
  o.failed = std::move(failed);
  o.changed = std::move(changed);
  auto opened = actors::open_bridge_line(std::move(o));
  if (!opened)
    return opened.error().in("--bridge, --link-tls");
  return opened;
}

std::string link_address(const replica_flags& how, std::uint16_t port) {
  if (!how.address.empty())
    return how.address;
  const auto where = actors::parse_host_port(how.link);
  const auto& host = where ? where->host : how.link;
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port)
                                     : fmt::format("[{}]:{}", host, port);
}

} // namespace tutti::cli
