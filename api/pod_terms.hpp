// The demands of a pod and the nature of a node, as the terms that shapes and classes are made of.
#pragma once

#include "api/objects.hpp"
#include "api/terms.hpp"

namespace tutti::api {

/// Label that names the host; kept apart from a class, for it would make each node one of its own.
inline constexpr std::string_view host_name_label = "kubernetes.io/hostname";

/// A bound pod's node name is no demand: it is left out, so that pods keep their shape.
shape_terms terms_of(const pod& p);
class_terms terms_of(const node& n);

/// Labels, namespace and the terms among pods. Every pod has some: another's term may select it
/// even if it has neither labels nor terms.
pod_ties ties_of(const pod& p);

/// The value of the host name label; empty if the node has none.
std::string host_name_of(const node& n);

/// The pod's shape: its terms and its footprint.
base::shape_ptr shape_of(const pod& p);
base::node_class_ptr class_of(const node& n);

} // namespace tutti::api
