// Which kinds of tied pods there are: each is decoded once, and forgotten with its last pod.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/kinds.hpp"
#include "placement/engine/snapshot.hpp"

namespace tutti::placement::engine {

/// Thousands of pods have the same labels and terms: a node names the kind and the number of its
/// pods. A kind lives as long as some node's rows name it; snapshots that are older may keep it
/// longer, and tell it from one that has its number since by the id.
class tied_book {
public:
  /// Rows for a node, and one use of each kind in them: `pods`, which may have equal kinds several
  /// times in any order, and those of rows that are open already. Null if there are none.
  std::shared_ptr<const tied_rows> open(const std::vector<base::tied_pods>& pods,
                                        const tied_rows* besides = nullptr);
  /// Ends the uses of what `open` gave; null changes nothing.
  void close(const tied_rows* rows);

  /// Kinds with terms, ascending by id; null if there are none. Another pointer after each change.
  const std::shared_ptr<const std::vector<tied_kind_ptr>>& asking() const { return asking_; }
  std::size_t kinds() const { return known_.size(); }

private:
  struct use {
    tied_kind_ptr kind;
    std::uint32_t rows = 0;
  };
  const tied_kind_ptr& take(const base::ties_ptr& kind);
  void set_asking(const tied_kind_ptr& kind, bool is_there);

  boost::unordered_flat_map<base::ties_id, use, std::hash<base::ties_id>> known_;
  std::vector<std::uint32_t> unused_;
  std::shared_ptr<const std::vector<tied_kind_ptr>> asking_;
};

} // namespace tutti::placement::engine
