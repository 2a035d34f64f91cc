#include "sim/workload/cluster_shape.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::sim::workload {

namespace {

namespace json = boost::json;

constexpr std::size_t levels_most = 6;
constexpr std::string_view allowed =
    "write levels as NAME:COUNT, innermost first, such as rack:16,block:32 (16 nodes a rack, 32 "
    "racks a block), or name one of `tutti sim topologies`";

base::error wrong(std::string what) {
  return {base::code::bad_input, std::move(what), std::string{allowed}};
}

bool is_label_word(std::string_view text) {
  return !text.empty() && text.size() <= 40
         && std::all_of(
             text.begin(), text.end(),
             [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; })
         && text.front() != '-' && text.back() != '-';
}

base::result<topology_level> read_level(std::string_view word) {
  const auto colon = word.find(':');
  const auto name = word.substr(0, colon);
  const auto count = colon == word.npos ? std::string_view{} : word.substr(colon + 1);
  topology_level out{std::string{name}, 0};
  const auto [end, failed] = std::from_chars(count.data(), count.data() + count.size(), out.holds);
  if (failed != std::errc{} || end != count.data() + count.size() || out.holds == 0
      || out.holds > nodes_most)
    return wrong(fmt::format("--topology: \"{}\" has no count from 1 to {}", word, nodes_most));
  if (!is_label_word(name))
    return wrong(fmt::format("--topology: \"{}\" is no name of a level (a-z, 0-9, -)", name));
  return out;
}

} // namespace

const std::vector<known_topology>& known_topologies() {
  static const std::vector<known_topology> all{
      {"default", "rack:16,block:32", "128 GPUs a rack, 4,096 a block"},
      {"dgx-h100-superpod", "rack:4,su:8,superpod:4",
       "NVIDIA DGX SuperPOD H100 reference architecture"},
      {"dgx-b200-superpod", "rack:4,su:8,block:8",
       "NVIDIA DGX SuperPOD B200 reference architecture"},
      {"gb200-nvl72", "rack:18,su:8",
       "NVIDIA GB200 reference architecture; give --gpus-per-node 4"},
      {"llama3-24k", "rack:2,pod:192", "Meta, The Llama 3 Herd of Models, 2024"},
      {"alibaba-hpn", "segment:128,pod:15", "Alibaba HPN, SIGCOMM 2024"},
  };
  return all;
}

base::result<std::vector<topology_level>> read_topology(std::string_view text) {
  for (const auto& known : known_topologies())
    if (known.name == text)
      text = known.levels;
  std::vector<topology_level> out;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    auto level = read_level(text.substr(from, comma - from));
    if (!level)
      return level.error();
    for (const auto& before : out)
      if (before.name == level->name)
        return wrong(fmt::format("--topology names {} twice", level->name));
    out.push_back(std::move(*level));
    from = comma + 1;
  }
  if (out.size() > levels_most)
    return wrong(fmt::format("--topology has {} levels; {} are allowed", out.size(), levels_most));
  return out;
}

std::uint64_t cluster_shape::nodes_per(std::size_t level) const {
  ensure(level < levels.size(), level, levels.size());
  std::uint64_t out = 1;
  for (std::size_t i = 0; i <= level && out <= nodes_most; ++i) // larger than any cluster is enough
    out *= levels[i].holds;
  return out;
}

std::uint64_t cluster_shape::domain_of(std::uint32_t node, std::size_t level) const {
  return node / nodes_per(level);
}

std::uint64_t cluster_shape::domains(std::size_t level) const {
  const auto each = nodes_per(level);
  return (nodes + each - 1) / each;
}

std::uint64_t cluster_shape::room_for(const member_need& each, std::uint64_t count) const {
  auto per_node = pods_per_node;
  if (each.gpus > 0)
    per_node = std::min(per_node, gpus_per_node / each.gpus);
  if (each.cpu_milli > 0)
    per_node = std::min(per_node, cpus_per_node * 1'000 / each.cpu_milli);
  return static_cast<std::uint64_t>(per_node) * count;
}

std::size_t cluster_shape::level_named(std::string_view name) const {
  const auto pos = std::find_if(levels.begin(), levels.end(),
                                [&](const topology_level& x) { return x.name == name; });
  return static_cast<std::size_t>(pos - levels.begin());
}

std::string label_key(std::string_view level) {
  return level == "zone" ? "topology.kubernetes.io/zone" : fmt::format("example.com/{}", level);
}

std::vector<std::string> label_keys(const cluster_shape& shape) {
  std::vector<std::string> out;
  for (auto level = shape.levels.rbegin(); level != shape.levels.rend(); ++level)
    out.push_back(label_key(level->name));
  return out;
}

std::string node_name(std::uint32_t node) {
  return fmt::format("n{:05}", node);
}

std::uint32_t node_number(std::string_view name) {
  std::uint32_t out = nodes_most;
  if (!name.empty() && name.front() == 'n')
    std::from_chars(name.data() + 1, name.data() + name.size(), out);
  return std::min(out, nodes_most);
}

std::string domain_name(const cluster_shape& shape, std::size_t level, std::uint64_t domain) {
  return fmt::format("{}-{}", shape.levels.at(level).name, domain);
}

json::object node_object(const cluster_shape& shape, std::uint32_t node) {
  const auto name = node_name(node);
  json::object labels{{"kubernetes.io/hostname", name}};
  for (std::size_t level = 0; level < shape.levels.size(); ++level)
    labels[label_key(shape.levels[level].name)] =
        domain_name(shape, level, shape.domain_of(node, level));
  json::object room{{"cpu", std::to_string(shape.cpus_per_node)},
                    {"memory", "2000Gi"},
                    {"pods", std::to_string(pods_per_node)}};
  if (shape.gpus_per_node > 0)
    room[gpu_resource] = std::to_string(shape.gpus_per_node);
  const json::object ready{
      {"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}, {"message", "ready"}};
  return {
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
      {"status", {{"capacity", room}, {"allocatable", room}, {"conditions", json::array{ready}}}}};
}

} // namespace tutti::sim::workload
