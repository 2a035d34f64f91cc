// Published distributions of Microsoft's Philly cluster: what a generated workload is drawn from.
//
// Licence CC-BY-4.0. Numbers of jobs by size, their shares of GPU time, run times and means: Hu et
// al., Characterization of Large Language Model Development in the Datacenter, NSDI 2024
// (InternLM/AcmeTrace, commit 6d6ac9cd: figures cdf_job_gpunum and cdf_job_jobtime, read back from
// their vector coordinates, and data/cluster_summary.csv). Arrivals by hour: counted in the trace
// itself, Jeon et al., Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training
// Workloads, USENIX ATC 2019 (msr-fiddle/philly-traces), all attempts from the 30th day on.
#pragma once

#include <array>
#include <cstdint>

namespace tutti::sim::workload::philly {

struct size_share {
  std::int64_t gpus = 1;
  double jobs = 0;     ///< per cent of all
  double gpu_time = 0; ///< per cent of all GPU seconds
};
/// Sizes between two powers of two are counted at the upper one. Of the largest two the figure
/// tells no GPU time; they are given the mean run time.
inline constexpr std::array<size_share, 7> sizes{{
    {1, 82.42, 16.43},
    {2, 2.06, 2.97},
    {4, 7.57, 18.77},
    {8, 6.86, 49.86},
    {16, 0.90, 9.17},
    {32, 0.17, 2.80},
    {128, 0.02, 0.0},
}};

struct duration_share {
  double seconds_at_most = 0;
  double jobs = 0; ///< per cent of all, those of less included
};
inline constexpr double shortest_s = 0.5;
inline constexpr std::array<duration_share, 23> durations{{
    {1, 0.03},        {2, 0.08},        {4, 0.17},        {8, 0.82},       {16, 3.62},
    {32, 8.42},       {64, 18.88},      {128, 26.99},     {256, 31.50},    {512, 36.28},
    {1024, 54.91},    {2048, 67.47},    {4096, 79.28},    {8192, 84.60},   {16384, 90.29},
    {32768, 92.71},   {65536, 94.86},   {131072, 96.95},  {262144, 98.39}, {524288, 99.32},
    {1048576, 99.80}, {2097152, 99.95}, {4240676, 100.0},
}};

/// Of all GPU jobs.
inline constexpr double mean_duration_s = 18'006.055;
inline constexpr double mean_gpus = 1.928;
inline constexpr double jobs = 112'956;
/// The cluster, and how long it was watched.
inline constexpr double cluster_gpus = 2'490;
inline constexpr double days = 136.96;

/// Attempts begun in each hour of the trace's day.
inline constexpr std::array<double, 24> by_hour{5049, 4344, 4720, 3081, 3923, 3712,  6470, 7420,
                                                4600, 5313, 6214, 5108, 6626, 8501,  7113, 6677,
                                                6588, 8842, 6831, 7586, 8076, 11811, 7072, 6059};

} // namespace tutti::sim::workload::philly
