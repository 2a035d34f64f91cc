#include "chaos/checker.hpp"

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "persistence/book.hpp"

namespace tutti::chaos {

checker::checker(sim::world& on, options how)
    : on_(on), how_(std::move(how)), truth_(how_.scheduler) {}

/// The first one counts: what follows it may be its consequence.
void checker::say(std::string_view id, std::string what) {
  ensure(find_invariant(id) != nullptr, id);
  if (!broken_)
    broken_ = violation{std::string{id}, on_.time().now(), std::move(what)};
}

/// Counts a look; false once something is broken.
bool checker::look(std::string_view id) {
  if (broken_)
    return false;
  ++looks_[std::string{id}];
  return true;
}

bool checker::has_started(const group_truth& group) const {
  return group.has_condition || started_.contains(group.uid);
}

void checker::api_turned() {
  truth_.follow(on_.api().plane(), on_.time().now(),
                [this](const pod_truth* before, const pod_truth* now) {
                  room_.pod_changed(before, now);
                  pod_changed(before, now);
                });
  follow_decision_objects();
  follow_maps();
}

void checker::durable(sim::process& who, const persistence::batch& written) {
  for (const auto& p : written.puts)
    if (p.where == persistence::family::decisions)
      take_decision(decision_in(p.key, p.value));
    else if (p.where == persistence::family::journal)
      follow_journal(who.name(), p.key, p.value);
    else if (p.where == persistence::family::checkpoint)
      follow_checkpoint(who, p.key, p.value);
}

void checker::began(sim::process& who) {
  for (auto& [where, word] : shards_)
    if (where.first == who.name()) {
      word.is_fresh = false;
      word.given_up.clear();
      word.promised.clear();
      word.known.clear();
      word.told_over.clear();
    }
  const auto is_its_own = [&](const auto& x) { return x.first.first == who.name(); };
  std::erase_if(opened_, is_its_own);
  std::erase_if(deaf_, is_its_own);
  life_began_ = on_.time().now();
  disturbed(life_began_);
  std::erase_if(gangs_, is_its_own);
  std::erase_if(leaves_, is_its_own);
  auto& journal = journals_[who.name()];
  for (std::uint32_t s = 0; s < who.options().shards; ++s)
    journal.unchecked.insert(s);
}

/// A crash may have put on the disk what nobody was told of, and a lost disk has nothing.
void checker::ended(sim::process& who, std::string_view) {
  disturbed(on_.time().now());
  if (who.is_up())
    return;
  const auto& kept = who.disk().of(persistence::family::decisions);
  for (const auto& [key, value] : kept)
    take_decision(decision_in(key, value));
  const bool is_elsewhere = who.options().log == actors::decision_log::objects;
  for (auto& [slot, d] : decisions_)
    if (!is_elsewhere && !kept.contains(persistence::decision_key(slot))) {
      d.is_lost = true;
      room_.let_go(slot);
    }
  for (const auto& [key, value] : who.disk().of(persistence::family::journal))
    follow_journal(who.name(), key, value);
  for (const auto& [key, value] : who.disk().of(persistence::family::checkpoint))
    follow_checkpoint(who, key, value);
  follow_tail(who);
  if (who.disk().of(persistence::family::meta).empty())
    disk_is_lost(who.name(), !is_elsewhere);
  else if (!has_replicas())
    check_replay_twice(who.name(), who.disk(), who.options().shards);
}

/// Without its disk a shard has obeyed nobody. Where it held the decisions, too, all that was ever
/// decided is forgotten, and numbers of attempts come again; what is bound stands in the API
/// server.
void checker::disk_is_lost(const std::string& who, bool held_decisions) {
  journals_.erase(who);
  for (auto& [where, word] : shards_)
    if (where.first == who) {
      word.epochs.clear();
      word.told_over.clear();
    }
  if (!held_decisions)
    return;
  decisions_.clear();
  room_.clear_plans();
  cancels_.clear();
  told_aborted_.clear();
  committed_.clear();
  begun_.clear();
  looked_.clear();
  let_go_.clear();
}

} // namespace tutti::chaos
