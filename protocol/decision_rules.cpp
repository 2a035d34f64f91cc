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

namespace {

/// A gang of thousands may be given up whole.
std::vector<std::string_view> ascending(const std::vector<base::pod_uid>& pods) {
  std::vector<std::string_view> out;
  for (const auto& pod : pods)
    out.push_back(pod.value);
  std::sort(out.begin(), out.end());
  return out;
}

/// As `decision::bound` has them.
std::vector<std::uint64_t> bound_all_the_same(const std::vector<base::pod_uid>& cancelled,
                                              const std::vector<base::pod_uid>& bound) {
  const auto given_up = ascending(cancelled);
  std::vector<std::uint64_t> out;
  for (const auto& pod : bound)
    if (std::binary_search(given_up.begin(), given_up.end(), std::string_view{pod.value}))
      out.push_back(base::hash_of(pod.value));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

} // namespace

std::vector<std::uint64_t> bound_by(const decision& x) {
  if (!x.is_done || x.what != verdict::committed)
    return {};
  const auto given_up = ascending(x.cancelled);
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
  if (change.by < owner_of(was) && !base::is_planted(base::mutant::let_an_older_owner_amend))
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
  if (change.finish && !was.is_done)
    now.bound = bound_all_the_same(now.cancelled, change.bound);
  now.is_done |= change.finish;
  out.is_changed = !(now == was);
  ensure(now.by == was.by && now.chosen == was.chosen, was.by.gang.value, was.by.ordinal);
  ensure(now.cancelled.size() >= was.cancelled.size(), was.by.gang.value, was.by.ordinal);
  if (out.is_changed && base::is_planted(base::mutant::forget_cancels) && !change.cancel.empty())
    now.cancelled = change.cancel;
  return out;
}

} // namespace tutti::protocol
