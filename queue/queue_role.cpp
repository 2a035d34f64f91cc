// What the queue hears, and into which pool a gang goes by its facts of this moment.
#include "queue/queue_role.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "protocol/sharding.hpp"
#include "queue/announce.hpp"
#include "queue/report.hpp"
#include "queue/wake.hpp"

namespace tutti::queue {

using base::reason_code;

namespace {

/// Of so many gangs the pools are checked after every event; of twice as many after every second.
constexpr std::size_t gangs_checked_each_time = 256;
/// A gang that says something new compares it with so many explanations.
constexpr std::size_t words_shared_max = 32;

} // namespace

queue_role::queue_role(options how) : how_(std::move(how)), registry_(how_) {
  ensure(how_.attempts_in_flight > 0);
}
queue_role::~queue_role() = default;

protocol::effects queue_role::on(const protocol::event& e, base::time_point now) {
  ensure(now >= now_, now.time_since_epoch().count(), now_.time_since_epoch().count());
  now_ = now;
  out_ = {};
  if (const auto* begun = std::get_if<protocol::started>(&e)) {
    is_started_ = true;
    seed_ = begun->seed;
    // A queue that is made anew while the others live on would wait for what was told long ago.
    out_.tell(protocol::to(protocol::role_kind::mirror), protocol::view_wanted{});
    for (std::uint32_t i = 0; i < base::limits::partitions; ++i)
      out_.tell(protocol::to_partition({i}), protocol::view_wanted{});
  } else if (const auto* heard = std::get_if<protocol::received>(&e)) {
    hear_message(*heard);
  } else if (std::holds_alternative<protocol::timer_fired>(e)) {
    armed_for_.reset();
  }
  fire_due();
  evict_degraded();
  fill_window();
  rearm();
  // It looks at every gang: after each event while they are few, now and then when they are many.
  [[maybe_unused]] const auto often = 1 + pools_.size() / gangs_checked_each_time;
  ensure_slow(++events_ % often != 0 || pools_.is_consistent());
  return std::exchange(out_, {});
}

void queue_role::hear_message(const protocol::received& x) {
  std::visit(
      [&](const auto& m) {
        using message_type = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<message_type, protocol::last_look>)
          hear_last_look(m, x.from);
        else if constexpr (std::is_same_v<message_type, protocol::inspect>)
          hear_inspect(m, x.from);
        else if constexpr (requires { this->hear(m); })
          hear(m);
        else
          out_.add(protocol::note{"queue.unexpected", {{"from", to_text(x.from)}}, true});
      },
      x.what);
}

// ---------------------------------------------------------------- facts

void queue_role::hear(const protocol::pod_seen& x) {
  if (auto* known = registry_.find_pod(x.pod.uid)) {
    const auto& g = *known->gang;
    const bool is_same_group =
        g.is_lone_pod() ? x.pod.group.empty() : x.pod.group == g.short_name();
    if (!is_same_group)
      hear(protocol::pod_gone{x.pod.uid});
  }
  const auto* before = registry_.find_pod(x.pod.uid);
  const bool was_pending = before && before->is_pending();
  const auto news = registry_.put(x.pod);
  auto& now = *registry_.find_pod(x.pod.uid);
  if (!before)
    notice_holder(now);
  if (now.is_pending() && now.scheduler >= 0 && !was_pending)
    heard_of_something_new();
  if (news.gang->is_lone_pod())
    adopt_stray(*news.gang);
  reconsider(*news.gang, news.may_help);
}

/// A gated pod that joins a gang while it waits for room: to place the others without it would be
/// to start less than what is wanted by then. What comes before the first list is complete has come
/// nobody knows when, unless it held the gang back in an earlier life.
void queue_role::notice_holder(pod_entry& pod) {
  const auto waits_for_room = [&] {
    const auto* life = pod.gang->life.get();
    return is_synced_ && life && (life->refused > 0 || life->knows_why_left);
  };
  pod.holds_back = pod.is_gated && pod.scheduler >= 0 && !pod.own
                   && (waits_for_room() || holders_.contains({pod.uid.text()}));
}

void queue_role::hear(const protocol::pod_gone& x) {
  auto* pod = registry_.find_pod(x.uid);
  if (!pod)
    return;
  if (pod->own || (pod->gang->members.size() == 1 && !pod->gang->group->facts))
    depart(*pod->gang); // the gang goes with its last pod
  if (pod->own)
    tell_deleted({pod->uid.text()});
  const auto news = registry_.drop(*pod);
  if (!news.gang)
    return;
  reconsider(*news.gang, news.may_help);
}

void queue_role::hear(const protocol::group_seen& x) {
  auto* known = registry_.find_group(x.group.name);
  if (known && known->group->facts && known->group->facts->uid != x.group.uid)
    hear(protocol::group_gone{known->group->facts->uid, x.group.name}); // a missed delete (F20)
  known = registry_.find_group(x.group.name);
  const bool helps = known && known->group->facts && may_help(*known->group->facts, x.group);
  if (!known || !known->group->facts)
    heard_of_something_new();
  auto& g = registry_.put(x.group);
  adopt_stray(g);
  reconsider(g, helps);
}

/// the gang is dissolved; its members wait for another group of this name.
void queue_role::hear(const protocol::group_gone& x) {
  auto* g = registry_.find_group(x.name);
  if (!g || !g->group->facts || g->group->facts->uid != x.uid)
    return;
  depart(*g);
  tell_deleted({x.uid});
  forget_minimum(*g);
  g->attempts = 0;
  if (auto* left = registry_.drop_group(*g))
    reconsider(*left, false);
}

/// A mirror that begins anew does not know what it has told before: whatever vanished while it was
/// dead, it will simply not tell again. Upholds S13: nobody is tried on facts of the past.
void queue_role::hear(const protocol::view_trust& x) {
  if (x.is_anew) {
    registry_.expect_everything();
    is_being_told_ = true;
    is_synced_ = false;
  }
  if (x.fresh)
    api_lost_.reset();
  else if (!api_lost_)
    api_lost_ = now_;
}

/// From here on the registry is what the API server has: what is known or remembered and was not
/// told is gone. Without the beginning the end means nothing: it belongs to what was told to an
/// earlier life of this queue.
void queue_role::hear(const protocol::facts_synced&) {
  if (!is_being_told_)
    return;
  is_being_told_ = false;
  if (!base::is_planted(base::mutant::keep_the_untold))
    drop_untold();
  is_synced_ = true;
  remembered_.clear();
  holders_.clear();
  answer_kept();
}

void queue_role::drop_untold() {
  const auto gone = registry_.not_retold();
  if (!gone.groups.empty() || !gone.pods.empty())
    out_.add(protocol::note{"queue.untold",
                            {{"groups", static_cast<std::int64_t>(gone.groups.size())},
                             {"pods", static_cast<std::int64_t>(gone.pods.size())}}});
  for (const auto& x : gone.groups)
    hear(x);
  for (const auto& uid : gone.pods)
    hear(protocol::pod_gone{uid});
}

// ---------------------------------------------------------------- gangs that are gone

/// Nothing of the gang's decisions is needed any more; its partition knows when it may forget them.
void queue_role::tell_deleted(const base::gang_uid& gang) {
  if (how_.has_others && !here_.contains(protocol::partition_of(gang)))
    return; // its owner's queue sees it as well, or is asked when the partition begins there
  out_.tell(protocol::to_partition(protocol::partition_of(gang)), protocol::gang_deleted{gang});
}

/// What was deleted while nobody looked is told apart once everything that is there has been seen.
void queue_role::hear(const protocol::gangs_kept& x) {
  kept_.insert(kept_.end(), x.gangs.begin(), x.gangs.end());
  if (is_synced_)
    answer_kept();
}

void queue_role::answer_kept() {
  for (const auto& gang : std::exchange(kept_, {}))
    if (!registry_.find_gang(gang))
      tell_deleted(gang);
}

// ---------------------------------------------------------------- growth

void queue_role::hear(const protocol::view_grew& x) {
  if (x.view_version < view_version_) { // the topology began anew: nothing was refused on this view
    for (const auto where : {pool::waiting, pool::settling})
      for (auto* g : pools_.in(where))
        g->life->view_seen = 0;
    for (auto* g :
         pools_.in(pool::attempting)) // what comes to be refused may be of the view before
      g->life->attempt->has_changed = true;
  }
  view_version_ = x.view_version;
  if (x.grown == 0 || base::is_planted(base::mutant::lose_wake_up))
    return;
  for (auto* g : pools_.in(pool::attempting))
    if (may_fit(*g, x.most_free))
      g->life->attempt->grew = x.view_version;
  for (auto* g : pools_.in(pool::backing_off))
    g->life->is_stale = true;
  for (auto* g : pools_.in(pool::settling))
    if (x.view_version > g->life->view_seen && may_fit(*g, x.most_free))
      g->life->knows_why_left = false;
  std::vector<gang_entry*> woken;
  for (auto* g : pools_.in(pool::waiting))
    if (x.view_version > g->life->view_seen && may_fit(*g, x.most_free))
      woken.push_back(g);
  for (auto* g : woken)
    reconsider(*g, true);
}

// ---------------------------------------------------------------- attempts

/// Rule 3 of the protocol: the facts of this moment, or nothing if the gang must not be decided. A
/// partition that is to close a slot has no attempt, and wants the name of whatever gang is there:
/// one that has nobody left to be placed, too (L2).
void queue_role::hear_last_look(const protocol::last_look& x, const protocol::address& from) {
  protocol::last_look_answer answer{.attempt = x.attempt, .now = nullptr};
  const bool is_for_its_name = x.attempt.try_no == 0;
  if (auto* g = registry_.find_gang(x.attempt.gang);
      g && (is_for_its_name || (!over_.has(x.attempt) && may_be_decided(*g))))
    answer.now = std::make_shared<const protocol::gang>(assemble(*g));
  out_.tell(from, std::move(answer));
}

bool queue_role::may_be_decided(const gang_entry& g) const {
  const auto verdict = judge(g, how_);
  const bool is_leaving = !g.is_lone_pod() && g.group->facts->is_deleting;
  const bool is_ready =
      verdict.what == gate_verdict::kind::open || verdict.what == gate_verdict::kind::closed;
  return is_ready && !is_leaving && count(g).pending > 0;
}

/// What rests is tried at once; what is gated stays so, and an attempt under way goes on.
void queue_role::retry(const protocol::object_name& name) {
  const auto* named = registry_.find_named(name);
  auto* g = named ? registry_.find_gang(named->uid()) : nullptr;
  if (!g || !g->life || !g->life->is_placed)
    return;
  out_.add(protocol::note{"queue.retried", {{"gang", to_text(name)}}});
  out_.tell(protocol::to(protocol::role_kind::status),
            protocol::emit_event{.about = name,
                                 .is_pod = g->is_lone_pod(),
                                 .uid = g->uid().value,
                                 .reason = "GangRetried",
                                 .action = "Scheduling",
                                 .text = "tried again because somebody asked for it"});
  auto& life = *g->life;
  if (life.where == pool::backing_off || life.where == pool::waiting) {
    life.not_before = std::min(life.not_before, now_);
    make_ready(*g);
  }
}

/// One question changes something: somebody asks by hand that a gang be tried now, and hears how it
/// stood before.
void queue_role::hear_inspect(const protocol::inspect& x, const protocol::address& from) {
  const bool is_retry = x.what == "retry";
  const reader r{
      {registry_, pools_, strays_, remembered_, how_, here_, now_, api_lost_, is_synced_}};
  out_.tell(from, protocol::inspected{x.id, r.read(is_retry ? "gang" : x.what, x.name)});
  const auto slash = x.name.find('/');
  if (is_retry && slash != std::string::npos)
    retry({x.name.substr(0, slash), x.name.substr(slash + 1)});
}

// ---------------------------------------------------------------- where gangs go

gang_life& queue_role::life_of(gang_entry& g) {
  if (g.life)
    return *g.life;
  g.life = std::make_unique<gang_life>();
  g.life->since = now_;
  const auto pos = remembered_.find(g.uid());
  if (pos == remembered_.end())
    return *g.life;
  const auto& past = pos->second;
  g.attempts = past.attempts;
  g.life->refused = past.refused;
  g.life->errors = past.errors;
  g.life->conflicts = past.conflicts;
  g.life->not_before = now_ + std::chrono::milliseconds{past.rest_ms};
  if (past.why) {
    keep_why(*g.life, *past.why);
    g.life->view_seen = 0; // views are counted anew
  }
  remembered_.erase(pos);
  return *g.life;
}

/// Puts the gang where its facts of this moment say. `may_help`: an attempt may now succeed that
/// failed before.
void queue_role::reconsider(gang_entry& g, bool may_help) {
  if (!is_here(g)) {
    put_aside(g);
    return;
  }
  watch_minimum(g);
  if (g.life && g.life->attempt) {
    g.life->attempt->has_changed |= may_help;
    pools_.reorder(g);
    return;
  }
  auto verdict = judge(g, how_);
  if (is_being_evicted(g))
    verdict = {gate_verdict::kind::closed, reason_code::degraded, "its members are being evicted"};
  switch (verdict.what) {
  case gate_verdict::kind::nothing:
    come_to_rest(g);
    return;
  case gate_verdict::kind::open:
    open(g, may_help);
    return;
  case gate_verdict::kind::closed:
  case gate_verdict::kind::broken:
    break;
  }
  auto& life = life_of(g);
  life.knows_why_left = false; // what happens to it from here on is not looked at
  const bool is_broken = verdict.what == gate_verdict::kind::broken;
  if (is_broken)
    announce_error(g, verdict.detail, how_, out_);
  const bool is_news = life.reason != verdict.reason || life.detail != verdict.detail;
  if (!base::is_planted(base::mutant::give_no_reason))
    explain(life, verdict.reason, std::move(verdict.detail));
  stay_gated(g, is_news, is_broken ? pools::never : now_ + gated_told_after);
}

/// Why it is gated is told at `told_at`; what has been told is not told again.
void queue_role::stay_gated(gang_entry& g, bool is_news, base::time_point told_at) {
  if (!g.life->is_placed || g.life->where != pool::gated) {
    pools_.move(g, pool::gated, told_at);
    return;
  }
  pools_.reorder(g);
  if (is_news)
    pools_.delay(g, told_at);
}

void queue_role::open(gang_entry& g, bool may_help) {
  auto& life = life_of(g);
  life.knows_why_left = life.knows_why_left && !may_help;
  const auto owed = g.owed();
  if (owed > 0 || is_name_in_use(g)) {
    explain(life, reason_code::binding,
            owed > 0 ? "the last attempt is being confirmed"
                     : "an older PodGroup of this name is being bound");
    if (!life.is_placed || life.where != pool::settling)
      pools_.move(g, pool::settling, now_ + settle_interval);
    return;
  }
  if (life.is_placed) {
    pools_.reorder(g);
    if (life.where == pool::backing_off)
      life.is_stale |= may_help;
    const bool stays = life.where == pool::queued || life.where == pool::backing_off
                       || (life.where == pool::waiting && !may_help);
    if (stays)
      return;
  }
  if (life.knows_why_left)
    wait_for_room(g);
  else
    make_ready(g);
}

/// As after a refusal, but for a rest: nothing that was tried has failed.
void queue_role::wait_for_room(gang_entry& g) {
  auto& life = *g.life;
  life.is_stale = false;
  explain(life, life.why->primary);
  announce_refusal(g, *life.why, how_, out_);
  pools_.move(g, pool::waiting, now_ + base::limits::flush_interval);
}

/// To `queued`, or first to `backing_off` if the last failure is too recent.
void queue_role::make_ready(gang_entry& g) {
  auto& life = *g.life;
  life.is_stale = true;
  life.knows_why_left = false;
  const auto last = life.why ? life.why->primary : reason_code::none;
  if (life.not_before > now_) {
    explain(life, last == reason_code::none ? reason_code::backing_off : last);
    pools_.move(g, pool::backing_off, life.not_before);
  } else {
    explain(life, reason_code::queued_behind);
    pools_.move(g, pool::queued);
  }
}

/// Nothing is pending: the gang keeps no life, only its members.
void queue_role::come_to_rest(gang_entry& g) {
  pools_.leave(g);
  g.life.reset();
}

/// The object behind the gang is going away. An attempt under way outlives it.
void queue_role::depart(gang_entry& g) {
  if (!g.life)
    return;
  pools_.leave(g);
  if (g.life->attempt)
    strays_.emplace(g.uid(), stray{g.name(), std::move(*g.life->attempt)});
  g.life.reset();
}

bool queue_role::is_name_in_use(const gang_entry& g) const {
  return !g.is_lone_pod() && std::any_of(strays_.begin(), strays_.end(), [&](const auto& s) {
    return s.second.name == g.group->name;
  });
}

/// Upholds S14: the reason and since when.
void queue_role::explain(gang_life& life, reason_code reason, std::string detail) {
  ensure(reason != reason_code::none);
  if (life.reason != reason)
    life.since = now_;
  life.reason = reason;
  life.detail = std::move(detail);
}

/// Most gangs wait for one of a few things, and say so in the same words as another lately.
void queue_role::keep_why(gang_life& life, base::explanation why) {
  life.view_seen = std::exchange(why.view_version, 0);
  const auto same =
      std::find_if(words_.begin(), words_.end(), [&](const auto& x) { return *x == why; });
  if (same != words_.end()) {
    life.why = *same;
    return;
  }
  life.why = std::make_shared<const base::explanation>(std::move(why));
  words_.push_front(life.why);
  if (words_.size() > words_shared_max)
    words_.pop_back();
}

// ---------------------------------------------------------------- memory

/// Whoever is not at rest stands in a pool: what is bound costs nothing here.
std::string queue_role::snapshot() const {
  memory_writer out;
  for (std::size_t i = 0; i < pool_count; ++i)
    for (const auto* g : pools_.in(static_cast<pool>(i)))
      if (!g->uid().value.empty())
        write_down(*g, out);
  for (const auto& [uid, x] : remembered_) // a gang that is there again has left them
    out.add(uid, x, x.why ? &*x.why : nullptr, x.why ? x.why->view_version : 0);
  return out.take();
}

void queue_role::write_down(const gang_entry& g, memory_writer& out) const {
  const auto& life = *g.life;
  const auto rest = std::max(life.not_before - now_, base::duration{});
  std::vector<std::string> held_by;
  for (const auto* pod : g.members)
    if (pod->is_holding_back())
      held_by.push_back(pod->uid.text());
  std::sort(held_by.begin(), held_by.end());
  out.add(g.uid(),
          {.name = g.name(),
           .is_lone_pod = g.is_lone_pod(),
           .attempts = g.attempts,
           .refused = life.refused,
           .errors = life.errors,
           .conflicts = life.conflicts,
           .rest_ms = std::chrono::ceil<std::chrono::milliseconds>(rest).count(),
           .held_by = std::move(held_by),
           .why = {}},
          life.why.get(), life.view_seen);
}

base::result<void> queue_role::restore(std::string_view bytes) {
  ensure(!is_started_);
  if (bytes.empty())
    return {};
  auto read = decode(bytes);
  if (!read)
    return read.error();
  remembered_ = std::move(*read);
  for (const auto& [uid, x] : remembered_)
    for (const auto& pod : x.held_by)
      holders_.insert({pod});
  return {};
}

std::uint64_t queue_role::state_hash() const {
  const reader r{
      {registry_, pools_, strays_, remembered_, how_, here_, now_, api_lost_, is_synced_}};
  return base::hash_combine(base::hash_of(snapshot()), base::hash_of(r.read("gangs", {})));
}

} // namespace tutti::queue
