// The judge's eye on roles: what they may not do, whatever they were told.
#include "chaos/checker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/sharding.hpp"

namespace tutti::chaos {

void checker::stepped(sim::process& who, const protocol::address& where, const protocol::event& e,
                      const protocol::effects& wanted) {
  using protocol::role_kind;
  ++deliveries_;
  if (where.kind == role_kind::shard)
    check_shard(who, where.index, e, wanted);
  else if (where.kind == role_kind::gang)
    check_gang({who.name(), where.key}, e, wanted);
  else if (where.kind == role_kind::node) {
    const place node{who.name(), where.key};
    follow_node(node, e);
    check_leave(node, wanted);
  } else if (where.kind == role_kind::queue)
    follow_queue(e, wanted);
  else if (where.kind == role_kind::status && std::holds_alternative<protocol::started>(e))
    writer_began_ = on_.time().now();
  else if (where.kind == role_kind::partition)
    check_partition(wanted);
  else if (where.kind == role_kind::mirror)
    follow_mirror(who.name(), e);
  for (const auto& w : wanted.list())
    if (const auto* a = std::get_if<protocol::amend>(&w); a != nullptr && !a->what.cancel.empty())
      cancels_[a->slot].insert(a->what.cancel.begin(), a->what.cancel.end());
  if (how_.errors_are_explained || !look("E1"))
    return;
  for (const auto& w : wanted.list())
    if (const auto* n = std::get_if<protocol::note>(&w); n != nullptr && n->is_error)
      say("E1", fmt::format("{} {} notes {}", who.name(), protocol::to_text(where), n->what));
}

/// Upholds S8 and S12.
void checker::check_shard(sim::process& who, std::uint32_t shard, const protocol::event& e,
                          const protocol::effects& wanted) {
  auto& word = shards_[{who.name(), shard}];
  if (const auto* begins = std::get_if<protocol::started>(&e)) {
    word.given_up.clear(); // an owner's answer ends what comes late
    word.promised.clear();
    word.known.clear();
    for (const auto& d : begins->open)
      word.known.insert(d->by);
    last_begun_[shard] = who.name();
    if (begins->is_takeover)
      word.epochs.clear(); // a new owner has heard of nobody yet
    else
      check_replay(who, shard);
  }
  if (const auto* r = std::get_if<protocol::received>(&e)) {
    if (const auto* trust = std::get_if<protocol::view_trust>(&r->what))
      word.is_fresh = trust->fresh;
    if (const auto* gone = std::get_if<protocol::abort_attempt>(&r->what))
      word.given_up.insert(gone->attempt);
  }
  check_taken_back(shard, e, wanted, who.name());
  for (const auto& w : wanted.list()) {
    if (const auto* a = std::get_if<protocol::append>(&w)) {
      if (const auto* seen = std::get_if<protocol::epoch_record>(&a->what); seen && look("S8")) {
        auto& highest = word.epochs[seen->partition.value];
        if (seen->seen.value < highest)
          say("S8", fmt::format("shard {} obeys epoch {} of partition {} after {}", shard,
                                seen->seen.value, seen->partition.value, highest));
        highest = seen->seen.value;
      }
      continue;
    }
    const auto* s = std::get_if<protocol::send>(&w);
    if (const auto* a = s != nullptr ? std::get_if<protocol::ack>(&s->what) : nullptr)
      check_ack(who.name(), *a);
    const auto* v = s != nullptr ? std::get_if<protocol::vote>(&s->what) : nullptr;
    if (v == nullptr || !v->yes || !look("S12"))
      continue;
    if (word.given_up.contains(v->attempt) && look("S8"))
      say("S8", fmt::format("shard {} votes yes for gang {}, for an attempt that it knows to be "
                            "given up",
                            shard, v->attempt.gang.value));
    const auto seen = word.epochs.find(protocol::partition_of(v->attempt.gang).value);
    if (look("S8") && seen != word.epochs.end() && v->attempt.epoch.value < seen->second)
      say("S8", fmt::format("shard {} votes yes for gang {} under epoch {} after {}", shard,
                            v->attempt.gang.value, v->attempt.epoch.value, seen->second));
    // A yes that was given before, in whatever life, is given again from memory; and a decision
    // that was listed at a takeover is held, whoever asks late: nobody counts votes for it any
    // more.
    const auto known = decisions_.find(base::slot_of(v->attempt));
    const bool is_decided = known != decisions_.end() && known->second.first.by == v->attempt
                            && known->second.is_live();
    if (!word.voted.insert(v->attempt).second || is_decided)
      continue;
    check_yes(shard, *v, who.name());
  }
}

/// What was lost a second ago has been told to every shard by now.
void checker::check_yes(std::uint32_t shard, const protocol::vote& said, const std::string& where) {
  const auto& word = shards_[{where, shard}];
  const auto text = fmt::format("shard {} votes yes for gang {}", shard, said.attempt.gang.value);
  if (!word.is_fresh)
    say("S12", text + " with a stale view");
  constexpr auto told_by_then = std::chrono::seconds{1};
  for (const auto& [channel, since] : deaf_)
    if (channel.first == where && since + told_by_then < on_.time().now())
      say("S12", text + " while nobody hears of nodes or pods");
}

/// Upholds S2: what is called aborted is not committed.
void checker::check_partition(const protocol::effects& wanted) {
  for (const auto& w : wanted.list()) {
    const auto* s = std::get_if<protocol::send>(&w);
    if (s == nullptr)
      continue;
    if (const auto* a = std::get_if<protocol::inquiry_answer>(&s->what); a && !a->done) {
      told_aborted_.insert(a->attempt);
      const auto pos = decisions_.find(base::slot_of(a->attempt));
      if (look("S2") && pos != decisions_.end() && pos->second.is_live()
          && pos->second.first.by == a->attempt)
        say("S2", fmt::format("an attempt of gang {} is called aborted, and is decided",
                              protocol::to_text(pos->second.first.gang_name)));
    }
  }
}

/// Upholds R2. Members that are seen bound or gone are let go one by one.
void checker::check_taken_back(std::uint32_t shard, const protocol::event& e,
                               const protocol::effects& wanted, const std::string& where) {
  auto& word = shards_[{where, shard}];
  if (const auto* r = std::get_if<protocol::received>(&e)) {
    if (const auto* a = std::get_if<protocol::abort_attempt>(&r->what))
      word.told_over.insert(a->attempt);
    else if (const auto* answer = std::get_if<protocol::inquiry_answer>(&r->what))
      word.told_over.insert(answer->attempt);
    else if (const auto* f = std::get_if<protocol::finish>(&r->what))
      word.told_over.insert(f->attempt);
  }
  for (const auto& w : wanted.list()) {
    const auto* s = std::get_if<protocol::send>(&w);
    if (s == nullptr)
      continue;
    if (const auto* v = std::get_if<protocol::vote>(&s->what); v != nullptr && v->yes) {
      word.promised.insert(v->attempt);
      word.known.insert(v->attempt);
    }
    const auto* go = std::get_if<protocol::let_go>(&s->what);
    if (go != nullptr && go->pods.empty() && word.promised.contains(go->attempt) && look("R2")
        && !word.told_over.contains(go->attempt))
      say("R2",
          fmt::format("shard {} takes back its yes to gang {}", shard, go->attempt.gang.value));
  }
}

/// A watch that broke off is deaf until it is open again. An end without a reason is the server's
/// own time limit.
void checker::follow_mirror(const std::string& who, const protocol::event& e) {
  constexpr std::uint64_t nodes = 1;
  constexpr std::uint64_t pods = 2;
  const auto channel = [](std::uint64_t id) { return id & 0xff; };
  const auto is_view = [&](std::uint64_t id) {
    return channel(id) == nodes || channel(id) == pods;
  };
  if (const auto* c = std::get_if<protocol::stream_closed>(&e)) {
    if (!c->why.empty() && is_view(c->id) && c->id >= opened_[{who, channel(c->id)}])
      deaf_.emplace(std::pair{who, channel(c->id)}, on_.time().now());
  } else if (const auto* o = std::get_if<protocol::stream_opened>(&e)) {
    deaf_.erase({who, channel(o->id)});
    opened_[{who, channel(o->id)}] = o->id;
  } else if (std::holds_alternative<protocol::started>(e)) {
    deaf_.erase({who, nodes});
    deaf_.erase({who, pods});
  }
}

void checker::follow_node(const place& node, const protocol::event& e) {
  auto& word = leaves_[node];
  const auto* r = std::get_if<protocol::received>(&e);
  if (r == nullptr)
    return;
  if (const auto* b = std::get_if<protocol::node_begin>(&r->what)) {
    word = {};
    for (const auto& there : b->residents)
      word.told.insert(there.pod.value);
  } else if (const auto* came = std::get_if<protocol::pod_arrived>(&r->what)) {
    word.told.insert(came->pod.value);
  } else if (const auto* left = std::get_if<protocol::pod_left>(&r->what)) {
    word.told.erase(left->pod.value);
    word.allowed.erase(left->pod.value);
  } else if (const auto* go = std::get_if<protocol::let_go>(&r->what)) {
    std::erase_if(word.allowed, [&](const auto& x) {
      const bool is_named =
          go->pods.empty()
          || std::find(go->pods.begin(), go->pods.end(), base::pod_uid{x.first}) != go->pods.end();
      return x.second == go->attempt && is_named;
    });
  }
}

/// Upholds S1b where leave to bind is given: by everything that the node has been told of.
void checker::check_leave(const place& node, const protocol::effects& wanted) {
  auto& word = leaves_[node];
  const auto here = std::find_if(truth_.nodes().begin(), truth_.nodes().end(),
                                 [&](const auto& n) { return n.second.uid == node.second; });
  if (here == truth_.nodes().end())
    return;
  for (const auto& w : wanted.list()) {
    const auto* s = std::get_if<protocol::send>(&w);
    const auto* leave = s != nullptr ? std::get_if<protocol::may_bind_answer>(&s->what) : nullptr;
    if (leave == nullptr)
      continue;
    for (const auto& pod : leave->allowed) {
      if (word.told.contains(pod.value) || !word.allowed.emplace(pod.value, leave->attempt).second
          || !look("S1b"))
        continue;
      base::resources sum;
      for (const auto& [uid, there] : truth_.pods()) {
        const bool counts =
            word.allowed.contains(uid) || (word.told.contains(uid) && there.node == here->first);
        if (counts && !there.is_finished)
          sum += there.takes.amounts;
      }
      const auto offered = truth_.offered_lately(here->first, on_.time().now());
      if (const auto lacks = base::first_shortage(sum, offered); !lacks.fits())
        say("S1b", fmt::format("node {} allows a Binding, knowing that it has {} {} of {} then",
                               here->first, lacks.name, lacks.need, lacks.room));
    }
  }
}

} // namespace tutti::chaos
