// What the mirror makes of each change: who is told what, in an order that fits together.
#include "bridge/mirror_role.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "api/decode.hpp"
#include "api/term_guards.hpp"
#include "api/ties.hpp"
#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "bridge/json_read.hpp"
#include "bridge/pod_view.hpp"
#include "protocol/sharding.hpp"

namespace tutti::bridge {

namespace {

/// Shards of one takeover ask one after the other, and share a list.
constexpr protocol::timer_id list_timer{3, 0};
constexpr base::duration list_gathering = std::chrono::milliseconds{20};

/// What says that groups exist: PodGroups, or the Workloads that hold them.
std::string groups_path(api::dialect spoken) {
  return fmt::format("/apis/{}/{}", api::api_version_of(spoken),
                     api::has_pod_groups(spoken) ? "podgroups" : "workloads");
}

/// A label that does not count must not turn the members of a gang into pods that start alone.
void heed_label(api::pod& p, api::dialect spoken) {
  const auto label = p.meta.labels.find(api::group_label);
  if (label == p.meta.labels.end() || label->second.empty())
    return;
  if (spoken == api::dialect::own)
    p.group = label->second;
  else if (p.group.empty() && !p.workload_ref && p.refused.empty())
    p.refused = fmt::format("the label {} counts only on clusters that serve no groups of pods; "
                            "here the spec of the pod names its group",
                            api::group_label);
}

protocol::object_name name_in(std::string_view key) {
  const auto slash = key.find('/');
  ensure(slash != std::string_view::npos, key);
  return {std::string{key.substr(0, slash)}, std::string{key.substr(slash + 1)}};
}

} // namespace

using protocol::effects;
using protocol::role_kind;
using protocol::to;
using protocol::to_shard;

mirror_role::mirror_role(options o)
    : options_(std::move(o)), facts_(options_.levels),
      nodes_({.path = "/api/v1/nodes",
              .channel = nodes_channel,
              .streams_list = options_.streams_lists}),
      pods_seen_({.path = "/api/v1/pods",
                  .channel = pods_channel,
                  .streams_list = options_.streams_lists}),
      groups_({.path = groups_path(options_.spoken),
               .channel = groups_channel,
               .streams_list = options_.streams_lists}),
      budgets_({.path = "/apis/policy/v1/poddisruptionbudgets",
                .channel = budgets_channel,
                .streams_list = options_.streams_lists}),
      victims_({.exempt = options_.exempt_pods,
                .has_group_priorities = api::has_group_priorities(options_.spoken)}),
      homes_(options_.shards, options_.has_others) {}

effects mirror_role::on(const protocol::event& e, base::time_point now) {
  ensure(now >= now_);
  now_ = now;
  effects out;
  if (const auto* x = std::get_if<protocol::started>(&e)) {
    ensure(!is_started_);
    is_started_ = true;
    tell_trust(false, true, out);
    nodes_.start(x->seed, now, out);
    pods_seen_.start(x->seed, now, out);
    groups_.start(x->seed, now, out);
    if (options_.watches_budgets)
      budgets_.start(x->seed, now, out);
    return out;
  }
  if (const auto* m = std::get_if<protocol::received>(&e)) {
    hear(*m, out);
  } else if (const auto* t = std::get_if<protocol::timer_fired>(&e); t && t->timer == list_timer) {
    list_for_shards(out);
  } else if (const auto* ended = std::get_if<protocol::child_died>(&e)) {
    ensure(ended->where.kind == role_kind::shard, to_text(ended->where));
    shard_has_ended({ended->where.index}, out);
  } else {
    const bool was_mine = nodes_.on(e, now, out, [&](const change& c) { on_node(c, out); })
                          || pods_seen_.on(e, now, out, [&](const change& c) { on_pod(c, out); })
                          || groups_.on(e, now, out, [&](const change& c) { on_group(c, out); })
                          || budgets_.on(e, now, out, [&](const change& c) { on_budget(c, out); });
    if (!was_mine)
      return out;
  }
  after_event(out);
  return out;
}

bool mirror_role::is_fresh() const {
  return homes_.are_known() && nodes_.is_fresh() && pods_seen_.is_fresh();
}

/// What follows from the state of the watches, whatever the event was.
void mirror_role::after_event(effects& out) {
  const bool is_synced = nodes_.is_synced() && pods_seen_.is_synced() && groups_.is_synced();
  // Upholds S12: a shard votes only on a view that is complete and fresh.
  const bool is_hidden = base::is_planted(base::mutant::trust_a_cut_view) && was_fresh_;
  if (is_fresh() != was_fresh_ && !is_hidden) {
    was_fresh_ = !was_fresh_;
    tell_trust(was_fresh_, false, out);
    out.add(protocol::note{"mirror.trust", {{"fresh", was_fresh_ ? 1 : 0}}, false});
  }
  if (list_runs_ && nodes_.is_synced() && pods_seen_.is_synced()) {
    list_runs_ = false;
    for (const auto shard : std::exchange(list_asked_, {}))
      tell_shard_again(shard, out);
    if (!list_wanted_.empty())
      out.add(protocol::arm{list_timer, list_gathering});
  }
  if (pods_seen_.is_synced() && !has_told_fences_)
    tell_fences(out);
  if (is_synced && !was_synced_) {
    has_told_queue_ = true;
    out.tell(to(role_kind::queue), protocol::facts_synced{});
  }
  was_synced_ = is_synced;
}

/// Fences that are absurdly high are no owner's: an epoch above them could not grow any more.
void mirror_role::note_fence(const api::pod& p) {
  constexpr base::epoch_no highest_sane{std::uint64_t{1} << 48};
  const auto text = p.meta.annotations.find(fence_annotation);
  const auto found = text == p.meta.annotations.end() ? std::nullopt : fence_of(text->second);
  if (!found || found->epoch > highest_sane)
    return;
  auto& known = fences_[found->partition];
  known = std::max(known, found->epoch);
}

/// To every partition: one that hears of none must not take a later report for its first.
void mirror_role::tell_fences(effects& out) {
  has_told_fences_ = true;
  for (std::uint32_t i = 0; i < base::limits::partitions; ++i)
    tell_fence({i}, out);
}

void mirror_role::tell_fence(base::partition_id whom, effects& out) const {
  const auto pos = fences_.find(whom);
  out.tell(protocol::to_partition(whom),
           protocol::fence_found{pos == fences_.end() ? base::epoch_no{} : pos->second});
}

void mirror_role::tell_trust(bool fresh, bool is_anew, effects& out) const {
  for (std::uint32_t i = 0; i < options_.shards; ++i)
    if (!waits_for_list({i}))
      out.tell(to_shard({i}), protocol::view_trust{fresh, is_anew});
  out.tell(to(role_kind::queue), protocol::view_trust{fresh, is_anew});
}

void mirror_role::complain(const change& c, const base::error& why, effects& out) const {
  out.add(protocol::note{
      "mirror.undecodable", {{"object", std::string{c.key}}, {"why", why.message()}}, true});
}

// ---------------------------------------------------------------- nodes

void mirror_role::on_node(const change& c, effects& out) {
  if (c.what == change::kind::deleted) {
    if (const auto pos = by_name_.find(std::string{c.key}); pos != by_name_.end())
      node_is_gone(pos->second, out);
    return;
  }
  const auto decoded = api::decode_node(*c.object);
  if (!decoded) {
    complain(c, decoded.error(), out);
    return;
  }
  node_is(facts_.node(*decoded), out);
}

void mirror_role::node_is(const protocol::node_facts_ptr& facts, effects& out) {
  auto& n = entry_of(facts->name.value);
  if (n.facts && n.facts->uid != facts->uid)
    node_is_gone(n, out); // made anew under the same name (F21)
  auto& entry = entry_of(facts->name.value);
  if (entry.facts && entry.facts->facts_hash == facts->facts_hash)
    return; // heartbeats and the like
  entry.facts = facts;
  if (entry.shard)
    tell_node(entry, out);
  else if (homes_.are_known())
    put_node(entry, out);
}

void mirror_role::node_is_gone(node_entry& n, effects& out) {
  if (n.facts) {
    if (n.shard)
      tell_shard(*n.shard, protocol::node_gone{n.facts->uid}, out);
    homes_.forget(n.facts->uid);
  }
  leaving_.erase(std::exchange(n.move, 0));
  n.shard.reset();
  n.facts = nullptr; // its pods wait: the name may come back
  drop_if_empty(n);
}

/// Nobody has the node now.
void mirror_role::put_node(node_entry& n, effects& out) {
  n.shard = homes_.place_of(*n.facts);
  tell_node(n, out);
  if (!base::is_planted(base::mutant::show_a_node_empty))
    tell_pods(n, out);
}

/// All that are not known to be with a shard that is here.
void mirror_role::put_nodes(effects& out) {
  for (auto& [name, n] : by_name_)
    if (n.facts && !(n.shard && options_.has_others && served_.contains(*n.shard)))
      put_node(n, out);
}

/// To the shard that has it. Upholds S1a: a shard that may still have promises there keeps the node
/// when its label names another, for only its ledger counts them.
void mirror_role::tell_node(node_entry& n, effects& out) {
  ensure(n.facts && n.shard, n.name);
  leaving_.erase(std::exchange(n.move, 0));
  if (*n.shard == homes_.home_of(*n.facts)) {
    tell_shard(*n.shard, protocol::node_seen{n.facts}, out);
    return;
  }
  n.move = ++last_move_;
  leaving_.emplace(n.move, &n);
  tell_shard(*n.shard, protocol::node_leaves{n.facts, n.move}, out);
}

void mirror_role::tell_pods(const node_entry& n, effects& out) const {
  for (const auto slot : n.pods)
    tell_pod(pods_[slot], out);
}

void mirror_role::tell_pod(const pod_slot& s, effects& out) const {
  tell_shard(
      *s.node->shard,
      protocol::pod_arrived{s.node->facts->uid, {s.uid.text()}, *s.takes, s.ties, s.priority}, out);
}

mirror_role::node_entry& mirror_role::entry_of(const std::string& name) {
  auto& n = by_name_[name];
  if (n.name.empty())
    n.name = name;
  return n;
}

void mirror_role::drop_if_empty(node_entry& n) {
  if (!n.facts && n.pods.empty())
    by_name_.erase(std::string{n.name});
}

// ---------------------------------------------------------------- pods

void mirror_role::on_pod(const change& c, effects& out) {
  if (c.what == change::kind::deleted) {
    pod_is_gone(c.tag, out);
    c.tag = 0;
    return;
  }
  auto decoded = api::decode_pod(*c.object);
  if (!decoded) {
    complain(c, decoded.error(), out);
    return;
  }
  auto& p = *decoded;
  heed_label(p, options_.spoken);
  if (!has_told_fences_)
    note_fence(p);
  const bool takes_room = !p.node_name.empty() && !p.is_terminal();
  const bool ours = is_ours(p);
  if (!takes_room && !ours && c.tag == 0)
    return;
  const auto slot = slot_of(c.tag, p.meta.uid);
  pods_[slot].is_finished = p.is_terminal();
  const auto ties = facts_.ties(p);
  note_guards(*ties, out);
  if (takes_room)
    victims_.put(slot, p, p.workload_ref ? api::synthetic_group_name(*p.workload_ref) : p.group);
  else
    victims_.remove(slot);
  if (takes_room)
    place(slot, {&entry_of(p.node_name), facts_.footprint(p), ties}, out);
  else
    place(slot, {}, out);
  if (ours || pods_[slot].is_told)
    tell_queue(pods_[slot], p, out);
  if (!takes_room && !pods_[slot].is_told)
    free_slot(slot, c.tag);
}

/// Moves what is known of the pod's room to `where` and tells the shards what changed.
void mirror_role::place(std::uint32_t slot, pod_place where, effects& out) {
  auto& s = pods_[slot];
  auto* old = s.node;
  if (old && old != where.node) {
    if (old->shard)
      tell_shard(*old->shard, protocol::pod_left{old->facts->uid, {s.uid.text()}}, out);
    std::erase(old->pods, slot);
    drop_if_empty(*old);
    s.node = nullptr;
  }
  const bool has_changed = !s.node || !s.takes || !where.takes || !(*s.takes == *where.takes)
                           || !s.ties || s.ties->id != where.ties->id
                           || s.priority != victims_.standing_of(slot);
  s.takes = std::move(where.takes);
  s.ties = std::move(where.ties);
  s.priority = victims_.standing_of(slot);
  if (!where.node)
    return;
  if (!s.node) {
    s.node = where.node;
    s.node->pods.push_back(slot);
  }
  if (has_changed && s.node->shard)
    tell_pod(s, out);
}

/// Upholds S15: a shard that has heard of a guard refuses plans that have not, whoever has the
/// term. One that it has heard of is never forgotten: how many there are follows the terms ever
/// seen.
void mirror_role::note_guards(const base::ties& x, effects& out) {
  if (!x.has_terms || !read_.insert(x.id.value).second)
    return;
  const auto ties = api::decode_ties(x.blob);
  ensure(ties.has_value(), x.blob.size());
  protocol::guards_seen news;
  for (auto& guard : api::guards_of_terms(*ties)) {
    protocol::guard_id id{std::move(guard.kind), std::move(guard.space), std::move(guard.key)};
    if (guards_.insert(id).second)
      news.guards.push_back(std::move(id));
  }
  if (!news.guards.empty())
    for (std::uint32_t i = 0; i < options_.shards; ++i)
      tell_shard({i}, news, out);
}

void mirror_role::tell_queue(pod_slot& s, const api::pod& p, effects& out) {
  s.is_told = is_ours(p);
  has_told_queue_ = true;
  if (!s.is_told) {
    out.tell(to(role_kind::queue), protocol::pod_gone{{s.uid.text()}});
    leave_group(s, out);
    return;
  }
  out.tell(to(role_kind::queue), protocol::pod_seen{facts_.pod(p)});
  if (p.workload_ref && !s.group) { // it never changes
    s.group =
        std::make_unique<workload_groups::use>(workload_groups::use{p.meta.space, *p.workload_ref});
    workloads_.add(*s.group, facts_, out);
  }
}

void mirror_role::leave_group(pod_slot& s, effects& out) {
  if (const auto group = std::move(s.group))
    workloads_.remove(*group, out);
}

void mirror_role::pod_is_gone(std::uint64_t tag, effects& out) {
  if (tag == 0)
    return;
  const auto slot = static_cast<std::uint32_t>(tag - 1);
  ensure(slot < pods_.size(), slot);
  victims_.remove(slot);
  place(slot, {}, out);
  if (pods_[slot].is_told)
    out.tell(to(role_kind::queue), protocol::pod_gone{{pods_[slot].uid.text()}});
  leave_group(pods_[slot], out);
  free_slot(slot, tag);
}

std::uint32_t mirror_role::slot_of(std::uint64_t& tag, const std::string& uid) {
  if (tag != 0)
    return static_cast<std::uint32_t>(tag - 1);
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(pods_.size());
    pods_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  pods_[slot].uid = base::packed_uid{uid};
  tag = slot + std::uint64_t{1};
  return slot;
}

void mirror_role::free_slot(std::uint32_t slot, std::uint64_t& tag) {
  ensure(pods_[slot].node == nullptr, slot);
  pods_[slot] = {};
  free_slots_.push_back(slot);
  tag = 0;
}

bool mirror_role::is_ours(const api::pod& p) const {
  const auto& names = options_.scheduler_names;
  return !p.group.empty() || p.workload_ref
         || std::find(names.begin(), names.end(), p.scheduler_name) != names.end();
}

// ---------------------------------------------------------------- groups

void mirror_role::on_group(const change& c, effects& out) {
  if (!api::has_pod_groups(options_.spoken)) {
    on_workload(c, out);
    return;
  }
  if (c.what == change::kind::deleted) {
    const auto known = group_uids_.find(c.tag);
    if (known == group_uids_.end())
      return;
    out.tell(to(role_kind::queue), protocol::group_gone{known->second.text(), name_in(c.key)});
    group_uids_.erase(known);
    tell_priorities(victims_.drop_group(name_in(c.key)), out);
    c.tag = 0;
    return;
  }
  const auto decoded = api::decode_pod_group(*c.object, options_.spoken);
  protocol::group_facts facts;
  if (decoded) {
    facts = facts_.group(*decoded);
    tell_priorities(victims_.put_group(facts), out);
  } else {
    // The group exists and its pods wait: it is refused visibly instead of being forgotten.
    const auto* meta = object_at(*c.object, "metadata");
    ensure(meta != nullptr, c.key);
    facts.uid = text_at(*meta, "uid");
    facts.name = {std::string{text_at(*meta, "namespace")}, std::string{text_at(*meta, "name")}};
    facts.refused = decoded.error().message();
    complain(c, decoded.error(), out);
  }
  if (c.tag == 0)
    c.tag = ++last_group_tag_;
  group_uids_[c.tag] = base::packed_uid{facts.uid};
  has_told_queue_ = true;
  out.tell(to(role_kind::queue), protocol::group_seen{std::move(facts)});
}

/// A Workload of v1alpha1, and with it the groups that pods name in it.
void mirror_role::on_workload(const change& c, effects& out) {
  const auto name = name_in(c.key);
  if (c.what == change::kind::deleted) {
    workloads_.drop(name, out);
    return;
  }
  const auto decoded = api::decode_workload(*c.object, options_.spoken);
  if (decoded) {
    workloads_.put(*decoded, facts_, out);
    return;
  }
  complain(c, decoded.error(), out);
  api::object_meta meta;
  meta.space = name.space;
  meta.name = name.name;
  if (const auto* read = object_at(*c.object, "metadata"))
    meta.uid = text_at(*read, "uid");
  workloads_.put_refused(meta, decoded.error().message(), facts_, out);
}

// ---------------------------------------------------------------- victims

/// A budget that cannot be read keeps nobody back, and is complained of.
void mirror_role::on_budget(const change& c, effects& out) {
  victims_.drop_budget(name_in(c.key));
  if (c.what == change::kind::deleted)
    return;
  auto decoded = api::decode_disruption_budget(*c.object);
  if (decoded)
    victims_.put_budget(std::move(*decoded));
  else
    complain(c, decoded.error(), out);
}

/// Their group has come, changed or gone.
void mirror_role::tell_priorities(const std::vector<std::uint32_t>& pods, effects& out) {
  for (const auto slot : pods) {
    auto& s = pods_[slot];
    const auto now = victims_.standing_of(slot);
    if (std::exchange(s.priority, now) != now && s.node && s.node->shard)
      tell_pod(s, out);
  }
}

/// While the view is not fresh, who runs is not known: told so, and nobody is named.
void mirror_role::hear(const protocol::address& from, const protocol::offers_wanted& x,
                       effects& out) const {
  if (!was_fresh_) {
    protocol::offers nothing;
    nothing.attempt = x.attempt;
    nothing.is_complete = false;
    out.tell(from, std::move(nothing));
    return;
  }
  auto all = victims_.tell(x, [this](std::uint32_t slot) {
    const auto& s = pods_[slot];
    const bool is_known = s.node && s.node->facts;
    return victim_book::place{
        {s.uid.text()}, is_known ? s.node->facts->uid : base::node_uid{}, s.takes, s.ties};
  });
  for (auto& piece : all)
    out.tell(from, std::move(piece));
}

// ---------------------------------------------------------------- asked

void mirror_role::hear(const protocol::received& e, effects& out) {
  if (const auto* x = std::get_if<protocol::inspect>(&e.what)) {
    out.tell(e.from, protocol::inspected{x->id, describe()});
    return;
  }
  if (const auto* x = std::get_if<protocol::nodes_held>(&e.what))
    hear(*x, out);
  else if (const auto* idle = std::get_if<protocol::node_idle>(&e.what))
    hear({e.from.index}, *idle, out);
  else if (const auto* awaited = std::get_if<protocol::pods_awaited>(&e.what))
    hear(*awaited, out);
  else if (const auto* offers = std::get_if<protocol::offers_wanted>(&e.what))
    hear(e.from, *offers, out);
  const auto* wanted = std::get_if<protocol::view_wanted>(&e.what);
  if (wanted == nullptr || !is_started_)
    return;
  if (e.from.kind == role_kind::shard) {
    if (options_.has_others)
      serve({e.from.index}, wanted->after_a_list, out);
    else
      tell_shard_again({e.from.index}, out);
  } else if (e.from.kind == role_kind::partition) {
    if (has_told_fences_)
      tell_fence({e.from.index}, out);
  } else if (e.from.kind == role_kind::queue) {
    tell_queue_again(out);
  }
}

/// What the queue must know of pods is not kept here: the server is asked for it. Before the first
/// word of a list nothing is missing; in the middle of one, the part that an earlier life of the
/// queue has heard is.
void mirror_role::tell_queue_again(effects& out) {
  out.tell(to(role_kind::queue), protocol::view_trust{false, true});
  if (has_told_queue_) {
    was_synced_ = false;
    pods_seen_.tell_again(now_, out);
    groups_.tell_again(now_, out);
  }
}

void mirror_role::hear(const protocol::nodes_held& x, effects& out) {
  const bool is_news = options_.has_others && served_.insert(x.shard).second;
  if (is_news)
    homes_.expect(x.shard); // it lives on, and this mirror is new
  if (homes_.hear(x))
    put_nodes(out);
  if (is_news)
    tell_shard_again(x.shard, out);
}

bool mirror_role::waits_for_list(base::shard_id shard) const {
  return list_wanted_.contains(shard) || list_asked_.contains(shard);
}

/// The shard is here from now on, and begins anew. Its answer to `is_anew` says what it holds.
void mirror_role::serve(base::shard_id shard, bool after_a_list, effects& out) {
  served_.insert(shard);
  homes_.expect(shard);
  if (!after_a_list) {
    tell_shard_again(shard, out);
    return;
  }
  list_asked_.erase(shard); // the list that runs was asked for before
  if (list_wanted_.empty() && !list_runs_)
    out.add(protocol::arm{list_timer, list_gathering});
  list_wanted_.insert(shard);
  out.tell(to_shard(shard), protocol::view_trust{false, true});
}

/// What it has not said it will not say any more, and what it held is its next owner's to say. A
/// view that waited for its word would never be complete. Upholds L1.
void mirror_role::shard_has_ended(base::shard_id shard, effects& out) {
  bool is_news = !homes_.are_known();
  served_.erase(shard);
  list_wanted_.erase(shard);
  list_asked_.erase(shard);
  homes_.is_gone(shard);
  for (auto pos = leaving_.begin(); pos != leaving_.end();) {
    auto& n = *pos->second;
    if (n.shard != shard) {
      ++pos;
      continue;
    }
    n.move = 0;
    n.shard.reset();
    pos = leaving_.erase(pos);
    is_news = true;
  }
  if (is_news && homes_.are_known())
    put_nodes(out);
}

void mirror_role::list_for_shards(effects& out) {
  if (list_runs_ || list_wanted_.empty())
    return;
  list_runs_ = true;
  list_asked_ = std::exchange(list_wanted_, {});
  nodes_.list_again(now_, out);
  pods_seen_.list_again(now_, out);
}

/// A watch shows how things are, not how they came about: a pod may be bound and finish, or go, and
/// be seen on no node. Whoever holds room for it asks. Upholds S10: the pod was known when its room
/// was promised, so one that is not known here any more is gone. Beside others it was known to the
/// mirror of whoever decided, and this one may not have heard of it yet: its room is held on (S1b).
void mirror_role::hear(const protocol::pods_awaited& x, effects& out) const {
  if (!was_fresh_)
    return;
  std::map<base::packed_uid, const pod_slot*> here; // of those that are asked about
  for (const auto& asked : x.pods)
    here.emplace(asked.pod.value, nullptr);
  for (const auto& s : pods_)
    if (const auto pos = here.find(s.uid); pos != here.end())
      pos->second = &s;
  for (const auto& asked : x.pods) {
    const auto* s = here.at(base::packed_uid{asked.pod.value});
    const bool may_take_room =
        s ? (s->node ? !s->node->facts || s->node->facts->uid == asked.node : !s->is_finished)
          : options_.has_others;
    if (!may_take_room)
      out.tell(to_shard(x.shard), asked);
  }
}

/// A word about an earlier move, or of a node that has come back meanwhile, says nothing: the shard
/// may have promised there since.
void mirror_role::hear(base::shard_id from, const protocol::node_idle& x, effects& out) {
  const auto pos = leaving_.find(x.move);
  if (pos == leaving_.end())
    return;
  auto& n = *pos->second;
  ensure(n.shard == from && n.facts->uid == x.node, x.node.value);
  homes_.is_idle(from, x.node);
  leaving_.erase(pos);
  n.move = 0;
  tell_shard(from, protocol::node_gone{x.node}, out);
  put_node(n, out);
}

void mirror_role::tell_shard_again(base::shard_id shard, effects& out) {
  out.tell(to_shard(shard), protocol::view_trust{false, true});
  if (!guards_.empty())
    out.tell(to_shard(shard), protocol::guards_seen{{guards_.begin(), guards_.end()}});
  for (auto& [name, n] : by_name_)
    if (n.shard == shard) {
      tell_node(n, out);
      tell_pods(n, out);
    }
  if (was_fresh_)
    out.tell(to_shard(shard), protocol::view_trust{true, false});
}

std::string mirror_role::describe() const {
  boost::json::array list;
  for (const auto* r : {&nodes_, &pods_seen_, &groups_}) {
    const auto quiet = std::chrono::duration_cast<std::chrono::milliseconds>(
        is_started_ ? now_ - r->last_heard() : base::duration{});
    list.push_back({{"path", r->path()},
                    {"resourceVersion", r->resource_version()},
                    {"connected", r->is_connected()},
                    {"synced", r->is_synced()},
                    {"fresh", r->is_fresh()},
                    {"forbidden", r->is_forbidden()},
                    {"objects", r->size()},
                    {"missed", r->swallowed()},
                    {"quietMs", quiet.count()},
                    {"lastFailure", r->last_failure()}});
  }
  const boost::json::object out{{"synced", was_synced_},
                                {"fresh", was_fresh_},
                                {"nodesLeaving", leaving_.size()},
                                {"podsKept", pods_kept()},
                                {"shapes", facts_.shapes()},
                                {"classes", facts_.classes()},
                                {"footprints", facts_.footprints()},
                                {"resources", std::move(list)}};
  return boost::json::serialize(out);
}

} // namespace tutti::bridge
