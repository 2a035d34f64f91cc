// A disk that is a map: what was synced, and what the next power cut takes.
#include "persistence/memory_store.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "persistence/opening.hpp"

namespace tutti::persistence {

using base::code;
using base::error;

namespace {

bool overtakes(const request& x) {
  return base::is_planted(base::mutant::batch_overtakes_release)
         && std::holds_alternative<decide_request>(x);
}

} // namespace

void disk::apply(const batch& b) {
  for (const auto& p : b.puts)
    of(p.where).insert_or_assign(p.key, p.value);
  for (const auto& [where, key] : b.removals)
    of(where).erase(key);
  if (b.has_cut()) {
    auto& journal = of(family::journal);
    journal.erase(journal.lower_bound(journal_key(b.cut_from)),
                  journal.lower_bound(journal_key(b.cut_below)));
  }
}

base::result<std::unique_ptr<memory_store>> memory_store::open(disk on, memory_options how) {
  space_gauge gauge{how.reserve};
  if (const auto seen = gauge.look(how.free_bytes ? how.free_bytes() : UINT64_MAX); seen.has_none())
    return full_error(seen);
  recovery reading;
  for (auto where : recovery::reading_order)
    for (const auto& [key, value] : on.of(where))
      if (auto ok = reading.take(where, key, value); !ok)
        return ok.error();
  auto found = reading.finish();
  if (!found)
    return found.error();
  auto who = settle_identity(*found, {how.cluster_uid, how.shards});
  if (!who)
    return who.error();
  std::unique_ptr<memory_store> made{
      new memory_store(std::move(on), std::move(*found), std::move(how))};
  batch first;
  made->book_.set_identity(std::move(*who), first);
  made->book_.begin_life(first);
  if (auto ok = made->write(first); !ok)
    return ok.error();
  return made;
}

memory_store::memory_store(disk on, recovered from, memory_options how)
    : durable_(std::move(on)), free_bytes_(std::move(how.free_bytes)), gauge_(how.reserve),
      book_(std::move(from.all)), remains_(std::move(from.left)) {}

memory_store::~memory_store() {
  close();
}

remains memory_store::take_remains() {
  ensure(!std::exchange(has_taken_remains_, true), book_.all().ends.batch);
  return std::move(remains_);
}

void memory_store::submit(request what, completion done) {
  {
    const std::lock_guard lock{mutex_};
    const bool is_early = (base::is_planted(base::mutant::read_log_before_queue)
                           && std::holds_alternative<recover_request>(what))
                          || overtakes(what);
    if (!is_dead_) {
      queue_.insert(is_early ? queue_.begin() : queue_.end(), {std::move(what), std::move(done)});
      return;
    }
  }
  done(closed_error());
}

identity memory_store::who() const {
  return book_.who();
}

base::result<void> memory_store::claim(const std::string& cluster_uid) {
  if (is_dead_)
    return closed_error();
  auto who = claimed_identity(book_.who(), cluster_uid);
  if (!who)
    return who.error();
  if (*who == book_.who())
    return {};
  if (const auto seen = look_at_disk(); seen.has_none())
    return full_error(seen);
  batch b;
  book_.set_identity(std::move(*who), b);
  return write(b);
}

disk_space memory_store::look_at_disk() {
  return gauge_.look(free_bytes_ ? free_bytes_() : UINT64_MAX);
}

store::counters memory_store::counted() const {
  return counted_;
}

void memory_store::close() {
  if (is_dead_)
    return;
  run_all();
  // F9: what the disk could not take is refused, and was never in the book.
  for (auto group = take_group(SIZE_MAX); !group.empty(); group = take_group(SIZE_MAX))
    for (auto& e : group)
      e.done(full_error(look_at_disk()));
  // An orderly end leaves nothing unsynced behind.
  for (const auto& each : unsynced_)
    if (!is_broken_)
      make_durable(each);
  unsynced_.clear();
  const std::lock_guard lock{mutex_};
  is_dead_ = true;
}

bool memory_store::run_one() {
  if (look_at_disk().has_none())
    return false;
  auto group = take_group(1);
  if (group.empty())
    return false;
  run_group(std::move(group));
  return true;
}

void memory_store::run_all() {
  while (!look_at_disk().has_none()) {
    auto group = take_group(SIZE_MAX);
    if (group.empty())
      return;
    run_group(std::move(group));
  }
}

std::size_t memory_store::queued() const {
  const std::lock_guard lock{mutex_};
  return queue_.size();
}

std::size_t memory_store::at_risk() const {
  return unsynced_.size() + queued();
}

disk memory_store::crash(std::size_t kept) {
  std::deque<entry> lost;
  {
    const std::lock_guard lock{mutex_};
    is_dead_ = true;
    lost.swap(queue_); // nobody runs it any more
  }
  auto image = durable_;
  for (std::size_t i = 0; i < std::min(kept, unsynced_.size()); ++i)
    image.apply(unsynced_[i]);
  const bool can_write = !is_broken_ && !look_at_disk().has_none();
  // What nobody was told of may have reached the disk all the same, one write after the other.
  const auto more = kept - std::min(kept, unsynced_.size());
  for (std::size_t i = 0; i < std::min(more, lost.size()) && can_write; ++i) {
    batch b;
    if (!std::holds_alternative<recover_request>(lost[i].what) && book_.answer(lost[i].what, b)
        && book_.seal(b))
      image.apply(b);
  }
  return image;
}

void memory_store::fail(failure how) {
  fails_next_ = true;
  how_it_fails_ = how;
}

std::vector<memory_store::entry> memory_store::take_group(std::size_t most) {
  const std::lock_guard lock{mutex_};
  auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(most, queue_.size()));
  // A request that reads what was written comes first in a group, which then has no other.
  const auto reads = [](const entry& e) { return std::holds_alternative<recover_request>(e.what); };
  if (queue_.begin() != end && (reads(queue_.front()) || overtakes(queue_.front().what)))
    end = queue_.begin() + 1;
  else
    end = std::find_if(queue_.begin(), end, reads);
  std::vector<entry> group{std::make_move_iterator(queue_.begin()), std::make_move_iterator(end)};
  queue_.erase(queue_.begin(), end);
  return group;
}

void memory_store::run_group(std::vector<entry> group) {
  if (!group.empty())
    if (const auto* r = std::get_if<recover_request>(&group.front().what)) {
      group.front().done(is_broken_ ? base::result<outcome>{broken_error()} : read(*r));
      return;
    }
  std::vector<base::result<outcome>> answers;
  answers.reserve(group.size());
  batch b;
  for (const auto& e : group)
    answers.push_back(is_broken_ ? broken_error() : book_.answer(e.what, b));
  const auto written = is_broken_ ? base::result<void>{} : write(b);
  for (std::size_t i = 0; i < group.size(); ++i)
    group[i].done(written ? std::move(answers[i]) : base::result<outcome>{written.error()});
}

base::result<outcome> memory_store::read(const recover_request& x) const {
  auto image = durable_;
  for (const auto& each : unsynced_)
    image.apply(each);
  auto found = recover_role(
      book_.all(), x.writer,
      [&](family where, const std::string& key) -> base::result<std::optional<std::string>> {
        const auto pos = image.of(where).find(key);
        return pos == image.of(where).end() ? std::nullopt : std::optional{pos->second};
      });
  if (!found)
    return found.error();
  return outcome{std::move(*found)};
}

void memory_store::make_durable(const batch& b) {
  durable_.apply(b);
  if (hear_durable_)
    hear_durable_(b);
}

base::result<void> memory_store::write(batch& b) {
  if (is_broken_)
    return broken_error();
  if (!book_.seal(b))
    return {};
  if (fails_next_) {
    is_broken_ = true;
    if (how_it_fails_ == failure::sync_fails)
      unsynced_.push_back(std::move(b));
    return broken_error();
  }
  counted_.records += b.records;
  for (const auto& p : b.puts)
    counted_.bytes += p.key.size() + p.value.size();
  const bool synced = b.synced;
  const auto number = b.number;
  unsynced_.push_back(std::move(b));
  if (synced) {
    ++counted_.syncs;
    for (const auto& each : unsynced_)
      make_durable(each);
    unsynced_.clear();
    book_.was_synced(number);
  }
  return {};
}

} // namespace tutti::persistence
