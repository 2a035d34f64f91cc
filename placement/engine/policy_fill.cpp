// Filling nodes as a policy says: member by member, each on the node whose score is best then.
#include <algorithm>
#include <queue>

#include "base/ensure.hpp"
#include "placement/engine/trial.hpp"

namespace tutti::placement::engine {
namespace {

struct open_node {
  node_ref at;
  node_room room;
  std::uint32_t slots = 0; // as yet not taken
  std::uint32_t taken = 0;
  std::int32_t taste = 0;
  best_seat next;
};

} // namespace

node_room trial::room_of(node_ref node) {
  node_room out;
  const auto& all = where_.at(node).allocatable;
  out.cpu_milli = amount(cpu_dimension, node);
  out.memory_bytes = amount(memory_dimension, node);
  out.cpu_milli_all = all[cpu_dimension][node.slot];
  out.memory_bytes_all = all[memory_dimension][node.slot];
  for (auto d : rule_->gpus)
    if (d < all.size()) {
      out.whole_gpus += std::max<std::int64_t>(amount(d, node), 0);
      out.gpus_all += all[d][node.slot];
    }
  return out;
}

pod_need trial::need_of(std::uint32_t shape) const {
  pod_need out;
  for (const auto& n : shapes_[shape].needs) {
    if (n.what == cpu_dimension)
      out.cpu_milli = n.amount;
    else if (n.what == memory_dimension)
      out.memory_bytes = n.amount;
    else if (std::find(rule_->gpus.begin(), rule_->gpus.end(), n.what) != rule_->gpus.end())
      out.gpus += n.amount;
  }
  out.gpu_milli = out.gpus > 0 ? whole_gpu : 0;
  return out;
}

std::uint64_t trial::fill_by_policy(std::uint32_t lot, std::uint32_t shape, std::uint64_t want,
                                    const domain_view& domain) {
  ensure(rule_ != nullptr, lot);
  const auto pod = need_of(shape);
  const bool has_taste = tastes_matter(shape);
  const auto judge = [&](const node_room& room) {
    return best_seat_with(room, pod, rule_->usual, rule_->rule->score);
  };
  std::vector<open_node> nodes;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < domain.blocks.size(); ++i) {
    const auto number = domain.blocks[i];
    const auto& counts = slots(shape, number);
    for (auto slot : where_.blocks[number]->by_name)
      if (!counts.empty() && counts.slots[slot] > 0 && domain.has(i, slot)) {
        const node_ref at{number, slot};
        open_node x{at, room_of(at), counts.slots[slot], 0, 0, {}};
        if (has_taste)
          x.taste =
              shapes_[shape].memory->view.judge(where_, *where_.blocks[number], slot).preference
              + taste_of(shape, at);
        x.next = judge(x.room);
        total += x.slots;
        nodes.push_back(std::move(x));
      }
  }
  const auto is_worse = [&](std::size_t a, std::size_t b) {
    const auto& x = nodes[a];
    const auto& y = nodes[b];
    if (x.next.score != y.next.score)
      return x.next.score < y.next.score;
    if (x.taste != y.taste)
      return x.taste < y.taste;
    return x.slots != y.slots ? x.slots > y.slots : a > b; // the tightest, then the first
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_worse)> best{is_worse};
  for (std::size_t i = 0; i < nodes.size(); ++i)
    best.push(i);
  const auto goal = std::min(want, total);
  std::vector<std::size_t> used;
  for (std::uint64_t got = 0; got < goal; ++got) {
    const auto i = best.top();
    best.pop();
    auto& x = nodes[i];
    if (x.taken++ == 0)
      used.push_back(i);
    x.room = std::move(x.next.after);
    if (--x.slots > 0) {
      x.next = judge(x.room);
      best.push(i);
    }
  }
  for (auto i : used)
    take({lot, shape, nodes[i].at, nodes[i].taken});
  return goal;
}

} // namespace tutti::placement::engine
