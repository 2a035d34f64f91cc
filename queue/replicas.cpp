// Gangs whose partition is another replica's: known, not tried, and taken up when it comes here.
#include "protocol/sharding.hpp"
#include "queue/here.hpp"
#include "queue/queue_role.hpp"

namespace tutti::queue {

using base::reason_code;

bool queue_role::is_here(const gang_entry& g) const {
  return is_placed_here(g, how_, here_);
}

/// Upholds S13: it is gated here, whatever it is there.
void queue_role::put_aside(gang_entry& g) {
  if (judge(g, how_).what == gate_verdict::kind::nothing) {
    come_to_rest(g);
    return;
  }
  auto& life = life_of(g);
  explain(life, reason_code::queued_behind, "another replica places it");
  if (life.is_placed && life.where == pool::gated) {
    pools_.reorder(g);
    return;
  }
  pools_.leave(g); // from wherever it was
  life.attempt.reset();
  pools_.enter(g, pool::gated, now_);
}

void queue_role::take_partition(base::partition_id which) {
  for (auto* g : registry_.all())
    if (!g->uid().value.empty() && protocol::partition_of(g->uid()) == which)
      reconsider(*g, true);
}

/// What was under way there ends without a word, and is adopted or closed by the next owner.
void queue_role::lose_partition(base::partition_id which) {
  if (here_.erase(which) == 0)
    return;
  for (auto* g : registry_.all()) {
    if (g->uid().value.empty() || protocol::partition_of(g->uid()) != which)
      continue;
    put_aside(*g);
  }
  std::erase_if(strays_, [&](const auto& s) { return protocol::partition_of(s.first) == which; });
}

} // namespace tutti::queue
