#include "sim/openb/trace.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sim/workload/csv.hpp"

namespace tutti::sim::openb {
namespace {

using placement::engine::node_room;
using placement::engine::pod_need;
using placement::engine::usual_pod;
using placement::engine::whole_gpu;

constexpr std::size_t models_most = 31;
constexpr std::uint32_t no_such_model = 1u << models_most; // that no node has
constexpr std::int64_t amount_most = 1'000'000'000'000;    // of a column: no sum of them wraps

/// A table whose first line names the columns.
class table {
public:
  static base::result<table> open(const std::string& path) {
    auto file = workload::csv_file::open(path);
    if (!file)
      return file.error();
    table out{path, std::move(*file)};
    auto has = out.file_.next(out.names_);
    if (!has)
      return has.error();
    return out;
  }

  base::result<bool> next() {
    auto has = file_.next(row_);
    if (has && *has && row_.size() != names_.size())
      return wrong(fmt::format("has {} fields, not {}", row_.size(), names_.size()));
    return has;
  }

  base::result<std::string> text(const std::string& name) const {
    const auto pos = std::find(names_.begin(), names_.end(), name);
    if (pos == names_.end())
      return base::error{base::code::bad_input,
                         fmt::format("{}: there is no column {}", path_, name)};
    return row_[static_cast<std::size_t>(pos - names_.begin())];
  }

  /// Empty where there is no such column.
  std::string text_or_nothing(const std::string& name) const {
    auto out = text(name);
    return out ? *out : std::string{};
  }

  base::result<std::int64_t> number(const std::string& name) const {
    auto words = text(name);
    if (!words)
      return words.error();
    std::int64_t out = 0;
    const auto* end = words->data() + words->size();
    const auto [last, failed] = std::from_chars(words->data(), end, out);
    if (failed != std::errc{} || last != end || out < 0 || out > amount_most)
      return wrong(fmt::format("{}: '{}' is no amount", name, *words));
    return out;
  }

  base::error wrong(const std::string& what) const {
    return {base::code::bad_input, fmt::format("{}:{}: {}", path_, file_.line(), what)};
  }

private:
  table(std::string path, workload::csv_file file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  workload::csv_file file_;
  std::vector<std::string> names_;
  std::vector<std::string> row_;
};

/// The numbers of one row by column name, or what is wrong with one of them.
base::result<std::vector<std::int64_t>> numbers(const table& rows,
                                                std::initializer_list<const char*> names) {
  std::vector<std::int64_t> out;
  for (const auto* name : names) {
    auto x = rows.number(name);
    if (!x)
      return x.error();
    out.push_back(*x);
  }
  return out;
}

base::result<void> read_nodes(const std::string& path, trace& out) {
  auto rows = table::open(path);
  if (!rows)
    return rows.error();
  std::vector<std::pair<std::string, node_room>> nodes;
  for (;;) {
    auto has = rows->next();
    if (!has)
      return has.error();
    if (!*has)
      break;
    auto name = rows->text("sn");
    auto model = rows->text("model");
    auto amounts = numbers(*rows, {"cpu_milli", "memory_mib", "gpu"});
    if (!name || !model || !amounts)
      return !name ? name.error() : !model ? model.error() : amounts.error();
    node_room x;
    x.cpu_milli = x.cpu_milli_all = (*amounts)[0];
    x.memory_bytes = x.memory_bytes_all = (*amounts)[1] << 20;
    x.whole_gpus = x.gpus_all = (*amounts)[2];
    if (!model->empty() && x.gpus_all > 0) {
      auto pos = std::find(out.models.begin(), out.models.end(), *model);
      if (pos == out.models.end() && out.models.size() == models_most)
        return rows->wrong(fmt::format("more than {} GPU models", models_most));
      pos = pos == out.models.end() ? out.models.insert(pos, *model) : pos;
      x.model = 1u << (pos - out.models.begin());
    }
    nodes.emplace_back(*name, x);
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [name, x] : nodes)
    out.nodes.push_back(std::move(x));
  return {};
}

std::uint32_t models_of(const std::string& words, const trace& known) {
  std::uint32_t out = 0;
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find('|', at), words.size());
    const auto pos =
        std::find(known.models.begin(), known.models.end(), words.substr(at, end - at));
    out |= pos == known.models.end() ? no_such_model : 1u << (pos - known.models.begin());
    at = end + 1;
  }
  return out;
}

base::result<void> read_pods(const std::string& path, trace& out) {
  auto rows = table::open(path);
  if (!rows)
    return rows.error();
  std::vector<std::pair<std::string, pod_need>> pods;
  for (;;) {
    auto has = rows->next();
    if (!has)
      return has.error();
    if (!*has)
      break;
    auto name = rows->text("name");
    auto amounts = numbers(*rows, {"cpu_milli", "memory_mib", "num_gpu", "gpu_milli"});
    if (!name || !amounts)
      return !name ? name.error() : amounts.error();
    pod_need x{(*amounts)[0], (*amounts)[1] << 20, (*amounts)[2], 0, 0};
    const auto milli = x.gpus == 0 ? 0 : (*amounts)[3];
    if (milli > whole_gpu || (x.gpus > 0 && milli == 0) || (x.gpus > 1 && milli < whole_gpu))
      return rows->wrong(fmt::format("{} thousandths of {} GPUs", milli, x.gpus));
    x.gpu_milli = static_cast<std::int32_t>(milli);
    x.models = x.gpus == 0 ? 0 : models_of(rows->text_or_nothing("gpu_spec"), out);
    pods.emplace_back(*name, x);
  }
  std::stable_sort(pods.begin(), pods.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<pod_need, std::uint32_t> number;
  for (const auto& [name, x] : pods)
    number.try_emplace(x, 0);
  for (auto& [x, n] : number) {
    n = static_cast<std::uint32_t>(out.shapes.size());
    out.shapes.push_back(x);
  }
  for (const auto& [name, x] : pods)
    out.pods.push_back(number.at(x));
  return {};
}

} // namespace

std::int64_t trace::gpu_milli() const {
  return std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& x) { return sum + x.gpu_milli(); });
}

base::result<trace> read_trace(const trace_files& from) {
  trace out;
  auto nodes = read_nodes(from.folder + "/openb_node_list_gpu_node.csv", out);
  if (!nodes)
    return nodes.error();
  auto path = from.folder + "/pods/openb_pod_list_" + from.workload + ".csv";
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) && std::filesystem::exists(path + ".gz", failed))
    path += ".gz";
  auto pods = read_pods(path, out);
  if (!pods)
    return pods.error();
  if (out.gpu_milli() == 0 || out.pods.empty())
    return base::error{base::code::bad_input,
                       fmt::format("{}: there are no GPUs or no pods", from.folder)};
  return out;
}

std::vector<usual_pod> usual_pods(const trace& from) {
  // Memory decides nothing here: pods that differ in it alone are one kind.
  std::map<pod_need, std::int64_t> count;
  for (auto s : from.pods) {
    auto pod = from.shapes[s];
    pod.memory_bytes = 0;
    ++count[pod];
  }
  std::vector<std::pair<std::int64_t, pod_need>> often;
  for (const auto& [pod, n] : count)
    often.emplace_back(n, pod);
  std::sort(often.rbegin(), often.rend());
  std::vector<usual_pod> out;
  std::int64_t seen = 0;
  const auto all = static_cast<std::int64_t>(from.pods.size());
  for (const auto& [n, pod] : often) {
    if (seen * 100 >= all * 95)
      break;
    out.push_back({pod, static_cast<double>(n)});
    seen += n;
  }
  for (auto& u : out)
    u.share /= static_cast<double>(seen);
  return out;
}

} // namespace tutti::sim::openb
