// Questions wait by number; an answer that nobody waits for any more is dropped.
#include "actors/admin.hpp"

#include <utility>

#include <boost/json.hpp>

#include "protocol/sharding.hpp"

namespace tutti::actors {

protocol::effects admin_role::on(const protocol::event& e, base::time_point) {
  const auto* heard = std::get_if<protocol::received>(&e);
  if (heard == nullptr)
    return {};
  if (const auto* said = std::get_if<protocol::inspected>(&heard->what))
    take_(said->id, said->json);
  else if (const auto* done = std::get_if<protocol::gang_cancelled>(&heard->what))
    take_(done->id, boost::json::serialize(
                        boost::json::object{{"done", done->is_done}, {"text", done->text}}));
  return {};
}

std::string admin_desk::ask(const protocol::address& whom, std::string what, std::string name,
                            std::chrono::milliseconds patience) {
  auto q = begin();
  if (routes_.find(whom))
    routes_.send(protocol::to(protocol::role_kind::admin), whom,
                 protocol::inspect{q.id, std::move(what), std::move(name)});
  else
    answer(q.id, {});
  return wait(std::move(q), patience);
}

std::string admin_desk::cancel(protocol::cancel_gang what, std::chrono::milliseconds patience) {
  auto q = begin();
  what.id = q.id;
  const auto whom = protocol::to_partition(protocol::partition_of(what.gang));
  routes_.send(protocol::to(protocol::role_kind::admin), whom, std::move(what));
  return wait(std::move(q), patience);
}

admin_desk::question admin_desk::begin() {
  std::lock_guard lock{mutex_};
  const auto id = ++last_id_;
  return {id, waiting_[id].get_future()};
}

std::string admin_desk::wait(question q, std::chrono::milliseconds patience) {
  if (q.coming.wait_for(patience) == std::future_status::ready)
    return q.coming.get();
  std::lock_guard lock{mutex_};
  waiting_.erase(q.id);
  return {};
}

void admin_desk::answer(std::uint64_t id, std::string json) {
  std::lock_guard lock{mutex_};
  auto pos = waiting_.find(id);
  if (pos == waiting_.end())
    return; // the asker has lost patience
  pos->second.set_value(std::move(json));
  waiting_.erase(pos);
}

} // namespace tutti::actors
