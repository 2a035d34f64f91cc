// The canonical bytes of ties, and whom a term means.
//
//     ties     := space pairs terms terms spread preferred
//     terms    := list of term                 term := key selector spaces flag [selector]
//     selector := requirements flag
//     spread   := list of (skew key selector domains flag flag flag)
//     preferred:= list of (weight term), ascending, duplicates kept: their weights add up
//
// Numbers, texts and lists: blob_bytes.hpp.
#include "api/ties.hpp"

#include <algorithm>
#include <memory>

#include "api/blob_bytes.hpp"
#include "base/ensure.hpp"

namespace tutti::api {
namespace {

using namespace blob;

constexpr char ties_kind = 'T';
constexpr unsigned char format_version = 1;

void put_selector(std::string& out, const label_selector& x) {
  put_list(out, x.requirements, order::sorted_unique, put_requirement);
  put_flag(out, x.requirements.empty() && x.selects_all);
}

void put_pod_term(std::string& out, const pod_term& x) {
  put_text(out, x.topology_key);
  put_selector(out, x.pods);
  put_list(out, in_order(x.spaces), order::kept, put_text);
  put_flag(out, x.space_labels.has_value());
  if (x.space_labels)
    put_selector(out, *x.space_labels);
}

void put_spread(std::string& out, const spread_term& x) {
  put_signed(out, x.max_skew);
  put_text(out, x.topology_key);
  put_selector(out, x.pods);
  put_signed(out, x.min_domains);
  put_flag(out, x.is_required);
  put_flag(out, x.honors_affinity);
  put_flag(out, x.honors_taints);
}

void put_weighted(std::string& out, const weighted_pod_term& x) {
  if (x.weight == 0)
    return;
  put_signed(out, x.weight);
  put_pod_term(out, x.term);
}

std::string encode(const pod_ties& x) {
  std::string out{ties_kind, static_cast<char>(format_version)};
  put_text(out, x.space);
  put_pairs(out, x.labels);
  put_list(out, x.affinity, order::sorted_unique, put_pod_term);
  put_list(out, x.anti_affinity, order::sorted_unique, put_pod_term);
  put_list(out, x.spread, order::sorted_unique, put_spread);
  put_list(out, x.preferred, order::sorted, put_weighted);
  return out;
}

/// Requirements stand by their bytes in the blob, which is by the length of the key first.
label_selector take_selector(reader& in) {
  label_selector out;
  out.requirements = in.list(take_requirement);
  std::stable_sort(out.requirements.begin(), out.requirements.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
  out.selects_all = in.flag();
  return out;
}

pod_term take_pod_term(reader& in) {
  pod_term out;
  out.topology_key = in.text();
  out.pods = take_selector(in);
  out.spaces = in.list([](reader& r) { return r.text(); });
  if (in.flag())
    out.space_labels = take_selector(in);
  return out;
}

spread_term take_spread(reader& in) {
  spread_term out;
  out.max_skew = in.weight();
  out.topology_key = in.text();
  out.pods = take_selector(in);
  out.min_domains = in.weight();
  out.is_required = in.flag();
  out.honors_affinity = in.flag();
  out.honors_taints = in.flag();
  return out;
}

weighted_pod_term take_weighted(reader& in) {
  auto weight = in.weight();
  return {weight, take_pod_term(in)};
}

} // namespace

bool pod_ties::has_required() const {
  return !affinity.empty() || !anti_affinity.empty()
         || std::any_of(spread.begin(), spread.end(),
                        [](const spread_term& x) { return x.is_required; });
}

base::ties_ptr make_ties(const pod_ties& x) {
  auto out = std::make_shared<base::ties>();
  out->blob = encode(x);
  out->id.value = base::hash_of(out->blob);
  out->has_terms = x.has_required() || !x.spread.empty()
                   || std::any_of(x.preferred.begin(), x.preferred.end(),
                                  [](const weighted_pod_term& p) { return p.weight != 0; });
  ensure_slow(decode_ties(out->blob).has_value());
  return out;
}

base::result<pod_ties> decode_ties(std::string_view bytes) {
  auto body = body_of(bytes, {ties_kind, format_version, "pod's ties"});
  if (!body)
    return body.error();
  reader in(*body);
  pod_ties out;
  out.space = in.text();
  out.labels = in.list(take_pair);
  out.affinity = in.list(take_pod_term);
  out.anti_affinity = in.list(take_pod_term);
  out.spread = in.list(take_spread);
  out.preferred = in.list(take_weighted);
  if (!in.is_done())
    return broken("pod's ties");
  return out;
}

bool selects(const pod_term& term, const pod_ties& other, const string_map* space_labels) {
  if (!std::binary_search(term.spaces.begin(), term.spaces.end(), other.space)) {
    if (!term.space_labels)
      return false;
    const bool means_every = term.space_labels->selects_all;
    if (!means_every && (!space_labels || !matches(*term.space_labels, *space_labels)))
      return false;
  }
  return matches_list(term.pods, other.labels);
}

bool selects(const spread_term& term, std::string_view own_space, const pod_ties& other) {
  return other.space == own_space && matches_list(term.pods, other.labels);
}

} // namespace tutti::api
