// Reads what a pod asks of other pods: affinity and anti-affinity among pods, topology spread.
#include <algorithm>

#include "api/decode_parts.hpp"

namespace tutti::api {
namespace {

using operation = label_requirement::operation;

/// Nothing if an operator is none of ours: then nobody can say whom the selector means.
std::optional<label_selector> read_selector(const cursor& x) {
  label_selector out;
  bool is_known = true;
  x["matchLabels"].members([&](std::string_view key, const cursor& value) {
    out.requirements.push_back({std::string{key}, operation::in, {value.text()}});
  });
  x["matchExpressions"].each([&](const cursor& e) {
    auto one = read_requirement(e);
    is_known = is_known && one && one->how != operation::gt && one->how != operation::lt;
    if (is_known)
      out.requirements.push_back(std::move(*one));
  });
  if (!is_known)
    return std::nullopt;
  out.selects_all = x.is_set() && out.requirements.empty();
  return out;
}

/// Servers merge the values of these labels of the pod into the selector when the pod is created;
/// manifests that no server has seen, and old servers, leave it to us. Twice is as good as once. A
/// selector that is missing selects nothing and stays so.
void merge_keys(const cursor& keys, operation how, const string_map& labels, label_selector& into) {
  if (into.requirements.empty() && !into.selects_all)
    return;
  keys.each([&](const cursor& x) {
    const auto pos = labels.find(x.text());
    if (pos == labels.end())
      return;
    label_requirement one{pos->first, how, {pos->second}};
    if (std::find(into.requirements.begin(), into.requirements.end(), one)
        == into.requirements.end())
      into.requirements.push_back(std::move(one));
    into.selects_all = false;
  });
}

void put_in_order(label_selector& x) {
  std::stable_sort(x.requirements.begin(), x.requirements.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
}

std::optional<pod_term> read_pod_term(const cursor& x, const object_meta& own) {
  auto pods = read_selector(x["labelSelector"]);
  pod_term out;
  out.topology_key = x["topologyKey"].text();
  if (!pods || out.topology_key.empty())
    return std::nullopt;
  merge_keys(x["matchLabelKeys"], operation::in, own.labels, *pods);
  merge_keys(x["mismatchLabelKeys"], operation::not_in, own.labels, *pods);
  put_in_order(*pods);
  out.pods = std::move(*pods);
  x["namespaces"].each([&](const cursor& name) { out.spaces.push_back(name.text()); });
  if (auto spaces = x["namespaceSelector"]; spaces.is_set()) {
    out.space_labels = read_selector(spaces);
    if (!out.space_labels)
      return std::nullopt;
    put_in_order(*out.space_labels);
  } else if (out.spaces.empty()) {
    out.spaces.push_back(own.space);
  }
  std::sort(out.spaces.begin(), out.spaces.end());
  out.spaces.erase(std::unique(out.spaces.begin(), out.spaces.end()), out.spaces.end());
  return out;
}

void read_required(const cursor& list, pod& out, std::vector<pod_term>& into) {
  list.each([&](const cursor& x) {
    if (auto term = read_pod_term(x, out.meta))
      into.push_back(std::move(*term));
    else
      out.unweighed.push_back(x.path());
  });
}

/// A preference that cannot be read is none.
void read_preferred(const cursor& list, pod& out, std::int32_t sign) {
  list.each([&](const cursor& x) {
    if (auto term = read_pod_term(x["podAffinityTerm"], out.meta))
      out.preferred_pods.push_back({sign * x["weight"].integer32(), std::move(*term)});
  });
}

/// "Honor", "Ignore", or nothing, which means `unset`.
std::optional<bool> read_policy(const cursor& x, bool unset) {
  const auto word = x.text();
  if (word.empty())
    return unset;
  if (word != "Honor" && word != "Ignore")
    return std::nullopt;
  return word == "Honor";
}

std::optional<spread_term> read_spread(const cursor& x, const object_meta& own) {
  auto pods = read_selector(x["labelSelector"]);
  const auto affinity = read_policy(x["nodeAffinityPolicy"], true);
  const auto taints = read_policy(x["nodeTaintsPolicy"], false);
  const auto otherwise = x["whenUnsatisfiable"].text();
  spread_term out;
  out.topology_key = x["topologyKey"].text();
  out.max_skew = x["maxSkew"].integer32();
  out.min_domains = x["minDomains"].maybe_integer32().value_or(1);
  out.is_required = otherwise != "ScheduleAnyway";
  const bool is_known = pods && affinity && taints && !out.topology_key.empty() && out.max_skew > 0
                        && out.min_domains > 0
                        && (otherwise == "DoNotSchedule" || !out.is_required);
  if (!is_known)
    return std::nullopt;
  merge_keys(x["matchLabelKeys"], operation::in, own.labels, *pods);
  put_in_order(*pods);
  out.pods = std::move(*pods);
  out.honors_affinity = *affinity;
  out.honors_taints = *taints;
  return out;
}

} // namespace

void read_ties(const cursor& spec, pod& out) {
  constexpr auto required = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr auto preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  spec["topologySpreadConstraints"].each([&](const cursor& x) {
    if (auto term = read_spread(x, out.meta))
      out.spread.push_back(std::move(*term));
    else if (x["whenUnsatisfiable"].text() != "ScheduleAnyway")
      out.unweighed.push_back(x.path());
  });
  const auto affinity = spec["affinity"];
  const auto near = affinity["podAffinity"];
  const auto apart = affinity["podAntiAffinity"];
  read_required(near[required], out, out.pod_affinity);
  read_required(apart[required], out, out.pod_anti_affinity);
  read_preferred(near[preferred], out, +1);
  read_preferred(apart[preferred], out, -1);
}

} // namespace tutti::api
