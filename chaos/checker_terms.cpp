// The judge's eye on terms that span nodes: when the first Binding of a plan comes, everybody of
// the plan must be where the terms allow it, beside all that stands and all that was begun before.
#include "chaos/checker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::chaos {

namespace {

const std::map<std::string, std::string> no_labels{};

} // namespace

/// Pods that have left a node count for those who may have seen them there.
void checker::follow_departed(const pod_truth* before, const pod_truth* now) {
  if (now != nullptr)
    ties_ever_[now->uid] = now->ties;
  if (before == nullptr || before->node.empty() || before->is_finished)
    return;
  if (now != nullptr && !now->is_finished)
    return;
  const auto node = truth_.nodes().find(before->node);
  if (node != truth_.nodes().end())
    departed_.push_back({*before, node->second.labels, on_.time().now()});
}

std::vector<standing> checker::all_standing() const {
  const auto lately = on_.time().now() - view_lag;
  std::vector<standing> out;
  for (const auto& [uid, pod] : truth_.pods()) {
    const auto node = truth_.nodes().find(pod.node);
    if (pod.is_finished || node == truth_.nodes().end())
      continue;
    const bool may_be_news = (!pod.is_ours || pod.came_bound) && pod.bound_since > lately;
    out.push_back({uid, pod.name, pod.ties.get(), &node->second.labels,
                   may_be_news || node->second.has_moved || pod.is_deleting});
  }
  for (const auto& x : departed_)
    if (x.at > lately)
      out.push_back({x.pod.uid, x.pod.name, x.pod.ties.get(), &x.labels, true});
  return out;
}

/// Seats of a plan whose pods are not on a node yet, and may come to theirs. Those that are given
/// up were counted on.
void checker::add_seats(const known_decision& x, std::vector<standing>& to) const {
  for (const auto& part : x.first.chosen.slices)
    for (const auto& s : part.seats) {
      const auto pod = truth_.pods().find(s.pod.value);
      const auto node = truth_.nodes().find(s.node_name.value);
      const bool is_live = pod != truth_.pods().end() && pod->second.is_live();
      const auto ties = ties_ever_.find(s.pod.value);
      if ((is_live && !pod->second.node.empty()) || ties == ties_ever_.end())
        continue;
      const bool is_there = is_live && node != truth_.nodes().end()
                            && node->second.uid == s.node.value && !is_cancelled(x, s.pod);
      to.push_back({s.pod.value, s.pod_name, ties->second.get(),
                    node == truth_.nodes().end() ? &no_labels : &node->second.labels,
                    !is_there || node->second.has_moved});
    }
}

/// Upholds S15. Who is not covered may still be withdrawn, so a plan is judged when it begins, and
/// beside those that have begun. Whoever is decided later waits for its guards until it is over.
void checker::check_terms(const std::string& uid, const std::string& node) {
  for (auto& [slot, d] : decisions_) {
    if (!d.is_live() || d.has_begun)
      continue;
    const bool is_mine = std::any_of(
        d.first.chosen.slices.begin(), d.first.chosen.slices.end(), [&](const auto& part) {
          return std::any_of(part.seats.begin(), part.seats.end(), [&](const auto& s) {
            return s.pod.value == uid && s.node_name.value == node;
          });
        });
    if (!is_mine)
      continue;
    d.has_begun = true;
    if (!look("S15"))
      return;
    auto all = all_standing();
    for (const auto& [other_slot, other] : decisions_)
      if (other.is_live() && other.has_begun)
        add_seats(other, all);
    domain_labels domains;
    for (const auto& [name, x] : truth_.nodes())
      if (x.since == base::time_point{} && !x.has_moved)
        domains.push_back(&x.labels);
    for (const auto& part : d.first.chosen.slices)
      for (const auto& s : part.seats) {
        const auto who = std::find_if(all.begin(), all.end(),
                                      [&](const auto& x) { return x.uid == s.pod.value; });
        if (who == all.end())
          continue;
        if (auto broken = broken_term(*who, all, domains))
          say("S15", fmt::format("gang {}: {}", protocol::to_text(d.first.gang_name), *broken));
      }
    return;
  }
}

/// Terms of its own, or of others, may keep the gang from where there is room.
bool checker::has_terms_about(const std::vector<const pod_truth*>& pending) const {
  return std::any_of(pending.begin(), pending.end(), [this](const auto* mine) {
    if (mine->ties->has_required())
      return true;
    return std::any_of(truth_.pods().begin(), truth_.pods().end(), [&](const auto& x) {
      const auto& terms = x.second.ties->anti_affinity;
      return std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
        return api::selects(term, *mine->ties, nullptr);
      });
    });
  });
}

} // namespace tutti::chaos
