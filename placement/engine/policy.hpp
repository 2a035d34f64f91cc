// Which of several seats that all fit is the best one: policies, each a pure function with a name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace tutti::placement::engine {

/// A GPU in thousandths.
inline constexpr std::int32_t whole_gpu = 1000;

/// What is left on one node. GPUs of a node are alike: those of which nothing is taken are a
/// number.
struct node_room {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t whole_gpus = 0; ///< of which nothing is taken
  /// Of each GPU that is partly taken what is left, ascending; at least 1, at most 999.
  boost::container::small_vector<std::int32_t, 8> parts;
  std::int64_t cpu_milli_all = 0;
  std::int64_t memory_bytes_all = 0;
  std::int64_t gpus_all = 0;
  std::uint32_t model = 0; ///< one bit, or none if it is not known

  /// Thousandths of a GPU that are left.
  std::int64_t gpu_milli() const;

  friend bool operator==(const node_room&, const node_room&) = default;
};

/// What one pod takes.
struct pod_need {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t gpus = 0;
  std::int32_t gpu_milli = 0; ///< of each GPU; below `whole_gpu` only of one
  std::uint32_t models = 0;   ///< bits of the models that will do; 0 = any

  friend auto operator<=>(const pod_need&, const pod_need&) = default;
};

/// Pods of which so many come: `share` of all, from 0 to 1.
struct usual_pod {
  pod_need pod;
  double share = 0;
};

/// One seat as a policy sees it. The pod fits.
struct seat_view {
  const node_room& before;
  const node_room& after;
  const pod_need& pod;
  std::span<const usual_pod> usual; ///< what else may come
};

/// Higher is better. Depends on nothing but its argument. Seats with equal scores are equal to the
/// policy: coarse scores leave the choice to the order of nodes, which fills one after the other.
using score_function = std::int64_t (*)(const seat_view&);

struct policy {
  std::string_view name;
  std::string_view about; ///< a few words for people
  score_function score = nullptr;
};

/// All policies, in the order in which they are built in.
std::span<const policy* const> policies();
/// Null if there is none of that name.
const policy* find_policy(std::string_view name);

/// Whether the pod fits by CPU, memory, GPUs and model.
bool fits(const node_room& on, const pod_need& pod);
/// What taking a share of this GPU leaves; `part` is an index into `parts`, or their number for a
/// GPU of which nothing is taken. For pods of whole GPUs and of none `part` does not matter.
node_room room_after(const node_room& on, const pod_need& pod, std::size_t part);
/// The best score of the pod on a node and the room that it leaves there.
struct best_seat {
  std::int64_t score = 0;
  node_room after;
};
/// Over all GPUs a share could be taken of; among equals the fullest. The pod fits. `score` is
/// called as a `score_function` is.
template <class Score>
best_seat best_seat_with(const node_room& on, const pod_need& pod, std::span<const usual_pod> usual,
                         Score score) {
  const bool is_share = pod.gpus > 0 && pod.gpu_milli < whole_gpu;
  std::size_t part = 0;
  if (is_share)
    while (part < on.parts.size() && on.parts[part] < pod.gpu_milli)
      ++part;
  best_seat best{0, room_after(on, pod, part)};
  best.score = score(seat_view{on, best.after, pod, usual});
  while (is_share && ++part <= on.parts.size()) {
    if (part == on.parts.size() ? on.whole_gpus == 0 : on.parts[part] == on.parts[part - 1])
      continue;
    auto after = room_after(on, pod, part);
    if (const auto got = score(seat_view{on, after, pod, usual}); got > best.score)
      best = {got, std::move(after)};
  }
  return best;
}

} // namespace tutti::placement::engine
