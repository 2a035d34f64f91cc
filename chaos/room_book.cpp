#include "chaos/room_book.hpp"

#include <fmt/format.h>

namespace tutti::chaos {

void room_book::change(sums& of, const std::string& node, const base::resources& by,
                       bool is_added) {
  auto& sum = of[node];
  if (is_added)
    sum += by;
  else
    sum -= by;
  if (sum == base::resources{})
    of.erase(node);
}

/// Adds or takes off what live plans promise this pod: once per node, whatever number of plans.
void room_book::promise(const std::string& pod, bool is_added) {
  const auto there = pods_.find(pod);
  const auto held = seats_.find(pod);
  if (held == seats_.end() || there == pods_.end() || there->second.is_finished
      || !there->second.node.empty())
    return;
  std::set<std::string> nodes;
  for (const auto& [by, takes] : held->second)
    if (nodes.insert(by.second).second)
      change(promised_, by.second, takes, is_added);
}

void room_book::pod_changed(const pod_truth* before, const pod_truth* now) {
  const auto& uid = before != nullptr ? before->uid : now->uid;
  promise(uid, false);
  if (const auto was = pods_.find(uid); was != pods_.end()) {
    const auto& x = was->second;
    if (!x.node.empty() && !x.is_finished) {
      change(here_, x.node, x.takes, false);
      on_node_[x.node].erase(uid);
    }
    pods_.erase(was);
  }
  if (now == nullptr)
    return;
  if (!now->node.empty() && !now->is_finished) {
    change(here_, now->node, now->takes.amounts, true);
    on_node_[now->node].insert(uid);
  }
  pods_[uid] = {now->node, now->takes.amounts, now->is_finished, now->came_bound, now->bound_since};
  promise(uid, true);
}

void room_book::hold(const base::slot_id& by, const protocol::seat& what) {
  promise(what.pod.value, false);
  seats_[what.pod.value].insert_or_assign({by, what.node.value}, what.takes.amounts);
  plans_[by].insert(what.pod.value);
  promise(what.pod.value, true);
}

void room_book::let_go(const base::slot_id& by, const base::pod_uid& pod) {
  promise(pod.value, false);
  if (const auto pos = seats_.find(pod.value); pos != seats_.end()) {
    std::erase_if(pos->second, [&](const auto& x) { return x.first.first == by; });
    if (pos->second.empty())
      seats_.erase(pos);
  }
  if (const auto plan = plans_.find(by); plan != plans_.end())
    plan->second.erase(pod.value);
  promise(pod.value, true);
}

void room_book::let_go(const base::slot_id& by) {
  const auto plan = plans_.find(by);
  if (plan == plans_.end())
    return;
  for (const auto pods = plan->second; const auto& pod : pods)
    let_go(by, base::pod_uid{pod});
  plans_.erase(by);
}

void room_book::clear_plans() {
  while (!plans_.empty())
    let_go(base::slot_id{plans_.begin()->first});
}

base::resources room_book::here(const std::string& node_name) const {
  const auto pos = here_.find(node_name);
  return pos == here_.end() ? base::resources{} : pos->second;
}

base::resources room_book::promised(const std::string& node_uid) const {
  const auto pos = promised_.find(node_uid);
  return pos == promised_.end() ? base::resources{} : pos->second;
}

base::resources room_book::brought(const std::string& node_name,
                                   std::optional<base::time_point> since) const {
  base::resources sum;
  for (const auto& uid : pods_on(node_name)) {
    const auto& pod = pods_.at(uid);
    if (pod.came_bound && (!since || pod.bound_since > *since))
      sum += pod.takes;
  }
  return sum;
}

const std::set<std::string>& room_book::pods_on(const std::string& node_name) const {
  static const std::set<std::string> nobody;
  const auto pos = on_node_.find(node_name);
  return pos == on_node_.end() ? nobody : pos->second;
}

std::string room_book::first_difference(const char* what, const sums& kept, const sums& made) {
  for (const auto* side : {&kept, &made})
    for (const auto& [node, sum] : *side) {
      const auto a = kept.find(node);
      const auto b = made.find(node);
      const auto of = [](const sums& x, auto pos) {
        return pos == x.end() ? base::resources{} : pos->second;
      };
      if (of(kept, a) != of(made, b))
        return fmt::format("node {} has {} {} by the sums that were kept, {} by those made anew",
                           node, what, base::to_text(of(kept, a)), base::to_text(of(made, b)));
    }
  return {};
}

std::string room_book::difference(const room_book& from_scratch) const {
  if (auto text = first_difference("taken", here_, from_scratch.here_); !text.empty())
    return text;
  return first_difference("promised", promised_, from_scratch.promised_);
}

} // namespace tutti::chaos
