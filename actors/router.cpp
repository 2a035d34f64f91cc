// The table of who is where, and who answers for those who are not there.
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
  if (pos == actors_.end() || pos->second.address() != who)
    return;
  actors_.erase(pos);
  if (!parents_.contains(where))
    return;
  gone_.push_back(where);
  if (gone_.size() <= parents_of_gone_max)
    return;
  if (!actors_.contains(gone_.front()))
    parents_.erase(gone_.front());
  gone_.pop_front();
}

caf::actor router::find(const protocol::address& where) const {
  std::shared_lock lock{mutex_};
  auto pos = actors_.find(where);
  return pos == actors_.end() ? caf::actor{} : pos->second;
}

/// Null if neither `to` nor one who speaks for it is there, or if that one is the sender.
caf::actor router::behind(const protocol::address& to, const protocol::address* from) const {
  std::shared_lock lock{mutex_};
  auto pos = actors_.find(to);
  if (pos != actors_.end())
    return pos->second;
  const auto parent = parents_.find(to);
  if (parent == parents_.end() || (from != nullptr && parent->second == *from))
    return {};
  pos = actors_.find(parent->second);
  return pos == actors_.end() ? caf::actor{} : pos->second;
}

void router::send(const protocol::address& from, const protocol::address& to,
                  protocol::message what) const {
  if (const auto who = behind(to, &from))
    caf::anon_send(who, make_mail(protocol::event{protocol::received{from, std::move(what)}}));
}

void router::post(const protocol::address& to, mail what) const {
  if (const auto who = behind(to, nullptr))
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

std::size_t router::parents() const {
  std::shared_lock lock{mutex_};
  return parents_.size();
}

std::size_t router::size() const {
  std::shared_lock lock{mutex_};
  return actors_.size();
}

} // namespace tutti::actors
