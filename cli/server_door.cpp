#include "cli/server_door.hpp"

#include <fmt/core.h>

#include "cli/output.hpp"

namespace tutti::cli {

base::result<std::unique_ptr<doorkeeper>>
open_server_door(const server_door_options& how, const base::clock& clock,
                 const std::function<bool()>& is_told_to_stop) {
  const auto machine = bridge::this_machine(clock);
  const auto where = find_access(how.where, api_environment::of_this_process(), *machine);
  if (!where)
    return where.error();
  auto access = open_access(*where, machine, is_told_to_stop);
  if (!access)
    return access.error();
  if (how.qps > 0)
    access->how.writes = {.per_second = static_cast<double>(how.qps),
                          .burst = static_cast<double>(how.burst > 0 ? how.burst : how.qps)};
  for (const auto& danger : access->dangers)
    print_warning(danger);
  if (!how.quiet)
    for (const auto& warning : access->warnings)
      print_warning(warning);
  if (how.names_server && !how.quiet)
    fmt::print(stderr, "API server {} ({})\n", access->name, access->origin);
  const auto* if_silent =
      where->server.is_tls
          ? "look at the address, the network and its firewalls"
          : "look at host and port; a server that speaks TLS only is called https://";
  return std::make_unique<doorkeeper>(access->by, access->how,
                                      doorkeeper::words{access->name, if_silent}, clock);
}

} // namespace tutti::cli
