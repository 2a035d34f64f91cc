// The OpenB cluster and its pods: tables of nodes with GPU models and of pods that take shares of
// one GPU, or several whole ones, as Alibaba published them.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "placement/engine/policy.hpp"

namespace tutti::sim::openb {

/// Where the tables are, and which list of pods.
struct trace_files {
  std::string folder;               ///< holds `openb_node_list_gpu_node.csv` and `pods/`
  std::string workload = "default"; ///< `pods/openb_pod_list_WORKLOAD.csv`, plain or `.csv.gz`
};

/// Nodes and pods in the order of their names.
struct trace {
  std::vector<placement::engine::node_room> nodes; ///< empty ones
  std::vector<placement::engine::pod_need> shapes; ///< distinct, ascending
  std::vector<std::uint32_t> pods;                 ///< shape of each
  std::vector<std::string> models;                 ///< name of each bit

  /// Thousandths of GPUs that the cluster has.
  std::int64_t gpu_milli() const;
};

/// `not_found` or `io` if a table cannot be read, `bad_input` with file and line for a row that
/// makes no sense: no name, a number that is none or negative, a share of several GPUs, a model
/// that no node has is no error (such a pod fits nowhere), more than 32 models.
base::result<trace> read_trace(const trace_files& from);

/// Most frequent first, until they make up 95 per cent of the pods: what "usually comes".
std::vector<placement::engine::usual_pod> usual_pods(const trace& from);

} // namespace tutti::sim::openb
