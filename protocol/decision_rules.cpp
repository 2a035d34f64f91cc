// Turns and amendments of decision slots.
#include "protocol/decision_rules.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "base/mutant.hpp"

namespace tutti::protocol {

using base::code;
using base::error;

std::vector<std::uint64_t> bound_by(const decision& x) {
  if (!x.is_done || x.what != verdict::committed)
    return {};
  std::vector<std::string_view> given_up; // a gang of thousands may be withdrawn whole
  for (const auto& pod : x.cancelled)
    given_up.push_back(pod.value);
  std::sort(given_up.begin(), given_up.end());
  auto out = x.bound;
  for (const auto& part : x.chosen.slices)
    for (const auto& s : part.seats)
      if (!std::binary_search(given_up.begin(), given_up.end(), std::string_view{s.pod.value}))
        out.push_back(base::hash_of(s.pod.value));
  std::sort(out.begin(), out.end());
  return out;
}

decision tombstone_of(const decision& x) {
  ensure(x.is_done, x.by.gang.value, x.by.ordinal);
  decision t;
  t.by = x.by;
  t.what = x.what;
  t.gang_name = x.gang_name;
  t.is_lone_pod = x.is_lone_pod;
  t.priority = x.priority;
  t.adopted_by = x.adopted_by;
  t.is_done = true;
  t.bound = bound_by(x);
  return t;
}

std::optional<error> refuse_turn(const decision& last, const base::slot_id& slot) {
  ensure(last.by.gang == slot.gang, last.by.gang.value, slot.gang.value);
  ensure(last.by.ordinal != slot.ordinal, slot.gang.value, slot.ordinal);
  if (slot.ordinal < last.by.ordinal)
    return error{code::conflict, fmt::format("ordinal {} of gang {} is long past, the last is {}",
                                             slot.ordinal, slot.gang.value, last.by.ordinal)};
  if (!is_finished(last))
    return error{code::conflict, fmt::format("ordinal {} of gang {} is not finished, {} must wait",
                                             last.by.ordinal, slot.gang.value, slot.ordinal)};
  return std::nullopt;
}

amendment_result amend_decision(const decision& was, const amendment& change) {
  if (change.by < owner_of(was))
    return {true, false, was};
  // A finished plan has no members left to give up; saying yes would promise a record of it.
  if (!change.cancel.empty() && is_finished(was))
    return {true, false, was};

  amendment_result out{false, false, was};
  auto& now = out.now;
  if (change.adopt)
    now.adopted_by = change.by;
  for (const auto& pod : change.cancel)
    if (std::find(now.cancelled.begin(), now.cancelled.end(), pod) == now.cancelled.end())
      now.cancelled.push_back(pod);
  now.is_done |= change.finish;
  out.is_changed = !(now == was);
  ensure(now.by == was.by && now.chosen == was.chosen, was.by.gang.value, was.by.ordinal);
  ensure(now.cancelled.size() >= was.cancelled.size(), was.by.gang.value, was.by.ordinal);
  if (out.is_changed && base::is_planted(base::mutant::forget_cancels) && !change.cancel.empty())
    now.cancelled = change.cancel;
  return out;
}

} // namespace tutti::protocol
