// Anti-affinity in both directions, affinity with its first pod, and spread.
#include "chaos/term_judge.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tutti::chaos {

namespace {

/// Null where the node has no such label.
const std::string* domain_of(const standing& x, const std::string& key) {
  const auto pos = x.labels->find(key);
  return pos == x.labels->end() ? nullptr : &pos->second;
}

bool are_together(const standing& a, const standing& b, const std::string& key) {
  const auto* here = domain_of(a, key);
  const auto* there = domain_of(b, key);
  return here != nullptr && there != nullptr && *here == *there;
}

std::optional<std::string> kept_apart(const standing& who, const standing& from) {
  for (const auto& term : who.ties->anti_affinity)
    if (api::selects(term, *from.ties, nullptr) && are_together(who, from, term.topology_key))
      return fmt::format("pod {} is with {} in {} {}, and must be apart", who.name, from.name,
                         term.topology_key, *domain_of(who, term.topology_key));
  return std::nullopt;
}

std::optional<std::string> alone(const standing& who, const api::pod_term& term,
                                 const std::vector<standing>& all) {
  if (domain_of(who, term.topology_key) == nullptr)
    return fmt::format("pod {} is on a node without {}", who.name, term.topology_key);
  const standing* elsewhere = nullptr;
  for (const auto& other : all) {
    if (other.uid == who.uid || !api::selects(term, *other.ties, nullptr))
      continue;
    if (are_together(who, other, term.topology_key))
      return std::nullopt;
    if (!other.is_uncertain && domain_of(other, term.topology_key) != nullptr)
      elsewhere = &other;
  }
  const bool may_be_first = api::selects(term, *who.ties, nullptr);
  if (may_be_first && elsewhere == nullptr)
    return std::nullopt;
  return fmt::format("pod {} is alone in {} {}, {}", who.name, term.topology_key,
                     *domain_of(who, term.topology_key),
                     elsewhere == nullptr ? "and needs company"
                                          : "and " + elsewhere->name + " is elsewhere");
}

std::optional<std::string> uneven(const standing& who, const api::spread_term& term,
                                  const std::vector<standing>& all, const domain_labels& domains) {
  const auto* mine = domain_of(who, term.topology_key);
  if (mine == nullptr)
    return fmt::format("pod {} is on a node without {}", who.name, term.topology_key);
  std::map<std::string, int> most; // with those that may have gone, or come, meanwhile
  for (const auto* labels : domains)
    if (const auto pos = labels->find(term.topology_key); pos != labels->end())
      most[pos->second];
  int here = 0;
  for (const auto& other : all) {
    const auto* there = domain_of(other, term.topology_key);
    if (there == nullptr || !api::selects(term, who.ties->space, *other.ties))
      continue;
    if (const auto pos = most.find(*there); pos != most.end())
      ++pos->second;
    here += *there == *mine && !other.is_uncertain ? 1 : 0;
  }
  int least = std::numeric_limits<int>::max();
  for (const auto& [domain, count] : most)
    least = std::min(least, count);
  if (most.empty() || here - least <= term.max_skew)
    return std::nullopt;
  return fmt::format("pod {} makes {} in {} {}, and the least is {} (maxSkew {})", who.name, here,
                     term.topology_key, *mine, least, term.max_skew);
}

} // namespace

std::optional<std::string> broken_term(const standing& who, const std::vector<standing>& all,
                                       const domain_labels& domains) {
  if (who.is_uncertain)
    return std::nullopt;
  for (const auto& other : all) {
    if (other.uid == who.uid || other.is_uncertain)
      continue;
    if (auto broken = kept_apart(who, other))
      return broken;
    if (auto broken = kept_apart(other, who))
      return broken;
  }
  for (const auto& term : who.ties->affinity)
    if (auto broken = alone(who, term, all))
      return broken;
  for (const auto& term : who.ties->spread)
    if (term.is_required)
      if (auto broken = uneven(who, term, all, domains))
        return broken;
  return std::nullopt;
}

} // namespace tutti::chaos
