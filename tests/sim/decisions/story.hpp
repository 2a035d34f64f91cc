// A random story of two writers of one decision log: answers are lost, writes come late, processes
// die. It says what has become wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/attempt_text.hpp"
#include "tests/sim/decisions/log_world.hpp"

namespace tutti::sim::decisions {

struct story {
  static constexpr std::size_t writers = 2;

  /// `below(n)` draws a number below n.
  story(std::size_t inline_bytes, std::function<std::size_t(std::size_t)> below)
      : any(std::move(below)), world(inline_bytes, writers) {}

  std::function<std::size_t(std::size_t)> any;
  log_world world;
  std::uint64_t next_try = 1;
  std::uint64_t next_list = 1;
  std::vector<std::uint64_t> epochs{1, 2};
  /// By writer and life: proposals by slot. A life speaks once per slot, as coordinators do.
  std::vector<std::map<base::slot_id, protocol::decision>> asked{writers};
  std::vector<std::set<base::slot_id>> amending{writers};
  std::string broken;            ///< the first thing that is wrong
  std::set<std::string> refused; ///< attempts of which a writer was told that nothing was written

  void expect(bool holds, const std::string& what) {
    if (!holds && broken.empty())
      broken = what;
  }
  std::string gang() { return any(2) == 0 ? "g" : "h"; }
  std::uint64_t ordinal_of(const std::string& g) const {
    const auto now = world.past().now({g});
    return now ? now->ordinal : 0;
  }

  void decide(std::size_t n) {
    proposal p;
    p.gang = gang();
    p.ordinal = std::max<std::uint64_t>(1, ordinal_of(p.gang) + any(2));
    p.epoch = epochs[n];
    p.try_no = next_try++;
    p.members = 1 + any(6);
    p.what = any(4) == 0 ? protocol::verdict::aborted : protocol::verdict::committed;
    if (asked[n].emplace(p.slot(), p.make()).second)
      world.decide(n, p.make());
  }

  void amend(std::size_t n) {
    const auto g = gang();
    const base::slot_id slot{{g}, std::max<std::uint64_t>(1, ordinal_of(g))};
    if (!amending[n].insert(slot).second)
      return;
    protocol::amendment change{.by = {epochs[n]}};
    switch (any(4)) {
    case 0:
      change.adopt = true;
      break;
    case 1:
      change.cancel.push_back({fmt::format("{}-{}", g, any(4))});
      break;
    default:
      change.finish = true;
    }
    world.amend(n, slot, change);
  }

  void network(std::size_t n) {
    const auto open = world.one(n).log.open.size();
    if (open == 0) {
      world.wait(n);
      return;
    }
    const auto k = any(open);
    switch (any(12)) {
    case 0:
      world.answer(n, fate::lost, k);
      break;
    case 1:
      world.answer(n, fate::applied_lost, k);
      break;
    case 2:
      world.answer(n, fate::late, k);
      break;
    case 3:
      world.refuse(n, any(2) == 0 ? 500 : 504, "{}", 0, k);
      break;
    case 4:
      world.refuse(n, 409, "{}", 0, k);
      break;
    case 5:
      world.refuse(n, 429, "{}", 1000, k);
      break;
    default:
      world.answer(n, fate::served, k);
    }
  }

  void restart(std::size_t n) {
    read(n);
    world.restart(n);
    asked[n].clear();
    amending[n].clear();
    epochs[n] += 2; // above its own, and never the other's
  }

  /// What was told so far must be what the API server holds.
  void read(std::size_t n) {
    auto& log = world.one(n).log;
    for (const auto& s : log.sent) {
      if (const auto* d = std::get_if<protocol::slot_decided>(&s.what)) {
        const base::slot_id slot{d->gang, d->ordinal};
        const auto mine = asked[n].find(slot);
        if (mine == asked[n].end())
          continue; // the answer to a copy

        if (d->winner)
          expect(base::to_text(d->winner->by) == world.past().winner(slot),
                 "a winner that has not won");
        else if (world.past().was_written(mine->second.by))
          // Our answer was lost, and another owner has finished it and decided the next.
          expect(ordinal_of(slot.gang.value) > slot.ordinal, "refused, and it stands");
        else
          refused.insert(base::to_text(mine->second.by));
        asked[n].erase(mine);
      } else if (const auto* a = std::get_if<protocol::slot_amended>(&s.what)) {
        const base::slot_id slot{a->gang, a->ordinal};
        amending[n].erase(slot);
        if (!a->is_refused)
          expect(base::to_text(a->now->by) == world.past().winner(slot),
                 "an amendment of what does not stand");
        const auto now = world.past().now(a->gang);
        if (!a->is_refused && now && now->ordinal == a->ordinal && a->now->is_done)
          expect(now->is_done, "told done, and it is not");
      }
    }
    log.sent.clear();
  }

  void check() {
    for (std::size_t n = 0; n < writers; ++n)
      read(n);
    expect(world.past().broken().empty(), world.past().broken());
    for (const auto& by : refused)
      for (const auto& g : {"g", "h"})
        for (std::uint64_t o = 1; o <= ordinal_of(g); ++o)
          expect(world.past().winner({{g}, o}) != by, "told that nothing was written, and it was");
  }

  void run() {
    for (auto steps = 20 + any(100); steps > 0; --steps) {
      const auto n = any(writers);
      switch (any(16)) {
      case 0:
      case 1:
      case 2:
        decide(n);
        break;
      case 3:
      case 4:
        amend(n);
        break;
      case 5:
        world.list(n, next_list++);
        break;
      case 6:
        if (world.late() > 0)
          world.arrive_late();
        break;
      case 7:
        if (any(4) == 0)
          restart(n);
        break;
      default:
        network(n);
      }
      check();
    }
    world.settle();
    while (world.late() > 0)
      world.arrive_late();
    world.settle();
    check();
    for (std::size_t n = 0; n < writers; ++n) {
      expect(asked[n].empty(), "a decision is not answered");
      expect(amending[n].empty(), "an amendment is not answered");
      expect(world.one(n).log.errors == 0, "an error");
    }
  }
};

} // namespace tutti::sim::decisions
