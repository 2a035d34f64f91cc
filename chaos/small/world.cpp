#include "chaos/small/world.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "bridge/binder_role.hpp"
#include "bridge/decisions_role.hpp"
#include "bridge/evictor_role.hpp"
#include "protocol/gang_role.hpp"
#include "protocol/messages_codec.hpp"
#include "protocol/partition_role.hpp"
#include "protocol/records_codec.hpp"
#include "shards/node_role.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos::small {

using protocol::address;
using protocol::role_kind;

namespace {

const address shell{role_kind::admin, 0, {}};

/// Roles are values behind an interface: what steps is a copy, the former state stays as it was.
std::shared_ptr<protocol::role> copy(role_kind kind, const protocol::role& x) {
  switch (kind) {
  case role_kind::node:
    return std::make_shared<shards::node_role>(static_cast<const shards::node_role&>(x));
  case role_kind::shard:
    return std::make_shared<shards::shard_role>(static_cast<const shards::shard_role&>(x));
  case role_kind::partition:
    return std::make_shared<protocol::partition_role>(
        static_cast<const protocol::partition_role&>(x));
  case role_kind::gang:
    return std::make_shared<protocol::gang_role>(static_cast<const protocol::gang_role&>(x));
  case role_kind::binder:
    return std::make_shared<bridge::binder_role>(static_cast<const bridge::binder_role&>(x));
  case role_kind::topology:
  case role_kind::planner:
  case role_kind::queue:
  case role_kind::preemption:
  case role_kind::mirror:
  case role_kind::status:
  case role_kind::admin:
  case role_kind::keeper:
    break;
  case role_kind::evictor:
    return std::make_shared<bridge::evictor_role>(static_cast<const bridge::evictor_role&>(x));
  case role_kind::decisions:
    return std::make_shared<bridge::decisions_role>(static_cast<const bridge::decisions_role&>(x));
  }
  ensure(false, static_cast<int>(kind));
  return nullptr;
}

std::uint64_t hash_of(const protocol::decision_ptr& x) {
  return x ? base::hash_of(protocol::encode(*x)) : 0;
}

/// Of a word: its kind and all that it says.
std::uint64_t hash_of(const protocol::event& e) {
  auto h = base::hash_of(std::uint64_t{e.index()});
  if (const auto* d = std::get_if<protocol::decided>(&e))
    h = base::hash_combine(h, hash_of(d->winner));
  else if (const auto* a = std::get_if<protocol::amended>(&e))
    h = base::hash_combine(h, hash_of(a->now));
  else if (const auto* r = std::get_if<protocol::amend_refused>(&e))
    h = base::hash_combine(h, hash_of(r->now));
  else if (const auto* c = std::get_if<protocol::child_died>(&e))
    h = base::hash_combine(h, std::hash<address>{}(c->where));
  return h;
}

std::uint64_t hash_of(const item& x) {
  using base::hash_combine;
  auto h = hash_combine(static_cast<std::uint64_t>(x.what) * 2 + (x.is_orphan ? 1 : 0),
                        hash_combine(small::hash_of(x.from), small::hash_of(x.to)));
  switch (x.what) {
  case item::kind::message:
  case item::kind::map_read:
    return hash_combine(h, base::hash_of(protocol::encode(protocol::envelope{
                               x.from, x.to, std::get<protocol::received>(x.event).what})));
  case item::kind::list:
    return x.as_of ? hash_combine(h, x.as_of->state_hash()) : h;
  case item::kind::map_news:
  case item::kind::departure:
    return h;
  case item::kind::word:
    return hash_combine(h, hash_of(x.event));
  case item::kind::request:
    return hash_combine(
        hash_combine(h, base::hash_of(x.request.method)),
        hash_combine(base::hash_of(x.request.target), base::hash_of(x.request.body)));
  }
  return h;
}

bool is_coordinator(role_kind x) {
  return x == role_kind::gang || x == role_kind::partition;
}

} // namespace

address address_of(std::size_t unit) {
  return unit == the_partition ? protocol::to_partition(the_scene().partition)
                               : protocol::to_shard({static_cast<std::uint32_t>(unit)});
}

std::uint64_t hash_of(const place& x) {
  return base::hash_combine(std::hash<address>{}(x), x.in);
}

std::string to_text(const place& x) {
  const address& who = x;
  return x.in == spare ? fmt::format("{}@{}", protocol::to_text(who), x.in)
                       : protocol::to_text(who);
}

/// What the design sends between processes: coordinators, shards and nodes' leave, and what a gang
/// asks the binder and the evictor. A partition begins its gangs itself, and its queue is beside
/// it.
bool is_ordered(const item& x) {
  if (x.what != item::kind::message)
    return x.what != item::kind::request && x.what != item::kind::departure;
  const auto a = x.from.kind;
  const auto b = x.to.kind;
  const bool is_to_shard = is_coordinator(a) && b == role_kind::shard;
  const bool is_from_shard = a == role_kind::shard && is_coordinator(b);
  const bool is_leave = (a == role_kind::gang && b == role_kind::node)
                        || (a == role_kind::node && b == role_kind::gang);
  const auto is_writer = [](role_kind k) {
    return k == role_kind::binder || k == role_kind::evictor;
  };
  const bool is_writing =
      (a == role_kind::gang && is_writer(b)) || (is_writer(a) && b == role_kind::gang);
  return !(is_to_shard || is_from_shard || is_leave || is_writing);
}

void world::say(std::string_view id, std::string what) {
  if (!broken_)
    broken_ = finding{std::string{id}, std::move(what)};
}

const protocol::role* world::find(const place& where) const {
  const auto pos = roles_.find(where);
  return pos == roles_.end() ? nullptr : pos->second.role.get();
}

// ---------------------------------------------------------------- what is under way

void world::put(item x) {
  x.hash = hash_of(x);
  under_way_.push_back(std::make_shared<const item>(std::move(x)));
}

void world::tell(const place& from, const address& to, protocol::message what) {
  if (const auto* begin = std::get_if<protocol::begin_attempt>(&what))
    begun_.at(gang_number(begin->attempt.gang)) = begin->attempt;
  put({.from = from, .to = route(from.in, to), .event = protocol::received{from, std::move(what)}});
}

void world::word_to(const place& to, base::incarnation_no life, protocol::event e) {
  put({.what = item::kind::word,
       .from = shell,
       .to = to,
       .event = std::move(e),
       .incarnation = life});
}

item_ptr world::take(std::size_t n) {
  auto x = under_way_.at(n);
  under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(n));
  return x;
}

bool world::is_past(const base::attempt_id& x) const {
  const auto kept = log_->all().decisions.find(base::slot_of(x));
  const bool is_decided = kept != log_->all().decisions.end() && kept->second.what->by == x;
  return x != begun_.at(gang_number(x.gang)) && !is_decided;
}

const protocol::decision* world::live_decision(std::size_t gang) const {
  const auto is_live = [](const protocol::decision& x) {
    return x.what == protocol::verdict::committed && !x.is_done;
  };
  if (has_objects()) {
    const auto& its = api_.decision(gang);
    return its && is_live(*its) ? its.get() : nullptr;
  }
  for (const auto& [slot, kept] : log_->all().decisions)
    if (slot.gang == the_gang(gang) && is_live(*kept.what))
      return kept.what.get();
  return nullptr;
}

bool world::is_deliverable(std::size_t n) const {
  const auto& x = *under_way_.at(n);
  if (!is_ordered(x))
    return true;
  return std::none_of(under_way_.begin(), under_way_.begin() + static_cast<std::ptrdiff_t>(n),
                      [&x](const auto& y) { return y->from == x.from && y->to == x.to; });
}

bool world::is_quiet() const {
  return std::all_of(under_way_.begin(), under_way_.end(),
                     [](const auto& x) { return x->is_orphan; });
}

// ---------------------------------------------------------------- steps

void world::begin_step() {
  passed_.clear();
}

void world::deliver(std::size_t n) {
  begin_step();
  hear(n);
}

void world::hear(std::size_t n) {
  ensure(is_deliverable(n), n);
  const auto x = take(n);
  if (x->what == item::kind::departure) {
    api_.depart(the_victim);
    tell_watchers(the_victim);
    return;
  }
  if (x->what == item::kind::request) {
    const auto answer = serve(*x);
    if (!x->is_orphan)
      give(x->from, answer);
    return;
  }
  if (x->what == item::kind::list) {
    give_list(*x);
    return;
  }
  if (x->what == item::kind::map_news) {
    take_news(x->to.in);
    return;
  }
  if (x->what == item::kind::map_read) {
    read_map(*x);
    return;
  }
  if (x->what == item::kind::word) {
    const auto pos = roles_.find(x->to);
    if (pos != roles_.end() && pos->second.incarnation == x->incarnation)
      give(x->to, x->event);
    return;
  }
  const auto& what = std::get<protocol::received>(x->event).what;
  if (x->to.kind == role_kind::queue) {
    queue_hears(x->to.in, what);
    return;
  }
  if (x->to.kind == role_kind::keeper) {
    keeper_hears_list(x->to.in, std::get<protocol::slots_told>(what));
    return;
  }
  auto to = x->to;
  // A node without an actor is answered for by its shard; whoever else is not there hears nothing.
  if (to.kind == role_kind::node && !roles_.contains(to))
    to = {protocol::to_shard({node_number(to.key)}), to.in};
  if (has_objects())
    pass_rows(to, what);
  if (roles_.contains(to))
    give(to, x->event);
}

void world::fire(std::size_t n) {
  begin_step();
  const auto due = timers_.at(n);
  timers_.erase(timers_.begin() + static_cast<std::ptrdiff_t>(n));
  now_ = std::max(now_, due.due);
  if (due.of.kind == role_kind::queue)
    return queue_timer_fired(due.of.in, due.id);
  if (due.id == log_overdue)
    return ask_log_again(due.of);
  give(due.of, protocol::timer_fired{due.id});
}

void world::lose(std::size_t n) {
  begin_step();
  const auto x = take(n);
  if (x->what == item::kind::request)
    give(x->from, protocol::answer_unknown{x->exchange, "lost"});
}

void world::repeat(std::size_t n) {
  begin_step();
  under_way_.push_back(under_way_.at(n));
}

void world::lose_answer(std::size_t n) {
  begin_step();
  const auto x = take(n);
  serve(*x);
  give(x->from, protocol::answer_unknown{x->exchange, "lost"});
}

void world::remove(std::size_t pod) {
  begin_step();
  if (pod != the_victim)
    was_removed_ |= 1u << gang_of(pod);
  api_.remove(pod);
  // Whoever was on its way to stop has stopped.
  std::erase_if(under_way_, [pod](const auto& x) {
    return pod == the_victim && x->what == item::kind::departure;
  });
  tell_watchers(pod);
  if (how_.gangs > 1) // room for a rival that had none
    for (std::uint8_t p = 0; p < processes; ++p)
      try_all(p);
}

protocol::answered world::serve(const item& x) {
  const auto before = api_;
  if (is_about_decisions(x.request)) {
    auto answer = api_.serve(x.exchange, x.request);
    judge_objects(before);
    return answer;
  }
  const auto [pod, is_binding] = target_of(x.request);
  if (is_binding)
    judge_binding(x.request);
  if (is_binding && x.from.in != map_[the_partition].in)
    passed_.push_back("Q1");
  auto answer = api_.serve(x.exchange, x.request);
  judge_pods(before);
  const auto& was = before.all()[pod];
  const auto& is = api_.all()[pod];
  if (was.node != is.node)
    tell_watchers(pod);
  if (is.is_deleting && !was.is_deleting) {
    judge_removal(before);
    put({.what = item::kind::departure, .from = shell, .to = shell});
  }
  return answer;
}

void world::give(const place& where, const protocol::event& told) {
  const auto meant = has_objects() ? meaning(where, told) : std::optional{told};
  if (!meant)
    return;
  const auto& e = *meant;
  auto& here = roles_.at(where);
  auto next = copy(where.kind, *here.role);
  auto wanted = next->on(e, now_);
  here.hash = next->state_hash();
  here.role = std::move(next);
  perform(where, here.incarnation, std::move(wanted));
  if (!std::holds_alternative<protocol::replayed>(
          e)) // half of a journal promises what it took back
    judge_room();
}

void world::perform(const place& of, base::incarnation_no life, protocol::effects wanted) {
  for (auto& e : wanted.list()) {
    judge_effect(of, e);
    const auto pos = roles_.find(of);
    if (pos == roles_.end() || pos->second.incarnation != life)
      return; // it has ended in the middle
    const auto me = pos->second;
    std::visit([&](auto& x) { act(me, of, x); }, e);
  }
}

// ---------------------------------------------------------------- hash

/// What a channel that keeps order has under way counts by its place in the channel, all else by
/// itself; a word by whether the life that it is for still lives. Numbers of lives count only where
/// a role keeps its own.
std::uint64_t world::state_hash() const {
  std::uint64_t moving = 0;
  for (std::size_t n = 0; n < under_way_.size(); ++n) {
    const auto& x = *under_way_[n];
    std::uint64_t place = 0;
    if (is_ordered(x))
      for (std::size_t i = 0; i < n; ++i)
        place += under_way_[i]->from == x.from && under_way_[i]->to == x.to ? 1 : 0;
    if (x.what == item::kind::word)
      if (const auto pos = roles_.find(x.to); pos != roles_.end())
        place = place * 2 + (pos->second.incarnation == x.incarnation ? 1 : 0);
    moving += base::hash_combine(x.hash, place); // a sum: the order of sending does not count
  }
  auto h = base::hash_combine(moving, under_way_.size());
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  for (const auto& [where, here] : roles_) {
    add(hash_of(where));
    add(here.hash);
    if (here.asked)
      for (const auto& question : here.asked->open())
        add(base::hash_of(protocol::encode(protocol::envelope{{}, {}, question})));
  }
  for (const auto& t : timers_) {
    add(base::hash_combine(hash_of(t.of), base::hash_combine(t.id.kind, t.id.key)));
    add(static_cast<std::uint64_t>(t.due.time_since_epoch().count()));
  }
  add(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
  add(log_->state_hash());
  add(api_.state_hash());
  add((is_open_ ? 1u : 0u) + (was_looked_at_ ? 2u : 0u) + (had_death_ ? 8u : 0u)
      + (had_new_coordinator_ ? 16u : 0u));
  add(was_removed_);
  add(decided_);
  for (std::size_t g = 0; g < how_.gangs; ++g)
    add(std::hash<base::attempt_id>{}(begun_[g]));
  add(tries_);
  for (std::size_t p = 0; p < (has_objects() ? processes : 1); ++p) {
    const auto& q = queues_[p];
    for (std::size_t g = 0; g < how_.gangs; ++g)
      add(q.failed[g] * 4 + (q.has_partition ? 1 : 0) + (q.is_trying[g] ? 2 : 0));
    for (const auto epoch : obeyed_[p])
      add(epoch);
    for (const auto seen : views_[p])
      add(seen);
    add(keepers_[p].last);
    for (const auto& [list, of] : keepers_[p].lists)
      for (const auto& [unit, epoch] : of)
        add(base::hash_combine(list * units + unit, epoch.value));
  }
  if (how_.gangs > 1)
    for (const auto& of_shard : listed_)
      for (const auto& attempt : of_shard)
        add(std::hash<base::attempt_id>{}(attempt));
  for (const auto& o : map_)
    add(o.epoch.value * processes + o.in);
  return h;
}

} // namespace tutti::chaos::small
