// Brings a scheduler up from its store, ticks for its checkpoints, and stops it in order.
#include "actors/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <memory>
#include <utility>

#include <caf/all.hpp>
#include <malloc.h>

#include "actors/replica.hpp"
#include "base/ensure.hpp"

namespace tutti::actors {

namespace {

using namespace std::chrono_literals;

/// Time for the last checkpoints at a stop; the whole stop must stay below five seconds.
constexpr std::chrono::milliseconds last_checkpoint_patience = 3s;
constexpr auto look_interval = 5ms;
/// A tick in which the process computes longer is a busy one: something happens in the cluster.
constexpr auto busy_tick = std::chrono::nanoseconds{tick_interval} / 5;

/// More than that free at the end of a thread's arena is given back when it is freed; larger blocks
/// are mapped by themselves.
constexpr int heap_end_most = 2 << 20;

/// Of all threads, since the process began.
std::chrono::nanoseconds processor_time() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

/// glibc raises both limits with the largest block that was ever freed, up to 64 MiB, and
/// `malloc_trim` cuts the end of the main arena only: what a busy time left at the ends of the
/// others would stay for good.
void keep_heap_ends_short() {
  ::mallopt(M_TRIM_THRESHOLD, heap_end_most);
  ::mallopt(M_MMAP_THRESHOLD, heap_end_most);
}

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

scheduler::scheduler(scheduler_options how, persistence::store& store,
                     std::function<void(const base::error&)> on_fatal)
    : how_(std::move(how)), store_(store), on_fatal_(std::move(on_fatal)),
      engine_(std::make_unique<engine>(how_.threads)) {}

base::result<std::unique_ptr<scheduler>>
scheduler::start(scheduler_options how, persistence::store& store, http_carrier* http,
                 const base::clock& clock, std::function<void(const base::error&)> on_fatal,
                 link_carrier* links) {
  keep_heap_ends_short();
  std::unique_ptr<scheduler> self{new scheduler(std::move(how), store, std::move(on_fatal))};
  if (auto ok = self->recover(http, clock, links); !ok)
    return ok.error();
  self->replica_->begin();
  self->ticker_ = std::thread([raw = self.get()] { raw->tick(); });
  return self;
}

scheduler::~scheduler() {
  stop();
}

base::result<void> scheduler::recover(http_carrier* http, const base::clock& clock,
                                      link_carrier* links) {
  links_ = links;
  replica_ = std::make_unique<replica>(
      how_, surroundings{
                .system = *engine_->system,
                .store = store_,
                .http = http,
                .links = links,
                .clock = clock,
                .on_fatal =
                    [this](const base::error& e) {
                      if (!has_failed_.exchange(true) && !is_stopped_)
                        on_fatal_(e);
                    },
                .wrap = {},
                .pass_fault = {},
                .take_answer = [this](std::uint64_t id,
                                      std::string json) { desk_->answer(id, std::move(json)); }});
  desk_ = std::make_unique<admin_desk>(replica_->routes());
  return replica_->recover();
}

base::result<void> scheduler::check_store(persistence::check_request::part what,
                                          std::chrono::milliseconds patience) {
  if (const auto seen = disk(); seen.has_none())
    return persistence::full_error(seen); // the store would answer when there is space
  auto promised = std::make_shared<std::promise<base::result<void>>>();
  auto coming = promised->get_future();
  store_.submit(persistence::check_request{what},
                [promised](const base::result<persistence::outcome>& how) {
                  promised->set_value(how ? base::result<void>{} : base::result<void>{how.error()});
                });
  if (coming.wait_for(patience) == std::future_status::ready)
    return coming.get();
  return base::error{base::code::unavailable, "the store does not answer"};
}

void scheduler::hear(const std::string& from, std::string_view frame) {
  if (!is_stopped_)
    replica_->hear(from, frame);
}

std::vector<link_state> scheduler::links() const {
  return links_ != nullptr ? links_->states() : std::vector<link_state>{};
}

bool scheduler::free_gang(const base::gang_uid& gang) {
  return replica_->free_gang(gang);
}

const api_calls& scheduler::calls() const {
  return replica_->calls();
}

meter& scheduler::numbers() {
  return replica_->numbers();
}

recorder& scheduler::notes() {
  return replica_->notes();
}

router& scheduler::routes() {
  return replica_->routes();
}

persistence::store::counters scheduler::store_counters() const {
  return store_.counted();
}

void scheduler::tick() {
  std::unique_lock lock{mutex_};
  while (!wake_.wait_for(lock, tick_interval, [this] { return is_ending_; })) {
    replica_->tick();
    give_back_memory();
  }
}

/// The allocator keeps what a busy time needed, several times what is in use afterwards. It is
/// given back once per busy time, in the first quiet tick after it: nobody waits for the allocator
/// then.
void scheduler::give_back_memory() {
  const auto used = processor_time();
  const bool is_busy = used - std::exchange(time_used_, used) > busy_tick;
  if (is_busy)
    has_memory_to_give_ = true;
  else if (std::exchange(has_memory_to_give_, false))
    ::malloc_trim(0);
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
  if (replica_) {
    replica_->rest();
    if (!has_failed_ && !disk().has_none()) // F9: a full disk takes none
      write_last_checkpoints();
  }
  store_.close();
  if (replica_) {
    replica_->end_all();
    engine_->system->await_all_actors_done();
    replica_->routes().clear();
  }
}

void scheduler::write_last_checkpoints() {
  replica_->write_last_checkpoints();
  for (auto looks = last_checkpoint_patience / look_interval;
       looks > 0 && !has_failed_ && !replica_->is_settled(); --looks)
    std::this_thread::sleep_for(look_interval);
}

} // namespace tutti::actors
