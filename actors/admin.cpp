#include "actors/admin.hpp"

namespace tutti::actors {

std::string admin_desk::ask(const protocol::address& whom, std::string what, std::string name,
                            std::chrono::milliseconds patience) {
  std::future<std::string> coming;
  std::uint64_t id = 0;
  {
    std::lock_guard lock{mutex_};
    id = ++last_id_;
    coming = waiting_[id].get_future();
  }
  if (routes_.find(whom))
    routes_.send(protocol::to(protocol::role_kind::admin), whom,
                 protocol::inspect{id, std::move(what), std::move(name)});
  else
    answer(id, {});
  if (coming.wait_for(patience) == std::future_status::ready)
    return coming.get();
  std::lock_guard lock{mutex_};
  waiting_.erase(id);
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
