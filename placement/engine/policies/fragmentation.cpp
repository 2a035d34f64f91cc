#include "placement/engine/policies/fragmentation.hpp"

#include <algorithm>

namespace tutti::placement::engine {

double fragmented_gpus(const node_room& on, std::span<const usual_pod> usual) {
  const auto left = on.gpu_milli();
  double out = 0;
  for (const auto& u : usual) {
    std::int64_t lost = left;
    const bool has_model = u.pod.models == 0 || (u.pod.models & on.model) != 0;
    if (u.pod.gpus > 0 && has_model && on.cpu_milli >= u.pod.cpu_milli) {
      std::int64_t too_small = 0;
      auto able = on.whole_gpus;
      for (auto part : on.parts) {
        too_small += part < u.pod.gpu_milli ? part : 0;
        able += part < u.pod.gpu_milli ? 0 : 1;
      }
      if (able >= u.pod.gpus)
        lost = too_small;
    }
    out += u.share * static_cast<double>(lost);
  }
  return out / whole_gpu;
}

double stranded_gpus(const node_room& on, std::span<const usual_pod> usual) {
  double cpu = 0;
  double gpus = 0;
  for (const auto& u : usual) {
    cpu += u.share * static_cast<double>(u.pod.cpu_milli);
    gpus += u.share * static_cast<double>(u.pod.gpus * u.pod.gpu_milli) / whole_gpu;
  }
  if (cpu <= 0 || gpus <= 0)
    return 0;
  const auto left = static_cast<double>(on.gpu_milli()) / whole_gpu;
  return std::max(0.0, left - static_cast<double>(on.cpu_milli) * gpus / cpu);
}

} // namespace tutti::placement::engine
