// Questions to the decision log, and which answers belong to them.
#include "actors/log_words.hpp"

#include "base/ensure.hpp"
#include "protocol/decision_rules.hpp"

namespace tutti::actors {

namespace {

protocol::message words_of(const base::slot_id& slot, const protocol::decision_ptr& what) {
  return protocol::slot_decide{slot.gang, slot.ordinal, what};
}

protocol::message words_of(const base::slot_id& slot, const protocol::amendment& what) {
  return protocol::slot_amend{slot.gang, slot.ordinal, what};
}

} // namespace

protocol::message log_words::ask(const protocol::decide& x, base::time_point now) {
  ensure(x.riders.empty(), x.slot.gang.value); // there is no batch that could hold them
  auto& q = decides_[x.slot];
  q = {std::make_shared<const protocol::decision>(x.what), now};
  return words_of(x.slot, q.what);
}

protocol::message log_words::ask(const protocol::amend& x) {
  ensure(!amends_.contains(x.slot), x.slot.gang.value, x.slot.ordinal);
  amends_.emplace(x.slot, x.what);
  return words_of(x.slot, x.what);
}

std::optional<protocol::event> log_words::take(const protocol::slot_decided& what) {
  const base::slot_id slot{what.gang, what.ordinal};
  const auto pos = decides_.find(slot);
  if (pos == decides_.end())
    return std::nullopt;
  since_ = pos->second.since;
  decides_.erase(pos);
  if (what.winner)
    return protocol::decided{slot, what.winner};
  if (!what.refusal.empty())
    return protocol::decide_refused{slot, {base::code::conflict, what.refusal}};
  return protocol::decide_unknown{slot};
}

std::optional<protocol::event> log_words::take(const protocol::slot_amended& what) {
  const base::slot_id slot{what.gang, what.ordinal};
  const auto pos = amends_.find(slot);
  if (pos == amends_.end())
    return std::nullopt;
  if (what.now) {
    const auto again = protocol::amend_decision(*what.now, pos->second);
    if (again.is_refused != what.is_refused || again.is_changed)
      return std::nullopt; // said to a former life, which asked for something else
  }
  amends_.erase(pos);
  if (what.is_refused)
    return protocol::amend_refused{slot, what.now};
  return protocol::amended{slot, what.now};
}

std::vector<protocol::message> log_words::open() const {
  std::vector<protocol::message> out;
  for (const auto& [slot, q] : decides_)
    out.push_back(words_of(slot, q.what));
  for (const auto& [slot, change] : amends_)
    out.push_back(words_of(slot, change));
  return out;
}

} // namespace tutti::actors
