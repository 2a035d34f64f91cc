// Equal things get one name: pods of equal requirements (a shape), nodes of equal labels and taints
// (a class).
#pragma once

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

} // namespace tutti::base
