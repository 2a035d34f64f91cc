// A share of a GPU is taken of one of several: the policy says of which.
#include "placement/engine/policy.hpp"

#include <algorithm>
#include <numeric>

#include "base/ensure.hpp"

namespace tutti::placement::engine {

std::int64_t node_room::gpu_milli() const {
  return std::accumulate(parts.begin(), parts.end(), whole_gpus * whole_gpu);
}

const policy* find_policy(std::string_view name) {
  const auto all = policies();
  const auto pos = std::find_if(all.begin(), all.end(), [&](auto* p) { return p->name == name; });
  return pos == all.end() ? nullptr : *pos;
}

bool fits(const node_room& on, const pod_need& pod) {
  if (pod.cpu_milli > on.cpu_milli || pod.memory_bytes > on.memory_bytes)
    return false;
  if (pod.gpus == 0)
    return true;
  if (pod.models != 0 && (pod.models & on.model) == 0)
    return false;
  if (pod.gpu_milli >= whole_gpu)
    return pod.gpus <= on.whole_gpus;
  return on.whole_gpus > 0 || (!on.parts.empty() && on.parts.back() >= pod.gpu_milli);
}

node_room room_after(const node_room& on, const pod_need& pod, std::size_t part) {
  auto out = on;
  out.cpu_milli -= pod.cpu_milli;
  out.memory_bytes -= pod.memory_bytes;
  if (pod.gpus == 0)
    return out;
  if (pod.gpu_milli >= whole_gpu) {
    out.whole_gpus -= pod.gpus;
    return out;
  }
  auto left = whole_gpu;
  if (part < on.parts.size()) {
    left = on.parts[part];
    out.parts.erase(out.parts.begin() + static_cast<std::ptrdiff_t>(part));
  } else {
    --out.whole_gpus;
  }
  left -= pod.gpu_milli;
  ensure(left >= 0 && out.whole_gpus >= 0, left, out.whole_gpus);
  if (left > 0)
    out.parts.insert(std::lower_bound(out.parts.begin(), out.parts.end(), left), left);
  return out;
}

} // namespace tutti::placement::engine
