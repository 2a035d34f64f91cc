#include "chaos/small/log.hpp"

#include <map>
#include <string>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "persistence/opening.hpp"

namespace tutti::chaos::small {

using persistence::batch;
using persistence::family;

namespace {

persistence::recovered read(const persistence::disk& on) {
  persistence::recovery reading;
  for (auto where : persistence::recovery::reading_order)
    for (const auto& [key, value] : on.of(where)) {
      const auto ok = reading.take(where, key, value);
      ensure(ok.has_value(), ok.error().message());
    }
  auto found = reading.finish();
  ensure(found.has_value(), found.error().message());
  return std::move(*found);
}

std::uint64_t hash_of(const persistence::disk& x) {
  using base::hash_combine;
  using base::hash_of;
  std::uint64_t h = 0;
  const auto add = [&h](std::uint64_t more) { h = hash_combine(h, more); };
  for (const auto& [key, value] : x.of(family::meta))
    if (key == persistence::meta_key::tail)
      add(persistence::read_tail(value)->incarnation.value);
    else
      add(hash_combine(hash_of(key), hash_of(value)));
  for (const auto& [key, value] : x.of(family::decisions))
    add(hash_combine(hash_of(key), hash_of(value)));
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> roles; // applied, hash
  for (const auto& [key, value] : x.of(family::checkpoint)) {
    const auto f = persistence::open_frame(family::checkpoint, key, value);
    roles[key] = {f->number, hash_of(f->payload)};
  }
  for (const auto& [key, value] : x.of(family::journal)) {
    const auto f = persistence::open_frame(family::journal, key, value);
    auto& [applied, of_role] = roles[f->writer];
    if (f->number > applied)
      of_role = hash_combine(of_role, hash_of(f->payload));
  }
  for (const auto& [writer, of] : roles)
    add(hash_combine(hash_of(writer), of.second));
  return h;
}

} // namespace

log::log(persistence::disk on) : first_(on), durable_(std::move(on)), book_({}) {
  auto what = read(durable_);
  auto who = persistence::settle_identity(what, {{}, 2});
  ensure(who.has_value(), who.error().message());
  found_ = std::move(what.left);
  book_ = persistence::book{std::move(what.all)};
  batch first;
  book_.set_identity(std::move(*who), first);
  book_.begin_life(first);
  write(first);
  rehash();
}

base::result<persistence::outcome> log::submit(const persistence::request& what) {
  if (const auto* r = std::get_if<persistence::recover_request>(&what))
    return persistence::outcome{recover(r->writer)};
  batch b;
  auto answer = book_.answer(what, b);
  if (answer)
    write(b);
  rehash();
  return answer;
}

void log::write(batch& b) {
  if (!book_.seal(b))
    return;
  const bool synced = b.synced;
  const auto number = b.number;
  unsynced_.push_back(std::move(b));
  if (!synced)
    return;
  for (const auto& each : unsynced_)
    durable_.apply(each);
  unsynced_.clear();
  book_.was_synced(number);
}

persistence::disk log::crash(std::size_t kept) const {
  ensure(kept <= unsynced_.size(), kept, unsynced_.size());
  auto image = durable_;
  for (std::size_t n = 0; n < kept; ++n)
    image.apply(unsynced_[n]);
  return image;
}

persistence::recovered_role log::recover(const protocol::address& writer) const {
  const auto image = crash(unsynced_.size());
  auto found = persistence::recover_role(
      book_.all(), writer,
      [&](family where, const std::string& key) -> base::result<std::optional<std::string>> {
        const auto pos = image.of(where).find(key);
        return pos == image.of(where).end() ? std::nullopt : std::optional{pos->second};
      });
  ensure(found.has_value(), found.error().message());
  return std::move(*found);
}

void log::rehash() {
  hash_ = hash_of(durable_);
  if (!unsynced_.empty())
    hash_ = base::hash_combine(hash_, hash_of(crash(unsynced_.size())));
  hash_ = base::hash_combine(hash_, unsynced_.size());
  for (const auto& [where, role] : book_.all().roles)
    hash_ = base::hash_combine(
        hash_, base::hash_combine(std::hash<protocol::address>{}(where), role.lowest.value));
}

} // namespace tutti::chaos::small
