// Turns API objects into facts: the only place where Kubernetes becomes protocol.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/objects.hpp"
#include "protocol/facts.hpp"

namespace tutti::bridge {

/// Keeps one copy of equal things that many facts share. Holds what it made until a sweep finds
/// that nobody else does; sweeps when it has doubled, so that memory follows what is alive.
template <class T>
class interner {
public:
  using pointer = std::shared_ptr<const T>;

  /// The kept equal of `made`, or `made` itself. Two unequal things under one `key` are both
  /// right, only the first is shared.
  pointer intern(std::uint64_t key, pointer made) {
    const auto [pos, is_new] = kept_.try_emplace(key, made);
    if (!is_new)
      return *pos->second == *made ? pos->second : made;
    if (kept_.size() >= next_sweep_)
      sweep();
    return made;
  }
  std::size_t size() const { return kept_.size(); }

private:
  void sweep() {
    boost::unordered::erase_if(kept_, [](const auto& x) { return x.second.use_count() == 1; });
    next_sweep_ = std::max<std::size_t>(64, kept_.size() * 2);
  }

  boost::unordered_flat_map<std::uint64_t, pointer> kept_;
  std::size_t next_sweep_ = 64;
};

using footprint_ptr = std::shared_ptr<const base::footprint>;

/// Makes facts. Not thread-safe: one per mirror.
class fact_maker {
public:
  /// `levels` are the label keys of the topology, outermost first.
  explicit fact_maker(std::vector<std::string> levels) : levels_(std::move(levels)) {}

  protocol::node_facts_ptr node(const api::node& n);
  protocol::pod_facts pod(const api::pod& p);
  protocol::group_facts group(const api::pod_group& g) const;
  footprint_ptr footprint(const api::pod& p);
  /// Without the labels that tell one pod of many from the next: hundreds would share nothing. A
  /// pod of ours that selects by one of those is refused.
  base::ties_ptr ties(const api::pod& p);

  std::size_t shapes() const { return shapes_.size(); }
  std::size_t classes() const { return classes_.size(); }
  std::size_t footprints() const { return footprints_.size(); }

private:
  std::vector<std::string> levels_;
  interner<base::shape> shapes_;
  interner<base::node_class> classes_;
  interner<base::footprint> footprints_;
};

/// Over everything in `x` but the hash itself: a plan quotes it, the shard compares.
std::uint64_t facts_hash_of(const protocol::node_facts& x);

} // namespace tutti::bridge
