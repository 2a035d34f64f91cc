// A delta that does not follow the last one makes the shard tell everything again.
#include "placement/view_feed.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "placement/convert.hpp"
#include "protocol/sharding.hpp"

namespace tutti::placement {
namespace {

/// Of one node. A kind that came over the network is another object of the same id.
bool are_equal(const protocol::node_facts& a, const protocol::node_facts& b) {
  return a.facts_hash == b.facts_hash && a.name == b.name && a.kind->id == b.kind->id
         && a.allocatable == b.allocatable && a.host_name == b.host_name && a.domains == b.domains;
}

bool grew(const base::resources& before, const base::resources& after) {
  return !base::fits(after, before) || after.pods > std::max<std::int64_t>(before.pods, 0);
}

void raise(base::resources& most, const base::resources& x) {
  most.cpu_milli = std::max(most.cpu_milli, x.cpu_milli);
  most.memory_bytes = std::max(most.memory_bytes, x.memory_bytes);
  most.ephemeral_bytes = std::max(most.ephemeral_bytes, x.ephemeral_bytes);
  most.pods = std::max(most.pods, x.pods);
  for (const auto& e : x.extended)
    if (e.amount > most.of(e.name))
      most.set(e.name, e.amount);
}

} // namespace

view_feed::view_feed(std::vector<std::string> levels, std::uint32_t shards)
    : view_(std::move(levels)), shards_(shards), chains_(shards) {}

bool view_feed::continues(const chain& c, const protocol::view_delta& x) {
  // The first delta of a life stands on nothing, so it is whole in all but name.
  if (!c.is_heard)
    return x.is_whole || x.version == 1;
  if (x.is_whole)
    return true;
  return c.is_in_step && x.incarnation == c.incarnation && x.version == c.version + 1;
}

view_feed::outcome view_feed::apply(const protocol::view_delta& x) {
  outcome out;
  if (x.shard.value >= shards_)
    return out; // of another cluster identity; nothing here can be made of it
  auto& c = chains_[x.shard.value];
  if (c.is_heard && std::pair{x.incarnation, x.version} <= std::pair{c.incarnation, c.version})
    return out; // a copy, or an earlier life
  if (!continues(c, x)) {
    c.is_in_step = false;
    out.wants_whole = true;
    return out;
  }
  c.incarnation = x.incarnation;
  c.version = x.version;
  c.is_heard = c.is_in_step = true;
  apply_guards(c, x);
  out.is_applied = true;
  ++version_;
  offers before;
  for (const auto& attempt : x.settled)
    remember_marked(attempt, before);
  if (x.is_whole)
    forget_unlisted(x, out);
  for (const auto& node : x.nodes)
    apply_node(node, x.shard, before, out);
  c.is_in_step = !out.wants_whole;
  for (const auto& attempt : x.settled)
    view_.unmark(attempt, [&](const engine::node_info& info) {
      const auto* node = find(info.uid);
      return node && node->shard == x.shard;
    });
  compare(before, out);
  return out;
}

view_feed::outcome view_feed::unmark(const base::attempt_id& attempt) {
  outcome out;
  offers before;
  remember_marked(attempt, before);
  if (view_.unmark(attempt) > 0)
    ++version_;
  compare(before, out);
  return out;
}

bool view_feed::is_in_step(base::shard_id shard) const {
  return shard.value < shards_ && chains_[shard.value].is_in_step;
}

std::uint32_t view_feed::shards_in_step() const {
  return static_cast<std::uint32_t>(
      std::count_if(chains_.begin(), chains_.end(), [](const chain& c) { return c.is_in_step; }));
}

std::uint32_t view_feed::shards_heard() const {
  return static_cast<std::uint32_t>(
      std::count_if(chains_.begin(), chains_.end(), [](const chain& c) { return c.is_heard; }));
}

const view_feed::known_node* view_feed::find(const base::node_uid& node) const {
  auto pos = nodes_.find(node);
  return pos == nodes_.end() ? nullptr : &pos->second;
}

view_feed::offer view_feed::offer_of(const base::node_uid& node) {
  offer out;
  if (const auto at = view_.find(node)) {
    const auto& now = view_.now();
    out.free = engine::free_of(now, *at);
    out.ports = now.at(*at).ports[at->slot];
  }
  return out;
}

std::optional<engine::topology_path> view_feed::path_of(const base::node_uid& node) {
  const auto at = view_.find(node);
  return at ? std::optional{view_.now().at(*at).path} : std::nullopt;
}

void view_feed::remember_marked(const base::attempt_id& attempt, offers& before) {
  for (const auto& node : view_.marked_nodes(attempt))
    before.try_emplace(node, offer_of(node));
}

void view_feed::forget_unlisted(const protocol::view_delta& x, outcome& out) {
  std::vector<std::string_view> listed;
  listed.reserve(x.nodes.size());
  for (const auto& node : x.nodes)
    listed.emplace_back(node.uid.value);
  std::sort(listed.begin(), listed.end());
  const auto is_listed = [&](const base::node_uid& uid) {
    return std::binary_search(listed.begin(), listed.end(), std::string_view{uid.value});
  };
  std::vector<base::node_uid> gone;
  for (const auto& [uid, node] : nodes_)
    if (node.shard == x.shard && !is_listed(uid))
      gone.push_back(uid);
  for (const auto& [uid, shards] : told_besides_)
    if (shards.contains(x.shard) && !is_listed(uid))
      gone.push_back(uid);
  std::sort(gone.begin(), gone.end());
  for (const auto& uid : gone)
    remove(uid, x.shard, out);
}

/// The shard does not have the node any more. Another one that told of it before may have it now.
void view_feed::remove(const base::node_uid& node, base::shard_id shard, outcome& out) {
  const auto besides = told_besides_.find(node);
  if (besides != told_besides_.end())
    besides->second.erase(shard);
  const auto pos = nodes_.find(node);
  if (pos != nodes_.end() && pos->second.shard == shard) {
    view_.remove(node);
    nodes_.erase(pos);
    if (besides != told_besides_.end())
      out.others_to_ask.insert(out.others_to_ask.end(), besides->second.begin(),
                               besides->second.end());
  }
  if (besides != told_besides_.end() && (besides->second.empty() || !nodes_.contains(node)))
    told_besides_.erase(besides);
}

void view_feed::apply_guards(chain& c, const protocol::view_delta& x) {
  if (x.is_whole || c.guards_from != x.guards_from)
    forget_guards(c);
  c.guards_from = x.guards_from;
  c.guards_known = x.guards_known;
  for (const auto& g : x.guards)
    if (c.guards.insert_or_assign(g.id, g).second && ++guards_[g.id] == 1)
      ++guards_version_;
}

void view_feed::forget_guards(chain& c) {
  for (const auto& [id, told] : c.guards)
    if (auto pos = guards_.find(id); --pos->second == 0) {
      guards_.erase(pos);
      ++guards_version_;
    }
  c.guards.clear();
}

protocol::guard_version view_feed::version_of(const protocol::guard_id& guard, bool is_exclusive,
                                              base::shard_id shard) const {
  const auto& c = chains_[shard.value];
  const auto pos = c.guards.find(guard);
  if (pos == c.guards.end())
    return {c.guards_from.value, 0};
  return is_exclusive ? pos->second.any : pos->second.exclusive;
}

protocol::guard_version view_feed::guards_known(base::shard_id shard) const {
  return chains_[shard.value].guards_known;
}

void view_feed::apply_node(const protocol::node_view& x, base::shard_id shard, offers& before,
                           outcome& out) {
  auto pos = nodes_.find(x.uid);
  if (x.is_gone) {
    remove(x.uid, shard, out);
    return;
  }
  if (!x.facts && pos == nodes_.end()) {
    out.wants_whole = true; // a node that we should know: the chain is not what it seems
    return;
  }
  const bool is_anothers = pos != nodes_.end() && pos->second.shard != shard;
  if (is_anothers && !x.facts) {
    if (!told_besides_.contains(x.uid))
      out.wants_whole = true;
    return; // the word of a shard that has the node no more, or not yet
  }
  if (is_anothers)
    told_besides_[x.uid].insert(pos->second.shard);
  if (const auto besides = told_besides_.find(x.uid); besides != told_besides_.end())
    besides->second.erase(shard);
  auto& was = before.try_emplace(x.uid, offer_of(x.uid)).first->second;
  // A whole view repeats facts that are known: they are not written again.
  const bool is_known =
      pos != nodes_.end() && (!x.facts || are_equal(*pos->second.facts, *x.facts));
  if (is_known) {
    view_.set_free(x.uid, x.free, x.ports_taken, x.tied);
    pos->second.shard = shard;
    return;
  }
  const bool has_new_class =
      pos == nodes_.end() || pos->second.facts->kind->id != x.facts->kind->id;
  const auto path_before = path_of(x.uid);
  const bool helps = view_.upsert(state_of(*x.facts, x.free, x.ports_taken, x.tied));
  was.is_admitting = was.is_admitting || (helps && has_new_class);
  out.has_moved |= path_before && path_before != path_of(x.uid);
  nodes_[x.uid] = {x.facts, shard};
}

void view_feed::compare(const offers& before, outcome& out) {
  if (out.has_moved) { // a gang whose members stand there is pinned to another domain now
    for (const auto& [node, known] : nodes_)
      if (const auto now = offer_of(node); now.free) {
        ++out.grown;
        raise(out.most_free, *now.free);
      }
    return;
  }
  for (const auto& [node, was] : before) {
    const auto now = offer_of(node);
    if (!now.free)
      continue;
    const bool frees_port =
        std::any_of(was.ports.begin(), was.ports.end(), [&](const base::host_port& p) {
          return std::find(now.ports.begin(), now.ports.end(), p) == now.ports.end();
        });
    if (was.free && !was.is_admitting && !frees_port && !grew(*was.free, *now.free))
      continue;
    ++out.grown;
    raise(out.most_free, *now.free);
  }
}

} // namespace tutti::placement
