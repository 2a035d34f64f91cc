// A host for one shard role and its node roles: performs their effects, keeps journal and mail.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/role.hpp"
#include "protocol/sharding.hpp"
#include "shards/node_role.hpp"
#include "shards/shard_role.hpp"
#include "tests/shards/words.hpp"

namespace tutti::shards {

/// A shard of a cluster with one shard, so that every node and guard is its own. What it sends to
/// its nodes and they to it is delivered at once and in order, unless a node is cut off; what it
/// sends elsewhere is kept for the test. A crash loses what was not synced, or what the test says.
class shard_world {
public:
  using message = protocol::message;

  explicit shard_world(std::uint32_t shards = 1) : shards_(shards) { begin_life(); }

  // ---- lives
  struct journal_entry {
    protocol::record what;
    bool is_synced = false;
  };
  /// Kill -9: the role and its node actors are gone; the journal keeps what was synced and, with
  /// `keep_tail`, what was not. `disk_lost` empties it.
  void crash(bool keep_tail = true) {
    if (!keep_tail) {
      std::size_t durable = 0;
      for (std::size_t i = 0; i < journal.size(); ++i)
        if (journal[i].is_synced)
          durable = i + 1; // what was queued before a synced record is on disk with it
      journal.resize(durable);
    }
    role_.reset();
    nodes_.clear();
    queue_.clear();
    timers.clear();
    mail.clear();
  }
  void lose_disk() {
    crash();
    journal.clear();
    checkpoint.clear();
    ++epoch;
  }
  /// A new role from checkpoint and journal, started; the mirror has told nothing yet.
  void restart(std::vector<protocol::decision_ptr> open = {}) {
    ++incarnation;
    begin_life(std::move(open));
  }
  /// Checkpoints the role and cuts the journal.
  void take_checkpoint() {
    checkpoint = role_->snapshot();
    journal.clear();
  }
  std::unique_ptr<shard_role> replay() const {
    auto out = std::make_unique<shard_role>(how());
    EXPECT_TRUE(out->restore(checkpoint).has_value());
    for (const auto& e : journal)
      EXPECT_TRUE(out->on(protocol::replayed{e.what}, now).empty());
    return out;
  }

  // ---- what happens to it
  void tell(message what, protocol::address from = protocol::to(protocol::role_kind::mirror)) {
    to_shard(protocol::received{std::move(from), std::move(what)});
    run();
  }
  void tell_of_disk(bool is_scarce) {
    to_shard(protocol::disk_told{is_scarce});
    run();
  }
  void node_dies(const std::string& name) {
    nodes_.erase(words::node(name));
    to_shard(protocol::child_died{protocol::to_node(words::node(name))});
    run();
  }
  /// From here on the node's actor gets its mail only when `connect`ed again.
  void cut_off(const std::string& name) { cut_.insert(words::node(name)); }
  void connect(const std::string& name) {
    cut_.erase(words::node(name));
    run();
  }
  /// Fires what is due within `x`, in order.
  void pass(base::duration x) {
    const auto end = now + x;
    for (;;) {
      auto next = timers.end();
      for (auto t = timers.begin(); t != timers.end(); ++t)
        if (t->second <= end && (next == timers.end() || t->second < next->second))
          next = t;
      if (next == timers.end())
        break;
      now = next->second;
      const auto id = next->first;
      timers.erase(next);
      to_shard(protocol::timer_fired{id});
      run();
    }
    now = end;
  }
  /// Asks a node as a gang does: the router finds its actor, or else its shard.
  void ask_node(const protocol::may_bind& x) {
    auto pos = nodes_.find(x.node);
    if (pos == nodes_.end())
      tell(x, protocol::to_gang(x.attempt.gang));
    else
      perform(pos->second->on(protocol::received{protocol::to_gang(x.attempt.gang), x}, now),
              protocol::to_node(x.node));
    run();
  }

  // ---- what came of it
  /// Takes the oldest letter of kind `M`; null if there is none.
  template <class M>
  std::optional<M> take() {
    for (auto pos = mail.begin(); pos != mail.end(); ++pos)
      if (auto* m = std::get_if<M>(&pos->what)) {
        auto out = std::move(*m);
        mail.erase(pos);
        return out;
      }
    return std::nullopt;
  }
  template <class M>
  std::size_t count() const {
    std::size_t out = 0;
    for (const auto& one : mail)
      out += std::holds_alternative<M>(one.what) ? 1 : 0;
    return out;
  }
  template <class R>
  std::vector<R> records() const {
    std::vector<R> out;
    for (const auto& e : journal)
      if (const auto* r = std::get_if<R>(&e.what))
        out.push_back(*r);
    return out;
  }
  shard_role& shard() { return *role_; }
  bool has_node(const std::string& name) const { return nodes_.contains(words::node(name)); }
  const node_ledger& ledger(const std::string& name) const {
    return nodes_.at(words::node(name))->ledger();
  }
  std::int64_t free_cpus(const std::string& name) const {
    return ledger(name).free().amounts.cpu_milli / 1000;
  }

  struct letter {
    protocol::address to;
    message what;
  };
  std::vector<letter> mail; ///< to gangs, partitions, topology, mirror, admin
  std::vector<journal_entry> journal;
  std::string checkpoint;
  std::map<protocol::timer_id, base::time_point> timers;
  std::vector<std::string> faults; ///< passed, in order
  std::vector<std::string> errors; ///< notes that a human must see
  std::string crash_at;            ///< stops performing at this fault point, once
  bool has_crashed = false;
  base::time_point now{};
  std::uint64_t epoch = 1;
  std::uint64_t incarnation = 1;

private:
  shard_role::options how() const { return {.shard = {0}, .shards = shards_, .fast_path = true}; }

  void begin_life(std::vector<protocol::decision_ptr> open = {}) {
    has_crashed = false;
    role_ = replay();
    to_shard(protocol::started{{epoch}, {incarnation}, 7, std::move(open)});
    run();
  }
  void to_shard(const protocol::event& e) {
    if (role_)
      perform(role_->on(e, now), protocol::to_shard({0}));
  }
  void perform(protocol::effects what, const protocol::address& who) {
    for (auto& e : what.list()) {
      if (has_crashed)
        return;
      if (auto* s = std::get_if<protocol::send>(&e))
        post(who, std::move(*s));
      else if (auto* a = std::get_if<protocol::append>(&e))
        journal.push_back({a->what, a->how == protocol::append::durability::synced});
      else if (auto* t = std::get_if<protocol::arm>(&e))
        timers[t->timer] = now + t->after;
      else if (auto* d = std::get_if<protocol::disarm>(&e))
        timers.erase(d->timer);
      else if (auto* h = std::get_if<protocol::host>(&e))
        nodes_.try_emplace({h->where.key},
                           std::make_unique<node_role>(base::node_uid{h->where.key}));
      else if (std::holds_alternative<protocol::retire>(e))
        nodes_.erase({who.key});
      else if (auto* f = std::get_if<protocol::fault>(&e))
        pass_fault(std::string{f->id});
      else if (auto* n = std::get_if<protocol::note>(&e); n != nullptr && n->is_error)
        errors.emplace_back(n->what);
    }
  }
  void pass_fault(const std::string& id) {
    faults.push_back(id);
    if (id != crash_at)
      return;
    crash_at.clear();
    has_crashed = true;
  }
  void post(const protocol::address& from, protocol::send s) {
    if (s.to.kind == protocol::role_kind::node || s.to.kind == protocol::role_kind::shard)
      queue_.push_back({from, std::move(s.to), std::move(s.what)});
    else
      mail.push_back({std::move(s.to), std::move(s.what)});
  }
  void run() {
    for (auto pos = queue_.begin(); pos != queue_.end() && !has_crashed;) {
      if (pos->to.kind == protocol::role_kind::node && cut_.contains({pos->to.key})) {
        ++pos;
        continue;
      }
      auto next = std::move(*pos);
      queue_.erase(pos);
      if (next.to.kind == protocol::role_kind::shard)
        to_shard(protocol::received{next.from, next.what});
      else if (auto n = nodes_.find({next.to.key}); n != nodes_.end())
        perform(n->second->on(protocol::received{next.from, next.what}, now), next.to);
      pos = queue_.begin();
    }
  }

  struct parcel {
    protocol::address from;
    protocol::address to;
    message what;
  };
  const std::uint32_t shards_;
  std::unique_ptr<shard_role> role_;
  std::map<base::node_uid, std::unique_ptr<node_role>> nodes_;
  std::deque<parcel> queue_;
  std::set<base::node_uid> cut_;
};

} // namespace tutti::shards
