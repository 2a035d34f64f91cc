// The parts of `tutti bridge`, started in order and stopped in the opposite one.
#include "cli/bridge.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/core.h>

#include "actors/bridge_admin.hpp"
#include "actors/bridge_port.hpp"
#include "base/seed.hpp"
#include "cli/doorkeeper.hpp"
#include "cli/output.hpp"
#include "cli/rights_watch.hpp"
#include "cli/server_door.hpp"

namespace tutti::cli {

namespace {

using namespace std::chrono_literals;
using base::code;
using base::error;

/// How often the main thread looks for signals.
constexpr auto look_interval = 20ms;
/// How often missing rights are looked for.
constexpr auto rights_interval = 1s;
/// How long the start waits for the API server's word on who it is before it goes on without.
constexpr auto greeting_patience = 5s;
/// How long an orderly end waits for answers to writes: a healthy server has given them by then.
constexpr auto ending_patience = 5s;

volatile std::sig_atomic_t signalled = 0;
void on_signal(int) {
  signalled = 1;
}

error wrong(std::string what, std::string hint) {
  return {code::bad_input, std::move(what), std::move(hint)};
}

/// In the order in which they come up; destroyed in the opposite one.
struct running {
  std::unique_ptr<actors::bridge_port> port;
  std::unique_ptr<doorkeeper> door; ///< speaks to the port's thread, and goes before it
  std::atomic<bool> has_server{false};
  std::atomic<bool> has_begun{false};
  std::unique_ptr<actors::http_listener> admin; ///< looks at the port
};

base::result<void> open_admin(running& all, const bridge_options& how) {
  if (how.admin.empty())
    return {};
  const auto where = actors::parse_host_port(how.admin);
  if (!where)
    return where.error().in("--admin");
  auto opened = actors::http_listener::open(
      where->host, where->port,
      [&all](const std::string& method, const std::string& target) -> actors::http_reply {
        if (!all.has_begun)
          return {target == "/livez" ? 200 : 503, "text/plain", "the bridge starts\n"};
        return actors::answer_bridge_admin(
            {all.has_server, all.port->look(), all.port->calls(), TUTTI_VERSION}, method, target);
      });
  if (!opened)
    return opened.error().in("--admin");
  all.admin = std::move(*opened);
  return {};
}

/// What a human must mend is said; who comes and goes only to those who want to hear it.
void note_scheduler(bool is_quiet, const std::string& name, const error* why) {
  const auto place = name.empty() ? std::string{"--listen"} : "scheduler " + name;
  if (why != nullptr && why->what() != code::unavailable)
    print_warning(why->in(place));
  else if (!is_quiet && !name.empty())
    fmt::print(stderr, "{}: {}\n", place, why == nullptr ? "connected" : "gone, " + why->message());
}

base::result<void> open_port(running& all, const bridge_options& how, const base::clock& clock) {
  actors::bridge_port::options o;
  auto where = actors::parse_host_port(how.listen);
  if (!where)
    return where.error().in("--listen");
  o.listen = std::move(*where);
  if (!how.tls_dir.empty())
    o.tls = actors::link_files{how.tls_dir, how.certificate_name};
  o.machine = bridge::this_machine(clock);
  o.changed = [quiet = how.quiet](const std::string& name, const error* why) {
    note_scheduler(quiet, name, why);
  };
  auto opened = actors::bridge_port::open(std::move(o));
  if (!opened)
    return opened.error().in(how.tls_dir.empty() ? "--listen" : "--listen, --link-tls");
  all.port = std::move(*opened);
  return {};
}

/// Opens the door for what is asked, now or when the server answers.
base::result<void> greet_server(running& all, const bridge_options& how) {
  const auto known = [&all, quiet = how.quiet](const cluster_facts& found) -> base::result<void> {
    if (!quiet)
      fmt::print(stderr, "Kubernetes {}\n", found.kubernetes);
    all.port->serve_cluster(found.uid);
    all.has_server = true;
    return {};
  };
  const auto seen = all.door->ask(greeting_patience);
  if (seen) {
    all.door->open();
    return known(*seen);
  }
  if (seen.error().what() != code::unavailable)
    return seen.error();
  print_warning({seen.error().what(), seen.error().message() + "; trying again when it is asked",
                 seen.error().hint()});
  all.door->open_when(known, [](const error& e) { print_error(e); });
  return {};
}

base::result<void> start(running& all, const bridge_options& how, const base::clock& clock) {
  if (auto ok = open_admin(all, how); !ok)
    return ok;
  if (auto ok = open_port(all, how, clock); !ok)
    return ok;
  auto door = open_server_door(
      {.where = how.elsewhere, .qps = how.qps, .burst = how.burst, .quiet = how.quiet}, clock,
      [] { return signalled != 0; });
  if (!door)
    return door.error();
  all.door = std::move(*door);
  if (auto ok = greet_server(all, how); !ok)
    return ok;
  all.port->begin(*all.door, base::draw_seed());
  all.has_begun = true;
  if (how.quiet)
    return {};
  fmt::print(stderr, "schedulers on {}:{} ({})\n", actors::parse_host_port(how.listen)->host,
             all.port->port(), how.tls_dir.empty() ? "plain" : "TLS");
  if (all.admin)
    fmt::print(stderr, "admin address http://{}:{}\n", actors::parse_host_port(how.admin)->host,
               all.admin->port());
  return {};
}

} // namespace

base::result<void> check_bridge(const bridge_options& how) {
  const auto where = actors::parse_host_port(how.listen);
  if (!where)
    return where.error().in("--listen");
  if (const auto admin = actors::parse_host_port(how.admin); !how.admin.empty() && !admin)
    return admin.error().in("--admin");
  if (!how.elsewhere.server.empty())
    if (const auto server = read_server(how.elsewhere.server); !server)
      return server.error();
  if (!how.tls_dir.empty() && how.is_plain)
    return wrong("--link-tls and --link-plain exclude each other", "leave one of them out");
  if (how.tls_dir.empty() && !how.is_plain && !actors::is_loopback(where->host))
    return wrong("a bridge that other machines reach needs --link-tls",
                 "whoever reaches it acts with its rights; --link-plain if only schedulers do");
  if (!how.certificate_name.empty() && how.tls_dir.empty())
    return wrong("--link-name needs --link-tls", "without certificates there are no names in them");
  if (how.burst > 0 && how.qps == 0)
    return wrong("--burst needs --qps", "without a number of writes per second there is no limit");
  return {};
}

base::result<void> run_bridge(const bridge_options& how) {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  base::system_clock clock;
  running all;
  if (auto ok = start(all, how, clock); !ok)
    return signalled != 0 ? base::result<void>{} : ok;
  rights_watch rights;
  auto next_look_at_rights = clock.now();
  while (signalled == 0) {
    std::this_thread::sleep_for(look_interval);
    if (clock.now() < next_look_at_rights)
      continue;
    rights.look(*all.port->calls());
    next_look_at_rights = clock.now() + rights_interval;
  }
  all.admin.reset();
  all.port->end(ending_patience);
  return {};
}

} // namespace tutti::cli
