// Labels differ from member to member (an index, say) more often than what they mean to others.
#include <algorithm>
#include <map>
#include <utility>

#include "placement/engine/tied_problem.hpp"

namespace tutti::placement::engine {
namespace {

/// The gang's kinds of ties, in the order of their first members.
struct kinds_of_gang {
  std::vector<base::ties_ptr> list;
  std::vector<std::uint32_t> of_member;
};

kinds_of_gang find_kinds(const gang_spec& what) {
  kinds_of_gang out;
  std::map<base::ties_id, std::uint32_t> number_of;
  out.of_member.reserve(what.members.size());
  for (const auto& m : what.members) {
    const bool is_like_last = !out.of_member.empty()
                              && (out.list[out.of_member.back()] == m.ties
                                  || (m.ties && out.list[out.of_member.back()]
                                      && out.list[out.of_member.back()]->id == m.ties->id));
    if (is_like_last) {
      out.of_member.push_back(out.of_member.back());
      continue;
    }
    const auto [pos, is_new] = number_of.try_emplace(m.ties ? m.ties->id : base::ties_id{},
                                                     static_cast<std::uint32_t>(out.list.size()));
    if (is_new)
      out.list.push_back(m.ties);
    out.of_member.push_back(pos->second);
  }
  return out;
}

bool is_selected(const snapshot& where, const base::ties& kind, workspace& memory) {
  const auto& askers = memory.askers(where);
  if (askers.empty())
    return false;
  auto& known = memory.ties(kind);
  if (known.asking_version == where.asking_version && known.spaces_version == where.spaces_version)
    return known.is_selected;
  known.is_selected =
      known.terms && std::any_of(askers.begin(), askers.end(), [&](const tied_kind_ptr& a) {
        return a->terms && is_kept_away(where, *a->terms, *known.terms, {});
      });
  known.asking_version = where.asking_version;
  known.spaces_version = where.spaces_version;
  return known.is_selected;
}

/// Whom each term means, as one character per term.
std::string meaning(const snapshot& where, const api::pod_ties& asker, const api::pod_ties& other) {
  std::string out;
  const auto* labels = where.labels_of_space(other.space);
  const auto note = [&](bool x) { out += x ? '1' : '0'; };
  for (const auto& t : asker.affinity)
    note(api::selects(t, other, labels));
  for (const auto& t : asker.anti_affinity)
    note(api::selects(t, other, labels));
  for (const auto& t : asker.spread)
    note(api::selects(t, asker.space, other));
  return out;
}

} // namespace

bool is_kept_away(const snapshot& where, const api::pod_ties& asker, const api::pod_ties& other,
                  std::string_view key) {
  const auto* labels = where.labels_of_space(other.space);
  return std::any_of(
      asker.anti_affinity.begin(), asker.anti_affinity.end(), [&](const api::pod_term& t) {
        return (key.empty() || t.topology_key == key) && api::selects(t, other, labels);
      });
}

bool is_near_enough(const snapshot& where, const api::pod_ties& asker, const api::pod_ties& other) {
  const auto* labels = where.labels_of_space(other.space);
  return std::all_of(asker.affinity.begin(), asker.affinity.end(),
                     [&](const api::pod_term& t) { return api::selects(t, other, labels); });
}

tie_classes find_tie_classes(const snapshot& where, const gang_spec& what, workspace& memory) {
  const bool any_asks = where.asking != nullptr;
  if (std::none_of(what.members.begin(), what.members.end(),
                   [&](const member_spec& m) { return m.ties && (any_asks || m.ties->has_terms); }))
    return {};
  const auto kinds = find_kinds(what);
  bool is_tied = false;
  for (const auto& k : kinds.list)
    is_tied = is_tied || (k && (k->has_terms || is_selected(where, *k, memory)));
  if (!is_tied)
    return {};
  std::map<base::ties_id, std::shared_ptr<const api::pod_ties>> ways; // one for each way to ask
  for (const auto& k : kinds.list)
    if (k && k->has_terms)
      if (const auto& known = memory.ties(*k); known.terms)
        ways.emplace(known.asks, known.terms);
  const auto& askers = memory.askers(where);
  std::map<std::string, std::uint32_t> class_of;
  std::vector<std::uint32_t> class_of_kind;
  tie_classes out;
  for (const auto& k : kinds.list) {
    std::string signature;
    if (k) {
      const auto known = memory.ties(*k);
      signature = std::to_string(known.asks.value) + (known.terms ? known.terms->space : "?") + ' ';
      if (known.terms) {
        for (const auto& [id, way] : ways)
          signature += meaning(where, *way, *known.terms);
        for (const auto& a : askers)
          if (a->terms)
            signature += meaning(where, *a->terms, *known.terms);
      }
    }
    const auto [pos, is_new] =
        class_of.try_emplace(std::move(signature), static_cast<std::uint32_t>(class_of.size()));
    if (is_new)
      out.example.push_back(k);
    class_of_kind.push_back(pos->second);
  }
  for (auto k : kinds.of_member)
    out.of_member.push_back(class_of_kind[k]);
  return out;
}

} // namespace tutti::placement::engine
