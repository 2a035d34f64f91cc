// Scores are kept by node and shape: a pod changes one node, so only that node is judged anew.
#include "sim/openb/replay.hpp"

#include <algorithm>
#include <numeric>

#include "base/ensure.hpp"
#include "base/random.hpp"

namespace tutti::sim::openb {
namespace {

using namespace placement::engine;

/// Which pods come, in which order.
std::vector<std::uint32_t> arrivals(const trace& of, const replay_options& how) {
  base::random_stream dice{how.seed, "openb arrivals"};
  const auto taken = [&](std::uint32_t shape) {
    return of.shapes[shape].gpus * of.shapes[shape].gpu_milli;
  };
  const auto goal = static_cast<std::int64_t>(how.arrival * static_cast<double>(of.gpu_milli()));
  auto out = of.pods;
  auto sum = std::accumulate(out.begin(), out.end(), std::int64_t{0},
                             [&](std::int64_t n, auto shape) { return n + taken(shape); });
  const bool can_grow = sum > 0;
  while (sum > goal && !out.empty()) {
    const auto i = dice.below(out.size());
    sum -= taken(out[i]);
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  while (can_grow) {
    const auto shape = of.pods[dice.below(of.pods.size())];
    if (sum + taken(shape) > goal)
      break;
    sum += taken(shape);
    out.push_back(shape);
  }
  dice.shuffle(out);
  return out;
}

/// Whether a pod that takes no GPU is the only thing that differs: such pods are not counted.
std::size_t kind_of(const pod_need& pod) {
  if (pod.gpu_milli < whole_gpu)
    return 0;
  return static_cast<std::size_t>(std::min<std::int64_t>(pod.gpus, 15));
}

class run_of_one {
public:
  run_of_one(const trace& of, const std::vector<usual_pod>& usual, const contestant& who,
             std::uint64_t seed)
      : of_(of), usual_(usual), who_(who), dice_(seed, "openb choices") {
    for (const auto& room : of.nodes)
      nodes_.push_back({room, {}});
    base::random_stream order{seed, "openb nodes"};
    order.shuffle(nodes_);
    known_.resize(nodes_.size() * of.shapes.size());
  }

  /// False if it fits nowhere.
  bool place(std::uint32_t shape) {
    const auto& pod = of_.shapes[shape];
    const auto found = who_.score ? best_node(shape) : any_node(pod);
    if (found == nodes_.size())
      return false;
    auto& node = nodes_[found];
    node.room = room_with(node, pod);
    if (pod.gpus > 0)
      ++node.company[kind_of(pod)];
    for (std::uint32_t s = 0; s < of_.shapes.size(); ++s)
      known_[found * of_.shapes.size() + s].is_known = false;
    return true;
  }

private:
  struct known {
    std::int64_t score = 0;
    bool is_known = false;
    bool fits = false;
  };

  std::size_t best_node(std::uint32_t shape) {
    auto best = nodes_.size();
    std::int64_t most = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      auto& k = known_[i * of_.shapes.size() + shape];
      if (!k.is_known) {
        const auto& pod = of_.shapes[shape];
        k = {0, true, fits(nodes_[i].room, pod)};
        if (k.fits)
          k.score = score_on(nodes_[i], pod).score;
      }
      if (k.fits && (best == nodes_.size() || k.score > most)) {
        best = i;
        most = k.score;
      }
    }
    return best;
  }

  std::size_t any_node(const pod_need& pod) {
    std::size_t out = nodes_.size();
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (fits(nodes_[i].room, pod) && dice_.below(++n) == 0)
        out = i;
    return out;
  }

  best_seat score_on(const busy_node& node, const pod_need& pod) const {
    // A plain function is asked for by the engine; a contestant may want to know the node's
    // company.
    if (who_.gpu == contestant::gpu_choice::by_score)
      return best_seat_with(node.room, pod, usual_,
                            [&](const seat_view& x) { return who_.score(node, x); });
    auto after = room_after(node.room, pod, fullest(node.room, pod));
    const auto score = who_.score(node, {node.room, after, pod, usual_});
    return {score, std::move(after)};
  }

  static std::size_t fullest(const node_room& on, const pod_need& pod) {
    return static_cast<std::size_t>(
        std::lower_bound(on.parts.begin(), on.parts.end(), pod.gpu_milli) - on.parts.begin());
  }

  node_room room_with(const busy_node& node, const pod_need& pod) {
    if (who_.gpu != contestant::gpu_choice::any)
      return score_on(node, pod).after;
    const auto first = fullest(node.room, pod);
    const auto able = node.room.parts.size() - first;
    const auto n = able + static_cast<std::size_t>(node.room.whole_gpus);
    const auto drawn = n > 0 ? static_cast<std::size_t>(dice_.below(n)) : 0;
    return room_after(node.room, pod, std::min(first + drawn, node.room.parts.size()));
  }

  const trace& of_;
  const std::vector<usual_pod>& usual_;
  const contestant& who_;
  base::random_stream dice_;
  std::vector<busy_node> nodes_;
  std::vector<known> known_; // by node, then shape
};

} // namespace

replay_result replay(const trace& of, const std::vector<usual_pod>& usual, const contestant& who,
                     const replay_options& how) {
  run_of_one run{of, usual, who, how.seed};
  const auto all = static_cast<double>(of.gpu_milli());
  replay_result out;
  std::int64_t came = 0;
  std::int64_t taken = 0;
  for (auto shape : arrivals(of, how)) {
    const auto gpus = of.shapes[shape].gpus * of.shapes[shape].gpu_milli;
    ++out.came;
    came += gpus;
    if (run.place(shape))
      taken += gpus;
    else
      ++out.refused;
    if (static_cast<double>(came) <= all)
      out.in_use_at_100 = static_cast<double>(taken) / all;
  }
  ensure(taken <= of.gpu_milli(), taken, of.gpu_milli());
  out.came_share = static_cast<double>(came) / all;
  out.in_use = static_cast<double>(taken) / all;
  return out;
}

} // namespace tutti::sim::openb
