// Finds the actor behind a logical address, or the replica. The only shared table of the process.
#pragma once

#include <atomic>
#include <deque>
#include <shared_mutex>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <caf/actor.hpp>

#include "actors/links.hpp"
#include "actors/mail.hpp"
#include "protocol/address.hpp"
#include "protocol/messages.hpp"

namespace tutti::actors {

/// How many who have left are remembered by their parents. A gang asks a node that is gone for some
/// minutes at most; with a node's parent forgotten, its question is dropped, and it gives the seat
/// up when its time is over.
inline constexpr std::size_t parents_of_gone_max = 4096;

/// Roles name each other by address and never know who is behind it. Thread-safe.
class router {
public:
  /// From now on `where` is `who`; replaces whoever was there.
  void put(const protocol::address& where, caf::actor who);
  /// What others send to `where` while nobody is there goes to `parent`: a shard speaks for its
  /// nodes. What the parent itself sends there then is dropped: it hears of the death, and begins
  /// the next life with what is to be known.
  void put_parent(const protocol::address& where, const protocol::address& parent);
  /// Takes `where` out if it still is `who`: a retired actor must not take out its successor.
  void drop(const protocol::address& where, const caf::actor_addr& who);
  /// Null if nobody is there.
  caf::actor find(const protocol::address& where) const;
  /// From here on what others own goes to their replicas. `links` outlives the router.
  void belongs(protocol::ownership_ptr whose, link_carrier& links);
  /// Delivers a message, or drops it if nobody is there: every sender resends what it must.
  void send(const protocol::address& from, const protocol::address& to,
            protocol::message what) const;
  /// The same for one that came from elsewhere: it goes no further.
  void deliver(const protocol::address& from, const protocol::address& to,
               protocol::message what) const;
  void post(const protocol::address& to, mail what) const;
  /// Everybody who is there now.
  std::vector<caf::actor> all() const;
  void clear();
  std::size_t size() const;
  /// Addresses for which a parent speaks: all that are there, and some that are gone.
  std::size_t parents() const;

private:
  static void send_away(const way& where, protocol::envelope what, const protocol::ownership& whose,
                        link_carrier& links);
  caf::actor behind(const protocol::address& to, const protocol::address* from) const;

  mutable std::shared_mutex mutex_;
  boost::unordered_flat_map<protocol::address, caf::actor, std::hash<protocol::address>> actors_;
  boost::unordered_flat_map<protocol::address, protocol::address, std::hash<protocol::address>>
      parents_;
  protocol::ownership_ptr whose_; ///< null: this process owns everything
  link_carrier* links_ = nullptr;
  std::atomic<bool> has_others_{false}; ///< spares the way through `whose_` where there is none
  std::deque<protocol::address> gone_;  ///< have a parent and were dropped, oldest first
};

} // namespace tutti::actors
