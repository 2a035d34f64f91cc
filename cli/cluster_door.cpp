#include "cli/cluster_door.hpp"

#include <chrono>
#include <future>
#include <thread>

#include "bridge/machine.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;

} // namespace

cluster_door::cluster_door(const api_access& access, const base::clock& clock)
    : name_(access.name), clock_(clock),
      door_(access.by, access.how,
            {access.name, "look at the address, the network and its firewalls"}, clock) {}

base::result<std::unique_ptr<cluster_door>> cluster_door::open(const api_flags& flags,
                                                               const base::clock& clock) {
  const auto machine = bridge::this_machine(clock);
  const auto where = find_access(flags, api_environment::of_this_process(), *machine);
  if (!where)
    return where.error();
  const auto access = open_access(*where, machine, [] { return false; });
  if (!access)
    return access.error();
  for (const auto& danger : access->dangers)
    print_warning(danger);
  std::unique_ptr<cluster_door> out{new cluster_door{*access, clock}};
  auto facts = out->door_.ask(patience);
  if (!facts)
    return facts.error();
  out->facts_ = std::move(*facts);
  out->door_.open();
  return out;
}

sim::scenario::live_answer cluster_door::ask(const protocol::http_request& what) {
  auto promised = std::make_shared<std::promise<protocol::event>>();
  auto coming = promised->get_future();
  const auto id = ++last_id_;
  door_.start(id, what, [promised](protocol::event e) { promised->set_value(std::move(e)); });
  if (coming.wait_for(patience) != std::future_status::ready) {
    door_.hang_up(id);
    return {0, "no answer in time"};
  }
  auto heard = coming.get();
  if (auto* said = std::get_if<protocol::answered>(&heard))
    return {said->status, std::move(said->body)};
  const auto* unknown = std::get_if<protocol::answer_unknown>(&heard);
  return {0, unknown ? unknown->why : "no whole answer"};
}

void cluster_door::pause(base::duration how_long) {
  std::this_thread::sleep_for(how_long);
}

} // namespace tutti::cli
