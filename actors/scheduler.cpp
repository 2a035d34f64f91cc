#include "actors/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <caf/all.hpp>

#include "actors/supervisor.hpp"
#include "actors/wiring.hpp"
#include "base/ensure.hpp"
#include "protocol/sharding.hpp"

namespace tutti::actors {

namespace {

using namespace std::chrono_literals;

/// Notes of about an hour of a busy scheduler; 20 MB at most.
constexpr std::size_t notes_kept = 50'000;
/// Back-off and explanations may be this old after a kill -9.
constexpr auto tick_interval = 1s;
/// Shards write a checkpoint every so many ticks: their journal is replayed faster than it is
/// copied.
constexpr int ticks_per_shard_checkpoint = 10;
/// Time for the last checkpoints at a stop; the whole stop must stay below five seconds.
constexpr auto last_checkpoint_patience = 3s;

} // namespace

struct scheduler::engine {
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;

  explicit engine(std::size_t threads) {
    // Measured: `sharing` wakes in a third of the time of `stealing` on few cores and idles at 0 %
    // CPU.
    config.set("scheduler.policy", caf::atom("sharing"));
    config.set("scheduler.max-threads", threads);
    system = std::make_unique<caf::actor_system>(config);
  }
};

namespace {

/// Receives `inspected` for whoever waits at the desk.
caf::behavior admin_actor(caf::event_based_actor*, admin_desk* desk) {
  return {[desk](const mail& m) {
    if (auto* e = std::get_if<protocol::event>(m.get()))
      if (auto* r = std::get_if<protocol::received>(e))
        if (auto* said = std::get_if<protocol::inspected>(&r->what))
          desk->answer(said->id, std::move(said->json));
  }};
}

} // namespace

scheduler::scheduler(scheduler_options how, persistence::store& store, http_carrier* http,
                     const base::clock& clock, std::function<void(const base::error&)> on_fatal)
    : how_(std::move(how)), notes_(notes_kept), around_{routes_, store, http, clock, notes_} {
  around_.seed = how_.seed;
  around_.make_role = [this](const protocol::address& x) { return make_hosted_role(x, how_); };
  around_.bring_up = [this](const protocol::address& x, base::incarnation_no parent) {
    supervisor_->bring_up(x, parent);
  };
  around_.ended = [this](base::incarnation_no who, const std::optional<std::string>& why) {
    supervisor_->ended(who, why);
  };
  around_.fatal = [this, on_fatal = std::move(on_fatal)](const base::error& e) {
    if (!has_failed_.exchange(true) && !is_stopped_)
      on_fatal(e);
  };
  engine_ = std::make_unique<engine>(how_.threads);
  desk_ = std::make_unique<admin_desk>(routes_);
}

base::result<std::unique_ptr<scheduler>>
scheduler::start(scheduler_options how, persistence::store& store, http_carrier* http,
                 const base::clock& clock, std::function<void(const base::error&)> on_fatal) {
  std::unique_ptr<scheduler> self{
      new scheduler(std::move(how), store, http, clock, std::move(on_fatal))};
  if (auto ok = self->recover(); !ok)
    return ok.error();
  self->supervisor_->begin_all();
  self->ticker_ = std::thread([raw = self.get()] { raw->tick(); });
  return self;
}

scheduler::~scheduler() {
  stop();
}

/// Every founder is restored and registered before any of them hears a word: decided reservations
/// and back-offs are known before the first list from the API server. Upholds S11.
base::result<void> scheduler::recover() {
  auto remains = around_.store.take_remains();
  const auto since_zero =
      std::chrono::duration_cast<std::chrono::milliseconds>(around_.clock.now().time_since_epoch());
  const base::wall_time wall_at_zero{around_.clock.wall_now().unix_ms - since_zero.count()};
  founding_ = std::make_unique<founding>(how_, wall_at_zero);
  supervisor_ = std::make_unique<supervisor>(
      around_, *engine_->system, [this](const auto& where) { return founding_->make(where); },
      remains.last_incarnation);
  std::map<std::uint32_t, std::vector<protocol::decision_ptr>> decisions;
  for (auto& d : remains.decisions)
    decisions[protocol::partition_of(d->by.gang).value].push_back(std::move(d));
  for (const auto& where : founding_->all()) {
    persistence::recovered_role left{std::move(remains.roles[where]), {}, {}};
    if (where.kind == protocol::role_kind::partition) {
      left.decisions = std::move(decisions[where.index]);
      left.epoch = remains.partition_epochs[where.index];
    }
    if (auto ok = supervisor_->found(where, std::move(left)); !ok)
      return ok.error();
    if (keeps_checkpoints(where))
      checkpointed_.push_back(where);
  }
  routes_.put(protocol::to(protocol::role_kind::admin),
              engine_->system->spawn(admin_actor, desk_.get()));
  return {};
}

void scheduler::tick() {
  std::unique_lock lock{mutex_};
  for (int ticks = 1; !wake_.wait_for(lock, tick_interval, [this] { return is_ending_; }); ++ticks)
    for (const auto& c : checkpointed_)
      if (c.kind != protocol::role_kind::shard || ticks % ticks_per_shard_checkpoint == 0)
        routes_.post(c, make_mail(checkpoint_due{false}));
}

void scheduler::stop() {
  if (is_stopped_.exchange(true))
    return;
  {
    std::lock_guard lock{mutex_};
    is_ending_ = true;
  }
  wake_.notify_all();
  if (ticker_.joinable())
    ticker_.join();
  if (supervisor_)
    supervisor_->rest();
  if (!has_failed_)
    write_last_checkpoints();
  around_.store.close();
  if (supervisor_)
    supervisor_->end_all();
  for (const auto& who : routes_.all())
    caf::anon_send_exit(who, caf::exit_reason::kill);
  engine_->system->await_all_actors_done();
  routes_.clear();
}

void scheduler::write_last_checkpoints() {
  for (const auto& c : checkpointed_)
    routes_.post(c, make_mail(checkpoint_due{true}));
  const auto patience = std::chrono::steady_clock::now() + last_checkpoint_patience;
  auto is_there = [this](const auto& c) { return routes_.find(c) != nullptr; };
  while (!has_failed_ && std::any_of(checkpointed_.begin(), checkpointed_.end(), is_there)
         && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(5ms);
}

} // namespace tutti::actors
