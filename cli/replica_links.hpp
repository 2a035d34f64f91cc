// What a scheduler process says to other processes of ours: to the other replicas, if it is one of
// several, and to a bridge, if it has one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/bridge_line.hpp"
#include "actors/tcp_links.hpp"
#include "base/result.hpp"
#include "bridge/machine.hpp"

namespace tutti::cli {

struct replica_flags {
  std::string name;             ///< empty: this process is alone
  std::string link;             ///< HOST:PORT where it hears the others
  std::string address;          ///< HOST:PORT by which they reach it; empty = `link`
  std::string tls_dir;          ///< tls.crt, tls.key, ca.crt; empty = plain TCP
  std::string certificate_name; ///< in the certificate of each; empty = its own name
  bool is_plain = false;        ///< plain TCP, wherever it is reached from
  std::string bridge;           ///< HOST:PORT of a bridge; empty: it speaks to the API server
  unsigned lease_s = 0;         ///< seconds that its Lease counts; 0 = the default

  bool is_alone() const { return name.empty(); }
};

/// `bad_input`, with the flag: flags that need each other, a name that is no name of a Lease, an
/// address that nobody can call, a plain connection that other machines reach.
base::result<void> check_replica(const replica_flags& how);

/// Opens the link; nobody is let in yet. Errors of `tcp_links::open`, with the flag.
base::result<std::unique_ptr<actors::tcp_links>>
open_links(const replica_flags& how, std::string cluster, std::shared_ptr<bridge::machine> machine,
           std::function<void(const std::string& replica, const base::error* why)> changed);

/// The way to the bridge, under this scheduler's name; one that is alone is called `lone_name`.
/// Errors of `open_bridge_line`, with the flag.
inline constexpr const char* lone_name = "scheduler";
base::result<std::unique_ptr<bridge::api_client>>
open_line(const replica_flags& how, std::shared_ptr<bridge::machine> machine,
          std::function<void(const base::error& e, bool needs_human)> failed,
          std::function<void(const base::error* why)> changed);

/// HOST:PORT for this replica's Lease.
std::string link_address(const replica_flags& how, std::uint16_t port);

} // namespace tutti::cli
