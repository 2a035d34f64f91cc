#include "sim/world/process.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/replica.hpp"
#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::sim {

namespace {

/// Thrown through a role's actor whose process has just died: nothing after it is performed.
struct process_has_died {};

/// The time of a process: the world's, with a wall clock of its own.
class process_clock final : public base::clock {
public:
  process_clock(const timeline& time, const base::duration& offset)
      : time_(time), offset_(offset) {}
  base::time_point now() const override { return time_.now(); }
  base::wall_time wall_now() const override {
    return {time_.wall_now().unix_ms
            + std::chrono::duration_cast<std::chrono::milliseconds>(offset_).count()};
  }

private:
  const timeline& time_;
  const base::duration& offset_;
};

/// Wakes an actor whose role has stood still; no role hears it.
protocol::event nudge() {
  return protocol::received{protocol::to(protocol::role_kind::admin),
                            protocol::message{protocol::inspect{0, "nudge", {}}}};
}
bool is_nudge(const protocol::event& e) {
  const auto* r = std::get_if<protocol::received>(&e);
  const auto* asked = r ? std::get_if<protocol::inspect>(&r->what) : nullptr;
  return asked && asked->id == 0 && asked->what == "nudge";
}

/// As in production: a process that shall end has so long to do it in order.
constexpr auto stop_patience = std::chrono::seconds{3};
constexpr auto look_interval = std::chrono::milliseconds{5};

caf::actor_clock::time_point caf_time(base::time_point t) {
  return caf::actor_clock::time_point{
      std::chrono::duration_cast<caf::actor_clock::duration_type>(t.time_since_epoch())};
}

} // namespace

/// Puts every exchange of one life on the simulated network.
class process::carrier final : public actors::http_carrier {
public:
  carrier(api_node& api, const std::string& client) : api_(api), client_(client) {}

  void start(std::uint64_t id, protocol::http_request request,
             std::function<void(protocol::event)> tell) override {
    if (is_cut_)
      return;
    keys_[id] = api_.start(client_, id, std::move(request), std::move(tell));
  }
  void hang_up(std::uint64_t id) override {
    if (const auto pos = keys_.find(id); pos != keys_.end()) {
      api_.forget(pos->second);
      keys_.erase(pos);
    }
  }
  void cut() {
    is_cut_ = true;
    for (const auto& [id, key] : keys_)
      api_.forget(key);
    keys_.clear();
  }

private:
  api_node& api_;
  const std::string& client_;
  std::map<std::uint64_t, std::uint64_t> keys_; ///< of the process → of the network
  bool is_cut_ = false;
};

/// The process's end of the network to the others.
class process::link final : public actors::link_carrier {
public:
  link(network* links, const std::string& self) : links_(links), self_(self) {}
  void carry(const std::string& replica, std::string frame) override {
    links_->carry(self_, replica, std::move(frame));
  }

private:
  network* links_;
  const std::string& self_;
};

struct process::life {
  life(const process_parts& with, const std::string& name, const base::duration& offset)
      : clock(with.time, offset), http(with.api, name), links(with.links, name) {
    config.set("scheduler.policy", caf::atom("testing"));
    system = std::make_unique<caf::actor_system>(config);
    coordinator = dynamic_cast<caf::scheduler::test_coordinator*>(&system->scheduler());
    ensure(coordinator != nullptr, name);
    coordinator->clock().current_time = caf_time(with.time.now());
  }

  /// Every actor to its end; then timers that nobody waits for.
  void run_out() {
    while (coordinator->has_job())
      coordinator->run_once();
    coordinator->clock().cancel_all();
    while (coordinator->has_job())
      coordinator->run_once();
  }

  std::uint64_t number = 0;
  process_clock clock;
  std::unique_ptr<persistence::memory_store> store;
  carrier http;
  link links;
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  caf::scheduler::test_coordinator* coordinator = nullptr;
  std::unique_ptr<actors::replica> replica;
  bool is_syncing = false;
  bool is_over = false;           ///< nothing it does is seen any more
  std::optional<std::string> why; ///< it failed, or died at a fault point
};

/// Shows every step of a role to the world.
class process::watched_role final : public protocol::role {
public:
  watched_role(process& home, life& of, protocol::address where, protocol::role_ptr inner)
      : home_(home), life_(of), where_(std::move(where)), inner_(std::move(inner)) {
    home_.roles_[where_] = inner_.get();
  }
  ~watched_role() override {
    if (const auto pos = home_.roles_.find(where_);
        pos != home_.roles_.end() && pos->second == inner_.get())
      home_.roles_.erase(pos);
  }
  watched_role(const watched_role&) = delete;
  watched_role& operator=(const watched_role&) = delete;

  protocol::effects on(const protocol::event& e, base::time_point now) override {
    if (life_.is_over)
      return {};
    if (home_.still_.contains(where_)) {
      waiting_.push_back(e);
      return {};
    }
    if (waiting_.empty() && !home_.stop_rule_ && !is_nudge(e))
      return step(e, now);
    protocol::effects wanted;
    for (auto& earlier : std::exchange(waiting_, {}))
      wanted.add_all(step(earlier, now));
    if (is_nudge(e))
      return wanted;
    if (home_.stop_rule_ && home_.stop_rule_(where_, e)) {
      home_.still_.insert(where_);
      waiting_.push_back(e);
      return wanted;
    }
    wanted.add_all(step(e, now));
    return wanted;
  }
  std::string snapshot() const override { return inner_->snapshot(); }
  base::result<void> restore(std::string_view bytes) override { return inner_->restore(bytes); }
  std::uint64_t state_hash() const override { return inner_->state_hash(); }

private:
  protocol::effects step(const protocol::event& e, base::time_point now) {
    auto wanted = inner_->on(e, now);
    if (home_.with_.watches != nullptr)
      home_.with_.watches->stepped(home_, where_, e, wanted);
    return wanted;
  }

  process& home_;
  life& life_;
  const protocol::address where_;
  const protocol::role_ptr inner_;
  std::vector<protocol::event> waiting_; ///< while it stands still
};

process::process(std::string name, actors::scheduler_options how, process_parts with)
    : name_(std::move(name)), how_(std::move(how)), with_(with) {}

process::~process() {
  if (life_)
    end("the world ends");
}

base::result<void> process::start() {
  ensure(!life_, name_);
  auto opened = persistence::memory_store::open(
      disk_,
      {.shards = how_.shards, .cluster_uid = {}, .free_bytes = [this] { return free_bytes_; }});
  if (!opened)
    return opened.error();
  died_as_armed_ = false;
  still_.clear();
  life_ = std::make_unique<life>(with_, name_, wall_offset_);
  life_->number = ++lives_;
  life_->store = std::move(*opened);
  life_->store->on_durable([this](const persistence::batch& b) {
    if (with_.watches != nullptr)
      with_.watches->durable(*this, b);
  });
  auto& now = *life_;
  auto how = how_;
  if (disks_lost_ > 0)
    how.seed = base::hash_combine(how.seed, disks_lost_);
  now.replica = std::make_unique<actors::replica>(
      std::move(how),
      actors::surroundings{
          .system = *now.system,
          .store = *now.store,
          .http = &now.http,
          .links = with_.links != nullptr ? &now.links : nullptr,
          .clock = now.clock,
          .on_fatal = [&now](const base::error& e) { now.why = e.message(); },
          .wrap =
              [this, &now](const protocol::address& where, protocol::role_ptr role) {
                return std::make_unique<watched_role>(*this, now, where, std::move(role));
              },
          .pass_fault = [this](std::string_view id) { passed(id); }});
  if (auto ok = now.replica->recover(); !ok) {
    end(ok.error().message());
    return ok.error();
  }
  if (with_.watches != nullptr)
    with_.watches->began(*this);
  if (with_.links != nullptr)
    with_.links->listens(name_, [&now](const std::string& from, std::string_view frame) {
      if (!now.is_over)
        now.replica->hear(from, frame);
    });
  now.replica->begin();
  is_paused_ = false;
  tick();
  sync_soon();
  return {};
}

void process::crash(std::size_t kept) {
  if (!life_)
    return;
  disk_ = life_->store->crash(kept);
  end("crash");
}

void process::stop(std::function<void()> then) {
  ensure(life_ != nullptr && !is_stopping_, name_);
  is_stopping_ = true;
  life_->replica->rest();
  life_->replica->write_last_checkpoints();
  if (with_.links != nullptr)
    return end_when_settled(with_.time.now() + stop_patience, std::move(then));
  end_in_order();
  if (then)
    then();
}

/// What is handed over goes to the API server and back, as all else does in this world.
void process::end_when_settled(base::time_point latest, std::function<void()> then) {
  with_.time.after(look_interval,
                   [this, number = lives_, latest, then = std::move(then)]() mutable {
                     if (!life_ || lives_ != number)
                       return;
                     if (!life_->replica->is_settled() && with_.time.now() < latest)
                       return end_when_settled(latest, std::move(then));
                     end_in_order();
                     if (then)
                       then();
                   });
}

void process::end_in_order() {
  while (life_->coordinator->has_job() || life_->store->queued() > 0) {
    if (life_->coordinator->has_job())
      life_->coordinator->run_once();
    else if (life_->store->look_at_disk().has_none())
      break; // F9: the last checkpoints are not written
    else
      life_->store->run_all();
  }
  life_->store->close();
  disk_ = life_->store->durable();
  end("stop");
}

/// The disk is what the caller has made of it by now.
void process::end(std::string why) {
  life_->is_over = true;
  is_stopping_ = false;
  life_->http.cut();
  if (with_.links != nullptr)
    with_.links->is_down(name_);
  life_->replica->rest();
  if (armed_ && life_->why)
    armed_.reset();
  life_->replica->end_all();
  life_->run_out();
  life_->replica.reset();
  life_.reset();
  ensure(roles_.empty(), name_, roles_.size());
  if (with_.watches != nullptr)
    with_.watches->ended(*this, why);
}

void process::arm(std::string id, std::uint64_t times, std::size_t kept) {
  armed_ = armed_fault{std::move(id), times, kept};
}

void process::passed(std::string_view fault) {
  if (life_->is_over || !armed_ || armed_->id != fault || --armed_->times > 0)
    return;
  disk_ = life_->store->crash(armed_->kept);
  life_->is_over = true;
  life_->why = "died at " + armed_->id;
  died_as_armed_ = true;
  throw process_has_died{};
}

void process::go_on(const protocol::address& where) {
  if (still_.erase(where) > 0 && life_)
    life_->replica->routes().post(where, actors::make_mail(nudge()));
}

/// F10: a process whose store or role is broken ends, and finds on its disk what was synced.
bool process::bury() {
  if (!life_ || !life_->why)
    return false;
  auto why = *life_->why;
  if (!life_->is_over)
    disk_ = life_->store->crash(0);
  end(std::move(why));
  return true;
}

void process::lose_disk() {
  ensure(!life_, name_);
  disk_ = {};
  ++disks_lost_;
  if (with_.watches != nullptr)
    with_.watches->ended(*this, "disk lost");
}

bool process::kill(const protocol::address& where) {
  const auto who = life_ ? life_->replica->routes().find(where) : caf::actor{};
  if (!who)
    return false;
  caf::anon_send_exit(who, caf::exit_reason::unhandled_exception);
  return true;
}

persistence::memory_store& process::store() {
  ensure(life_ != nullptr, name_);
  return *life_->store;
}

actors::replica* process::replica() {
  return life_ ? life_->replica.get() : nullptr;
}

// ---------------------------------------------------------------- steps

std::size_t process::runnable() const {
  return life_ && !is_paused_ ? life_->coordinator->jobs.size() : 0;
}

void process::run(std::size_t n) {
  auto& jobs = life_->coordinator->jobs;
  ensure(n < jobs.size(), n, jobs.size());
  life_->coordinator->clock().current_time = caf_time(with_.time.now());
  if (n != 0)
    std::swap(jobs[0], jobs[n]);
  life_->coordinator->run_once();
  sync_soon();
}

std::optional<base::time_point> process::next_timer() const {
  if (!life_ || is_paused_)
    return std::nullopt;
  const auto& due = life_->coordinator->clock().schedule();
  if (due.empty())
    return std::nullopt;
  return base::time_point{
      std::chrono::duration_cast<base::duration>(due.begin()->first.time_since_epoch())};
}

void process::fire_timers() {
  if (!life_ || is_paused_)
    return;
  auto& clock = life_->coordinator->clock();
  const auto now = caf_time(with_.time.now());
  clock.current_time = std::max(clock.current_time, now);
  while (!clock.schedule().empty() && clock.schedule().begin()->first <= now)
    clock.trigger_timeout();
}

void process::tick() {
  with_.time.after(actors::tick_interval, [this, number = lives_] {
    if (!life_ || life_->number != number)
      return;
    if (!is_paused_)
      life_->replica->tick();
    tick();
  });
}

/// What is queued while a sync runs shares the next one.
void process::sync_soon() {
  if (!life_ || life_->is_over || life_->is_syncing || life_->store->queued() == 0)
    return;
  life_->is_syncing = true;
  const auto takes = draw(with_.chance.disk, with_.sync_least, with_.sync_most);
  const auto wait =
      life_->store->look_at_disk().has_none()
          ? base::duration{std::chrono::milliseconds{persistence::disk_look_interval_ms}}
          : base::duration{};
  with_.time.after(std::max({takes, slow_sync_, wait}), [this, number = life_->number] {
    if (!life_ || life_->number != number || life_->is_over)
      return;
    life_->is_syncing = false;
    if (!is_paused_)
      life_->store->run_all();
    sync_soon();
  });
}

// ---------------------------------------------------------------- looking

protocol::role* process::role(const protocol::address& where) const {
  const auto pos = roles_.find(where);
  return pos == roles_.end() ? nullptr : pos->second;
}

std::string process::inspect(const protocol::address& where, const std::string& what,
                             const std::string& name) const {
  auto* asked = role(where);
  if (asked == nullptr)
    return {};
  const auto said =
      asked->on(protocol::received{protocol::to(protocol::role_kind::admin),
                                   protocol::message{protocol::inspect{1, what, name}}},
                with_.time.now());
  for (const auto& e : said.list())
    if (const auto* s = std::get_if<protocol::send>(&e))
      if (const auto* answer = std::get_if<protocol::inspected>(&s->what))
        return answer->json;
  return {};
}

} // namespace tutti::sim
