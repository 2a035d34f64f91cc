// What must have come right once nothing fails any more and everybody had time: looked at every few
// seconds of a calm world, with patience, and at the end, without.
#include "chaos/checker.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "protocol/sharding.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos {

namespace json = boost::json;
using protocol::role_kind;

namespace {

constexpr auto between_looks = std::chrono::seconds{5};
/// Right after something has failed there is nothing to be found.
constexpr auto calm_least = std::chrono::seconds{10};
/// Reservations may be this old in a quiet world (D of protocol/README.md), and undecided ones of a
/// gang that is just tried again are younger.
constexpr std::int64_t doubt_ms_most = 30'000;
/// A decided one whose pods are gone is dropped once the view has been fresh for a while.
constexpr std::int64_t held_ms_most = 120'000;

json::array list_of(const std::string& text) {
  return text.empty() ? json::array{} : json::parse(text).as_array();
}

std::string word(const json::object& x, std::string_view key) {
  const auto* found = x.if_contains(key);
  return found != nullptr && found->is_string() ? std::string{found->as_string()} : std::string{};
}
std::int64_t count(const json::object& x, std::string_view key) {
  const auto* found = x.if_contains(key);
  return found != nullptr && found->is_int64()    ? found->as_int64()
         : found != nullptr && found->is_uint64() ? static_cast<std::int64_t>(found->as_uint64())
                                                  : 0;
}

/// How long what is found may be so in a calm world.
base::duration grace_of(std::string_view id) {
  if (id == "L2")
    return std::chrono::milliseconds{doubt_ms_most};
  if (id == "S10")
    return std::chrono::milliseconds{held_ms_most};
  return std::chrono::seconds{30};
}

} // namespace

/// Asked before each step; looks once in a while.
void checker::rest() {
  const auto now = on_.time().now();
  for (std::size_t n = 0; n < on_.processes(); ++n)
    if (auto& p = on_.at(n); !p.is_up() || p.is_paused() || p.is_stopping())
      disturbed(now);
  if (now < rested_at_ + between_looks)
    return;
  rested_at_ = now;
  patience_.begin(now, calm_since_);
  if (now >= calm_since_ + calm_least)
    for (std::size_t n = 0; n < on_.processes() && !broken_; ++n) {
      audit_queue(on_.at(n));
      audit_shards(on_.at(n));
      audit_nodes(on_.at(n));
    }
  patience_.end();
}

/// Found in this look: broken if it was found for long enough, or if this is the last one.
void checker::wrong(std::string_view id, const std::string& about, std::string what) {
  if (is_over_)
    say(id, std::move(what));
  else if (patience_.is_over(id, about, grace_of(id)))
    say(id, what + ", and did so all the time since nothing failed any more");
}

void checker::audit() {
  is_over_ = true;
  recount();
  for (std::size_t n = 0; n < on_.processes(); ++n) {
    auto& p = on_.at(n);
    if (look("L5") && !p.is_up())
      say("L5", p.name() + " is down");
    if (p.is_up() && !has_replicas())
      check_replay_twice(p.name(), p.store().durable(), p.options().shards);
  }
  audit_members();
  audit_gangs();
  for (std::size_t n = 0; n < on_.processes() && !broken_; ++n) {
    audit_queue(on_.at(n));
    audit_shards(on_.at(n));
    audit_nodes(on_.at(n));
  }
}

/// S5: nobody of a committed plan is forgotten.
void checker::audit_members() {
  if (!look("S5"))
    return;
  for (const auto& [slot, d] : decisions_) {
    if (d.is_lost || d.first.what != protocol::verdict::committed)
      continue;
    for (const auto& part : d.first.chosen.slices)
      for (const auto& s : part.seats) {
        if (is_settled(d, s.pod))
          continue;
        say("S5",
            d.latest.is_done
                ? fmt::format("pod {} was in a plan that is done, and is not bound", s.pod_name)
                : fmt::format("pod {} waits for a plan that was decided and is not done",
                              s.pod_name));
      }
  }
}

/// P2, at any moment: a gang that is pinned to a domain stays there.
void checker::check_domains(const std::string& name, const group_truth& group) {
  if (group.topology_key.empty() || !look("P2"))
    return;
  const auto where = whereabouts_of(name, group);
  if (where.domains.size() > 1 && !where.has_moved)
    say("P2", fmt::format("gang {} is in {} domains", name, where.domains.size()));
}

checker::whereabouts checker::whereabouts_of(const std::string& name,
                                             const group_truth& group) const {
  whereabouts out;
  for (const auto* pod : truth_.members(name)) {
    if (!pod->is_live() || !pod->is_ours)
      continue;
    if (pod->node.empty()) {
      if (!pod->is_gated)
        out.pending.push_back(pod);
      continue;
    }
    ++out.bound;
    out.has_heirs |= pod->bound_since < group.since;
    const auto node = truth_.nodes().find(pod->node);
    const bool is_there = node != truth_.nodes().end();
    out.has_moved |= !is_there || node->second.has_moved;
    if (is_there && node->second.labels.contains(group.topology_key))
      out.domains.insert(node->second.labels.at(group.topology_key));
    else
      out.is_nowhere = true;
  }
  return out;
}

bool checker::is_torn(const whereabouts& where, const group_truth& group) {
  return where.domains.size() > 1 || (where.is_nowhere && !group.topology_key.empty());
}

/// How many members a gang lacks to start, or one more once it has.
std::size_t checker::need_of(const group_truth& group, std::size_t bound) const {
  const bool is_started = has_started(group) && bound >= group.min_count;
  return is_started ? 1 : group.min_count - std::min<std::size_t>(bound, group.min_count);
}

/// The gang or lone pod of this uid would fit beside everything that is bound and promised.
bool checker::fits_now(const std::string& gang) const {
  for (const auto& [name, group] : truth_.groups()) {
    if (group.uid != gang)
      continue;
    const auto where = whereabouts_of(name, group);
    const auto need = need_of(group, where.bound);
    if (group.is_deleting || need == 0 || where.pending.size() < need || is_torn(where, group))
      return false;
    return fits(group, where.pending, need, where.domains.empty() ? "" : *where.domains.begin(),
                true);
  }
  const auto pod = truth_.pods().find(gang);
  return pod != truth_.pods().end() && pod->second.node.empty() && pod->second.is_live()
         && fits({}, {&pod->second}, 1, {}, true);
}

/// P1, P2, L1.
void checker::audit_gangs() {
  for (const auto& [name, group] : truth_.groups()) {
    audit_started(group);
    const auto where = whereabouts_of(name, group);
    const auto bound = where.bound;
    if (look("P1") && bound > 0 && bound < group.min_count && !has_started(group)
        && !where.has_heirs)
      say("P1", fmt::format("gang {} has {} of {} bound", name, bound, group.min_count));
    check_domains(name, group);
    const auto need = need_of(group, bound);
    if (group.is_deleting || where.pending.size() < need || need == 0 || !look("L1"))
      continue;
    if (is_torn(where, group))
      continue;
    const auto domain = where.domains.empty() ? std::string{} : *where.domains.begin();
    if (fits(group, where.pending, need, domain, false))
      say("L1", fmt::format("gang {} waits with {} of {} bound, and {} more would fit", name, bound,
                            group.min_count, need));
  }
}

/// L6, for what was bound before the last life began. A status writer that was made anew in it may
/// have lost the word.
void checker::audit_started(const group_truth& group) {
  if (group.has_condition || !started_.contains(group.uid) || facts_synced_ <= life_began_
      || writer_began_ > facts_synced_ || !look("L6"))
    return;
  const auto members = truth_.members(group.name);
  const auto bound = std::count_if(members.begin(), members.end(), [this](const auto* pod) {
    return pod->is_live() && !pod->node.empty() && pod->bound_since < life_began_;
  });
  if (bound >= group.min_count)
    say("L6", fmt::format("gang {} has {} bound and does not say that it has started", group.name,
                          bound));
}

/// Equal members by counting; the smallest `need` of unequal ones each taken for the largest, so
/// that "fits" is never said wrongly. Where terms are weighed it is not known.
bool checker::fits(const group_truth& group, const std::vector<const pod_truth*>& pending,
                   std::size_t need, const std::string& domain, bool counts_promises) const {
  if (has_terms_about(pending))
    return false;
  base::resources most;
  for (const auto* pod : pending) {
    const auto& x = pod->takes.amounts;
    most.cpu_milli = std::max(most.cpu_milli, x.cpu_milli);
    most.memory_bytes = std::max(most.memory_bytes, x.memory_bytes);
    most.pods = 1;
  }
  std::map<std::string, std::size_t> room; // per domain
  for (const auto& [name, node] : truth_.nodes()) {
    if (!node.is_open)
      continue;
    std::string here;
    if (!group.topology_key.empty()) {
      const auto label = node.labels.find(group.topology_key);
      if (label == node.labels.end())
        continue;
      here = label->second;
    }
    if (!domain.empty() && here != domain)
      continue;
    auto left = truth_.free(name);
    if (counts_promises)
      left -= room_.promised(node.uid);
    while (base::fits(most, left) && room[here] < need) {
      left -= most;
      ++room[here];
    }
  }
  return std::any_of(room.begin(), room.end(), [need](const auto& r) { return r.second >= need; });
}

/// S13, S14.
void checker::audit_queue(sim::process& who) {
  std::map<std::string, std::string> reasons;
  std::map<std::string, std::int64_t> believed;
  for (const auto& row : list_of(who.inspect(protocol::to(role_kind::queue), "gangs", {}))) {
    const auto& x = row.as_object();
    const auto name = word(x, "namespace") + "/" + word(x, "name");
    believed[name] = count(x, "members");
    // Before it is at rest there may be a group that is gone, and whose attempt is not over, and
    // its heir.
    if (!reasons.emplace(name, word(x, "reason")).second && look("S13"))
      wrong("S13", who.name() + " twice " + name,
            fmt::format("gang {} is in the queue of {} twice", name, who.name()));
  }
  for (const auto& [name, group] : truth_.groups()) {
    const auto members = truth_.members(name);
    const auto live = std::count_if(members.begin(), members.end(),
                                    [](const auto* pod) { return pod->is_ours && pod->is_live(); });
    if (const auto row = believed.find(name);
        row != believed.end() && row->second != live && look("S13"))
      wrong("S13", who.name() + " members " + name,
            fmt::format("gang {} has {} live members, {} believes in {}", name, live, who.name(),
                        row->second));
    const bool is_pending = std::any_of(members.begin(), members.end(), [](const auto* pod) {
      return pod->is_ours && pod->is_live() && pod->node.empty();
    });
    if (!is_pending || group.is_deleting)
      continue;
    const auto partition = protocol::partition_of({group.uid});
    if (has_replicas() && who.role(protocol::to_partition(partition)) == nullptr)
      continue; // another one's to try
    const auto row = reasons.find(name);
    if (look("S13") && row == reasons.end())
      wrong("S13", who.name() + " has not " + name,
            fmt::format("gang {} is pending and not in the queue of {}", name, who.name()));
    if (look("S14") && row != reasons.end() && (row->second.empty() || row->second == "<none>"))
      wrong("S14", who.name() + " " + name,
            fmt::format("gang {} waits and {} gives no reason", name, who.name()));
  }
}

/// S10, L2. At the end what is young may still be on its way.
void checker::audit_shards(sim::process& who) {
  if (!look("L2") || !look("S10"))
    return;
  const auto now = on_.time().now();
  for (std::uint32_t s = 0; s < who.options().shards; ++s) {
    const auto* role = dynamic_cast<const shards::shard_role*>(who.role(protocol::to_shard({s})));
    if (role == nullptr)
      continue;
    for (const auto& [attempt, r] : role->reservations().all()) {
      const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - r.since).count();
      const auto text = fmt::format("shard {} of {} holds {} members of an attempt of gang {}", s,
                                    who.name(), r.left.size(), attempt.gang.value);
      const auto about = fmt::format("{} {} {} {} {} {}", who.name(), s, attempt.gang.value,
                                     attempt.ordinal, attempt.epoch.value, attempt.try_no);
      if (r.is_in_doubt() && (!is_over_ || age > doubt_ms_most))
        wrong("L2", about, fmt::format("{} in doubt for {} ms", text, age));
      const auto decided = decisions_.find(base::slot_of(attempt));
      const bool is_behind = decided != decisions_.end() && decided->second.is_live()
                             && decided->second.first.by == attempt;
      if (!r.is_in_doubt() && !is_behind && (!is_over_ || age > held_ms_most))
        wrong("S10", about, fmt::format("{} for {} ms, and nobody is behind it", text, age));
    }
  }
}

/// L4: per node, room that is neither used nor held.
void checker::audit_nodes(sim::process& who) {
  bool is_holding = false;
  for (std::size_t n = 0; n < on_.processes(); ++n)
    for (std::uint32_t s = 0; s < who.options().shards; ++s)
      is_holding |= !list_of(on_.at(n).inspect(protocol::to_shard({s}), "holds", {})).empty();
  if (is_holding || !look("L4"))
    return; // an attempt is under way: compared when nothing is
  std::map<std::string, std::int64_t> said;
  for (const auto& row : list_of(who.inspect(protocol::to(role_kind::topology), "nodes", {}))) {
    const auto& x = row.as_object();
    const auto* free = x.if_contains("free");
    if (free != nullptr && free->is_object())
      said[word(x, "name")] = count(free->as_object(), "cpu_milli");
  }
  for (const auto& [name, node] : truth_.nodes()) {
    const auto row = said.find(name);
    const auto real = truth_.free(name).cpu_milli;
    if (row == said.end())
      wrong("L4", who.name() + " has not " + name,
            fmt::format("{} does not know node {}", who.name(), name));
    else if (row->second != real)
      wrong("L4", who.name() + " " + name,
            fmt::format("node {} has {} mCPU free, {} believes {}", name, real, who.name(),
                        row->second));
  }
  for (const auto& [name, free] : said)
    if (!truth_.nodes().contains(name))
      wrong("L4", who.name() + " gone " + name,
            fmt::format("{} believes in node {}, which is gone", who.name(), name));
}

} // namespace tutti::chaos
