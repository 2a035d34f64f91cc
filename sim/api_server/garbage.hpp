// Deletes objects whose owners are all gone, as Kubernetes' garbage collector does in the
// background.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "sim/api_server/registry.hpp"

namespace tutti::sim::api_server {

/// An owner counts as there if an object of its kind and name has its uid. An owner of a kind that
/// is not served here may exist elsewhere: what it owns is left alone. Finalizers hold an object
/// that is deleted here as any other. Deletions are always "background": nobody's
/// `propagationPolicy` is read.
class garbage {
public:
  garbage(const catalog& kinds, store& objects, registry& writes)
      : kinds_(kinds), store_(objects), registry_(writes) {}

  /// Takes up what is there already. Before the first `collect`.
  void begin();
  /// Deletes what has lost its last owner since. True if anything was deleted or marked so.
  bool collect();

private:
  using place = std::pair<kind_id, std::string>;

  void follow(kind_id kind, const event& e);
  void index(kind_id kind, const object& x);
  bool has_owner(const object& x) const;
  bool collect_one(const place& where);

  const catalog& kinds_;
  store& store_;
  registry& registry_;
  std::array<std::size_t, kind_count> seen_{};
  std::map<std::string, std::set<place>> owned_by_; ///< owner's uid → who names it
  std::set<place> to_check_;
};

} // namespace tutti::sim::api_server
