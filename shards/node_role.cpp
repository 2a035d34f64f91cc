// Every message of the shard, and a gang's question, against the one ledger.
#include "shards/node_role.hpp"

#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::shards {

using namespace protocol;

effects node_role::on(const event& e, base::time_point) {
  out_ = {};
  if (const auto* x = std::get_if<received>(&e)) {
    from_ = x->from;
    // A node that moved is another shard's now; the former one may not have heard of it yet.
    const bool is_for_all =
        std::holds_alternative<node_begin>(x->what) || std::holds_alternative<may_bind>(x->what);
    if (facts_ && from_ != shard_ && !is_for_all)
      return std::move(out_);
    std::visit([this](const auto& m) { hear(m); }, x->what);
  }
  return std::move(out_);
}

std::uint64_t node_role::state_hash() const {
  return base::hash_combine(
      base::hash_combine(facts_ ? facts_->facts_hash + 1 : 0, std::hash<address>{}(shard_)),
      ledger_.state_hash());
}

void node_role::hear(const node_begin& x) {
  ensure(x.facts != nullptr, uid_.value);
  ensure(x.facts->uid == uid_, uid_.value, x.facts->uid.value);
  shard_ = from_;
  facts_ = x.facts;
  ledger_ = node_ledger{x.facts->allocatable};
  for (const auto& r : x.residents)
    ledger_.bound(r.pod, r.takes);
  for (const auto& r : x.reservations)
    ledger_.hold_anyway(r.attempt, r.seats, r.victims);
  tell_room();
}

void node_role::hear(const node_changed& x) {
  if (!facts_)
    return; // `node_begin` will bring newer facts
  ensure(x.facts != nullptr, uid_.value);
  ensure(x.facts->uid == uid_, uid_.value, x.facts->uid.value);
  facts_ = x.facts;
  ledger_.resize(x.facts->allocatable);
  tell_room();
}

void node_role::hear(const hold& x) {
  held answer{.attempt = x.attempt, .node = uid_};
  const bool is_repeated = facts_ && ledger_.holds(x.attempt);
  // A node that does not know itself yet has moved from whatever the plan saw.
  answer.moved =
      !facts_ || (!is_repeated && x.facts_hash != 0 && x.facts_hash != facts_->facts_hash);
  if (!answer.moved) {
    if (auto refused = ledger_.hold(x.attempt, x.seats, x.victims)) {
      answer.short_pod = refused->pod;
      answer.lacking = refused->lacking;
      answer.holders = std::move(refused->holders);
    } else {
      answer.yes = true;
    }
  }
  answer.free = ledger_.free();
  ensure(!(answer.yes && answer.moved), uid_.value);
  out_.tell(from_, std::move(answer));
}

void node_role::hear(const let_go& x) {
  if (x.pods.empty())
    ledger_.release(x.attempt);
  else
    ledger_.release(x.attempt, x.pods);
  tell_room();
}

void node_role::hear(const pod_arrived& x) {
  ledger_.bound(x.pod, x.takes);
  tell_room();
}

void node_role::hear(const pod_left& x) {
  ledger_.gone(x.pod);
  tell_room();
}

/// Upholds S1b. What is refused is not remembered: the gang asks again.
void node_role::hear(const may_bind& x) {
  if (!facts_)
    return; // asked again
  may_bind_answer answer{.attempt = x.attempt, .node = uid_, .allowed = {}, .refused = {}};
  for (const auto& pod : x.pods)
    (ledger_.may_bind(x.attempt, pod) ? answer.allowed : answer.refused).push_back(pod);
  out_.tell(to_gang(x.attempt.gang), std::move(answer));
}

void node_role::hear(const node_gone& x) {
  if (facts_ && x.uid == uid_) // before it begins, the word is about a former life
    out_.add(retire{});
}

void node_role::tell_room() {
  if (facts_)
    out_.tell(shard_, room{uid_, ledger_.free()});
}

} // namespace tutti::shards
