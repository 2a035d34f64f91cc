// Mixed gangs on tight clusters, beside an integer program (CBC) that decides each of them: wrong
// answers, answers that were not found, and how long an answer takes. The gangs are those of
// tests/placement/engine/mixed_oracle.hpp.
//
//   tutti_bench_mixed            JSON lines, 2,000 gangs of each kind; needs cbc in $PATH
//   tutti_bench_mixed --quick    200 of each kind
#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bench/arguments.hpp"
#include "tests/placement/engine/mixed_oracle.hpp"

namespace {

using namespace tutti;
using namespace tutti::placement::engine;
using namespace tutti::placement::engine::testing;

struct kind {
  const char* name;
  drawn_size size;
  bool has_terms;
};

struct tally {
  int placed = 0, impossible = 0, undecided = 0, undecided_but_possible = 0, wrong = 0;
  std::vector<double> us;
};

double now_us() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

void try_gang(const drawn_gang& in, tally& seen) {
  cluster c;
  gang_spec what;
  build(in, c, what);
  static_cast<void>(c.view.now());
  const auto start = now_us();
  const auto got = c.ask(what);
  seen.us.push_back(now_us() - start);
  if (const auto* found = std::get_if<placement::engine::placement>(&got)) {
    ++seen.placed;
    seen.wrong += broken_rule(in, counts_of(in, c, *found)) ? 1 : 0;
    return;
  }
  const bool possible = can_be_placed(in).value_or(false);
  if (std::get<base::explanation>(got).primary == base::reason_code::undecided) {
    ++seen.undecided;
    seen.undecided_but_possible += possible ? 1 : 0;
  } else {
    ++seen.impossible;
    seen.wrong += possible ? 1 : 0;
  }
}

void bar(const kind& of, const char* what, double value, const char* unit, double limit,
         const tally& seen) {
  fmt::print("{{\"area\":\"mixed\",\"bar\":\"{}, {}{}\",\"value\":{:.3f},\"unit\":\"{}\","
             "\"limit\":{:.0f},\"holds\":{},\"placed\":{},\"impossible\":{},\"undecided\":{}}}\n",
             what, of.name, of.has_terms ? ", with terms" : "", value, unit, limit, value <= limit,
             seen.placed, seen.impossible, seen.undecided);
}

void print_kind(const kind& of, std::uint64_t gangs) {
  tally seen;
  for (std::uint64_t seed = 1; seed <= gangs; ++seed)
    try_gang(draw_gang(seed, of.size, of.has_terms), seen);
  std::sort(seen.us.begin(), seen.us.end());
  bar(of, "wrong answers", seen.wrong, "gangs", 0, seen);
  bar(of, "undecided of those that can be placed",
      100.0 * seen.undecided_but_possible / std::max(1, seen.placed + seen.undecided_but_possible),
      "%", 1, seen);
  const auto at = [&](double q) {
    return seen.us[static_cast<std::size_t>(q * static_cast<double>(seen.us.size() - 1))];
  };
  fmt::print("{{\"area\":\"mixed\",\"fact\":\"an answer, {}{}\",\"value\":{:.1f},"
             "\"unit\":\"us p99\",\"p50\":{:.1f},\"longest\":{:.1f}}}\n",
             of.name, of.has_terms ? ", with terms" : "", at(0.99), at(0.5), seen.us.back());
}

} // namespace

int main(int argc, char** argv) {
  const auto asked = bench::read_arguments(argc, argv, bench::takes::nothing_more);
  if (!has_solver()) {
    fmt::print(stderr, "bench: mixed is left out: no cbc (package coinor-cbc) in $PATH\n");
    return 0;
  }
  for (const auto& of :
       {kind{"small", drawn_size::small, false}, kind{"medium", drawn_size::medium, false},
        kind{"small", drawn_size::small, true}, kind{"medium", drawn_size::medium, true}})
    print_kind(of, asked.is_quick ? 200 : 2'000);
  return 0;
}
