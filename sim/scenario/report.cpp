#include "sim/scenario/report.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace tutti::sim::scenario {

namespace {

namespace json = boost::json;

std::string failure_text(const story_result& x) {
  const auto& why = *x.why;
  auto out = fmt::format("  {}{}:{}: {}\n  wanted: {}\n  found:  {}\n  last events:\n",
                         x.is_live ? std::string{} : fmt::format("seed {}, ", x.failed_seed),
                         x.file, why.line, why.step, why.what, why.found);
  for (const auto& e : why.last_events)
    out += "    " + e + "\n";
  return out + "  again:  " + replay_command(x) + "\n";
}

std::string without_text(const story_result& x) {
  return x.left_out.empty() ? std::string{}
                            : fmt::format(", without {}", fmt::join(x.left_out, ", "));
}

std::size_t number_of(const std::vector<story_result>& all, std::initializer_list<outcome> wanted) {
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const story_result& x) {
    return std::find(wanted.begin(), wanted.end(), x.how) != wanted.end();
  }));
}

} // namespace

std::string replay_command(const story_result& x) {
  if (x.is_live)
    return fmt::format("tutti scenario run {} --id {} --kubeconfig FILE", x.file, x.id);
  return fmt::format("tutti scenario run {} --id {} --seed {}", x.file, x.id, x.failed_seed);
}

std::string result_text(const story_result& x) {
  auto out = fmt::format("{:20} {:7} {}", name_of(x.how), x.id, x.title);
  switch (x.how) {
  case outcome::passed:
    return out
           + (x.is_live ? fmt::format(" ({} ms{})\n", x.took_ms, without_text(x))
                        : fmt::format(" ({} seeds, {} ms)\n", x.seeds, x.took_ms));
  case outcome::failed:
    return out + "\n" + failure_text(x);
  case outcome::failed_as_expected:
    return out + fmt::format(": {}\n", x.expected);
  case outcome::passed_unexpectedly:
    return out + ": take it off expected_failures.yaml\n";
  case outcome::not_supported:
    return out + fmt::format(" (needs {})\n", fmt::join(x.lacking, ", "));
  }
  return out + "\n";
}

std::string summary_text(const std::vector<story_result>& all) {
  const auto loose = std::count_if(all.begin(), all.end(), [](const story_result& x) {
    return x.how == outcome::passed && !x.left_out.empty();
  });
  return fmt::format("{} passed{}, {} failed, {} expected to fail, {} not supported\n",
                     number_of(all, {outcome::passed}),
                     loose > 0 ? fmt::format(" ({} of them loosely)", loose) : std::string{},
                     number_of(all, {outcome::failed, outcome::passed_unexpectedly}),
                     number_of(all, {outcome::failed_as_expected}),
                     number_of(all, {outcome::not_supported}));
}

json::value results_json(const std::vector<story_result>& all) {
  json::array items;
  for (const auto& x : all) {
    json::object one{{"id", x.id},       {"title", x.title},
                     {"file", x.file},   {"outcome", name_of(x.how)},
                     {"seeds", x.seeds}, {"took_ms", x.took_ms}};
    if (!x.lacking.empty())
      one["needs"] = json::value_from(x.lacking);
    if (!x.left_out.empty())
      one["without"] = json::value_from(x.left_out);
    if (!x.expected.empty())
      one["expected"] = x.expected;
    if (x.why)
      one["failure"] = json::object{
          {"seed", x.failed_seed},     {"line", x.why->line},
          {"step", x.why->step},       {"wanted", x.why->what},
          {"found", x.why->found},     {"last_events", json::value_from(x.why->last_events)},
          {"again", replay_command(x)}};
    items.push_back(std::move(one));
  }
  return json::object{{"apiVersion", "tutti.dev/v1"},
                      {"kind", "ScenarioResults"},
                      {"summary",
                       {{"passed", number_of(all, {outcome::passed})},
                        {"failed", number_of(all, {outcome::failed, outcome::passed_unexpectedly})},
                        {"expectedToFail", number_of(all, {outcome::failed_as_expected})},
                        {"notSupported", number_of(all, {outcome::not_supported})}}},
                      {"items", std::move(items)}};
}

} // namespace tutti::sim::scenario
