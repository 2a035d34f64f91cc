// The words of a no: every cause counted, the worst one first.
#include "shards/gathering.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/attempt_text.hpp"
#include "base/ensure.hpp"

namespace tutti::shards {
namespace {

using base::reason_code;

refusal plain(reason_code code, std::string detail) {
  refusal out;
  out.why.primary = code;
  out.why.detail = std::move(detail);
  return out;
}

/// The reason of one node, as kube-scheduler says it where it has words for it.
std::string cause_of(const protocol::held& x) {
  if (x.moved)
    return "node changed since it was planned";
  if (x.lacking.name == "victim")
    return "victim named by another plan";
  if (x.lacking.name.starts_with("host port"))
    return "node(s) didn't have free ports for the requested pod ports";
  return x.lacking.name == "pods" ? "Too many pods" : "Insufficient " + x.lacking.name;
}

std::string text_of_first(const protocol::held& x) {
  if (x.moved)
    return fmt::format("node {} changed since it was planned", x.node.value);
  return fmt::format("pod {} needs {} {} on node {}, which has {}", x.short_pod.value,
                     base::amount_text(x.lacking.name, x.lacking.need), x.lacking.name,
                     x.node.value, base::amount_text(x.lacking.name, x.lacking.room));
}

} // namespace

refusal refuse_stale(std::string detail) {
  return plain(reason_code::view_stale, std::move(detail));
}

refusal refuse_leaving(const base::node_uid& node) {
  return refuse_stale(fmt::format("node {} goes to another shard", node.value));
}

refusal refuse_unavailable(std::string detail) {
  return plain(reason_code::shard_unavailable, std::move(detail));
}

refusal refuse_conflict(std::string detail, std::vector<base::attempt_id> holders) {
  auto out = plain(reason_code::reservation_conflict, std::move(detail));
  out.holders = std::move(holders);
  return out;
}

refusal refuse_guard(const guard_table::objection& x) {
  const auto name = fmt::format("guard {} {}/{}", x.guard.kind, x.guard.space, x.guard.key);
  if (x.is_stale)
    return refuse_stale(
        name + (x.is_unknown ? " is new to this shard" : " was used since the plan was made"));
  return refuse_conflict(name + " is held by " + to_text(x.holders.front()), x.holders);
}

refusal refuse_nodes(const gathering& x) {
  ensure(!x.is_granted());
  refusal out;
  std::set<base::attempt_id> holders;
  std::map<std::string, std::int64_t> causes;
  std::map<std::string, std::int64_t> short_by;
  bool has_moved = false;
  bool is_short = false;
  for (const auto& no : x.refusals) {
    ++causes[cause_of(no)];
    has_moved |= no.moved;
    is_short |= !no.moved && no.holders.empty();
    holders.insert(no.holders.begin(), no.holders.end());
    if (!no.moved)
      short_by[no.lacking.name] += no.lacking.need - no.lacking.room;
  }
  if (!x.lost.empty())
    causes["node actor is coming up"] = static_cast<std::int64_t>(x.lost.size());

  // Room that a rival only holds may come back soon; room that is used may not: say the worse.
  out.why.primary = is_short           ? reason_code::insufficient_resources
                    : !holders.empty() ? reason_code::reservation_conflict
                    : has_moved        ? reason_code::view_stale
                                       : reason_code::shard_unavailable;
  out.why.nodes_seen =
      static_cast<std::int64_t>(x.holding.size() + x.refusals.size() + x.lost.size());
  out.why.nodes_fit = static_cast<std::int64_t>(x.holding.size());
  for (const auto& [cause, nodes] : causes)
    out.why.rejected.push_back({cause, nodes});
  out.why.wanted = static_cast<std::int64_t>(x.asked->seats.size());
  out.why.placed = std::count_if(x.asked->seats.begin(), x.asked->seats.end(),
                                 [&](const auto& s) { return x.holding.contains(s.node); });
  for (const auto& [name, amount] : short_by)
    if (amount > out.why.short_by) {
      out.why.dimension = name;
      out.why.short_by = amount;
    }
  out.why.detail = x.refusals.empty()
                       ? fmt::format("node {} cannot answer now", x.lost.front().value)
                       : text_of_first(x.refusals.front());
  out.holders.assign(holders.begin(), holders.end());
  if (!out.holders.empty())
    out.why.detail += "; held by " + to_text(out.holders.front());
  return out;
}

} // namespace tutti::shards
