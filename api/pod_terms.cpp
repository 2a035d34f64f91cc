// Which terms of pods and nodes decide who may go where.
#include "api/pod_terms.hpp"

#include "api/requests.hpp"

namespace tutti::api {

shape_terms terms_of(const pod& p) {
  shape_terms out;
  out.selector.assign(p.node_selector.begin(), p.node_selector.end());
  out.has_required = p.has_required_affinity;
  out.required = p.required_affinity;
  out.preferred = p.preferred_affinity;
  out.tolerations = p.tolerations;
  return out;
}

pod_ties ties_of(const pod& p) {
  pod_ties out;
  out.space = p.meta.space;
  out.labels.assign(p.meta.labels.begin(), p.meta.labels.end());
  out.affinity = p.pod_affinity;
  out.anti_affinity = p.pod_anti_affinity;
  out.preferred = p.preferred_pods;
  out.spread = p.spread;
  return out;
}

class_terms terms_of(const node& n) {
  class_terms out;
  for (const auto& [key, value] : n.meta.labels)
    if (key != host_name_label)
      out.labels.emplace_back(key, value);
  out.taints = n.taints;
  out.unschedulable = n.unschedulable;
  return out;
}

std::string host_name_of(const node& n) {
  auto pos = n.meta.labels.find(host_name_label);
  return pos == n.meta.labels.end() ? std::string{} : pos->second;
}

base::shape_ptr shape_of(const pod& p) {
  return make_shape(terms_of(p), footprint_of(p));
}

base::node_class_ptr class_of(const node& n) {
  return make_class(terms_of(n));
}

} // namespace tutti::api
