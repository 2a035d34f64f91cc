#include "chaos/run.hpp"

#include <fmt/format.h>

#include "chaos/checker.hpp"
#include "chaos/nemesis.hpp"
#include "chaos/trace.hpp"
#include "sim/world/world.hpp"

namespace tutti::chaos {

run_result run(const schedule& what, const run_options& how) {
  sim::world on{world_of(what)};
  checker judge{on, {}};
  tracer lines{on, how.lines, how.keeps_all};
  on.add(lines);
  if (how.is_judged)
    on.add(judge);
  nemesis does{on, what};
  does.tells([&lines](const action& x) { lines.happens(x); });
  on.add(does);
  on.start();
  const auto end = base::time_point{} + what.until;
  const bool is_cut_short =
      on.run_until(end, [&] { return judge.broken().has_value() || does.broken().has_value(); });
  if (how.is_judged && how.is_audited && !is_cut_short)
    judge.audit();
  run_result out;
  out.broken = judge.broken() ? judge.broken() : does.broken();
  out.steps = on.steps();
  out.deliveries = lines.deliveries();
  out.trace_hash = on.trace_hash();
  out.virtual_time = on.time().now() - base::time_point{};
  out.trace = lines.take();
  out.actions = does.done();
  out.looks = judge.looks();
  out.coverage = lines.coverage();
  return out;
}

} // namespace tutti::chaos
