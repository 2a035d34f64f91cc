// Taints, tolerations and node selectors: do they match?
#include "api/terms.hpp"

#include <algorithm>

#include "api/pod_terms.hpp"
#include "api/selector.hpp"

namespace tutti::api {
namespace {

constexpr std::string_view unschedulable_key = "node.kubernetes.io/unschedulable";
constexpr std::string_view name_field = "metadata.name";

bool is_tolerated(const shape_terms& shape, const taint& what) {
  return std::any_of(shape.tolerations.begin(), shape.tolerations.end(),
                     [&](const toleration& how) { return tolerates(how, what); });
}

/// Fields are compared with one value, and only for equality.
bool field_holds(const label_requirement& x, std::string_view node_name) {
  if (x.key != name_field || x.values.size() != 1)
    return false;
  if (x.how == label_requirement::operation::in)
    return x.values.front() == node_name;
  return x.how == label_requirement::operation::not_in && x.values.front() != node_name;
}

bool asks_for_host(const node_term& term) {
  return !term.fields.empty()
         || std::any_of(term.labels.begin(), term.labels.end(),
                        [](const auto& x) { return x.key == host_name_label; });
}

} // namespace

bool tolerates(const toleration& how, const taint& what) {
  if (!how.any_effect && how.effect != what.effect)
    return false;
  if (!how.key.empty() && how.key != what.key)
    return false;
  return how.is_exists || how.value == what.value;
}

label_value label_of(const class_terms& kind, std::string_view host_name, std::string_view key) {
  if (key == host_name_label)
    return {!host_name.empty(), host_name};
  auto pos = std::lower_bound(kind.labels.begin(), kind.labels.end(), key,
                              [](const auto& x, std::string_view k) { return x.first < k; });
  if (pos == kind.labels.end() || pos->first != key)
    return {};
  return {true, pos->second};
}

bool matches(const node_term& term, const class_terms& kind, std::string_view node_name,
             std::string_view host_name) {
  if (term.labels.empty() && term.fields.empty())
    return false;
  auto label_holds = [&](const label_requirement& x) {
    auto found = label_of(kind, host_name, x.key);
    return holds(x, found.has ? &found.value : nullptr);
  };
  return std::all_of(term.labels.begin(), term.labels.end(), label_holds)
         && std::all_of(term.fields.begin(), term.fields.end(),
                        [&](const auto& x) { return field_holds(x, node_name); });
}

const taint* untolerated(const shape_terms& shape, const class_terms& kind) {
  for (const auto& x : kind.taints)
    if (x.effect != taint_effect::prefer_no_schedule && !is_tolerated(shape, x))
      return &x;
  return nullptr;
}

// The order is that of the reference scheduler, so that both name the same reason.
static_verdict judge(const shape_terms& shape, const class_terms& kind, std::string_view node_name,
                     std::string_view host_name) {
  if (kind.unschedulable
      && !is_tolerated(shape, {std::string{unschedulable_key}, {}, taint_effect::no_schedule}))
    return static_verdict::unschedulable;
  if (!shape.node_name.empty() && shape.node_name != node_name)
    return static_verdict::wrong_name;
  if (untolerated(shape, kind) != nullptr)
    return static_verdict::tainted;
  return is_selected(shape, kind, node_name, host_name) ? static_verdict::ok
                                                        : static_verdict::selector;
}

bool is_selected(const shape_terms& shape, const class_terms& kind, std::string_view node_name,
                 std::string_view host_name) {
  for (const auto& [key, value] : shape.selector)
    if (auto found = label_of(kind, host_name, key); !found.has || found.value != value)
      return false;
  return !shape.has_required
         || std::any_of(shape.required.begin(), shape.required.end(),
                        [&](const node_term& x) { return matches(x, kind, node_name, host_name); });
}

bool name_matters(const shape_terms& shape) {
  return !shape.node_name.empty()
         || std::any_of(shape.selector.begin(), shape.selector.end(),
                        [](const auto& x) { return x.first == host_name_label; })
         || std::any_of(shape.required.begin(), shape.required.end(), asks_for_host)
         || std::any_of(shape.preferred.begin(), shape.preferred.end(),
                        [](const auto& x) { return asks_for_host(x.term); });
}

} // namespace tutti::api
