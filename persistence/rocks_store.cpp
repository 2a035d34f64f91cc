// The writer thread: takes what is queued, writes it as one batch, answers in order.
#include "persistence/rocks_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include <pthread.h>

#include "base/ensure.hpp"
#include "base/fault_point.hpp"
#include "persistence/book.hpp"
#include "persistence/free_bytes.hpp"
#include "persistence/opening.hpp"
#include "persistence/recovery.hpp"
#include "persistence/rocks_database.hpp"

namespace tutti::persistence {
namespace {

using base::error;

/// Requests that share one write: more would let the first wait for the encoding of the last.
constexpr std::size_t group_requests_max = 1024;

/// Passes the crash points that lie inside a write: everything is made, nothing is on the disk.
void pass_faults_before_write(const std::vector<request>& group) {
  for (const auto& r : group) {
    const auto* a = std::get_if<append_request>(&r);
    if (a != nullptr && std::holds_alternative<protocol::prepared_record>(a->what))
      base::pass_fault("P0");
    if (std::holds_alternative<decide_request>(r))
      base::pass_fault("C3");
    if (std::holds_alternative<checkpoint_request>(r))
      base::pass_fault("P8");
  }
}

/// A request that reads what was written, and is therefore a group of its own.
bool is_read(const request& x) {
  const auto* check = std::get_if<check_request>(&x);
  return std::holds_alternative<recover_request>(x)
         || (check != nullptr && check->what == check_request::part::decision_log);
}

/// One writer thread owns book and database; everyone else only puts requests into the queue.
class rocks_store final : public store {
public:
  rocks_store(std::unique_ptr<rocks_database> db, recovered from, const rocks_options& how)
      : db_(std::move(db)), env_(how.env), gauge_(how.reserve), book_(std::move(from.all)),
        remains_(std::move(from.left)) {}
  ~rocks_store() override { close(); }

  /// Writes identity and new life; then the thread starts.
  base::result<void> begin(identity who) {
    batch b;
    book_.set_identity(std::move(who), b);
    book_.begin_life(b);
    if (auto ok = write(b); !ok)
      return ok.error();
    shown_ = book_.who();
    thread_ = std::thread{[this] { run(); }};
    ::pthread_setname_np(thread_.native_handle(), "store");
    return {};
  }

  remains take_remains() override {
    ensure(!has_taken_remains_.exchange(true), db_->path());
    return std::move(remains_);
  }

  void submit(request what, completion done) override {
    {
      const std::lock_guard lock{mutex_};
      if (!is_closing_) {
        queue_.push_back({std::move(what), std::move(done)});
        wake_.notify_one();
        return;
      }
    }
    done(closed_error());
  }

  identity who() const override {
    const std::lock_guard lock{mutex_};
    return shown_;
  }

  base::result<void> claim(const std::string& cluster_uid) override {
    std::promise<base::result<void>> promise;
    auto answer = promise.get_future();
    {
      const std::lock_guard lock{mutex_};
      if (is_closing_)
        return closed_error();
      claims_.push_back({cluster_uid, &promise});
      wake_.notify_one();
    }
    return answer.get();
  }

  disk_space look_at_disk() override { return gauge_.look(free_bytes_at(db_->path(), env_)); }

  counters counted() const override { return {syncs_, records_, bytes_}; }

  void close() override {
    {
      const std::lock_guard lock{mutex_};
      is_closing_ = true;
      wake_.notify_one();
    }
    if (thread_.joinable())
      thread_.join();
  }

private:
  struct pending_claim {
    std::string cluster_uid;
    std::promise<base::result<void>>* answer;
  };
  struct group {
    std::vector<request> what;
    std::vector<completion> done;
  };

  void run();
  bool wait_for_work(group& g, std::vector<pending_claim>& claims);
  void wait_for_space(std::unique_lock<std::mutex>& lock);
  void run_group(group g);
  base::result<outcome> read(const recover_request& x);
  base::result<outcome> read_any_decision();
  base::result<void> run_claim(const std::string& cluster_uid);
  void say_synced();
  base::result<void> write(batch& b);

  base::result<void> may_write() const;

  std::unique_ptr<rocks_database> db_; // writer thread, once it runs; its path: any
  rocksdb::Env* const env_;
  space_gauge gauge_;
  disk_space seen_; // writer thread: before the group at hand
  book book_;       // writer thread, once it runs
  remains remains_;
  std::atomic<bool> has_taken_remains_ = false;
  error broken_; // writer thread; code ok = it is not

  std::atomic<std::uint64_t> syncs_ = 0;
  std::atomic<std::uint64_t> records_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;

  struct entry {
    request what;
    completion done;
  };
  mutable std::mutex mutex_; // guards the members below
  std::condition_variable wake_;
  std::deque<entry> queue_;
  std::vector<pending_claim> claims_;
  identity shown_;
  bool is_closing_ = false;

  std::thread thread_;
};

void rocks_store::run() {
  group g;
  std::vector<pending_claim> claims;
  while (wait_for_work(g, claims)) {
    for (const auto& c : std::exchange(claims, {}))
      c.answer->set_value(run_claim(c.cluster_uid));
    if (!g.what.empty())
      run_group(std::exchange(g, {}));
  }
  if (broken_.what() == base::code::ok)
    db_->sync(); // an orderly end leaves nothing unsynced; if it fails, it is a crash like any
                 // other
}

/// False when there is nothing left to do and the store closes.
bool rocks_store::wait_for_work(group& g, std::vector<pending_claim>& claims) {
  std::unique_lock lock{mutex_};
  if (queue_.empty() && claims_.empty() && !is_closing_) {
    lock.unlock();
    say_synced();
    lock.lock();
  }
  wake_.wait(lock, [&] { return is_closing_ || !queue_.empty() || !claims_.empty(); });
  wait_for_space(lock);
  claims.swap(claims_);
  for (std::size_t n = 0; n < group_requests_max && !queue_.empty(); ++n) {
    if (n > 0 && (is_read(queue_.front().what) || is_read(g.what.front())))
      break;
    g.what.push_back(std::move(queue_.front().what));
    g.done.push_back(std::move(queue_.front().done));
    queue_.pop_front();
  }
  return !g.what.empty() || !claims.empty();
}

/// F9: nothing enters the book that the disk may not take. What is queued stays there until there
/// is space again, or the store is closed.
void rocks_store::wait_for_space(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    lock.unlock(); // others may submit while we look
    seen_ = look_at_disk();
    lock.lock();
    if (is_closing_ || !seen_.has_none())
      return;
    wake_.wait_for(lock, std::chrono::milliseconds{disk_look_interval_ms},
                   [this] { return is_closing_; });
  }
}

/// Of the group at hand.
base::result<void> rocks_store::may_write() const {
  if (broken_.what() != base::code::ok)
    return broken_;
  if (seen_.has_none())
    return full_error(seen_);
  return {};
}

void rocks_store::run_group(group g) {
  std::vector<base::result<outcome>> answers;
  answers.reserve(g.what.size());
  auto written = may_write();
  if (!written) {
    // nobody is answered with more than that
  } else if (const auto* asked = std::get_if<recover_request>(&g.what.front())) {
    answers.push_back(read(*asked));
  } else if (is_read(g.what.front())) {
    answers.push_back(read_any_decision());
  } else {
    batch b;
    for (const auto& r : g.what)
      answers.push_back(book_.answer(r, b));
    pass_faults_before_write(g.what);
    written = write(b);
  }
  for (std::size_t i = 0; i < g.done.size(); ++i)
    g.done[i](written ? std::move(answers[i]) : base::result<outcome>{written.error()});
}

base::result<outcome> rocks_store::read_any_decision() {
  const auto& kept = book_.all().decisions;
  const auto slot = kept.empty() ? base::slot_id{} : kept.begin()->first;
  auto found = db_->read(family::decisions, decision_key(slot));
  if (!found)
    return found.error();
  if (!kept.empty() && !*found)
    return error{base::code::corrupt, "a decision that was written is not there",
                 "restart the scheduler: it reads the whole store and says what is damaged"};
  return outcome{checked{}};
}

base::result<outcome> rocks_store::read(const recover_request& x) {
  auto found = recover_role(book_.all(), x.writer, [this](family where, const std::string& key) {
    return db_->read(where, key);
  });
  if (!found)
    return found.error();
  return outcome{std::move(*found)};
}

base::result<void> rocks_store::run_claim(const std::string& cluster_uid) {
  if (auto ok = may_write(); !ok)
    return ok;
  auto who = claimed_identity(book_.who(), cluster_uid);
  if (!who)
    return who.error();
  if (*who == book_.who())
    return {};
  batch b;
  book_.set_identity(*who, b);
  if (auto ok = write(b); !ok)
    return ok;
  const std::lock_guard lock{mutex_};
  shown_ = std::move(*who);
  return {};
}

/// While nothing else is to be done: the last sync is written down, so that a later damage of what
/// it covered is told from a torn tail. Costs no sync.
void rocks_store::say_synced() {
  batch b;
  if (!may_write() || look_at_disk().has_none() || !book_.say_synced(b))
    return;
  if (auto ok = db_->write(b); !ok)
    broken_ = broken_error(ok.error().message());
}

base::result<void> rocks_store::write(batch& b) {
  if (!book_.seal(b))
    return {};
  // F10: a failed sync is never retried and believed; the store is broken until it is opened anew.
  if (auto ok = db_->write(b); !ok) {
    broken_ = broken_error(ok.error().message());
    return broken_;
  }
  records_ += b.records;
  for (const auto& p : b.puts)
    bytes_ += p.key.size() + p.value.size();
  if (b.synced) {
    ++syncs_;
    book_.was_synced(b.number);
  }
  return {};
}

} // namespace

base::result<std::unique_ptr<store>> open_rocks_store(const rocks_options& how) {
  if (auto ok = rocks_database::prepare(how.path); !ok)
    return ok.error().in(how.path);
  space_gauge gauge{how.reserve};
  if (const auto seen = gauge.look(free_bytes_at(how.path, how.env)); seen.has_none())
    return full_error(seen).in(how.path);
  auto db = rocks_database::open(how.path, how.env, how.warn);
  if (!db)
    return db.error().in(how.path);
  auto found = (*db)->read_all();
  if (!found)
    return found.error().in(how.path);
  auto who = settle_identity(*found, {how.cluster_uid, how.shards});
  if (!who)
    return who.error().in(how.path);
  auto made = std::make_unique<rocks_store>(std::move(*db), std::move(*found), how);
  if (auto ok = made->begin(std::move(*who)); !ok)
    return ok.error().in(how.path);
  return std::unique_ptr<store>{std::move(made)};
}

} // namespace tutti::persistence
