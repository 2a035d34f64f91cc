// The judge's eye on roles: what they may not do, whatever they were told.
#include "chaos/checker.hpp"

#include <fmt/format.h>

namespace tutti::chaos {

void checker::stepped(sim::process& who, const protocol::address& where, const protocol::event& e,
                      const protocol::effects& wanted) {
  if (where.kind == protocol::role_kind::shard)
    check_shard(who, where.index, e, wanted);
  for (const auto& w : wanted.list())
    if (const auto* a = std::get_if<protocol::amend>(&w); a != nullptr && !a->what.cancel.empty())
      cancels_[a->slot].insert(a->what.cancel.begin(), a->what.cancel.end());
  if (how_.errors_are_explained)
    return;
  for (const auto& w : wanted.list())
    if (const auto* n = std::get_if<protocol::note>(&w); n != nullptr && n->is_error && look("E1"))
      say("E1", fmt::format("{} {} notes {}", who.name(), protocol::to_text(where), n->what));
}

/// Upholds S8 and S12.
void checker::check_shard(sim::process& who, std::uint32_t shard, const protocol::event& e,
                          const protocol::effects& wanted) {
  auto& word = shards_[{who.name(), shard}];
  if (const auto* r = std::get_if<protocol::received>(&e))
    if (const auto* trust = std::get_if<protocol::view_trust>(&r->what))
      word.is_fresh = trust->fresh;
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
    const auto* v = s != nullptr ? std::get_if<protocol::vote>(&s->what) : nullptr;
    if (v == nullptr || !v->yes || !look("S12"))
      continue;
    // A yes that was given before is given again from memory.
    if (word.voted.insert(v->attempt).second && !word.is_fresh)
      say("S12", fmt::format("shard {} votes yes for gang {} with a stale view", shard,
                             v->attempt.gang.value));
  }
}

} // namespace tutti::chaos
