#include "cli/api_questions.hpp"

#include <chrono>
#include <future>
#include <utility>

#include <boost/json/parse.hpp>
#include <fmt/core.h>

#include "bridge/json_read.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

using namespace std::chrono_literals;
using base::code;
using base::error;

constexpr auto patience = 60s;

} // namespace

base::result<api_questions> api_questions::open(const api_flags& flags, const base::clock& clock) {
  const auto machine = bridge::this_machine(clock);
  const auto where = find_access(flags, api_environment::of_this_process(), *machine);
  if (!where)
    return where.error();
  auto access = open_access(*where, machine, [] { return false; });
  if (!access)
    return access.error();
  for (const auto& danger : access->dangers)
    print_warning(danger);
  const doorkeeper::words called{access->name,
                                 "look at the address, the network and its firewalls"};
  auto door = std::make_unique<doorkeeper>(access->by, access->how, called, clock);
  return api_questions{std::move(door), access->name};
}

base::result<cluster_facts> api_questions::facts() {
  return door_->ask(patience);
}

base::result<api_questions::answer> api_questions::ask(const char* method,
                                                       const std::string& target) {
  if (!std::exchange(is_open_, true))
    door_->open();
  auto promised = std::make_shared<std::promise<protocol::event>>();
  auto coming = promised->get_future();
  const auto id = ++last_id_;
  door_->start(id, {.method = method, .target = target},
               [promised](protocol::event e) { promised->set_value(std::move(e)); });
  if (coming.wait_for(patience) != std::future_status::ready) {
    door_->hang_up(id);
    return error{code::unavailable, name_ + ": no answer to " + target, "try again"};
  }
  const auto heard = coming.get();
  const auto* said = std::get_if<protocol::answered>(&heard);
  if (said == nullptr)
    return error{code::unavailable, name_ + ": no whole answer to " + target, "try again"};
  return answer{said->status, said->body};
}

base::result<boost::json::object> api_questions::get(const std::string& target,
                                                     const std::string& rights) {
  const auto said = ask("GET", target);
  if (!said)
    return said.error();
  if (said->status == 403)
    return error{code::forbidden, target + ": " + bridge::status_message(said->body), rights};
  if (said->status == 410)
    return error{code::unavailable, name_ + ": the list has changed while it was read",
                 "try again"};
  boost::system::error_code ec;
  auto body = boost::json::parse(said->body, ec);
  if (said->status != 200 || ec || !body.is_object())
    return error{code::unavailable,
                 fmt::format("{}: answers {} to {}", name_, said->status, target),
                 "look at its health: kubectl get --raw /readyz"};
  return std::move(body.as_object());
}

} // namespace tutti::cli
