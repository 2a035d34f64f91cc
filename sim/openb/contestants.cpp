// The policies of the publication, score by score as its simulator computes them, whole numbers
// included; and those of the engine.
#include <algorithm>

#include "placement/engine/policy.hpp"
#include "sim/openb/replay.hpp"

namespace tutti::sim::openb {
namespace {

using namespace placement::engine;

constexpr std::int64_t score_most = 100;
constexpr double cpu_most = 128'000; ///< of a node, by which the publication scales
constexpr std::int64_t gpu_milli_most = 8 * whole_gpu;

/// The less alike pod and room are, the better.
std::int64_t dot_product(const busy_node&, const seat_view& x) {
  const auto cpu = static_cast<double>(x.before.cpu_milli) / cpu_most
                   * (static_cast<double>(x.pod.cpu_milli) / cpu_most);
  const auto gpus = static_cast<double>(x.before.gpu_milli()) / gpu_milli_most
                    * (static_cast<double>(x.pod.gpus * x.pod.gpu_milli) / gpu_milli_most);
  return static_cast<std::int64_t>(score_most * (1 - (cpu + gpus) / 2));
}

/// Beside pods that take as many GPUs, alone with them best of all; among those the fullest node.
std::int64_t clustering(const busy_node& node, const seat_view& x) {
  if (x.pod.gpus == 0)
    return 0;
  const auto mine = x.pod.gpu_milli < whole_gpu ? 0 : std::min<std::int64_t>(x.pod.gpus, 15);
  const auto kinds =
      std::count_if(node.company.begin(), node.company.end(), [](auto pods) { return pods > 0; });
  const auto full = score_most / 4 * (gpu_milli_most - x.before.gpu_milli()) / gpu_milli_most;
  if (node.company[static_cast<std::size_t>(mine)] > 0)
    return full + (kinds == 1 ? score_most * 3 / 4 : score_most * 2 / 4);
  return kinds == 0 ? full + score_most / 4 : full;
}

/// GPUs that are shared already, then whole ones of nodes in use, then nodes not in use.
std::int64_t packing(const busy_node&, const seat_view& x) {
  if (x.pod.gpus == 0)
    return 0;
  const auto whole = x.before.whole_gpus;
  if (whole == x.before.gpus_all)
    return std::max(score_most / 3 - whole, whole);
  const auto used_up = whole - x.after.whole_gpus;
  if (used_up > 0)
    return std::max(score_most / 2 - used_up, score_most / 3);
  const auto part = std::lower_bound(x.before.parts.begin(), x.before.parts.end(), x.pod.gpu_milli);
  return std::max(score_most - *part * 100 / whole_gpu / 10, score_most / 2);
}

/// Least left of CPU and GPUs.
std::int64_t best_fit(const busy_node&, const seat_view& x) {
  const auto left = 0.5 * static_cast<double>(x.after.cpu_milli) / cpu_most
                    + 0.5 * static_cast<double>(x.after.gpu_milli()) / gpu_milli_most;
  return static_cast<std::int64_t>((1 - left) * score_most);
}

} // namespace

std::vector<contestant> contestants() {
  using choice = contestant::gpu_choice;
  std::vector<contestant> out{{"random", "Random", 87.47, choice::any, nullptr},
                              {"dot-product", "DotProd", 90.85, choice::fullest, dot_product},
                              {"clustering", "GpuClustering", 91.88, choice::fullest, clustering},
                              {"packing", "GpuPacking", 92.00, choice::fullest, packing},
                              {"best-fit", "BestFit", 93.08, choice::fullest, best_fit}};
  for (const auto* p : policies()) {
    const bool is_published = p->name == "least-fragmentation";
    out.push_back({std::string{p->name}, is_published ? "FGD" : "", is_published ? 95.39 : 0.0,
                   choice::by_score,
                   [p](const busy_node&, const seat_view& x) { return p->score(x); }});
  }
  return out;
}

std::optional<contestant> find_contestant(std::string_view name) {
  for (auto& c : contestants())
    if (c.name == name)
      return std::move(c);
  return std::nullopt;
}

} // namespace tutti::sim::openb
