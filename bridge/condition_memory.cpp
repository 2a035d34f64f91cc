// Slots in a row, found by digest, in the order of their last use.
#include "bridge/condition_memory.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "api/timestamp.hpp"
#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::bridge {
namespace {

/// Nothing if `text` is not how we would write this number.
std::optional<std::uint64_t> short_version(std::string_view text) {
  std::uint64_t n = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool is_whole = failed == std::errc{} && end == text.data() + text.size();
  return is_whole && std::to_string(n) == text ? std::optional{n} : std::nullopt;
}

/// Nothing if `text` is not how we would write this time.
std::optional<std::int64_t> short_time(const std::string& text) {
  const auto t = api::parse_timestamp(text);
  return t && api::timestamp_text(*t) == text ? std::optional{t->unix_ms / 1000} : std::nullopt;
}

} // namespace

/// Two chains over the same words, mixed differently: who meets in one does not meet in the other.
digest digest_of(std::initializer_list<std::string_view> texts) {
  digest d{0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL};
  const auto add = [&d](std::uint64_t word) {
    d.a = base::mix(d.a ^ word);
    d.b = base::mix(std::rotl(d.b, 23) + word * 0x9e3779b97f4a7c15ULL);
  };
  for (auto text : texts) {
    add(text.size());
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(std::uint64_t)))) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
      add(word);
    }
  }
  return d;
}

void condition_memory::keep(const digest& key, const known_condition& what) {
  forget(key);
  const auto version = short_version(what.resource_version);
  const auto since = what.since.empty() ? std::optional{std::int64_t{0}} : short_time(what.since);
  if (!version || !since || limit_ == 0)
    return;
  if (index_.size() >= limit_)
    drop(oldest_);
  if (free_.empty()) {
    ensure(slots_.size() < nowhere, slots_.size());
    free_.push_back(static_cast<place>(slots_.size()));
    slots_.emplace_back();
  }
  const auto x = free_.back();
  free_.pop_back();
  slots_[x] = {.key = key,
               .words = what.words,
               .since_s = *since,
               .version = *version,
               .has_since = !what.since.empty(),
               .is_there = what.is_there,
               .status = what.status,
               .is_bound = what.is_bound};
  index_.insert(x);
  link(x);
}

std::optional<known_condition> condition_memory::look(const digest& key) {
  const auto pos = index_.find(key);
  if (pos == index_.end())
    return std::nullopt;
  unlink(*pos);
  link(*pos);
  const auto& s = slots_[*pos];
  return known_condition{.is_there = s.is_there,
                         .status = s.status,
                         .is_bound = s.is_bound,
                         .words = s.words,
                         .since =
                             s.has_since ? api::timestamp_text({s.since_s * 1000}) : std::string{},
                         .resource_version = std::to_string(s.version)};
}

void condition_memory::forget(const digest& key) {
  if (const auto pos = index_.find(key); pos != index_.end())
    drop(*pos);
}

void condition_memory::drop(place x) {
  ensure(x != nowhere);
  index_.erase(x);
  unlink(x);
  free_.push_back(x);
}

void condition_memory::link(place x) {
  slots_[x].newer = nowhere;
  slots_[x].older = newest_;
  (newest_ == nowhere ? oldest_ : slots_[newest_].newer) = x;
  newest_ = x;
}

void condition_memory::unlink(place x) {
  const auto& s = slots_[x];
  (s.newer == nowhere ? newest_ : slots_[s.newer].older) = s.older;
  (s.older == nowhere ? oldest_ : slots_[s.older].newer) = s.newer;
}

} // namespace tutti::bridge
