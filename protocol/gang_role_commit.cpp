// After the commit point: acks, cover, victims, and the end. From here on only "how far", never
// "whether".
#include "protocol/gang_role.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "protocol/decision_rules.hpp"

namespace tutti::protocol {

namespace limits = base::limits;
using base::reason_code;

void gang_role::hear(const resume_decision& x) {
  if (state_ != attempt_state::planning || gang_ || rolling_)
    return; // a second copy
  ensure(x.what->what == verdict::committed);
  ensure(!x.what->is_done, x.what->by.gang.value);
  attempt_ = x.what->by;
  low_water_ = x.low_water;
  partition_ = x.partition;
  fence_epoch_ = x.owner;
  name_ = x.what->gang_name;
  is_lone_pod_ = x.what->is_lone_pod;
  begin_roll_forward(x.what);
  // What became of the members nobody here remembers: read every one before anything is posted.
  for (auto& s : rolling_->seats()) {
    s.state = seat_state::reading;
    s.resource_version.clear();
    out_.tell(to(role_kind::binder), read_pod{attempt_, pod_name(*s.where), s.where->pod});
  }
}

void gang_role::begin_roll_forward(decision_ptr what) {
  rolling_.emplace(std::move(what));
  for (const auto& v : votes_)
    if (auto* s = rolling_->find(v.asked->shard); s != nullptr && v.said)
      s->epoch = v.said->shard_epoch;
  for (const auto& s : rolling_->slices())
    victims_left_ += s.asked->victims.size();
  go(attempt_state::committing);
  out_.add(note{"gang.decided",
                {{"gang", to_text(name_)},
                 {"ordinal", static_cast<std::int64_t>(attempt_.ordinal)},
                 {"members", static_cast<std::int64_t>(rolling_->seats().size())},
                 {"shards", static_cast<std::int64_t>(rolling_->slices().size())}}});
  progress(reason_code::reserving);
  send_commits();
  if (base::is_planted(base::mutant::evict_before_cover))
    for (const auto& v : victims())
      out_.tell(to(role_kind::evictor), evict{attempt_, name_, v, fence_epoch_});
  if (how_.reads_map)
    ask_map();
}

/// Rule 5. The former owner of a shard's side decides, then reads the map; the new owner sets the
/// map, then lists decisions: one of the two sees the other.
void gang_role::ask_map() {
  is_map_asked_ = true;
  out_.tell(to(role_kind::keeper), map_wanted{attempt_});
}

/// Until the gang is covered, an ack of an owner that is replaced by now does not count any more.
/// After it, whoever takes a shard over lists the decision and holds what it names.
void gang_role::hear(const map_told& x) {
  if (!rolling_ || !is_mine(x.attempt))
    return;
  is_map_asked_ = false;
  for (auto& s : rolling_->slices()) {
    const auto shard = s.asked->shard.value;
    if (shard >= x.shard_epochs.size())
      continue;
    const base::epoch_no owner{x.shard_epochs[shard]};
    if (owner <= s.owner)
      continue;
    s.owner = owner;
    if (!was_covered_)
      s.acked = s.refused = false;
    if (const auto said = std::exchange(s.early, std::nullopt); said && said->epoch >= owner)
      count(s, *said);
  }
  advance();
}

void gang_role::send_commits() {
  // A shard that hears COMMIT reserves again what it does not know: never for members given up.
  for (const auto& s : rolling_->slices())
    if (!s.acked && !rolling_->is_abandoned(s))
      out_.tell(to_shard(s.asked->shard), commit{attempt_, low_water_, partition_, s.asked});
}

/// Upholds S1a across owners: only an ack of the newest epoch heard of says that the room is held
/// *now*.
void gang_role::hear(const ack& x) {
  if (!rolling_ || !is_mine(x.attempt))
    return;
  auto* s = rolling_->find(x.shard);
  const bool takes_any = base::is_planted(base::mutant::count_an_old_ack);
  if (s == nullptr || (x.shard_epoch < s->epoch && !takes_any))
    return;
  s->epoch = std::max(s->epoch, x.shard_epoch);
  count(*s, {x.shard_epoch, x.refused});
  advance();
}

/// Several replicas: a word under another epoch than the map's waits until the map says that it is
/// the owner's, or for ever.
void gang_role::count(slice_progress& s, shard_word said) {
  if (how_.reads_map && said.epoch != s.owner
      && !base::is_planted(base::mutant::count_an_old_ack)) {
    if (said.epoch > s.owner) {
      s.early = said;
      if (!is_map_asked_)
        ask_map();
    }
    return;
  }
  const bool is_first = !s.acked
                        && std::none_of(rolling_->slices().begin(), rolling_->slices().end(),
                                        [](const auto& other) { return other.acked; });
  if (!s.acked || said.refused)
    out_.add(note{"gang.ack",
                  {{"gang", to_text(name_)},
                   {"shard", std::int64_t{s.asked->shard.value}},
                   {"says", std::string{said.refused ? "room is lost" : "held"}}}});
  s.acked = !said.refused;
  s.refused = said.refused;
  if (is_first && s.acked)
    out_.add(fault{"C5"});
}

/// Looks at the whole bookkeeping after anything changed in it, and takes the next step that is
/// due.
void gang_role::advance() {
  ensure(rolling_.has_value());
  if (state_ == attempt_state::committing)
    settle_cover();
  if (state_ == attempt_state::binding) {
    for (auto& s : rolling_->seats())
      if ((s.state == seat_state::waiting || s.state == seat_state::checking)
          && rolling_->slices()[s.slice].refused)
        cancel(s, "room on the node was lost", true);
    give_up_blocked();
    ask_leave(false);
    const bool none_can_follow = rolling_->bound_count() == 0 && !rolling_->can_be_covered();
    const bool is_posting =
        std::any_of(rolling_->seats().begin(), rolling_->seats().end(),
                    [](const auto& s) { return s.state == seat_state::posting; });
    // A Binding in flight may still win: its answer comes first, then there is nothing bound for
    // sure.
    if (none_can_follow && !is_posting && !rolling_->all_settled())
      withdraw("the minimum cannot be reached any more");
    else if (is_overdue_ && rolling_->bound_count() == 0 && !is_posting && !rolling_->all_settled())
      withdraw("nobody could be bound in time");
  }
  amend_record();
  finish_if_settled();
}

void gang_role::settle_cover() {
  const bool is_reading = std::any_of(rolling_->seats().begin(), rolling_->seats().end(),
                                      [](const auto& s) { return s.state == seat_state::reading; });
  if (is_reading)
    return; // after a restart: nothing is judged before every member was read
  const bool any_is_enough = base::is_planted(base::mutant::bind_before_cover)
                             && std::any_of(rolling_->slices().begin(), rolling_->slices().end(),
                                            [](const auto& s) { return s.acked; });
  if (rolling_->is_covered() || rolling_->bound_count() > 0 || any_is_enough) {
    // A member of this plan that is bound proves that the plan was covered before the crash.
    was_covered_ = true;
    if (victims_left_ > 0) {
      start_evicting();
    } else {
      say_started(true, "Scheduled", "");
      start_binding();
    }
  } else if (!rolling_->can_be_covered()) {
    withdraw("not enough shards hold the room any more");
  }
}

void gang_role::say_started(bool has_started, const char* reason, const std::string& text) {
  if (is_lone_pod_ || how_.started_condition.empty())
    return;
  for (const auto& g : rolling_->what().groups)
    out_.tell(to(role_kind::status), set_condition{{name_.space, g.name},
                                                   false,
                                                   g.uid,
                                                   how_.started_condition,
                                                   has_started,
                                                   reason,
                                                   text});
}

/// Upholds S9: only after a covered decision. The room that comes free already belongs to this
/// attempt.
void gang_role::start_evicting() {
  go(attempt_state::evicting);
  progress(reason_code::waiting_for_victims);
  std::int64_t longest_grace_ms = 0;
  for (const auto& s : rolling_->slices())
    for (const auto& v : s.asked->victims) {
      longest_grace_ms = std::max(longest_grace_ms, v.grace_ms);
      ask_evictor(v);
    }
  mark_groups();
  if (gang_) // else it was said in an earlier life
    say_started(false, "Unschedulable",
                fmt::format("{}; preempting {} victim{}", base::to_text(refusal_), victims_left_,
                            victims_left_ == 1 ? "" : "s"));
  out_.add(
      arm{{deadline_timer, 0}, limits::victim_slack + std::chrono::milliseconds{longest_grace_ms}});
}

/// An evictor that died has forgotten what it was asked; whoever it had deleted stays deleted.
void gang_role::ask_evictor_again() {
  if (is_late_) {
    out_.tell(to(role_kind::evictor), stop_evicting{attempt_, victims(), fence_epoch_});
    return;
  }
  if (base::is_planted(base::mutant::choose_new_victims))
    out_.tell(to(role_kind::preemption), victims_wanted{attempt_, gang_, refusal_});
  for (const auto& v : victims())
    if (std::find(victims_gone_.begin(), victims_gone_.end(), v.pod) == victims_gone_.end())
      ask_evictor(v);
}

/// Groups that go whole say so, as their pods do.
void gang_role::mark_groups() {
  const auto all = victims();
  for (auto v = all.begin(); v != all.end(); ++v) {
    const bool is_first = std::none_of(
        all.begin(), v, [&](const auto& x) { return x.gang == v->gang && x.group == v->group; });
    if (v->group.empty() || !is_first)
      continue;
    out_.tell(to(role_kind::status),
              set_condition{.name = {v->pod_name.space, v->group},
                            .is_pod = false,
                            .uid = v->gang.value,
                            .type = "DisruptionTarget",
                            .status = true,
                            .reason = "PreemptionByScheduler",
                            .message = fmt::format("preempting to accommodate a higher priority {}",
                                                   is_lone_pod_ ? "pod" : "podgroup")});
  }
}

/// The Event says what kube-scheduler says: a group has made room in the cluster, a pod on a node.
void gang_role::ask_evictor(const victim& v) {
  auto text = fmt::format("Preempted by podgroup {} on node cluster", attempt_.gang.value);
  if (is_lone_pod_)
    text = fmt::format("Preempted by pod {} on node {}", attempt_.gang.value,
                       rolling_->seats().front().where->node_name.value);
  out_.tell(to(role_kind::evictor), evict{.attempt = attempt_,
                                          .gang = name_,
                                          .who = v,
                                          .fence = fence_epoch_,
                                          .event = std::move(text),
                                          .is_for_pod = is_lone_pod_});
}

std::vector<victim> gang_role::victims() const {
  std::vector<victim> all;
  for (const auto& s : rolling_->slices())
    all.insert(all.end(), s.asked->victims.begin(), s.asked->victims.end());
  return all;
}

void gang_role::hear(const victim_gone& x) {
  if (!rolling_ || !is_mine(x.attempt) || victims_left_ == 0)
    return;
  if (std::find(victims_gone_.begin(), victims_gone_.end(), x.pod) != victims_gone_.end())
    return;
  victims_gone_.push_back(x.pod);
  --victims_left_;
  out_.add(fault{"C6"});
  if (victims_left_ == 0 && state_ == attempt_state::evicting) {
    out_.add(disarm{{deadline_timer, 0}});
    if (was_covered_) {
      say_started(true, "Scheduled", "");
      start_binding();
    } else {
      withdraw(late_); // they were being stopped for that
    }
  }
}

/// Nobody goes for a gang that is not there: whoever is not deleted yet stays.
void gang_role::hear(const gang_deleted& x) {
  if (state_ != attempt_state::evicting || x.gang != attempt_.gang || is_late_
      || rolling_->bound_count() > 0)
    return;
  is_late_ = true;
  late_ = "the gang is gone";
  out_.tell(to(role_kind::evictor), stop_evicting{attempt_, victims(), fence_epoch_});
}

void gang_role::hear(const eviction_stopped& x) {
  if (state_ != attempt_state::evicting || !is_mine(x.attempt))
    return;
  withdraw(late_.empty() ? "victims did not go away in time" : late_);
}

/// DONE: every shard has answered commits and acked releases, every member is bound or accounted
/// for (S5). A shard whose node others have filled may never ack: then its refusal is its answer,
/// for whoever is bound there needs no room any more.
void gang_role::finish_if_settled() {
  if (state_ != attempt_state::binding && state_ != attempt_state::withdrawing)
    return;
  const bool is_any_enough =
      base::is_planted(base::mutant::finish_before_settled) && rolling_->bound_count() > 0;
  if (!(rolling_->all_settled() || is_any_enough) || is_amending_)
    return;
  const bool all_heard =
      std::all_of(rolling_->slices().begin(), rolling_->slices().end(), [this](const auto& s) {
        const bool holds_someone =
            std::any_of(rolling_->seats().begin(), rolling_->seats().end(), [&](const auto& seat) {
              return &rolling_->slices()[seat.slice] == &s && seat.state == seat_state::bound;
            });
        return s.acked || s.refused || !holds_someone;
      });
  if (!all_heard)
    return;
  go(attempt_state::finishing);
  out_.add(fault{"C8"});
  is_amending_ = true;
  ++amendments_;
  amendment done{.by = fence_epoch_, .finish = true};
  for (const auto& s : rolling_->seats())
    if (s.state == seat_state::bound && s.was_cancelled)
      done.bound.push_back(s.where->pod);
  out_.add(amend{slot_of(attempt_), std::move(done)});
}

void gang_role::on(const amended& x) {
  if (!rolling_ || x.slot != slot_of(attempt_))
    return;
  is_amending_ = false;
  if (state_ == attempt_state::finishing) {
    for (const auto& s : rolling_->slices())
      out_.tell(to_shard(s.asked->shard), finish{attempt_});
    out_.add(fault{"C9"});
    const auto bound = rolling_->bound_count();
    const bool whole = rolling_->has_minimum_bound();
    if (whole && bound > 0 && !rolling_->had_minimum_bound())
      tell_people(false, "GangBound", "Binding",
                  fmt::format("{} members are bound", rolling_->bound_in_all()));
    // Who gave its seat up would say more of the room than the plan did.
    auto why = bound == rolling_->seats().size() ? left_out_ : base::explanation{};
    for (const auto& s : rolling_->seats())
      if (s.state == seat_state::given_up) {
        why.primary = reason_code::bind_refused;
        why.detail = "pod " + s.where->pod_name + ": " + s.cause;
        break;
      }
    end(bound == 0 && !whole ? attempt_outcome::withdrawn
                             : (whole ? attempt_outcome::bound : attempt_outcome::degraded),
        std::move(why));
    return;
  }
  if (std::any_of(rolling_->seats().begin(), rolling_->seats().end(),
                  [](const auto& s) { return s.state == seat_state::cancelling; }))
    out_.add(fault{"C11"});
  if (state_ == attempt_state::withdrawing)
    out_.add(fault{"C13"});
  for (auto& s : rolling_->seats())
    if (s.state == seat_state::cancelling
        && std::find(x.now->cancelled.begin(), x.now->cancelled.end(), s.where->pod)
               != x.now->cancelled.end()) {
      if (s.needs_touch && !base::is_planted(base::mutant::release_without_touch))
        fence(s);
      else
        let_go(s);
    }
  advance();
}

/// A later owner has adopted the record, or it is not what we believe: we may not go on (Q3), and
/// what our partition believes of this gang may be as old. Both are made anew from what the log
/// says; not another word to the API server. What we posted before is refused by its fence, or
/// harmless. Where epochs come from the partition map, a later owner is no fault of ours to die of:
/// the keeper looks whose the partition is, and ends us, or begins it above that owner.
void gang_role::on(const amend_refused& x) {
  if (!rolling_ || x.slot != slot_of(attempt_))
    return;
  state_ = attempt_state::over; // and is not told: what became of the gang, the next life says
  const auto owner = x.now ? owner_of(*x.now) : base::epoch_no{};
  if (how_.reads_map && owner > fence_epoch_)
    out_.tell(to(role_kind::keeper), new_epoch{partition_, {owner.value + 1}, 0});
  else
    out_.add(rebuild{"the log refuses to amend the decision of " + to_text(name_)});
}

} // namespace tutti::protocol
