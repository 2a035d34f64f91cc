// Own terms are asked exclusively; known guards of others are compared with the gang's labels.
#include "placement/plan_guards.hpp"

#include <algorithm>
#include <utility>

#include "api/term_guards.hpp"
#include "api/ties.hpp"
#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::placement {
namespace {

constexpr std::string_view host_key = "kubernetes.io/hostname";
/// Kinds of ties that are remembered between two changes of the guards.
constexpr std::size_t remembered_most = 4096;

api::term_guard guard_of(const protocol::guard_id& x) {
  return {x.kind, x.space, x.key};
}

protocol::guard_id id_of(api::term_guard x) {
  return {std::move(x.kind), std::move(x.space), std::move(x.key)};
}

} // namespace

bool plan_guards::is_everywhere(const protocol::guard_id& guard, bool is_exclusive) const {
  if (guard.kind != "anti-affinity")
    return is_exclusive;
  const auto read = guard_of(guard);
  const auto key = api::topology_key_of(read);
  return key != host_key && (levels_.empty() || key != levels_.back());
}

std::vector<plan_guards::use> plan_guards::uses_of(const base::ties& kind, const view_feed& feed) {
  if (known_at_ != feed.guards_version() || remembered_.size() > remembered_most) {
    remembered_.clear();
    known_at_ = feed.guards_version();
  }
  const auto [pos, is_new] = remembered_.try_emplace(kind.id.value);
  if (!is_new)
    return pos->second;
  const auto read = api::decode_ties(kind.blob);
  ensure(read.has_value(), kind.blob.size());
  auto& out = pos->second;
  for (auto& mine : api::guards_of_terms(*read)) {
    auto id = id_of(std::move(mine));
    const bool everywhere = is_everywhere(id, true);
    out.push_back(
        {std::move(id), !base::is_planted(base::mutant::share_an_exclusive_guard), everywhere});
  }
  if (base::is_planted(base::mutant::take_no_shared_guard))
    return out;
  const auto own = out.size();
  for (const auto& [id, tellers] : feed.guards()) {
    const bool is_own = std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(own),
                                    [&id = id](const use& x) { return x.id == id; });
    if (!is_own && api::may_mean(guard_of(id), *read))
      out.push_back({id, false, is_everywhere(id, false)});
  }
  return out;
}

guard_quotes plan_guards::quotes_of(const protocol::gang& who, const view_feed& feed) {
  std::map<protocol::guard_id, use> all;
  const base::ties* last = nullptr; // equal ones often stand beside each other
  for (const auto& m : who.members) {
    if (!m.node.value.empty() || !m.ties || m.ties.get() == last)
      continue;
    last = m.ties.get();
    for (auto& x : uses_of(*m.ties, feed)) {
      auto& sum = all[x.id];
      sum.id = x.id;
      sum.is_exclusive |= x.is_exclusive;
      sum.is_everywhere |= x.is_everywhere;
    }
  }
  guard_quotes out;
  for (const auto& [id, x] : all)
    out.is_everywhere.push_back(x.is_everywhere);
  out.by_shard.resize(feed.shards());
  for (std::uint32_t i = 0; i < feed.shards(); ++i) {
    auto& at = out.by_shard[i];
    at.shard = {i};
    at.space = who.name.space;
    at.guards_known = feed.guards_known({i});
    for (const auto& [id, x] : all)
      at.guards.push_back({id, x.is_exclusive, feed.version_of(id, x.is_exclusive, {i})});
  }
  return out;
}

void plan_guards::add_to(protocol::plan& found, const guard_quotes& by) {
  const auto seats = found.seat_count();
  auto bare = std::exchange(found.slices, {});
  auto next = bare.begin();
  for (const auto& quoted : by.by_shard) {
    if (next != bare.end() && next->shard == quoted.shard) {
      auto& part = found.slices.emplace_back(std::move(*next++));
      part.space = quoted.space;
      part.guards_known = quoted.guards_known;
      part.guards = quoted.guards;
      continue;
    }
    auto alone = quoted;
    alone.guards.clear();
    for (std::size_t i = 0; i < quoted.guards.size(); ++i)
      if (by.is_everywhere[i])
        alone.guards.push_back(quoted.guards[i]);
    if (!alone.guards.empty())
      found.slices.push_back(std::move(alone));
  }
  ensure(found.seat_count() == seats, found.seat_count(), seats);
}

} // namespace tutti::placement
