// The published experiment with shared GPUs (docs/reference/openb.md): how near the policies come
// to what was published, and how far the engine's own are ahead. Needs the published tables.
//
//   tutti_bench_openb                 JSON lines, seeds 42-51 and 52-71
//   tutti_bench_openb --quick         three seeds of each
//
// TUTTI_OPENB names the folder of the tables if it is not ../shared/data/openb.
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/core.h>

#include "bench/arguments.hpp"
#include "sim/openb/replay.hpp"

namespace {

using namespace tutti;
using namespace tutti::sim::openb;

constexpr double spread_most = 0.6; // what the published runs deviate by, at most
constexpr double ahead = 0.3;       // points that the engine's own policy is to be better than FGD

double mean(const trace& of, const contestant& who, std::uint64_t first, std::uint64_t last) {
  const auto usual = usual_pods(of);
  double sum = 0;
  for (auto seed = first; seed <= last; ++seed)
    sum += 100 * replay(of, usual, who, {seed, 1.3}).in_use;
  return sum / static_cast<double>(last - first + 1);
}

void line(const std::string& bar, double value, double limit, bool holds) {
  fmt::print("{{\"area\":\"openb\",\"bar\":\"{}\",\"value\":{:.2f},\"unit\":\"% of GPUs in use\","
             "\"limit\":{:.2f},\"holds\":{}}}\n",
             bar, value, limit, holds);
}

} // namespace

int main(int argc, char** argv) {
  const auto asked = bench::read_arguments(argc, argv, bench::takes::nothing_more);
  const char* named = std::getenv("TUTTI_OPENB");
  const auto of = read_trace({named != nullptr ? named : "../shared/data/openb", "default"});
  if (!of) {
    fmt::print(stderr, "bench: openb is left out: {}\n", of.error().message());
    return named != nullptr ? 1 : 0;
  }
  const std::uint64_t fewer = asked.is_quick ? 7 : 0;
  std::map<std::string, double> judged;
  for (const auto& c : contestants()) {
    if (c.published_mean > 0) {
      const auto got = mean(*of, c, 42, 51 - fewer);
      line(fmt::format("openb {} as published", c.name), got, c.published_mean,
           std::abs(got - c.published_mean) <= spread_most);
    }
    judged[c.name] = mean(*of, c, 52, asked.is_quick ? 54 : 71);
  }
  const auto wanted = judged["least-fragmentation"] + ahead;
  line("openb least-stranded, other seeds", judged["least-stranded"], wanted,
       judged["least-stranded"] >= wanted);
  return 0;
}
