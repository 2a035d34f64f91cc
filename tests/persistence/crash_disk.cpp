// Two views of one disk: what is read now, and what a power cut leaves.
#include "tests/persistence/crash_disk.hpp"

#include <algorithm>
#include <utility>

namespace tutti::persistence::testing {

using rocksdb::IOStatus;

namespace {

IOStatus no_power() {
  return IOStatus::IOError("no power");
}

/// "/a//b/" is "/a/b".
std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name)
    if (c != '/' || out.empty() || out.back() != '/')
      out += c;
  if (out.size() > 1 && out.back() == '/')
    out.pop_back();
  return out;
}

/// What a power cut makes of one file: the synced part, and of the rest a part that may be spoiled.
/// True if it is.
bool tear(disk_file& x, base::random_stream& random) {
  const auto unsynced = x.bytes.size() - x.synced;
  const auto kept = random.chance(1, 4)   ? 0
                    : random.chance(1, 3) ? unsynced
                                          : random.below(unsynced + 1);
  x.bytes.resize(x.synced + kept);
  const bool is_spoiled = kept > 0 && random.chance(1, 2);
  if (is_spoiled) {
    const auto spoiled = random.between(1, static_cast<std::int64_t>(kept));
    const auto from = x.bytes.size() - static_cast<std::size_t>(spoiled);
    switch (random.below(3)) {
    case 0: // blocks were given out and not yet written
      std::fill(x.bytes.begin() + static_cast<std::ptrdiff_t>(from), x.bytes.end(), '\0');
      break;
    case 1: // what was there before
      for (auto i = from; i < x.bytes.size(); ++i)
        x.bytes[i] = static_cast<char>(random.below(256));
      break;
    default:
      x.bytes[from] = static_cast<char>(x.bytes[from] ^ (1 << random.below(8)));
    }
  }
  for (std::size_t i = 0; i < x.lost_from.size(); ++i)
    for (auto at = x.lost_from[i]; at < std::min(x.lost_to[i], x.bytes.size()); ++at)
      x.bytes[at] = '\0';
  x.synced = x.bytes.size();
  x.marks.clear();
  x.lost_from.clear();
  x.lost_to.clear();
  return is_spoiled;
}

} // namespace

// ---------------------------------------------------------------- what befalls it

void crash_disk::cut_power_after(std::uint64_t n, bool lands) {
  const std::lock_guard lock{mutex_};
  dies_at_ = changes_ + n;
  last_lands_ = lands;
}

bool crash_disk::has_power() const {
  const std::lock_guard lock{mutex_};
  return !is_dead_;
}

void crash_disk::restart(base::random_stream& random) {
  const std::lock_guard lock{mutex_};
  const auto survive = random.below(unsynced_.size() + 1);
  for (std::size_t i = 0; i < survive; ++i)
    unsynced_[i](durable_names_);
  unsynced_.clear();
  names_ = durable_names_;
  spoiled_.clear();
  for (auto& [name, x] : names_)
    if (tear(*x, random))
      spoiled_.insert(name);
  locks_.clear();
  is_dead_ = false;
  dies_at_ = 0;
  syncs_to_failure_ = 0;
}

void crash_disk::fail_sync_after(std::uint64_t n) {
  const std::lock_guard lock{mutex_};
  syncs_to_failure_ = n;
}

void crash_disk::fail_log_syncs(bool yes) {
  const std::lock_guard lock{mutex_};
  fails_log_syncs_ = yes;
}

void crash_disk::leave_free(std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  capacity_ = used_now() + bytes;
}

void crash_disk::leave_all_free() {
  const std::lock_guard lock{mutex_};
  capacity_.reset();
}

// ---------------------------------------------------------------- what is seen of it

std::uint64_t crash_disk::changes() const {
  const std::lock_guard lock{mutex_};
  return changes_;
}

std::uint64_t crash_disk::log_syncs() const {
  const std::lock_guard lock{mutex_};
  return log_syncs_;
}

std::uint64_t crash_disk::used() const {
  const std::lock_guard lock{mutex_};
  return used_now();
}

std::uint64_t crash_disk::used_now() const {
  std::uint64_t sum = 0;
  for (const auto& [name, x] : names_)
    sum += x->bytes.size();
  return sum;
}

std::vector<std::string> crash_disk::names(const std::string& ending) const {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> out;
  for (const auto& [name, x] : names_)
    if (name.ends_with(ending))
      out.push_back(name);
  return out;
}

disk_file crash_disk::file(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  return *names_.at(plain(name));
}

bool crash_disk::has_spoiled_one_of(const std::string& names) const {
  const std::lock_guard lock{mutex_};
  return std::any_of(spoiled_.begin(), spoiled_.end(), [&](const std::string& name) {
    return names.find(name) != std::string::npos;
  });
}

void crash_disk::forget_spoiled() {
  const std::lock_guard lock{mutex_};
  spoiled_.clear();
}

void crash_disk::flip_byte(const std::string& name, std::size_t at) {
  const std::lock_guard lock{mutex_};
  auto& byte = names_.at(plain(name))->bytes.at(at);
  byte = static_cast<char>(byte ^ 0x5a);
}

// ---------------------------------------------------------------- what RocksDB does to it

IOStatus crash_disk::allow(bool& may_land) {
  may_land = !is_dead_;
  if (is_dead_)
    return no_power();
  if (++changes_ != dies_at_)
    return {};
  is_dead_ = true;
  may_land = last_lands_;
  return no_power();
}

IOStatus crash_disk::change_names(change what) {
  bool may_land = true;
  auto s = allow(may_land);
  if (may_land) {
    what(names_);
    unsynced_.push_back(std::move(what));
  }
  return s;
}

IOStatus crash_disk::create(const std::string& name, file_ptr& out) {
  const std::lock_guard lock{mutex_};
  out = std::make_shared<disk_file>();
  return change_names([name = plain(name), x = out](names_map& in) { in[name] = x; });
}

IOStatus crash_disk::append(disk_file& to, std::string_view bytes) {
  const std::lock_guard lock{mutex_};
  bool may_land = true;
  auto s = allow(may_land);
  if (s.ok() && capacity_ && used_now() + bytes.size() > *capacity_)
    return IOStatus::NoSpace("no space left on the disk");
  if (may_land)
    to.bytes += bytes;
  return s;
}

IOStatus crash_disk::truncate(disk_file& x, std::size_t size) {
  const std::lock_guard lock{mutex_};
  bool may_land = true;
  auto s = allow(may_land);
  if (may_land && size < x.bytes.size()) {
    x.bytes.resize(size);
    x.synced = std::min(x.synced, size);
  }
  return s;
}

IOStatus crash_disk::sync(disk_file& x, bool is_log) {
  const std::lock_guard lock{mutex_};
  bool may_land = true;
  auto s = allow(may_land);
  log_syncs_ += is_log ? 1 : 0;
  const bool fails =
      s.ok()
      && ((syncs_to_failure_ > 0 && --syncs_to_failure_ == 0) || (is_log && fails_log_syncs_));
  if (fails) {
    x.lost_from.push_back(x.synced);
    x.lost_to.push_back(x.bytes.size());
    return IOStatus::IOError("sync failed");
  }
  if (may_land && x.synced < x.bytes.size()) {
    x.synced = x.bytes.size();
    x.marks.push_back(x.synced);
  }
  return s;
}

IOStatus crash_disk::sync_names() {
  const std::lock_guard lock{mutex_};
  bool may_land = true;
  auto s = allow(may_land);
  if (may_land) {
    for (const auto& c : std::exchange(unsynced_, {}))
      c(durable_names_);
  }
  return s;
}

IOStatus crash_disk::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock{mutex_};
  if (!names_.contains(plain(from)))
    return IOStatus::NotFound(from);
  return change_names(
      [from = plain(from), to = plain(to), x = names_.at(plain(from))](names_map& in) {
        in.erase(from);
        in[to] = x;
      });
}

IOStatus crash_disk::link(const std::string& from, const std::string& to) {
  const std::lock_guard lock{mutex_};
  if (!names_.contains(plain(from)))
    return IOStatus::NotFound(from);
  return change_names([to = plain(to), x = names_.at(plain(from))](names_map& in) { in[to] = x; });
}

IOStatus crash_disk::remove(const std::string& name) {
  const std::lock_guard lock{mutex_};
  if (!names_.contains(plain(name)))
    return IOStatus::NotFound(name);
  return change_names([name = plain(name)](names_map& in) { in.erase(name); });
}

void crash_disk::make_directory(const std::string& name) {
  const std::lock_guard lock{mutex_};
  directories_.insert(plain(name));
}

bool crash_disk::is_directory(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  return directories_.contains(plain(name));
}

file_ptr crash_disk::find(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto pos = names_.find(plain(name));
  return pos == names_.end() ? nullptr : pos->second;
}

std::optional<std::vector<std::string>> crash_disk::children(const std::string& directory) const {
  const std::lock_guard lock{mutex_};
  const auto above = plain(directory);
  if (!directories_.contains(above))
    return std::nullopt;
  std::vector<std::string> out;
  const auto add = [&](const std::string& name) {
    const auto split = name.rfind('/');
    if (split != std::string::npos && name.substr(0, split) == above)
      out.push_back(name.substr(split + 1));
  };
  for (const auto& [name, x] : names_)
    add(name);
  for (const auto& name : directories_)
    add(name);
  return out;
}

std::string crash_disk::read(const disk_file& x, std::uint64_t from, std::size_t n) const {
  const std::lock_guard lock{mutex_};
  return from >= x.bytes.size() ? std::string{} : x.bytes.substr(from, n);
}

std::size_t crash_disk::size(const disk_file& x) const {
  const std::lock_guard lock{mutex_};
  return x.bytes.size();
}

std::uint64_t crash_disk::free() const {
  const std::lock_guard lock{mutex_};
  return capacity_ ? *capacity_ - std::min(*capacity_, used_now()) : UINT64_MAX;
}

bool crash_disk::lock(const std::string& name) {
  const std::lock_guard lock{mutex_};
  return locks_.insert(plain(name)).second;
}

void crash_disk::unlock(const std::string& name) {
  const std::lock_guard lock{mutex_};
  locks_.erase(plain(name));
}

} // namespace tutti::persistence::testing
