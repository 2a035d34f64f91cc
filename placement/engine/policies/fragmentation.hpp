// How much of a node's GPUs is of no use to the pods that usually come: what two policies count.
#pragma once

#include "placement/engine/policy.hpp"

namespace tutti::placement::engine {

/// GPUs that are left and that a usual pod cannot use, on the average of all usual pods. A pod that
/// takes no GPU makes no use of any. From 0 to what is left.
double fragmented_gpus(const node_room& on, std::span<const usual_pod> usual);

/// GPUs that will stay idle because CPU runs out before them, if pods take as much CPU for each GPU
/// as the usual ones do, those without GPU included. From 0 to what is left; 0 if no usual pod
/// takes GPUs or CPU.
double stranded_gpus(const node_room& on, std::span<const usual_pod> usual);

} // namespace tutti::placement::engine
