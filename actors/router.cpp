#include "actors/router.hpp"

#include <mutex>

#include <caf/all.hpp>

namespace tutti::actors {

void router::put(const protocol::address& where, caf::actor who) {
  std::unique_lock lock{mutex_};
  actors_[where] = std::move(who);
}

void router::put_parent(const protocol::address& where, const protocol::address& parent) {
  std::unique_lock lock{mutex_};
  parents_[where] = parent;
}

void router::drop(const protocol::address& where, const caf::actor_addr& who) {
  std::unique_lock lock{mutex_};
  auto pos = actors_.find(where);
  if (pos != actors_.end() && pos->second.address() == who)
    actors_.erase(pos);
}

caf::actor router::find(const protocol::address& where) const {
  std::shared_lock lock{mutex_};
  auto pos = actors_.find(where);
  return pos == actors_.end() ? caf::actor{} : pos->second;
}

void router::send(const protocol::address& from, const protocol::address& to,
                  protocol::message what) const {
  post(to, make_mail(protocol::event{protocol::received{from, std::move(what)}}));
}

void router::post(const protocol::address& to, mail what) const {
  caf::actor who;
  {
    std::shared_lock lock{mutex_};
    auto pos = actors_.find(to);
    if (pos == actors_.end())
      if (auto parent = parents_.find(to); parent != parents_.end())
        pos = actors_.find(parent->second);
    if (pos != actors_.end())
      who = pos->second;
  }
  if (who)
    caf::anon_send(who, std::move(what));
}

std::vector<caf::actor> router::all() const {
  std::shared_lock lock{mutex_};
  std::vector<caf::actor> out;
  out.reserve(actors_.size());
  for (const auto& [where, who] : actors_)
    out.push_back(who);
  return out;
}

void router::clear() {
  std::unique_lock lock{mutex_};
  actors_.clear();
}

std::size_t router::size() const {
  std::shared_lock lock{mutex_};
  return actors_.size();
}

} // namespace tutti::actors
