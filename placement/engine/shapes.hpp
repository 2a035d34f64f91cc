// What pods of one shape need, in the snapshot's numbers; and which nodes could take them at all.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/terms.hpp"
#include "base/kinds.hpp"
#include "placement/engine/snapshot.hpp"

namespace tutti::placement::engine {

/// An amount of one resource that each pod of the shape takes.
struct need {
  dimension what = 0;
  std::int64_t amount = 0;
};

/// A shape decoded, with the static verdict of each class it met: labels and taints are judged once
/// per (shape, class), not once per node. Where the shape asks for a node's name or host name, the
/// verdict is of the node.
class shape_view {
public:
  struct static_fit {
    api::static_verdict verdict = api::static_verdict::unschedulable;
    std::int32_t preference =
        0; ///< matching preferred terms; untolerated PreferNoSchedule lowers it
  };

  explicit shape_view(base::shape_ptr kind);

  const base::shape& kind() const { return *kind_; }
  bool is_readable() const { return terms_ != nullptr; }
  const api::shape_terms& terms() const { return *terms_; }
  bool depends_on_name() const { return by_name_; }

  /// The needs in the numbers of `where`, ascending by dimension; at least one pod. A resource that
  /// no node has gets the number `dimensions()`.
  std::vector<need> needs(const snapshot& where) const;

  /// As if the node were empty. The slot must have a node.
  static_fit judge(const snapshot& where, const block& b, std::uint32_t slot);
  bool allows(const snapshot& where, const block& b, std::uint32_t slot) {
    return judge(where, b, slot).verdict == api::static_verdict::ok;
  }

private:
  struct known_class {
    base::class_id id;
    bool is_known = false;
    static_fit fit;
  };
  static_fit evaluate(const api::class_terms& kind, const node_info& node) const;

  base::shape_ptr kind_;
  std::shared_ptr<const api::shape_terms> terms_; // null: the blob is not readable
  bool by_name_ = false;
  std::vector<known_class> known_; // by class number; valid while the id is that of the table
};

} // namespace tutti::placement::engine
