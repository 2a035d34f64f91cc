// What a pod demands of a node and what a node is, as plain values; and their canonical blobs.
//
// `protocol` carries the blobs without reading them; `placement/engine` and `shards` read them
// here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/kinds.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"

namespace tutti::api {

using string_map = std::map<std::string, std::string, std::less<>>;

/// One requirement on a label. `gt` and `lt` compare integers and have exactly one value.
struct label_requirement {
  enum class operation : std::uint8_t { in, not_in, exists, does_not_exist, gt, lt };
  std::string key;
  operation how = operation::in;
  std::vector<std::string> values;

  friend bool operator==(const label_requirement&, const label_requirement&) = default;
};

/// All expressions and all fields must hold (`fields` know only metadata.name). An empty term
/// matches nothing.
struct node_term {
  std::vector<label_requirement> labels;
  std::vector<label_requirement> fields;

  friend bool operator==(const node_term&, const node_term&) = default;
};

struct preferred_term {
  std::int32_t weight = 0;
  node_term term;

  friend bool operator==(const preferred_term&, const preferred_term&) = default;
};

enum class taint_effect : std::uint8_t { no_schedule, prefer_no_schedule, no_execute };

struct taint {
  std::string key;
  std::string value;
  taint_effect effect = taint_effect::no_schedule;

  friend bool operator==(const taint&, const taint&) = default;
};

/// An empty key (only with `is_exists`) tolerates every key; no effect tolerates every effect.
struct toleration {
  std::string key;
  bool is_exists = false;
  std::string value;
  bool any_effect = true;
  taint_effect effect = taint_effect::no_schedule;

  friend bool operator==(const toleration&, const toleration&) = default;
};
bool tolerates(const toleration& how, const taint& what);

/// What pods of one shape demand, requests apart (those are the shape's footprint).
struct shape_terms {
  std::vector<std::pair<std::string, std::string>> selector; ///< nodeSelector, ascending by key
  bool has_required = false; ///< required node affinity is there, even with an empty list of terms
  std::vector<node_term> required; ///< one of them must hold
  std::vector<preferred_term> preferred;
  std::vector<toleration> tolerations;
  std::string node_name; ///< spec.nodeName demanded; empty = any

  friend bool operator==(const shape_terms&, const shape_terms&) = default;
};

/// What nodes of one class are.
struct class_terms {
  std::vector<std::pair<std::string, std::string>>
      labels; ///< ascending by key, without the host name
  std::vector<taint> taints;
  bool unschedulable = false;

  friend bool operator==(const class_terms&, const class_terms&) = default;
};

/// Shape and class with canonical blob and its hash as id. Equal terms (and equal footprint) give
/// equal ids whatever the order in the manifest, where Kubernetes gives order no meaning.
base::shape_ptr make_shape(const shape_terms& terms, const base::footprint& takes);
base::node_class_ptr make_class(const class_terms& terms);

/// Reads a blob back. `corrupt` if it is none of ours, `newer_format` if of a later version.
base::result<shape_terms> decode_shape(std::string_view blob);
base::result<class_terms> decode_class(std::string_view blob);

/// Why a node cannot take a pod whatever its load; `ok` if it can, as far as labels and taints say.
enum class static_verdict : std::uint8_t {
  ok,
  unschedulable, ///< spec.unschedulable, not tolerated
  wrong_name,    ///< the pod demands another node
  tainted,       ///< first NoSchedule or NoExecute taint without toleration: see `untolerated`
  selector       ///< node selector or required affinity
};

/// The node's host name and name take part where a term asks for them; `name_matters(shape)` says
/// whether it does (preferences included), so that one verdict per (shape, class) can be cached
/// where it does not.
static_verdict judge(const shape_terms& shape, const class_terms& kind, std::string_view node_name,
                     std::string_view host_name);
bool name_matters(const shape_terms& shape);
/// True if all expressions and fields of a term hold; also for the terms of preferences. An empty
/// term matches nothing.
bool matches(const node_term& term, const class_terms& kind, std::string_view node_name,
             std::string_view host_name);
/// The part of `judge` that asks node selector and required affinity.
bool is_selected(const shape_terms& shape, const class_terms& kind, std::string_view node_name,
                 std::string_view host_name);
/// The first taint that `judge` stumbles over; null if there is none.
const taint* untolerated(const shape_terms& shape, const class_terms& kind);
/// Value of a label of this node, kubernetes.io/hostname included; empty if it has none (`has`
/// false).
struct label_value {
  bool has = false;
  std::string_view value;
};
label_value label_of(const class_terms& kind, std::string_view host_name, std::string_view key);

} // namespace tutti::api
