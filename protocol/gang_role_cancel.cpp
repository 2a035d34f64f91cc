// An operator takes back what is under way: the attempt while it is undecided, members after that.
#include "protocol/gang_role.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/mutant.hpp"

namespace tutti::protocol {

using base::reason_code;

namespace {

/// Neither bound nor on the way to be, nor given up.
bool is_open(const seat_progress& s) {
  return s.state == seat_state::reading || s.state == seat_state::waiting
         || s.state == seat_state::checking;
}

std::string cause_of(const cancel_gang& x) {
  return "given up by an operator: " + x.reason;
}

} // namespace

/// The answer leaves first: a given-up attempt retires this role.
void gang_role::hear(const cancel_gang& x) {
  if (x.gang != attempt_.gang)
    return;
  gang_cancelled said{.id = x.id, .gang = x.gang, .is_done = false, .text = objection(x)};
  if (!said.text.empty()) {
    out_.tell(to_partition(partition_), std::move(said));
    return;
  }
  auto asked = std::exchange(out_, {});
  said.text = is_decided(state_) ? take_back_members(x) : take_back_attempt(x);
  said.is_done = true;
  auto acts = std::exchange(out_, std::move(asked));
  out_.add(note{"gang.cancelled",
                {{"gang", to_text(name_)}, {"what", said.text}, {"reason", x.reason}}});
  tell_cancelled(fmt::format("{} ({})", said.text, x.reason));
  out_.tell(to_partition(partition_), std::move(said));
  out_.add_all(std::move(acts));
}

/// Why nothing can be done, in words for the operator; empty if something can.
std::string gang_role::objection(const cancel_gang& x) const {
  switch (state_) {
  case attempt_state::planning:
  case attempt_state::seeking_victims:
  case attempt_state::preparing:
  case attempt_state::looking:
    return x.pods.empty() ? std::string{}
                          : "nothing is decided yet, so no single member can be given up: leave "
                            "the members out to give the attempt up";
  case attempt_state::deciding:
    if (base::is_planted(base::mutant::cancel_while_deciding))
      return {};
    return "its decision is being written at this moment: look again";
  case attempt_state::withdrawing:
    return "it is being withdrawn already";
  case attempt_state::finishing:
  case attempt_state::over:
    return "its attempt is ending: nothing is left to give up";
  case attempt_state::evicting:
    if (is_late_)
      return "it is being withdrawn already";
    if (!x.pods.empty())
      return "victims are being evicted for the whole gang: leave the members out";
    if (rolling_->bound_count() > 0)
      return "a member is bound already, and victims are being evicted for the others";
    return {};
  case attempt_state::committing:
  case attempt_state::binding:
    break;
  }
  for (const auto& pod : x.pods)
    if (auto text = objection_to(pod); !text.empty())
      return text;
  const auto& seats = rolling_->seats();
  if (x.pods.empty() && std::none_of(seats.begin(), seats.end(), is_open))
    return "each of its members is bound, being bound or given up";
  return {};
}

std::string gang_role::objection_to(const std::string& pod) const {
  const auto& seats = rolling_->seats();
  const auto pos = std::find_if(seats.begin(), seats.end(),
                                [&pod](const auto& s) { return s.where->pod_name == pod; });
  if (pos == seats.end())
    return fmt::format("pod {} has no seat in the plan that is being carried out", pod);
  if (is_open(*pos))
    return {};
  switch (pos->state) {
  case seat_state::bound:
    return fmt::format("pod {} is bound to node {}: delete the pod instead", pod,
                       pos->where->node_name.value);
  case seat_state::posting:
    return fmt::format("pod {} is being bound at this moment: look again", pod);
  case seat_state::reading:
  case seat_state::waiting:
  case seat_state::checking:
  case seat_state::cancelling:
  case seat_state::fencing:
  case seat_state::releasing:
  case seat_state::given_up:
    break;
  }
  return fmt::format("pod {} is given up already", pod);
}

/// Presumed abort: nothing is written.
std::string gang_role::take_back_attempt(const cancel_gang& x) {
  base::explanation why;
  why.primary = reason_code::backing_off;
  why.detail = cause_of(x);
  give_up(attempt_outcome::stopped, std::move(why));
  return "the undecided attempt is given up";
}

/// Rule 7, as for any other member that is given up. Nobody bound, and nobody on the way to be, as
/// far as is known: then this is a withdrawal, which touches before it cancels.
std::string gang_role::take_back_members(const cancel_gang& x) {
  if (state_ == attempt_state::evicting) {
    is_late_ = true;
    late_ = cause_of(x);
    out_.tell(to(role_kind::evictor), stop_evicting{attempt_, victims(), fence_epoch_});
    return "the evictions are stopped and the plan is withdrawn";
  }
  const auto& seats = rolling_->seats();
  const bool none_may_be_bound = std::all_of(seats.begin(), seats.end(), [](const auto& s) {
    return s.state != seat_state::reading && s.state != seat_state::posting
           && s.state != seat_state::bound;
  });
  if (x.pods.empty() && none_may_be_bound) {
    withdraw(cause_of(x));
    return "the plan is withdrawn";
  }
  std::size_t given_up = 0;
  for (auto& s : rolling_->seats()) {
    const bool is_meant =
        x.pods.empty()
        || std::find(x.pods.begin(), x.pods.end(), s.where->pod_name) != x.pods.end();
    if (!is_meant || !is_open(s))
      continue;
    cancel(s, cause_of(x), true);
    ++given_up;
  }
  advance();
  return fmt::format("{} of {} members are given up", given_up, seats.size());
}

void gang_role::tell_cancelled(const std::string& text) {
  if (!how_.writes_gang_events || (!is_lone_pod_ && how_.started_condition.empty()))
    return;
  out_.tell(to(role_kind::status),
            emit_event{name_, is_lone_pod_, attempt_.gang.value, true, "GangCancelled",
                       "Cancelling", "An operator took it back: " + text});
}

} // namespace tutti::protocol
