// Everything that a coordinator's next steps depend on, in one number: exhaustive search takes two
// coordinators of equal hash for one.
#include <type_traits>

#include "base/hash.hpp"
#include "protocol/gang_role.hpp"
#include "protocol/messages_codec.hpp"
#include "protocol/records_codec.hpp"

namespace tutti::protocol {

namespace {

/// The bytes have every field, those of tomorrow too.
template <class M>
std::uint64_t bytes_hash(M what) {
  return base::hash_of(encode(envelope{{}, {}, message{std::move(what)}}));
}

} // namespace

/// Left out: `name_`, which follows from the gang; `proposed_`, which follows from the plan and the
/// last look; `cause`, `withdrawal_` and `since`, which only people read.
std::uint64_t gang_role::state_hash() const {
  auto h = std::hash<base::attempt_id>{}(attempt_);
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  const auto add_pods = [&](const std::vector<base::pod_uid>& pods) {
    add(pods.size());
    for (const auto& pod : pods)
      add(base::hash_of(pod.value));
  };
  add(static_cast<std::uint64_t>(state_));
  add(low_water_);
  add(partition_.value);
  add(fence_epoch_.value);
  add(tries_ + (std::uint64_t{silences_} << 32));
  add(gang_ ? bytes_hash(begin_attempt{.who = gang_}) : 0);
  add(plan_ ? bytes_hash(plan_answer{.placement = plan_}) : 0);
  add(state_ == attempt_state::seeking_victims ? bytes_hash(plan_answer{.why_not = refusal_}) : 0);
  if (left_out_.primary != base::reason_code::none)
    add(bytes_hash(plan_answer{.why_not = left_out_}));
  for (const auto& v : votes_)
    add((v.is_sent ? 1u : 0u) + (v.said ? bytes_hash(*v.said) : 0u) * 2);
  add(seen_ ? bytes_hash(begin_attempt{.who = seen_}) : 0);
  add(static_cast<std::uint64_t>(resend_after_.count()));
  if (!rolling_)
    return h;

  add(base::hash_of(encode(rolling_->what())));
  for (const auto& s : rolling_->slices()) {
    add(s.epoch.value * 4 + (s.acked ? 1u : 0u) + (s.refused ? 2u : 0u));
    add(s.owner.value);
    add(s.early ? s.early->epoch.value * 2 + (s.early->refused ? 2u : 1u) : 0);
  }
  for (const auto& s : rolling_->seats()) {
    add(static_cast<std::uint64_t>(s.state) * 8 + (s.needs_touch ? 1u : 0u)
        + (s.was_touched ? 2u : 0u) + (s.was_cancelled ? 4u : 0u));
    add(base::hash_of(s.resource_version));
    add(is_looked_at(s) ? 0 : s.look_due - amendments_ + 1);
    add(s.blocked_since
            ? static_cast<std::uint64_t>(s.blocked_since->time_since_epoch().count()) + 1
            : 0);
    add(s.lacks_room ? 1 : 0);
  }
  add((was_covered_ ? 1u : 0u) + (is_amending_ ? 2u : 0u) + (first_touch_ ? 4u : 0u)
      + (is_late_ ? 8u : 0u) + (is_map_asked_ ? 16u : 0u) + (is_overdue_ ? 32u : 0u));
  add(base::hash_of(late_));
  add(victims_left_);
  add(touches_left_);
  add_pods(victims_gone_);
  add_pods(to_cancel_);
  return h;
}

} // namespace tutti::protocol
