// Terms are judged once per class of nodes, not once per node.
#include "placement/engine/shapes.hpp"

#include <algorithm>
#include <utility>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
shape_view::shape_view(base::shape_ptr kind) : kind_(std::move(kind)) {
  auto decoded = api::decode_shape(kind_->blob);
  if (!decoded)
    return;
  terms_ = std::make_shared<const api::shape_terms>(std::move(*decoded));
  by_name_ = api::name_matters(*terms_);
}

std::vector<need> shape_view::needs(const snapshot& where) const {
  const auto& x = kind_->takes.amounts;
  std::vector<need> out;
  for (const auto& n : {need{cpu_dimension, x.cpu_milli}, need{memory_dimension, x.memory_bytes},
                        need{ephemeral_dimension, x.ephemeral_bytes},
                        need{pods_dimension, std::max<std::int64_t>(x.pods, 1)}})
    if (n.amount > 0)
      out.push_back(n);
  for (const auto& e : x.extended)
    if (e.amount > 0)
      out.push_back({dimension_of(where, e.name), e.amount});
  std::sort(out.begin(), out.end(), [](const need& a, const need& b) { return a.what < b.what; });
  return out;
}

shape_view::static_fit shape_view::judge(const snapshot& where, const block& b,
                                         std::uint32_t slot) {
  const auto number = b.classes[slot];
  const auto& entry = (*where.classes)[number];
  ensure(number != no_class, slot);
  if (!entry.terms || !terms_)
    return {};
  if (by_name_)
    return evaluate(*entry.terms, *b.nodes[slot]);
  if (known_.size() <= number)
    known_.resize(where.classes->size());
  auto& known = known_[number];
  if (!known.is_known || known.id != entry.id)
    known = {entry.id, true, evaluate(*entry.terms, *b.nodes[slot])};
  return known.fit;
}

shape_view::static_fit shape_view::evaluate(const api::class_terms& kind,
                                            const node_info& node) const {
  static_fit out;
  out.verdict = api::judge(*terms_, kind, node.name.value, node.host_name);
  if (out.verdict != api::static_verdict::ok)
    return out;
  for (const auto& p : terms_->preferred)
    if (api::matches(p.term, kind, node.name.value, node.host_name))
      out.preference += p.weight;
  for (const auto& t : kind.taints)
    if (t.effect == api::taint_effect::prefer_no_schedule
        && std::none_of(terms_->tolerations.begin(), terms_->tolerations.end(),
                        [&](const auto& how) { return api::tolerates(how, t); }))
      --out.preference;
  return out;
}

} // namespace tutti::placement::engine
