// Fills nodes up: the best seat leaves least free of what the pod takes.
#include "placement/engine/policy.hpp"

namespace tutti::placement::engine {
namespace {

/// Thousandths of `all` that are taken.
std::int64_t taken(std::int64_t left, std::int64_t all) {
  return all > 0 ? 1000
                       - static_cast<std::int64_t>(1000.0 * static_cast<double>(left)
                                                   / static_cast<double>(all))
                 : 0;
}

/// The average over CPU, memory and GPUs of those that the pod takes.
std::int64_t score(const seat_view& x) {
  std::int64_t sum = 0;
  std::int64_t kinds = 0;
  const auto add = [&](bool asked, std::int64_t left, std::int64_t all) {
    if (asked) {
      sum += taken(left, all);
      ++kinds;
    }
  };
  add(x.pod.cpu_milli > 0, x.after.cpu_milli, x.after.cpu_milli_all);
  add(x.pod.memory_bytes > 0, x.after.memory_bytes, x.after.memory_bytes_all);
  add(x.pod.gpus > 0, x.after.gpu_milli(), x.after.gpus_all * whole_gpu);
  return kinds > 0 ? sum / kinds : 0;
}

} // namespace

extern const policy bin_pack;
const policy bin_pack{"bin-pack", "fills nodes up, so that others stay empty", score};

} // namespace tutti::placement::engine
