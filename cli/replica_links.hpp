// What makes a scheduler process one of several: a name, and a link to the others.
#pragma once

#include <functional>
#include <memory>
#include <string>

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
  unsigned lease_s = 0;         ///< seconds that its Lease counts; 0 = the default

  bool is_alone() const { return name.empty(); }
};

/// `bad_input`, with the flag: flags that need each other, a name that is no name of a Lease, an
/// address that nobody can call, a plain link that other machines reach.
base::result<void> check_replica(const replica_flags& how);

/// Opens the link; nobody is let in yet. Errors of `tcp_links::open`, with the flag.
base::result<std::unique_ptr<actors::tcp_links>>
open_links(const replica_flags& how, std::string cluster, std::shared_ptr<bridge::machine> machine,
           std::function<void(const std::string& replica, const base::error* why)> changed);

/// HOST:PORT for this replica's Lease.
std::string link_address(const replica_flags& how, std::uint16_t port);

} // namespace tutti::cli
