// The pods of one node and what each takes, in few bytes: there are two entries per pod of the
// cluster.
#pragma once

#include <cstddef>
#include <memory>

#include <boost/container/flat_map.hpp>

#include "base/resources.hpp"
#include "base/uid.hpp"

namespace tutti::shards {

/// A footprint is 120 bytes, and a node has many pods and few kinds of them. So equal footprints of
/// one node are kept once, and the entries, 32 bytes each, lie beside each other. Ascending by uid.
///
/// A value: copies share the footprints, which never change. Not thread-safe. `put` is linear in
/// the pods of the node, `find` logarithmic.
class pod_takes {
public:
  using footprint_ptr = std::shared_ptr<const base::footprint>; ///< never null in the table
  using entries = boost::container::flat_map<base::packed_uid, footprint_ptr>;

  /// Null if `pod` is not here. Valid until the pod is put again or erased.
  const base::footprint* find(const base::packed_uid& pod) const;
  bool contains(const base::packed_uid& pod) const { return entries_.contains(pod); }
  /// Adds `pod`, or replaces what it takes.
  void put(const base::packed_uid& pod, const base::footprint& takes);
  void erase(const base::packed_uid& pod) { entries_.erase(pod); }

  entries::const_iterator begin() const { return entries_.begin(); }
  entries::const_iterator end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

private:
  entries entries_;
};

} // namespace tutti::shards
