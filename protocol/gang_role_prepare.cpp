// Up to the commit point: plan, promises, last look, decide. All of it may be forgotten at any
// moment.
#include "protocol/gang_role.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::protocol {

namespace limits = base::limits;
using base::reason_code;

namespace {

base::ties_id ties_of(const member& x) {
  return x.ties ? x.ties->id : base::ties_id{};
}

/// So long a plan waits for shards that may be between two owners: a Lease that nobody renews
/// counts for 15 s, and its shards are listed, taken and begun within a few seconds more.
constexpr base::duration owner_missing_longest = std::chrono::seconds{30};
constexpr auto silences_most =
    static_cast<std::uint32_t>(owner_missing_longest / base::duration{limits::prepare_timeout});

} // namespace

void gang_role::hear(const begin_attempt& x) {
  if (state_ != attempt_state::planning || gang_)
    return; // a second copy
  ensure(x.who != nullptr);
  ensure(x.attempt.gang == x.who->uid, x.attempt.gang.value, x.who->uid.value);
  attempt_ = x.attempt;
  low_water_ = x.low_water;
  partition_ = x.partition;
  fence_epoch_ = x.attempt.epoch;
  name_ = x.who->name;
  is_lone_pod_ = x.who->is_lone_pod;
  tries_ = x.tries;
  gang_ = x.who;
  out_.add(fault{"C0"});
  out_.tell(to(role_kind::topology), plan_request{attempt_, gang_});
  restart_resend();
}

void gang_role::hear(const plan_answer& x) {
  if (state_ != attempt_state::planning || !is_mine(x.attempt))
    return;
  if (x.placement) {
    left_out_ = x.why_not;
    take_plan(x.placement);
    return;
  }
  refusal_ = x.why_not;
  // Others may also hold a port, or keep the gang out by a term.
  const bool room_would_help = refusal_.primary == reason_code::insufficient_resources
                               || refusal_.primary == reason_code::topology_too_fragmented
                               || refusal_.primary == reason_code::node_constraints_unmet;
  if (!room_would_help) {
    end(attempt_outcome::refused, refusal_);
    return;
  }
  go(attempt_state::seeking_victims);
  out_.tell(to(role_kind::preemption), victims_wanted{attempt_, gang_, refusal_});
}

void gang_role::hear(const victims_answer& x) {
  if (base::is_planted(base::mutant::choose_new_victims) && state_ == attempt_state::evicting
      && is_mine(x.attempt) && x.placement)
    for (const auto& s : x.placement->slices)
      for (const auto& v : s.victims)
        out_.tell(to(role_kind::evictor), evict{attempt_, name_, v, fence_epoch_});
  if (state_ != attempt_state::seeking_victims || !is_mine(x.attempt))
    return;
  if (x.placement) {
    take_plan(x.placement);
    return;
  }
  if (x.why.primary == reason_code::view_stale || x.why.primary == reason_code::shard_unavailable) {
    end(attempt_outcome::refused, x.why); // nothing is known for certain: it is tried again
    return;
  }
  if (x.refusal != reason_code::none)
    refusal_.others.push_back(x.refusal);
  if (!x.why.detail.empty())
    refusal_.detail += (refusal_.detail.empty() ? "" : "; ") + x.why.detail;
  end(attempt_outcome::refused, refusal_);
}

void gang_role::take_plan(plan_ptr placement) {
  ensure(placement->seat_count() > 0, name_.name);
  plan_ = std::move(placement);
  for (const auto& s : plan_->slices)
    votes_.push_back({slice_ptr{plan_, &s}, std::nullopt, false});
  ensure(std::is_sorted(votes_.begin(), votes_.end(), [](const auto& a, const auto& b) {
    return a.asked->shard < b.asked->shard;
  }));
  go(attempt_state::preparing);
  out_.add(note{"gang.planned",
                {{"gang", to_text(name_)},
                 {"seats", static_cast<std::int64_t>(plan_->seat_count())},
                 {"shards", static_cast<std::int64_t>(votes_.size())}}});
  progress(reason_code::reserving);
  out_.add(arm{{deadline_timer, 0}, limits::prepare_timeout});
  send_prepares();
}

/// All shards at once; one after another in id order once this gang has lost too often, so that of
/// two rivals one always advances (L3).
void gang_role::send_prepares() {
  const bool one_by_one = tries_ >= limits::conflicts_before_sequential;
  for (auto& v : votes_) {
    if (!v.is_sent) {
      v.is_sent = true;
      send_prepare(v);
      if (&v == &votes_.front())
        out_.add(fault{"C1"});
    }
    if (one_by_one && !v.said)
      return;
  }
}

void gang_role::send_prepare(shard_vote& to) {
  out_.tell(to_shard(to.asked->shard),
            prepare{attempt_, low_water_, partition_, to.asked, how_.fast_path, gang_->priority});
}

void gang_role::hear(const vote& x) {
  if (state_ != attempt_state::preparing || !is_mine(x.attempt))
    return;
  auto pos = std::find_if(votes_.begin(), votes_.end(),
                          [&x](const auto& v) { return v.asked->shard == x.shard; });
  if (pos == votes_.end() || !pos->is_sent)
    return;
  note_vote(x);
  if (!x.yes) {
    give_up(attempt_outcome::conflict, x.why_not);
    return;
  }
  pos->said = x; // the latest life of the shard counts: an older yes may be forgotten
  const bool all_yes =
      std::all_of(votes_.begin(), votes_.end(), [](const auto& v) { return v.said.has_value(); });
  if (!all_yes) {
    send_prepares();
    return;
  }
  if (how_.writes_step_events)
    tell_people(false, "GangReserved", "Reserving",
                fmt::format("room for {} members is held by {} shards", plan_->seat_count(),
                            votes_.size()));
  look_again();
}

/// A shard that answers nothing is dead or hung, and the gang better off planned elsewhere. But
/// where nobody of several replicas' shards has said a word, nothing is promised to us anywhere,
/// and they may be between two owners: an outage that another replica mends, and no failure of this
/// gang. It keeps its attempt and asks on.
void gang_role::votes_are_late() {
  std::string silent;
  for (const auto& v : votes_)
    if (!v.said)
      silent +=
          (silent.empty() ? "no vote from shard " : ", ") + std::to_string(v.asked->shard.value);
  const bool is_all_silent =
      std::none_of(votes_.begin(), votes_.end(), [](const auto& v) { return v.said.has_value(); });
  if (how_.reads_map && is_all_silent && silences_ < silences_most) {
    ++silences_;
    out_.add(note{"gang.waits_for_owners", {{"gang", to_text(name_)}, {"why", silent}}});
    progress(reason_code::shard_unavailable);
    out_.add(arm{{deadline_timer, 0}, limits::prepare_timeout});
    restart_resend();
    return;
  }
  base::explanation why;
  why.primary = reason_code::shard_unavailable;
  why.detail = std::move(silent);
  give_up(attempt_outcome::conflict, std::move(why));
}

void gang_role::note_vote(const vote& x) {
  note said{"gang.vote",
            {{"gang", to_text(name_)},
             {"shard", std::int64_t{x.shard.value}},
             {"says", std::string{x.yes ? "yes" : "no"}}}};
  if (!x.yes) {
    said.fields.push_back({"reason", std::string{name_of(x.why_not.primary)}});
    if (!x.why_not.detail.empty())
      said.fields.push_back({"detail", x.why_not.detail});
  }
  out_.add(std::move(said));
}

void gang_role::hear(const pressure& x) {
  if (!is_mine(x.attempt))
    return;
  if (state_ != attempt_state::preparing && state_ != attempt_state::looking)
    return; // decided: S1b stops the Binding if the room is really gone
  base::explanation why;
  why.primary = reason_code::reservation_conflict;
  why.detail = "room on a reserved node was taken or went away";
  give_up(attempt_outcome::conflict, std::move(why));
}

void gang_role::look_again() {
  go(attempt_state::looking);
  out_.add(disarm{{deadline_timer, 0}});
  if (base::is_planted(base::mutant::skip_last_look)) {
    seen_ = gang_;
    decide_now();
    return;
  }
  out_.tell(to(role_kind::queue), last_look{attempt_});
}

void gang_role::hear(const last_look_answer& x) {
  if (state_ != attempt_state::looking || !is_mine(x.attempt))
    return;
  base::explanation why;
  why.primary = reason_code::waiting_for_members;
  if (!x.now) {
    why.detail = "the gang is gone or may not be scheduled any more";
    give_up(attempt_outcome::stopped, std::move(why));
    return;
  }
  if (auto refused = disagreement(*x.now)) {
    give_up(attempt_outcome::conflict, std::move(*refused));
    return;
  }
  seen_ = x.now;
  decide_now();
}

/// What the last look found to differ from what was planned; nothing if the plan may be decided.
/// Upholds S4: the minimum is judged by the facts of this moment.
std::optional<base::explanation> gang_role::disagreement(const gang& seen) const {
  std::map<std::string_view, const member*> members;
  for (const auto& m : seen.members)
    members.emplace(m.uid.value, &m);
  std::vector<std::uint32_t> reached(seen.groups.size());
  for (const auto& m : seen.members)
    if (!m.node.value.empty())
      ++reached.at(m.group);
  std::map<std::string_view, const member*> planned;
  for (const auto& m : gang_->members)
    planned.emplace(m.uid.value, &m);
  base::explanation why;
  why.primary = reason_code::waiting_for_members;
  for (std::size_t g = 0; g < std::min(seen.groups.size(), gang_->groups.size()); ++g)
    if (seen.groups[g].topology_key != gang_->groups[g].topology_key) {
      why.detail =
          "the constraint of group " + seen.groups[g].name + " changed since it was planned";
      return why;
    }
  for (const auto& s : plan_->slices)
    for (const auto& where : s.seats) {
      auto pos = members.find(where.pod.value);
      if (pos == members.end() || !pos->second->node.value.empty()) {
        why.detail = "pod " + where.pod_name + " is gone or bound since it was planned";
        return why;
      }
      // The shards hold what the pod asked for then; the Binding would name its version of now.
      if (pos->second->kind->id != planned.at(where.pod.value)->kind->id) {
        why.detail = "pod " + where.pod_name + " asks for something else since it was planned";
        return why;
      }
      // Who else may stand where was weighed for the labels and terms of then.
      if (ties_of(*pos->second) != ties_of(*planned.at(where.pod.value))) {
        why.detail = "pod " + where.pod_name + " has other labels since it was planned";
        return why;
      }
      ++reached.at(pos->second->group);
    }
  for (std::size_t g = 0; g < reached.size(); ++g)
    if (reached[g] < seen.groups[g].min_count) {
      why.wanted = seen.groups[g].min_count;
      why.placed = reached[g];
      why.detail = "the minimum of group " + seen.groups[g].name + " is not covered any more";
      return why;
    }
  return std::nullopt;
}

/// THE COMMIT POINT. One durable, write-once record per decision slot: before it nothing has
/// happened, after it the gang starts or is withdrawn whole. Upholds S2, S3, S7.
void gang_role::decide_now() {
  ensure(state_ == attempt_state::looking, name_of(state_));
  ensure(seen_ != nullptr);
  std::map<std::string_view, const member*> members;
  for (const auto& m : seen_->members)
    members.emplace(m.uid.value, &m);
  decision what{.by = attempt_,
                .what = verdict::committed,
                .gang_name = name_,
                .is_lone_pod = is_lone_pod_,
                .priority = seen_->priority,
                .groups = seen_->groups,
                .bound_already = std::vector<std::uint32_t>(seen_->groups.size()),
                .chosen = *plan_};
  for (const auto& m : seen_->members)
    if (!m.node.value.empty())
      ++what.bound_already.at(m.group);
  for (const auto& s : plan_->slices)
    for (const auto& where : s.seats)
      what.seat_versions.push_back(members.at(where.pod.value)->resource_version);
  proposed_ = what;
  if (base::is_planted(base::mutant::evict_before_decision))
    for (const auto& s : plan_->slices)
      for (const auto& v : s.victims)
        out_.tell(to(role_kind::evictor), evict{attempt_, name_, v, fence_epoch_});
  if (base::is_planted(base::mutant::bind_before_decision))
    for (const auto& s : plan_->slices)
      for (const auto& where : s.seats)
        out_.tell(to(role_kind::binder),
                  bind{attempt_, pod_name(where), where.pod,
                       members.at(where.pod.value)->resource_version, where.node_name, partition_,
                       fence_epoch_, where.before_bind});
  go(attempt_state::deciding);
  out_.add(fault{"C2"}).add(decide{slot_of(attempt_), std::move(what), riders()});
}

/// Fast path: what each shard promised, to be made durable in the decision's own batch.
std::vector<rider> gang_role::riders() const {
  std::vector<rider> out;
  if (how_.fast_path)
    for (const auto& v : votes_)
      out.push_back(
          {v.asked->shard, v.said->incarnation, prepared_record{attempt_, partition_, v.asked}});
  return out;
}

void gang_role::on(const decided& x) {
  if (state_ != attempt_state::deciding || x.slot != slot_of(attempt_))
    return;
  if (x.winner->by == attempt_ && x.winner->what == verdict::committed) {
    out_.add(fault{"C4"});
    begin_roll_forward(x.winner);
    if (how_.writes_step_events)
      tell_people(false, "GangCommitted", "Committing",
                  fmt::format("decided: {} members will be bound", plan_->seat_count()));
    return;
  }
  base::explanation why;
  why.primary = reason_code::reservation_conflict;
  why.detail = "another attempt has decided this gang";
  if (how_.reads_map) // an owner before or after us: our partition does not know of it yet
    out_.tell(to_partition(partition_),
              resume_decision{x.winner, fence_epoch_, partition_, low_water_});
  give_up(attempt_outcome::conflict, std::move(why));
}

void gang_role::on(const decide_refused& x) {
  if (state_ != attempt_state::deciding || x.slot != slot_of(attempt_))
    return;
  base::explanation why;
  why.primary = reason_code::shard_unavailable;
  why.detail = x.why.message();
  give_up(attempt_outcome::conflict, std::move(why));
}

void gang_role::on(const decide_unknown& x) {
  if (state_ != attempt_state::deciding || x.slot != slot_of(attempt_))
    return;
  // An empty read would prove nothing about a write still in flight: the same write again settles
  // it.
  ensure(proposed_.has_value());
  out_.add(decide{x.slot, *proposed_, riders()});
}

/// Presumed abort: nothing is written, the shards are told lazily. Never while a decide is
/// outstanding.
void gang_role::give_up(attempt_outcome how, base::explanation why) {
  ensure(!is_decided(state_), name_of(state_), name_.name);
  for (const auto& v : votes_)
    if (v.is_sent)
      out_.tell(to_shard(v.asked->shard), abort_attempt{attempt_, low_water_});
  out_.tell(to(role_kind::topology), plan_dropped{attempt_});
  if (how == attempt_outcome::conflict)
    tell_people(true, "GangReservationAborted", "Reserving", base::to_text(why));
  end(how, std::move(why));
}

} // namespace tutti::protocol
