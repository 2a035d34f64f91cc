// Entry, timers and the end of an attempt; its steps are in the other files of the role.
#include "protocol/gang_role.hpp"

#include <algorithm>
#include <utility>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::protocol {

namespace limits = base::limits;

effects gang_role::on(const event& e, base::time_point now) {
  ensure(now >= now_);
  now_ = now;
  std::visit(
      [this](const auto& x) {
        if constexpr (requires { this->on(x); })
          this->on(x);
      },
      e);
  return std::exchange(out_, {});
}

void gang_role::on(const started&) {
  // The partition's first message says who we are; nothing to do before it.
}

void gang_role::on(const received& x) {
  if (state_ == attempt_state::over)
    return;
  std::visit([this](const auto& m) { this->hear(m); }, x.what);
}

void gang_role::on(const timer_fired& x) {
  if (state_ == attempt_state::over)
    return;
  if (x.timer.kind == resend_timer) {
    resend();
    return;
  }
  if (state_ == attempt_state::preparing) {
    votes_are_late();
  } else if (state_ == attempt_state::evicting) {
    is_late_ = true;
    out_.tell(to(role_kind::evictor), stop_evicting{attempt_, victims(), fence_epoch_});
  } else if (state_ == attempt_state::binding) {
    is_overdue_ = true;
    advance();
  }
}

/// One timer asks again for whatever is still owed, in every state; it doubles while nothing comes.
void gang_role::resend() {
  switch (state_) {
  case attempt_state::planning:
    if (gang_)
      out_.tell(to(role_kind::topology), plan_request{attempt_, gang_});
    break;
  case attempt_state::seeking_victims:
    out_.tell(to(role_kind::preemption), victims_wanted{attempt_, gang_, refusal_});
    break;
  case attempt_state::preparing:
    for (auto& v : votes_)
      if (v.is_sent && !v.said)
        send_prepare(v);
    break;
  case attempt_state::looking:
    out_.tell(to(role_kind::queue), last_look{attempt_});
    break;
  case attempt_state::deciding:
  case attempt_state::over:
    if (base::is_planted(base::mutant::abort_while_deciding))
      for (const auto& v : votes_)
        out_.tell(to_shard(v.asked->shard), abort_attempt{attempt_, low_water_});
    break; // the store always answers
  case attempt_state::committing:
  case attempt_state::evicting:
  case attempt_state::binding:
  case attempt_state::withdrawing:
  case attempt_state::finishing:
    send_commits();
    send_releases();
    if (is_map_asked_)
      ask_map(); // a keeper that died has forgotten the question
    if (state_ == attempt_state::binding) {
      advance();
      ask_leave(true);
    }
    if (state_ == attempt_state::evicting)
      ask_evictor_again();
    if (resend_after_ >= limits::resend_longest)
      ask_binder_again();
    break;
  }
  resend_after_ = std::min<base::duration>(resend_after_ * 2, limits::resend_longest);
  out_.add(arm{{resend_timer, 0}, resend_after_});
}

void gang_role::restart_resend() {
  resend_after_ = limits::resend_first;
  out_.add(arm{{resend_timer, 0}, resend_after_});
}

void gang_role::go(attempt_state next) {
  ensure(may_follow(state_, next), name_of(state_), name_of(next), attempt_.gang.value);
  state_ = next;
  restart_resend();
}

void gang_role::move(seat_progress& s, seat_state next) {
  ensure(s.state != next, static_cast<int>(next), s.where->pod.value);
  ensure(s.state != seat_state::given_up, s.where->pod.value);
  s.state = next;
  s.since = now_;
}

object_name gang_role::pod_name(const seat& s) const {
  return {name_.space, s.pod_name};
}

void gang_role::progress(base::reason_code reason) {
  gang_progress p{.attempt = attempt_, .name = name_, .at = phase_of(state_), .reason = reason};
  if (rolling_) {
    p.members = static_cast<std::uint32_t>(rolling_->seats().size());
    p.bound = rolling_->bound_in_all();
  } else if (plan_) {
    p.members = static_cast<std::uint32_t>(plan_->seat_count());
  }
  out_.tell(to(role_kind::queue), std::move(p));
}

/// An Event on the gang's root; none for a lone pod, which has its own, nor where groups are no
/// objects.
void gang_role::tell_people(bool is_warning, std::string reason, std::string action,
                            std::string text) {
  if (!how_.writes_gang_events || is_lone_pod_ || how_.started_condition.empty())
    return;
  out_.tell(to(role_kind::status),
            emit_event{name_, false, attempt_.gang.value, is_warning, std::move(reason),
                       std::move(action), std::move(text)});
}

/// Our partition found higher fences than its epoch and was raised above them (2.7). What the
/// binder dropped under the older fence goes out again.
void gang_role::hear(const new_epoch& x) {
  if (x.partition != partition_ || x.epoch <= fence_epoch_)
    return;
  fence_epoch_ = x.epoch;
  if (rolling_)
    ask_binder_again();
}

/// The last thing this role says. Upholds S13: whoever waits for this gang hears of its end exactly
/// here.
void gang_role::end(attempt_outcome how, base::explanation why) {
  attempt_over over{.attempt = attempt_, .outcome = how, .why = std::move(why)};
  if (rolling_) {
    over.bound = rolling_->bound_in_all();
    for (const auto& s : rolling_->seats())
      if (s.state == seat_state::bound)
        over.members_bound.push_back(s.where->pod);
  }
  note said{"gang.over",
            {{"gang", to_text(name_)},
             {"try", static_cast<std::int64_t>(attempt_.try_no)},
             {"outcome", std::string{name_of(how)}},
             {"bound", static_cast<std::int64_t>(over.bound)}}};
  if (over.why.primary != base::reason_code::none)
    said.fields.push_back({"reason", std::string{name_of(over.why.primary)}});
  out_.add(std::move(said));
  out_.tell(to_partition(partition_), std::move(over));
  out_.add(disarm{{resend_timer, 0}}).add(disarm{{deadline_timer, 0}});
  go(attempt_state::over);
  out_.add(disarm{{resend_timer, 0}}).add(retire{});
}

} // namespace tutti::protocol
