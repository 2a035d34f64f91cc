// Sums and credits by pod uid; a hold is tried on a copy, seat by seat.
#include "shards/node_ledger.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "base/mutant.hpp"
#include "shards/amounts.hpp"

namespace tutti::shards {
namespace {

using base::attempt_id;
using base::pod_uid;
using base::resources;

/// True if any port of `a` cannot be on one node with any of `b`; the first such port of `a`.
const base::host_port* first_collision(const base::port_list& a, const base::port_list& b) {
  for (const auto& x : a)
    for (const auto& y : b)
      if (collide(x, y))
        return &x;
  return nullptr;
}

base::shortage port_shortage(const base::host_port& x) {
  return {fmt::format("host port {}/{}", x.port, x.protocol.text()), 1, 0};
}

std::int64_t amount_of(const resources& x, const std::string& name) {
  if (name == "cpu")
    return x.cpu_milli;
  if (name == "memory")
    return x.memory_bytes;
  if (name == "ephemeral-storage")
    return x.ephemeral_bytes;
  if (name == "pods")
    return x.pods;
  for (const auto& e : x.extended)
    if (e.name.text() == name)
      return e.amount;
  return 0;
}

base::packed_uid packed(const pod_uid& x) {
  return base::packed_uid{x.value};
}

std::uint64_t hash_of(const resources& x) {
  using base::hash_combine;
  using base::hash_of;
  auto h = hash_of(static_cast<std::uint64_t>(x.cpu_milli));
  h = hash_combine(h, static_cast<std::uint64_t>(x.memory_bytes));
  h = hash_combine(h, static_cast<std::uint64_t>(x.ephemeral_bytes));
  h = hash_combine(h, static_cast<std::uint64_t>(x.pods));
  for (const auto& e : x.extended)
    h = hash_combine(hash_combine(h, hash_of(e.name.text())), static_cast<std::uint64_t>(e.amount));
  return h;
}

} // namespace

std::optional<node_ledger::refusal>
node_ledger::hold(const attempt_id& attempt, const std::vector<protocol::seat>& seats,
                  const std::vector<protocol::victim>& victims) {
  if (holds(attempt))
    return std::nullopt; // a repeated PREPARE takes no more room
  if (auto rival = rival_for(attempt, victims))
    return rival;

  // Tried on a copy, seat by seat, so that the first that does not fit is named and nothing
  // remains.
  auto trial = *this;
  auto& mine = trial.claims_[attempt];
  for (const auto& v : victims)
    mine.victims.insert(v.pod);
  const auto supply = positive(allocatable_ - sum_) + victims_here(mine);
  // What must be found: room for the seats, and for what is over-used already without any rival's
  // victim to account for it.
  const auto demand = [&] {
    return (trial.sum_ - sum_) + positive(sum_ - trial.credits_but(attempt) - allocatable_);
  };
  auto asked = demand();
  for (const auto& wanted : seats) {
    if (auto taken = trial.taken_port(attempt, wanted))
      return taken;
    trial.add_seat(attempt, wanted);
    trial.recount();
    auto now_asked = demand();
    auto lacking = base::first_shortage(now_asked - asked, supply - asked);
    if (!lacking.fits())
      return refusal{wanted.pod, lacking, holders_of(attempt, lacking)};
    if (auto shared = trial.overload(*this, attempt, wanted))
      return shared;
    asked = std::move(now_asked);
  }
  *this = std::move(trial);
  ensure(holds(attempt), attempt.gang.value);
  return std::nullopt;
}

void node_ledger::hold_anyway(const attempt_id& attempt, const std::vector<protocol::seat>& seats,
                              const std::vector<protocol::victim>& victims) {
  auto& mine = claims_[attempt];
  for (const auto& v : victims)
    mine.victims.insert(v.pod);
  for (const auto& wanted : seats) {
    add_seat(attempt, wanted);
    if (const auto pos = promised_.find(packed(wanted.pod)); pos != promised_.end())
      pos->second.is_possible =
          !pos->second.is_allowed && !base::is_planted(base::mutant::trust_a_new_ledger);
  }
  recount();
}

void node_ledger::release(const attempt_id& attempt) {
  auto pos = claims_.find(attempt);
  if (pos == claims_.end())
    return;
  const auto mine = std::move(pos->second);
  claims_.erase(pos);
  for (const auto& pod : mine.seats)
    drop_holder(attempt, pod);
  const auto before = sum_;
  recount();
  if (base::is_planted(base::mutant::give_room_back_twice))
    allocatable_ += positive(before - sum_);
}

void node_ledger::release(const attempt_id& attempt, const std::vector<pod_uid>& pods) {
  auto pos = claims_.find(attempt);
  if (pos == claims_.end())
    return;
  for (const auto& pod : pods)
    if (pos->second.seats.erase(pod) > 0) {
      pos->second.borrowed.erase(pod);
      drop_holder(attempt, pod);
    }
  if (pos->second.seats.empty())
    claims_.erase(pos);
  recount();
}

void node_ledger::bound(const pod_uid& pod, const base::footprint& takes) {
  const auto uid = packed(pod);
  if (const auto pos = promised_.find(uid); pos != promised_.end()) {
    const auto& kept = pos->second;
    if (kept.holders.size() == 1)
      if (auto& only = claims_.at(kept.holders.front()); !only.victims.empty())
        only.borrowed.insert(pod);
    if (base::is_planted(base::mutant::count_reserved_and_bound_twice)) {
      const base::packed_uid twin{pod.value + " as reserved"};
      takes_.put(twin, base::footprint{*takes_.find(uid)});
      promised_[twin] = kept;
    }
    promised_.erase(uid);
  }
  // The API server's word replaces ours: the pod may have been resized since it was promised room.
  takes_.put(uid, takes);
  recount();
}

void node_ledger::gone(const pod_uid& pod) {
  if (const auto uid = packed(pod); takes_.contains(uid))
    erase(uid);
  recount();
}

bool node_ledger::may_bind(const attempt_id& attempt, const pod_uid& pod) {
  const auto uid = packed(pod);
  const auto* mine = takes_.find(uid);
  if (mine == nullptr)
    return false;
  const auto kept = promised_.find(uid);
  if (kept == promised_.end() || kept->second.is_allowed)
    return true; // really here
  if (!has(kept->second.holders, attempt))
    return false; // never for room that is not held
  if (base::is_planted(base::mutant::give_leave_by_promises))
    return true;
  resources really;
  for (const auto& [other, takes] : takes_) {
    const auto* only = promise_of(other);
    if (other == uid || (only != nullptr && !only->is_allowed && !only->is_possible))
      continue;
    if (first_collision(mine->ports, takes->ports) != nullptr)
      return false;
    really += takes->amounts;
  }
  if (!base::fits(mine->amounts, allocatable_ - really))
    return false;
  kept->second.is_allowed = true;
  kept->second.is_possible = false;
  return true;
}

base::footprint node_ledger::free() const {
  base::footprint out;
  const auto plain = allocatable_ - sum_;
  out.amounts = greater(plain, lesser(resources{}, plain + credits()));
  for (const auto& [pod, takes] : takes_)
    for (const auto& port : takes->ports)
      if (claims_.empty() || !is_covered_port({pod.text()}, port))
        out.ports.push_back(port);
  std::sort(out.ports.begin(), out.ports.end());
  return out;
}

resources node_ledger::credits() const {
  resources out;
  for (const auto& [attempt, with] : claims_)
    out += credit(attempt, with);
  return out;
}

std::uint64_t node_ledger::state_hash() const {
  auto h = hash_of(allocatable_);
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  for (const auto& [pod, takes] : takes_) {
    add(base::hash_of(pod.text()));
    add(hash_of(takes->amounts));
    for (const auto& p : takes->ports) {
      add(static_cast<std::uint64_t>(p.port));
      add(base::hash_combine(base::hash_of(p.ip.text()), base::hash_of(p.protocol.text())));
    }
    const auto* kept = promise_of(pod);
    if (kept != nullptr)
      for (const auto& holder : kept->holders)
        add(std::hash<attempt_id>{}(holder));
    add(kept == nullptr ? 4u
                        : (kept->is_allowed ? 2u : 0u) + (kept->is_possible ? 1u : 0u)
                              + 8 * kept->holders.size());
  }
  for (const auto& [attempt, with] : claims_) {
    add(std::hash<attempt_id>{}(attempt));
    for (const auto& seat : with.seats)
      add(base::hash_of(seat.value));
    add(with.seats.size());
    for (const auto& v : with.victims)
      add(base::hash_of(v.value));
    add(with.victims.size());
    for (const auto& b : with.borrowed)
      add(base::hash_of(b.value));
    add(with.borrowed.size());
  }
  return h;
}

void node_ledger::add_seat(const attempt_id& attempt, const protocol::seat& wanted) {
  claims_[attempt].seats.insert(wanted.pod);
  const auto uid = packed(wanted.pod);
  if (is_bound(uid))
    return; // it is here already: counted as the API server says
  auto takes = wanted.takes;
  if (const auto* before = takes_.find(uid)) {
    // Two attempts may have seen the pod at different times: room for either.
    takes.amounts = greater(before->amounts, wanted.takes.amounts);
    for (const auto& p : before->ports)
      if (std::find(takes.ports.begin(), takes.ports.end(), p) == takes.ports.end())
        takes.ports.push_back(p);
  }
  std::sort(takes.ports.begin(), takes.ports.end());
  takes_.put(uid, takes);
  auto& holders = promised_[uid].holders;
  if (!has(holders, attempt))
    holders.insert(std::lower_bound(holders.begin(), holders.end(), attempt), attempt);
}

bool node_ledger::has(const std::vector<attempt_id>& ascending, const attempt_id& x) {
  return std::binary_search(ascending.begin(), ascending.end(), x);
}

void node_ledger::drop_holder(const attempt_id& attempt, const pod_uid& pod) {
  const auto uid = packed(pod);
  const auto pos = promised_.find(uid);
  if (pos == promised_.end())
    return;
  std::erase(pos->second.holders, attempt);
  if (!pos->second.holders.empty())
    return;
  promised_.erase(pos);
  takes_.erase(uid);
}

void node_ledger::erase(const base::packed_uid& uid) {
  const pod_uid pod{uid.text()};
  promised_.erase(uid);
  takes_.erase(uid);
  for (auto c = claims_.begin(); c != claims_.end();) {
    c->second.victims.erase(pod);
    c->second.borrowed.erase(pod);
    const bool was_seat = c->second.seats.erase(pod) > 0;
    c = was_seat && c->second.seats.empty() ? claims_.erase(c) : std::next(c);
  }
}

const node_ledger::promise* node_ledger::promise_of(const base::packed_uid& pod) const {
  const auto pos = promised_.find(pod);
  return pos == promised_.end() ? nullptr : &pos->second;
}

bool node_ledger::is_held_only_by(const attempt_id& attempt, const base::packed_uid& pod) const {
  const auto* kept = promise_of(pod);
  return kept != nullptr && kept->holders.size() == 1 && kept->holders.front() == attempt;
}

/// A victim is in exactly one plan (S9), whatever the shard thinks; and what it leaves must be its
/// own: not while the victims of the attempt that bound it are here.
std::optional<node_ledger::refusal>
node_ledger::rival_for(const attempt_id& attempt,
                       const std::vector<protocol::victim>& victims) const {
  if (base::is_planted(base::mutant::share_a_victim))
    return std::nullopt;
  for (const auto& v : victims) {
    for (const auto& [other, with] : claims_) {
      const bool is_named = other != attempt && with.victims.contains(v.pod);
      if (is_named || (with.borrowed.contains(v.pod) && victims_here(with) != resources{}))
        return refusal{v.pod, {"victim", 1, 0}, {other}};
    }
  }
  return std::nullopt;
}

/// Of a trial that holds `wanted` as well: a seat that a rival has borrowed room for is borrowed by
/// neither from now on, and may be too much then, whatever victims either names.
std::optional<node_ledger::refusal> node_ledger::overload(const node_ledger& before,
                                                          const attempt_id& by,
                                                          const protocol::seat& wanted) const {
  const auto was = before.load();
  auto lacking = base::first_shortage(load() - was, allocatable_ - was);
  if (lacking.fits())
    return std::nullopt;
  std::set<attempt_id> rivals;
  for (const auto& pod : claims_.at(by).seats) {
    if (const auto* kept = promise_of(packed(pod)))
      rivals.insert(kept->holders.begin(), kept->holders.end());
  }
  rivals.erase(by);
  return refusal{wanted.pod, std::move(lacking), {rivals.begin(), rivals.end()}};
}

std::optional<node_ledger::refusal> node_ledger::taken_port(const attempt_id& attempt,
                                                            const protocol::seat& wanted) const {
  if (wanted.takes.ports.empty())
    return std::nullopt;
  const auto uid = packed(wanted.pod);
  if (is_bound(uid))
    return std::nullopt;
  const auto& my_victims = claims_.at(attempt).victims;
  for (const auto& [pod, takes] : takes_) {
    const auto* kept = promise_of(pod);
    if (pod == uid || (kept == nullptr && my_victims.contains({pod.text()})))
      continue;
    if (const auto* port = first_collision(wanted.takes.ports, takes->ports))
      return refusal{wanted.pod, port_shortage(*port),
                     kept == nullptr ? std::vector<attempt_id>{} : kept->holders};
  }
  return std::nullopt;
}

resources node_ledger::victims_here(const claim& of) const {
  resources out;
  for (const auto& v : of.victims)
    if (const auto uid = packed(v); is_bound(uid))
      out += takes_.find(uid)->amounts;
  return out;
}

resources node_ledger::credit(const attempt_id& of, const claim& with) const {
  if (with.victims.empty())
    return {};
  resources seats;
  for (const auto& pod : with.seats) {
    const auto uid = packed(pod);
    if (is_bound(uid) ? with.borrowed.contains(pod) : is_held_only_by(of, uid))
      seats += takes_.find(uid)->amounts;
  }
  if (base::is_planted(base::mutant::lend_all_of_a_victim))
    return victims_here(with);
  return lesser(seats, victims_here(with));
}

resources node_ledger::credits_but(const attempt_id& attempt) const {
  resources out;
  for (const auto& [other, with] : claims_)
    if (other != attempt)
      out += credit(other, with);
  return out;
}

/// Those whose promises, not yet bound, stand in the way: nobody, if it would not fit without them.
std::vector<attempt_id> node_ledger::holders_of(const attempt_id& asker,
                                                const base::shortage& lacking) const {
  std::set<attempt_id> found;
  std::int64_t in_the_way = 0;
  for (const auto& [pod, kept] : promised_) {
    const auto amount = amount_of(takes_.find(pod)->amounts, lacking.name);
    if (amount <= 0 || has(kept.holders, asker))
      continue;
    in_the_way = base::checked_add(in_the_way, amount);
    found.insert(kept.holders.begin(), kept.holders.end());
  }
  if (in_the_way < lacking.need - lacking.room)
    return {};
  return {found.begin(), found.end()};
}

/// A port of a victim that a seat of the attempt which named it will take over: told once, as the
/// seat's.
bool node_ledger::is_covered_port(const pod_uid& pod, const base::host_port& port) const {
  for (const auto& [attempt, with] : claims_) {
    if (!with.victims.contains(pod))
      continue;
    for (const auto& seat : with.seats) {
      const auto uid = packed(seat);
      const auto* kept = promise_of(uid);
      if (kept != nullptr && kept->holders.size() == 1
          && first_collision(takes_.find(uid)->ports, base::port_list{port}) != nullptr)
        return true;
    }
  }
  return false;
}

void node_ledger::recount() {
  sum_ = {};
  for (const auto& [pod, takes] : takes_)
    sum_ += takes->amounts;
#ifdef TUTTI_SLOW_CHECKS
  for (const auto& [pod, kept] : promised_) {
    ensure_slow(!kept.holders.empty(), pod.text());
    ensure_slow(takes_.contains(pod), pod.text());
  }
  for (const auto& [attempt, with] : claims_)
    for (const auto& seat : with.seats)
      ensure_slow(takes_.contains(packed(seat)), seat.value, attempt.gang.value);
#endif
}

} // namespace tutti::shards
