// A guard is named by what a term has in common with others of its sort, not by its selector.
#include "placement/engine/guards.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "api/ties.hpp"

namespace tutti::placement::engine {
namespace {

constexpr auto any_space = "*";

using ties_of_gang = std::map<base::ties_id, std::shared_ptr<const api::pod_ties>>;

std::shared_ptr<const api::pod_ties> decoded(const base::ties& x) {
  auto out = api::decode_ties(x.blob);
  return out ? std::make_shared<const api::pod_ties>(std::move(*out)) : nullptr;
}

class collector {
public:
  void add(const char* kind, const std::string& space, const std::string& key, bool exclusive) {
    auto& mine = needs_[{kind, space, key, false}];
    mine = mine || exclusive;
  }
  void add_own(const char* kind, const api::pod_term& t) {
    if (t.space_labels)
      add(kind, any_space, t.topology_key, true);
    else
      for (const auto& space : t.spaces)
        add(kind, space, t.topology_key, true);
  }
  void add_own(const api::pod_ties& mine) {
    for (const auto& t : mine.affinity)
      add_own("affinity", t);
    for (const auto& t : mine.anti_affinity)
      add_own("anti-affinity", t);
    for (const auto& t : mine.spread)
      if (t.is_required)
        add("spread", mine.space, t.topology_key, true);
  }

  /// Guards of another's term that may mean this pod.
  void add_selected(const char* kind, const api::pod_term& t, const api::pod_ties& mine) {
    const bool is_listed = std::binary_search(t.spaces.begin(), t.spaces.end(), mine.space);
    if ((t.space_labels || is_listed) && api::matches_list(t.pods, mine.labels))
      add(kind, t.space_labels ? std::string{any_space} : mine.space, t.topology_key, false);
  }
  void add_selected(const api::pod_ties& asker, const api::pod_ties& mine) {
    for (const auto& t : asker.affinity)
      add_selected("affinity", t, mine);
    for (const auto& t : asker.anti_affinity)
      add_selected("anti-affinity", t, mine);
    for (const auto& t : asker.spread)
      if (t.is_required && api::selects(t, asker.space, mine))
        add("spread", mine.space, t.topology_key, false);
  }

  std::vector<guard_need> list() const {
    std::vector<guard_need> out;
    for (const auto& [need, is_exclusive] : needs_)
      out.push_back({need.kind, need.space, need.key, is_exclusive});
    return out;
  }

private:
  std::map<guard_need, bool> needs_; // named without `is_exclusive`
};

} // namespace

std::vector<guard_need> guards_of(const snapshot& where, const gang_spec& what,
                                  std::span<const base::ties_ptr> others) {
  const auto asks = [](const base::ties_ptr& x) { return x && x->has_terms; };
  const bool others_ask = where.asking || std::any_of(others.begin(), others.end(), asks);
  ties_of_gang mine;
  for (const auto& m : what.members)
    if (m.is == member_spec::state::pending && m.ties && (m.ties->has_terms || others_ask)
        && !mine.contains(m.ties->id))
      if (auto terms = decoded(*m.ties))
        mine.emplace(m.ties->id, std::move(terms));
  if (mine.empty())
    return {};
  collector out;
  for (const auto& [id, ties] : mine)
    out.add_own(*ties);
  const auto ask = [&](const api::pod_ties& asker) {
    for (const auto& [id, ties] : mine)
      out.add_selected(asker, *ties);
  };
  if (where.asking)
    for (const auto& kind : *where.asking)
      if (kind->terms)
        ask(*kind->terms);
  for (const auto& x : others)
    if (asks(x))
      if (const auto terms = decoded(*x))
        ask(*terms);
  return out.list();
}

} // namespace tutti::placement::engine
