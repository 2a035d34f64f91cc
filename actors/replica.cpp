#include "actors/replica.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <caf/all.hpp>
#include <fmt/core.h>

#include "actors/log_reader.hpp"
#include "actors/share.hpp"
#include "actors/supervisor.hpp"
#include "actors/wiring.hpp"
#include "bridge/keeper_role.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/sharding.hpp"

namespace tutti::actors {

namespace {

/// Notes of about an hour of a busy scheduler; 20 MB at most.
constexpr std::size_t notes_kept = 50'000;
/// Shards write a checkpoint every so many ticks: their journal is replayed faster than it is
/// copied.
constexpr std::size_t ticks_per_shard_checkpoint = 10;
const auto keeper = protocol::to(protocol::role_kind::keeper);

} // namespace

replica::replica(scheduler_options how, surroundings with)
    : how_(std::move(how)), with_(std::move(with)),
      notes_(notes_kept), around_{routes_, with_.store, with_.http, with_.clock, notes_} {
  if (how_.has_others()) {
    how_.log = decision_log::objects; // what one has decided another must be able to read
    how_.fast_path = false;
  }
  around_.seed = how_.seed;
  around_.make_role = [this](const protocol::address& x) {
    return wrapped(x, make_hosted_role(x, how_));
  };
  around_.bring_up = [this](const protocol::address& x, base::incarnation_no parent) {
    supervisor_->bring_up(x, parent);
  };
  around_.ended = [this](base::incarnation_no who, const std::optional<std::string>& why) {
    supervisor_->ended(who, why);
  };
  around_.fatal = with_.on_fatal;
  if (with_.pass_fault)
    around_.pass_fault = with_.pass_fault;
}

replica::~replica() = default;

protocol::role_ptr replica::wrapped(const protocol::address& where, protocol::role_ptr role) const {
  return with_.wrap && role ? with_.wrap(where, std::move(role)) : std::move(role);
}

founder replica::make_founder(const protocol::address& where) const {
  if (where.kind == protocol::role_kind::admin)
    return {where, std::make_unique<admin_role>(with_.take_answer), false};
  auto made = founding_->make(where);
  made.role = wrapped(where, std::move(made.role));
  return made;
}

/// Every founder is restored and registered before any of them hears a word: decided reservations
/// and back-offs are known before the first list from the API server. Upholds S11.
base::result<void> replica::recover() {
  auto remains = around_.store.take_remains();
  if (auto ok = check_options(remains); !ok)
    return ok.error();
  if (how_.log == decision_log::objects) {
    log_ = std::make_unique<log_reader>(around_, with_.system);
    around_.list_log = [this](log_reader::then what) { log_->list(std::move(what)); };
  }
  const auto since_zero =
      std::chrono::duration_cast<std::chrono::milliseconds>(around_.clock.now().time_since_epoch());
  const base::wall_time wall_at_zero{around_.clock.wall_now().unix_ms - since_zero.count()};
  if (how_.has_others() && how_.process.empty())
    how_.process =
        fmt::format("{}-{:x}", remains.last_incarnation.value, around_.clock.wall_now().unix_ms);
  founding_ = std::make_unique<founding>(how_, wall_at_zero);
  supervisor_ = std::make_unique<supervisor>(
      around_, with_.system, [this](const auto& where) { return make_founder(where); },
      remains.last_incarnation);
  if (how_.has_others()) {
    share_ = std::make_unique<share>(routes_, *supervisor_, with_.links);
    around_.own = [this](protocol::own x) { share_->take(std::move(x)); };
  }
  std::map<std::uint32_t, std::vector<protocol::decision_ptr>> decisions;
  for (auto& d : remains.decisions)
    decisions[protocol::partition_of(d->by.gang).value].push_back(std::move(d));
  auto all = founding_->all();
  if (with_.take_answer)
    all.push_back(protocol::to(protocol::role_kind::admin));
  for (const auto& where : all) {
    persistence::recovered_role left{std::move(remains.roles[where]), {}, {}};
    if (where.kind == protocol::role_kind::partition) {
      left.decisions = std::move(decisions[where.index]);
      left.epoch = remains.partition_epochs[where.index];
    }
    if (keeps_checkpoints(where))
      checkpointed_.push_back(where);
    if (log_ && begins_with_log(where))
      waiting_.emplace(where, std::move(left));
    else if (auto ok = supervisor_->found(where, std::move(left)); !ok)
      return ok.error();
  }
  return {};
}

/// What cannot go together. A log that is left with unfinished decisions in it would be rolled
/// forward by nobody.
base::result<void> replica::check_options(const persistence::remains& left) const {
  if (how_.log == decision_log::store)
    return {};
  if (how_.fast_path)
    return base::error{base::code::bad_input, "the fast path needs the decision log in the store",
                       "switch the fast path off, or keep decisions in the store"};
  const bool is_settled = std::all_of(left.decisions.begin(), left.decisions.end(),
                                      [](const auto& d) { return protocol::is_finished(*d); });
  if (!is_settled)
    return base::error{base::code::bad_input, "the store holds decisions that are not finished",
                       "start with the decision log in the store until all gangs have settled"};
  return {};
}

void replica::begin() {
  supervisor_->begin_all();
  if (log_)
    log_->list([this](const auto& all) { begin_with(all); });
}

/// Nobody promises or coordinates before the log was read: shards hold what is unfinished there,
/// and after them partitions roll it forward, under an epoch above all that are found there.
void replica::begin_with(const std::vector<protocol::decision_ptr>& all) {
  for (auto& [where, left] : std::exchange(waiting_, {})) {
    add_log(where, all, left);
    if (auto ok = supervisor_->found(where, std::move(left)); !ok)
      around_.fatal(ok.error());
  }
}

void replica::hear(const std::string& from, std::string_view frame) {
  auto x = open_frame(from, frame);
  if (!x) {
    notes_.record(protocol::to(protocol::role_kind::admin),
                  {"link.refused", {{"from", from}, {"why", x.error().message()}}},
                  with_.clock.now(), with_.clock.wall_now());
    return;
  }
  routes_.deliver(x->from, x->to, std::move(x->what));
}

void replica::tick() {
  ++ticks_;
  for (const auto& c : checkpointed_)
    if (c.kind != protocol::role_kind::shard || ticks_ % ticks_per_shard_checkpoint == 0)
      routes_.post(c, make_mail(checkpoint_due{false}));
  tell_of_disk();
}

/// F9. A shard that is made anew meanwhile hears it with the next tick. Among several replicas a
/// shard keeps nothing on the disk, and promises whatever is free on it.
void replica::tell_of_disk() {
  if (how_.has_others())
    return;
  const bool is_scarce = !around_.store.look_at_disk().has_plenty();
  if (!std::exchange(was_disk_scarce_, is_scarce) && !is_scarce)
    return;
  for (std::uint32_t s = 0; s < how_.shards; ++s)
    routes_.post(protocol::to_shard({s}),
                 make_mail(protocol::event{protocol::disk_told{is_scarce}}));
}

void replica::rest() {
  if (supervisor_)
    supervisor_->rest();
}

void replica::write_last_checkpoints() {
  for (const auto& c : checkpointed_)
    routes_.post(c, make_mail(checkpoint_due{true}));
  if (share_)
    routes_.post(keeper, make_mail(protocol::event{
                             protocol::timer_fired{{bridge::keeper_role::stop_timer, 0}}}));
}

bool replica::is_settled() const {
  return std::none_of(checkpointed_.begin(), checkpointed_.end(),
                      [this](const auto& c) { return routes_.find(c) != nullptr; })
         && routes_.find(keeper) == nullptr;
}

bool replica::free_gang(const base::gang_uid& gang) {
  return supervisor_ && supervisor_->free_gang(gang);
}

void replica::end_all() {
  if (supervisor_)
    supervisor_->end_all();
  for (const auto& who : routes_.all())
    caf::anon_send_exit(who, caf::exit_reason::kill);
}

} // namespace tutti::actors
