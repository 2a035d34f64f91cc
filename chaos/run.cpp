#include "chaos/run.hpp"

#include <algorithm>

#include "bridge/limits.hpp"
#include "chaos/checker.hpp"
#include "chaos/nemesis.hpp"
#include "chaos/rest_watch.hpp"
#include "chaos/trace.hpp"
#include "sim/world/world.hpp"

namespace tutti::chaos {

namespace {

/// How long what has just failed lasts, and what it has held up: an exchange without an answer is
/// given up after a minute.
base::duration lasts(const action& x) {
  base::duration out{};
  for (const char* key : {"for", "down", "delay", "sync"})
    out = std::max(out, time_of(x, key));
  const bool is_of_the_network = find_kind(x.what)->targets != "PROCESS" || x.what == "cut_off"
                                 || x.what == "link_cut" || x.what == "link";
  return is_of_the_network ? out + bridge::limits::exchange_timeout : out;
}

} // namespace

run_result run(const schedule& what, const run_options& how) {
  sim::world on{world_of(what)};
  const bool fails = std::any_of(what.actions.begin(), what.actions.end(),
                                 [](const auto& x) { return is_fault(*find_kind(x.what)); });
  checker judge{on, {.errors_are_explained = fails}};
  tracer lines{on, how.lines, how.keeps_all, base::time_point{} + what.faults_until};
  on.add(lines);
  if (how.is_judged)
    on.add(judge);
  nemesis does{on, what};
  does.tells([&](const action& x, nemesis::moment when) {
    lines.happens(x, when);
    if (when == nemesis::moment::strikes && is_fault(*find_kind(x.what)))
      judge.disturbed(on.time().now() + lasts(x));
  });
  on.add(does);
  on.start();
  const auto end = base::time_point{} + what.until;
  rest_watch rest;
  bool is_restless = false;
  const bool is_cut_short = on.run_until(end, [&] {
    is_restless = rest.goes_in_a_circle(on.time().now(), on.steps());
    does.turn();
    if (how.is_judged)
      judge.look_around();
    return is_restless || judge.broken().has_value() || does.broken().has_value();
  });
  if (how.is_judged && how.is_audited && !is_cut_short)
    judge.audit();
  run_result out;
  out.broken = judge.broken() ? judge.broken() : does.broken();
  if (is_restless && !out.broken)
    out.broken = rest.broken();
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
