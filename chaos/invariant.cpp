#include "chaos/invariant.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::chaos {

const std::vector<invariant>& invariants() {
  static const std::vector<invariant> all{
      {"S1a", "No room is promised twice: decided plans fit on every node, each pod counted once"},
      {"S1b", "No node is over-committed by a Binding of ours"},
      {"S2", "A decision is written once; a committed plan only ever shrinks"},
      {"S3", "No Binding reaches the API server before its durable decision"},
      {"S4", "A committed plan and the members bound before it are at least the minimum"},
      {"S5", "Every member of a committed plan ends bound, gone, or cancelled and queued again"},
      {"S6", "No pod is bound twice, and none is in two live plans"},
      {"S7", "One winner per gang: the next ordinal begins when the last is done"},
      {"S8", "Epochs only grow: what a shard has obeyed, nothing older follows"},
      {"S9",
       "Nobody is evicted but victims of a durable plan and, by policy, who is of a degraded gang"},
      {"S10", "No reservation stays without an attempt behind it"},
      {"S11", "Recovery is a function of what is durable: twice the same"},
      {"S12", "A shard with a stale view votes no"},
      {"S13", "Every pending gang is in the queue, in one place"},
      {"S14", "Nothing waits unexplained"},
      {"S15", "Required affinity, anti-affinity and spread hold over all that was decided before"},
      {"R2", "A yes is taken back only when it is told that the attempt is over"},
      {"R5", "An ack is heard only when the shard's COMMITTED is durable"},
      {"R6", "Bindings begin when the acks of shards, and what is bound, cover the gang"},
      {"R7",
       "Room of a decided member is given back only once its CANCEL is durable and its pod was "
       "touched, or is bound or gone; then no Binding of that plan comes through any more"},
      {"P1", "A gang that has not started has no members bound, or its minimum, once settled"},
      {"P2", "The members of a gang with a topology key are in one domain"},
      {"L1", "A gang that fits is bound"},
      {"L2", "No reservation stays in doubt"},
      {"L3", "Rivals do not refuse each other for ever: somebody is decided every few rounds"},
      {"L4", "What the scheduler thinks of a node is what the API server says"},
      {"L5", "Every process becomes ready again by itself"},
      {"L6", "A gang that has started says so on its object, after a restart too"},
      {"E1", "No role reports an error that no fault explains"},
      {"E2", "No check of the program itself fails"},
      {"J1", "The judge's own sums are right: those that it keeps up are those made from scratch"},
      {"E3", "The world comes to rest: nobody works on and on while no time passes"},
  };
  return all;
}

const invariant* find_invariant(std::string_view id) {
  const auto& all = invariants();
  const auto pos = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.id == id; });
  return pos == all.end() ? nullptr : &*pos;
}

std::string to_text(const violation& x) {
  const auto* known = find_invariant(x.id);
  const double seconds = std::chrono::duration<double>(x.at.time_since_epoch()).count();
  return fmt::format("{} at {:.6f}s: {}: {}", x.id, seconds,
                     known != nullptr ? known->sentence : std::string_view{}, x.what);
}

} // namespace tutti::chaos
