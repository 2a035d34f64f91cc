// The guards of a plan: which terms it must be decided under, on which shards, and by what view.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/kinds.hpp"
#include "placement/view_feed.hpp"
#include "protocol/facts.hpp"
#include "protocol/plan.hpp"

namespace tutti::placement {

/// What every shard is to be asked about guards, quoted from the view that a plan is made on. Made
/// before the search, so that a long one quotes the view that it began with.
struct guard_quotes {
  /// Per shard, in order: all guards of the gang, and what the shard had told of by then.
  std::vector<protocol::slice> by_shard;
  /// Which of those guards are to be held by shards without members, too; equal for all shards.
  std::vector<bool> is_everywhere;
  bool has_any() const { return !is_everywhere.empty(); }
};

/// Finds the guards of gangs. A gang's own required terms are taken exclusively, others that may
/// mean its pods shared:
///
///     kind            exclusive                   shared
///     anti-affinity   on every shard, or (1)      on every shard, or (1): whoever comes must have
///                                                 seen the pod that keeps it out
///     affinity        on every shard              where the gang's members are
///     spread          on every shard              where the gang's members are
///
/// (1) Where all nodes of a domain are on one shard (a host, or the last topology level, by which
/// nodes are dealt out), only where the gang's members are.
class plan_guards {
public:
  explicit plan_guards(std::vector<std::string> levels) : levels_(std::move(levels)) {}

  guard_quotes quotes_of(const protocol::gang& who, const view_feed& feed);
  /// Puts the guards into the slices, and adds slices for shards without members where needed.
  static void add_to(protocol::plan& found, const guard_quotes& by);

private:
  struct use {
    protocol::guard_id id;
    bool is_exclusive = false;
    bool is_everywhere = false;
  };
  std::vector<use> uses_of(const base::ties& kind, const view_feed& feed);
  bool is_everywhere(const protocol::guard_id& guard, bool is_exclusive) const;

  std::vector<std::string> levels_;
  std::uint64_t known_at_ = 0; ///< `guards_version` of what is remembered
  boost::unordered_flat_map<std::uint64_t, std::vector<use>> remembered_; ///< by ties
};

} // namespace tutti::placement
