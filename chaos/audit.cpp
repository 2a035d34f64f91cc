// What must have come right once faults have stopped and everybody had time.
#include "chaos/checker.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "protocol/sharding.hpp"

namespace tutti::chaos {

namespace json = boost::json;
using protocol::role_kind;

namespace {

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

} // namespace

void checker::audit() {
  for (std::size_t n = 0; n < on_.processes(); ++n) {
    auto& p = on_.at(n);
    if (look("L5") && !p.is_up())
      say("L5", p.name() + " is down");
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
        const auto pod = truth_.pods().find(s.pod.value);
        const bool is_settled = pod == truth_.pods().end() || !pod->second.node.empty()
                                || !pod->second.is_live() || is_cancelled(d, s.pod);
        if (!is_settled && d.latest.is_done)
          say("S5", fmt::format("pod {} was in a plan that is done, and is not bound", s.pod_name));
        else if (!is_settled)
          say("S5",
              fmt::format("pod {} waits for a plan that was decided and is not done", s.pod_name));
      }
  }
}

/// P1, P2, L1.
void checker::audit_gangs() {
  for (const auto& [name, group] : truth_.groups()) {
    audit_started(group);
    std::size_t bound = 0;
    std::vector<const pod_truth*> pending;
    std::set<std::string> domains;
    bool has_moved = false; // a node has changed its rack under its pods
    bool has_heirs = false; // members were bound before the group of this uid came
    for (const auto* pod : truth_.members(name)) {
      if (!pod->is_live() || !pod->is_ours)
        continue;
      if (pod->node.empty()) {
        if (!pod->is_gated)
          pending.push_back(pod);
        continue;
      }
      ++bound;
      has_heirs |= pod->bound_since < group.since;
      const auto node = truth_.nodes().find(pod->node);
      has_moved |= node == truth_.nodes().end() || node->second.has_moved;
      if (node != truth_.nodes().end())
        if (const auto label = node->second.labels.find(group.topology_key);
            label != node->second.labels.end())
          domains.insert(label->second);
    }
    if (look("P1") && bound > 0 && bound < group.min_count && !has_started(group) && !has_heirs)
      say("P1", fmt::format("gang {} has {} of {} bound", name, bound, group.min_count));
    if (look("P2") && domains.size() > 1 && !has_moved)
      say("P2", fmt::format("gang {} is in {} domains", name, domains.size()));
    const bool is_started = has_started(group) && bound >= group.min_count;
    const std::size_t need =
        is_started ? 1 : group.min_count - std::min<std::size_t>(bound, group.min_count);
    if (group.is_deleting || pending.size() < need || need == 0 || !look("L1"))
      continue;
    if (domains.size() > 1)
      continue; // it is pinned to what does not exist
    const auto domain = domains.empty() ? std::string{} : *domains.begin();
    if (fits(group, pending, need, domain))
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
/// that "fits" is never said wrongly.
bool checker::fits(const group_truth& group, const std::vector<const pod_truth*>& pending,
                   std::size_t need, const std::string& domain) const {
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
    const bool is_new = reasons.emplace(name, word(x, "reason")).second;
    if (look("S13") && !is_new)
      say("S13", fmt::format("gang {} is in the queue of {} twice", name, who.name()));
  }
  for (const auto& [name, group] : truth_.groups()) {
    const auto members = truth_.members(name);
    const auto live = std::count_if(members.begin(), members.end(),
                                    [](const auto* pod) { return pod->is_ours && pod->is_live(); });
    if (const auto row = believed.find(name);
        row != believed.end() && row->second != live && look("S13"))
      say("S13", fmt::format("gang {} has {} live members, {} believes in {}", name, live,
                             who.name(), row->second));
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
      say("S13", fmt::format("gang {} is pending and not in the queue of {}", name, who.name()));
    if (look("S14") && row != reasons.end() && (row->second.empty() || row->second == "<none>"))
      say("S14", fmt::format("gang {} waits and {} gives no reason", name, who.name()));
  }
}

/// S10, L2.
void checker::audit_shards(sim::process& who) {
  if (!look("L2") || !look("S10"))
    return;
  for (std::uint32_t s = 0; s < who.options().shards; ++s)
    for (const auto& row : list_of(who.inspect(protocol::to_shard({s}), "holds", {}))) {
      const auto& x = row.as_object();
      const auto age = count(x, "age_ms");
      const bool is_in_doubt = word(x, "state") == "prepared";
      if (is_in_doubt && age > doubt_ms_most)
        say("L2", fmt::format("shard {} holds {} in doubt for {} ms", s, word(x, "attempt"), age));
      const auto slot = std::find_if(decisions_.begin(), decisions_.end(), [&](const auto& d) {
        return d.second.is_live() && d.first.gang.value == word(x, "gang");
      });
      if (slot == decisions_.end() && age > held_ms_most)
        say("S10", fmt::format("shard {} holds {} members of {} for {} ms, and nobody is behind it",
                               s, count(x, "held"), word(x, "attempt"), age));
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
      say("L4", fmt::format("{} does not know node {}", who.name(), name));
    else if (row->second != real)
      say("L4", fmt::format("node {} has {} mCPU free, {} believes {}", name, real, who.name(),
                            row->second));
  }
  for (const auto& [name, free] : said)
    if (!truth_.nodes().contains(name))
      say("L4", fmt::format("{} believes in node {}, which is gone", who.name(), name));
}

} // namespace tutti::chaos
