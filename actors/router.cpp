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

void router::belongs(protocol::ownership_ptr whose, link_carrier& links) {
  std::unique_lock lock{mutex_};
  whose_ = std::move(whose);
  links_ = &links;
  has_others_ = true;
}

void router::send(const protocol::address& from, const protocol::address& to,
                  protocol::message what) const {
  if (!has_others_) {
    deliver(from, to, std::move(what));
    return;
  }
  protocol::ownership_ptr whose;
  link_carrier* links = nullptr;
  {
    std::shared_lock lock{mutex_};
    whose = whose_;
    links = links_;
  }
  const auto where = way_of(*whose, from, to);
  if ((where.is_for_all_others && !whose->live.empty()) || !where.replica.empty())
    send_away(where, {from, to, what}, *whose, *links);
  if (where.is_here) {
    auto here = to;
    if (is_replicas_own(to.kind))
      here.key.clear();
    deliver(from, here, std::move(what));
  }
}

void router::send_away(const way& where, protocol::envelope what, const protocol::ownership& whose,
                       link_carrier& links) {
  const auto frame = make_frame(whose, std::move(what));
  if (!where.replica.empty())
    links.carry(where.replica, frame);
  if (where.is_for_all_others)
    for (const auto& other : whose.live)
      links.carry(other.replica, frame);
}

void router::deliver(const protocol::address& from, const protocol::address& to,
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
