// Several processes: the partition map, who begins and who ends, and the decision log as objects.
//
// Stands in for the keeper and the router. A change of the map is one step here: that only one of
// two writers wins is what the API server's compare-and-set gives. What a keeper does with its
// Lease is left out: any process may take over anything at any time, as if the Lease of whoever had
// it had run out, and that one hears of it some time later.
#include <algorithm>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "chaos/small/world.hpp"
#include "protocol/decision_rules.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos::small {

using protocol::address;
using protocol::role_kind;

namespace {

std::uint8_t home_of(std::size_t unit) {
  return unit == the_partition ? 0 : home_of_shards;
}

} // namespace

// ---------------------------------------------------------------- who is where

/// As `actors/links` finds the way: by what the sender's process knows of the map.
place world::route(std::uint8_t from, const address& to) const {
  switch (to.kind) {
  case role_kind::shard:
    return {to, views_.at(from).at(to.index)};
  case role_kind::partition:
  case role_kind::gang:
    return {to, views_.at(from).at(the_partition)};
  default:
    return {to, from};
  }
}

bool world::has_news(std::uint8_t process) const {
  return std::any_of(under_way_.begin(), under_way_.end(), [process](const auto& x) {
    return x->what == item::kind::map_news && x->to.in == process;
  });
}

void world::begin_processes() {
  log_ = std::make_shared<const log>(persistence::disk{});
  for (std::size_t unit = 0; unit < units; ++unit)
    map_[unit].in = home_of(unit);
  for (std::uint8_t p = 0; p < processes; ++p) {
    for (std::size_t unit = 0; unit < units; ++unit)
      views_[p][unit] = map_[unit].in;
    begin_writers(p);
  }
  for (std::size_t unit = 0; unit < units; ++unit)
    begin_unit(unit, {});
}

/// Binder and evictor are where a partition may be.
void world::begin_writers(std::uint8_t process) {
  found({protocol::to(role_kind::decisions), process}, {}, {++last_life_.value});
  if (process == home_of_shards)
    return;
  found({protocol::to(role_kind::binder), process}, {}, {++last_life_.value});
  if (how_.has_victim)
    found({protocol::to(role_kind::evictor), process}, {}, {++last_life_.value});
}

/// Its incarnation is its epoch, which no other life has.
void world::begin_unit(std::size_t unit, std::vector<protocol::decision_ptr> open) {
  const auto where = place_of(unit);
  const auto epoch = map_[unit].epoch;
  if (unit != the_partition) {
    obeyed_.at(where.in).at(unit) = 0; // a journal never moves with a shard
    note_listed(static_cast<std::uint32_t>(unit), open);
  }
  found(where, {{}, std::move(open), epoch}, {epoch.value});
}

/// P11: two decisions put different pods on the shard's node, and the list does not say which of
/// them was covered.
void world::note_listed(std::uint32_t shard, const std::vector<protocol::decision_ptr>& open) {
  auto& mine = listed_.at(shard);
  mine.clear();
  std::size_t on_node = 0;
  for (const auto& d : open) {
    if (protocol::is_finished(*d))
      continue;
    mine.push_back(d->by);
    for (const auto& part : d->chosen.slices)
      on_node += part.shard.value == shard ? part.seats.size() : 0;
  }
  if (on_node > 1)
    passed_.push_back("P11");
}

/// With its children: as `actors/share` does.
void world::end_unit(const place& where) {
  if (where.kind == role_kind::shard) {
    note_lost_promises(where);
    bury({protocol::to_node(the_scene().nodes.at(where.index)->uid), where.in});
  } else {
    for (const auto& gang : the_scene().gangs)
      bury({protocol::to_gang(gang), where.in});
  }
  bury(where);
}

/// Its disk is lost, as far as its next owner is concerned.
void world::note_lost_promises(const place& shard) {
  if (const auto* role = static_cast<const shards::shard_role*>(find(shard)))
    for (const auto& [attempt, r] : role->reservations().all())
      if (r.is_in_doubt())
        passed_.push_back("P7");
}

/// Its owner sets a later epoch, and begins it after a list.
void world::begin_anew(std::size_t unit, base::epoch_no at_least) {
  auto& o = map_.at(unit);
  o.epoch = std::max(at_least, base::epoch_no{o.epoch.value + 1});
  list_for(o.in, {unit});
}

// ---------------------------------------------------------------- the map changes

void world::take_over(std::uint32_t which) {
  begin_step();
  had_death_ = had_new_coordinator_ = true;
  std::array<std::vector<std::size_t>, processes> taken;
  for (std::size_t unit = 0; unit < units; ++unit)
    if ((which >> unit & 1) != 0) {
      const auto was = map_[unit].in;
      taken.at(was == spare ? home_of(unit) : spare).push_back(unit);
    }
  for (std::uint8_t p = 0; p < processes; ++p) {
    if (taken[p].empty())
      continue;
    take_news(p); // it reads the map before it changes it
    for (const auto unit : taken[p]) {
      map_[unit].in = p;
      ++map_[unit].epoch.value;
    }
  }
  for (std::uint8_t p = 0; p < processes; ++p)
    if (!taken[p].empty()) {
      for (std::size_t unit = 0; unit < units; ++unit)
        if (map_[unit].in == p)
          views_[p][unit] = p;
      list_for(p, taken[p]);
    }
  tell_news();
}

/// To whoever believes in another owner.
void world::tell_news() {
  for (std::uint8_t p = 0; p < processes; ++p) {
    const bool is_old = !std::equal(map_.begin(), map_.end(), views_[p].begin(),
                                    [](const auto& o, auto seen) { return o.in == seen; });
    const place its_keeper{protocol::to(role_kind::keeper), p};
    if (is_old && !has_news(p))
      put({.what = item::kind::map_news, .from = its_keeper, .to = its_keeper});
  }
}

/// As `actors/share` obeys the effect `own`: what is not ours ends, and a process that has lost
/// everything makes its writers anew.
void world::take_news(std::uint8_t process) {
  std::erase_if(under_way_, [process](const auto& x) {
    return x->what == item::kind::map_news && x->to.in == process;
  });
  bool had_any = false;
  bool has_any = false;
  for (std::size_t unit = 0; unit < units; ++unit) {
    auto& seen = views_.at(process).at(unit);
    had_any |= seen == process;
    has_any |= map_[unit].in == process;
    if (seen == process && map_[unit].in != process) {
      end_unit({address_of(unit), process});
      if (unit == the_partition)
        end_queue(process, 0);
    }
    seen = map_[unit].in;
  }
  for (const auto kind : {role_kind::binder, role_kind::evictor})
    if (const place writer{protocol::to(kind), process};
        had_any && !has_any && roles_.contains(writer))
      die(writer);
}

/// A process and all that is in it; what has left it may arrive all the same. It finds in the map
/// what it owns, and begins all of that anew.
void world::crash_one(std::uint8_t process) {
  begin_step();
  had_death_ = had_new_coordinator_ = true;
  for (std::size_t unit = 0; unit < units; ++unit)
    if (roles_.contains({address_of(unit), process}))
      end_unit({address_of(unit), process}); // for the crash table
  orphan_requests({protocol::to(role_kind::binder), process});
  orphan_requests({protocol::to(role_kind::evictor), process});
  orphan_requests({protocol::to(role_kind::decisions), process});
  std::erase_if(under_way_, [process](const auto& x) {
    const bool is_inside = x->from.in == process || is_ordered(*x);
    const bool is_of_world = x->what == item::kind::request || x->what == item::kind::departure;
    return !is_of_world && x->to.in == process && is_inside;
  });
  std::erase_if(roles_, [process](const auto& x) { return x.first.in == process; });
  std::erase_if(timers_, [process](const auto& t) { return t.of.in == process; });
  keepers_.at(process).lists.clear();
  end_queue(process, 1);
  begin_writers(process);
  std::vector<std::size_t> mine;
  for (std::size_t unit = 0; unit < units; ++unit) {
    views_.at(process).at(unit) = map_[unit].in;
    if (map_[unit].in != process)
      continue;
    ++map_[unit].epoch.value;
    mine.push_back(unit);
  }
  if (!mine.empty())
    list_for(process, std::move(mine));
}

// ---------------------------------------------------------------- the keeper

/// The list comes after the change of the map (2.7).
void world::list_for(std::uint8_t process, std::vector<std::size_t> taken) {
  auto& mine = keepers_.at(process);
  const auto id = ++mine.last;
  for (const auto unit : taken)
    mine.lists[id].emplace_back(unit, map_.at(unit).epoch);
  give({protocol::to(role_kind::decisions), process},
       protocol::received{protocol::to(role_kind::keeper), protocol::slots_wanted{id}});
}

/// The role that was asked has died with the question.
void world::lists_are_lost(std::uint8_t process) {
  std::vector<std::size_t> of;
  for (const auto& [id, list] : std::exchange(keepers_.at(process).lists, {}))
    for (const auto& [unit, epoch] : list)
      if (map_.at(unit).in == process && map_.at(unit).epoch == epoch)
        of.push_back(unit);
  if (!of.empty())
    list_for(process, std::move(of));
}

void world::keeper_hears(const place& from, protocol::message& m) {
  if (std::holds_alternative<protocol::slots_told>(m)) {
    tell(from, protocol::to(role_kind::keeper), std::move(m));
  } else if (std::holds_alternative<protocol::map_wanted>(m)) {
    put({.what = item::kind::map_read,
         .from = from,
         .to = {protocol::to(role_kind::keeper), from.in},
         .event = protocol::received{from, std::move(m)}});
  } else if (const auto* higher = std::get_if<protocol::new_epoch>(&m)) {
    // Whose the partition is by now the news says; if it is ours, the map was lost.
    if (map_[the_partition].in != from.in || map_[the_partition].epoch >= higher->epoch)
      return;
    end_unit({address_of(the_partition), from.in});
    begin_anew(the_partition, higher->epoch);
  }
}

/// What is still ours, under the epoch for which it was asked, begins.
void world::keeper_hears_list(std::uint8_t process, const protocol::slots_told& x) {
  std::vector<protocol::decision_ptr> all;
  for (const auto& d : x.all)
    all.push_back(std::make_shared<const protocol::decision>(d));
  if (x.id == 0) {
    const place partition{address_of(the_partition), process};
    for (const auto& d : all)
      if (map_[the_partition].in == process && roles_.contains(partition))
        tell({protocol::to(role_kind::keeper), process}, partition,
             protocol::resume_decision{d, map_[the_partition].epoch, the_scene().partition, 0});
    return;
  }
  const auto of = keepers_.at(process).lists.extract(x.id);
  if (of.empty())
    return;
  for (const auto& [unit, epoch] : of.mapped())
    if (map_.at(unit).in == process && map_.at(unit).epoch == epoch)
      begin_unit(unit, all);
}

/// What stands in the map when the question arrives. Whoever asked may have ended, and another may
/// be in its place: it does not know the attempt.
void world::read_map(const item& question) {
  if (find(question.from) == nullptr)
    return;
  const auto& asked =
      std::get<protocol::map_wanted>(std::get<protocol::received>(question.event).what);
  std::vector<std::uint64_t> epochs;
  for (std::size_t s = 0; s < shards; ++s)
    epochs.push_back(map_[s].epoch.value);
  give(question.from, protocol::received{protocol::to(role_kind::keeper),
                                         protocol::map_told{asked.attempt, epochs}});
}

// ---------------------------------------------------------------- the log's words

/// The log's role hears at once: what it makes of it is under way from then on.
void world::ask_log(const place& who, protocol::message what,
                    std::shared_ptr<const actors::log_words> words) {
  roles_.at(who).asked = std::move(words);
  protocol::arm overdue{log_overdue, actors::log_resend};
  act({}, who, overdue);
  give({protocol::to(role_kind::decisions), who.in}, protocol::received{who, std::move(what)});
}

void world::ask_log_again(const place& who) {
  const auto words = roles_.at(who).asked;
  if (!words || words->empty())
    return;
  protocol::arm overdue{log_overdue, actors::log_resend};
  act({}, who, overdue);
  for (auto& question : words->open())
    give({protocol::to(role_kind::decisions), who.in},
         protocol::received{who, std::move(question)});
}

/// An answer of the log's role becomes the event that a store would have given, as in
/// `actors/role_actor`. Nothing if it answers no open question.
std::optional<protocol::event> world::meaning(const place& who, const protocol::event& e) {
  const auto* heard = std::get_if<protocol::received>(&e);
  if (heard == nullptr || heard->from.kind != role_kind::decisions)
    return e;
  const auto* decided = std::get_if<protocol::slot_decided>(&heard->what);
  const auto* amended = std::get_if<protocol::slot_amended>(&heard->what);
  if (decided == nullptr && amended == nullptr)
    return e;
  auto& here = roles_.at(who);
  if (!here.asked)
    return std::nullopt;
  const auto questions = here.asked->open();
  auto words = std::make_shared<actors::log_words>(*here.asked);
  auto out = decided != nullptr ? words->take(*decided) : words->take(*amended);
  if (!out)
    return out;
  pass_rows(who, *out, questions);
  if (words->empty()) {
    protocol::disarm overdue{log_overdue};
    act({}, who, overdue);
  }
  here.asked = std::move(words);
  return out;
}

/// Rows of the crash table that an owner passes which is none any more.
void world::pass_rows(const place& who, const protocol::event& e,
                      const std::vector<protocol::message>& questions) {
  if (who.kind != role_kind::gang)
    return;
  if (const auto* d = std::get_if<protocol::decided>(&e)) {
    const bool is_later = d->winner->by.epoch == map_[the_partition].epoch;
    if (who.in != map_[the_partition].in && is_later)
      passed_.push_back(d->winner->what == protocol::verdict::aborted ? "Q0" : "Q2");
  } else if (std::holds_alternative<protocol::amend_refused>(e)) {
    for (const auto& question : questions)
      if (const auto* asked = std::get_if<protocol::slot_amend>(&question);
          asked != nullptr && !asked->what.cancel.empty())
        passed_.push_back("Q3");
  }
}

/// COMMIT for what a shard that has begun anew does not know.
void world::pass_rows(const place& who, const protocol::message& m) {
  const auto* x = std::get_if<protocol::commit>(&m);
  const auto* shard = x != nullptr && who.kind == role_kind::shard && who == place_of(who.index)
                          ? static_cast<const shards::shard_role*>(find(who))
                          : nullptr;
  if (shard != nullptr && map_.at(who.index).epoch.value > 1
      && shard->reservations().find(x->attempt) == nullptr)
    passed_.push_back("P9");
}

// ---------------------------------------------------------------- looking

bool world::may_look() const {
  const auto is_open = [this](std::size_t gang) {
    return api_.decision(gang) && !protocol::is_finished(*api_.decision(gang));
  };
  return has_objects() && (is_open(0) || is_open(1)) && !was_looked_at_ && look_timer_;
}

/// Every process does so now and then, for ever. Here the partition's own does, and only where
/// there is something to find and nothing else is left to happen.
void world::look() {
  begin_step();
  was_looked_at_ = true;
  give({protocol::to(role_kind::decisions), map_[the_partition].in},
       protocol::timer_fired{*look_timer_});
}

} // namespace tutti::chaos::small
