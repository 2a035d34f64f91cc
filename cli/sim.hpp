// `tutti sim run`: a cluster, its scheduler and a workload on virtual time; a report at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace tutti::cli {

struct sim_options {
  std::uint32_t nodes = 1'000;
  std::int64_t gpus_per_node = 8;
  std::int64_t cpus_per_node = 112;
  std::string topology = "default";
  std::string trace;
  std::string generate;
  std::optional<double> load; ///< per cent
  std::string from;           ///< time of the trace
  double compress = 1;
  bool whole_nodes = false;
  std::string within;        ///< name of a level
  std::string until = "24h"; ///< or "drained"
  std::string sample;        ///< empty = a minute, and more for long runs
  std::uint64_t seed = 1;
  std::uint32_t shards = 8;
  std::string report = "tutti-sim.html";
  std::string csv; ///< empty = the report's name without .html
  bool is_strict = false;
  bool is_quiet = false;
  std::string format; ///< of the summary: "" or json
};

/// A duration as flags have it: "90s", "15m", "24h", "2d", "1d12h". Nothing for anything else, 0
/// included.
std::optional<base::duration> read_span(const std::string& text);

/// Returns an exit code; says what is wrong on stderr.
int run_sim(const sim_options& how);
/// The topologies that `--topology` knows by name.
int list_topologies();

} // namespace tutti::cli
