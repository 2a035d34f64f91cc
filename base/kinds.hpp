// Equal things get one name: pods of equal requirements (a shape), nodes of equal labels and taints
// (a class), pods of equal labels and terms among each other (ties).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/ids.hpp"
#include "base/resources.hpp"

namespace tutti::base {

/// Pods with equal requirements form a shape. Immutable, shared by all facts that name it. Made by
/// `api::make_shape`.
struct shape {
  shape_id id;
  std::string blob; ///< canonical; read by api::decode_shape, opaque to everyone else
  footprint takes;

  friend bool operator==(const shape&, const shape&) = default;
};
using shape_ptr = std::shared_ptr<const shape>;

/// Nodes with equal labels (the host name apart) and taints form a class. Made by
/// `api::make_class`.
struct node_class {
  class_id id;
  std::string blob; ///< canonical; read by api::decode_class, opaque to everyone else

  friend bool operator==(const node_class&, const node_class&) = default;
};
using node_class_ptr = std::shared_ptr<const node_class>;

/// What ties a pod to other pods, wherever they are: its namespace, its labels, by which others
/// select it, and its own terms that span nodes. Immutable, shared by all pods of equal ties. Made
/// by `api::make_ties`.
struct ties {
  ties_id id;
  std::string blob;       ///< canonical; read by api::decode_ties, opaque to everyone else
  bool has_terms = false; ///< it asks something of others, and is not only asked about

  friend bool operator==(const ties&, const ties&) = default;
};
using ties_ptr = std::shared_ptr<const ties>;

/// Pods of equal ties on one node.
struct tied_pods {
  ties_ptr kind; ///< never null
  std::uint32_t count = 0;

  friend bool operator==(const tied_pods& a, const tied_pods& b) {
    return a.kind->id == b.kind->id && a.count == b.count;
  }
};

} // namespace tutti::base
