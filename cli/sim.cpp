#include "cli/sim.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/sim_progress.hpp"
#include "sim/report/csv_files.hpp"
#include "sim/report/page.hpp"
#include "sim/report/results.hpp"
#include "sim/workload/generator.hpp"
#include "sim/workload/trace.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;
namespace report = sim::report;
namespace workload = sim::workload;
using base::code;
using base::error;

/// Samples of a run if nobody says how many: a day by the minute, longer runs more coarsely.
constexpr int samples_wanted = 1'440;
/// Gangs that were rejected are named on stderr up to this number.
constexpr std::size_t rejected_named = 3;

/// What the flags mean, once they are known to make sense.
struct meaning {
  workload::simulation::options run;
  workload::trace_options trace;
  std::string csv;
  base::duration lasts{}; ///< virtual time from beginning to end, at least
};

error wrong(std::string what, std::string hint) {
  return {code::bad_input, std::move(what), std::move(hint)};
}

base::result<base::duration> span_of(const char* flag, const std::string& text) {
  if (const auto read = read_span(text))
    return *read;
  return wrong(fmt::format("{}: \"{}\" is no duration", flag, text),
               "write days, hours, minutes and seconds, such as 2d, 36h, 90m or 1d12h");
}

base::result<void> check_source(const sim_options& how) {
  if (how.trace.empty() == how.generate.empty())
    return wrong(how.trace.empty() ? "there is no workload" : "--trace excludes --generate",
                 "give either --trace FILE or --generate philly");
  if (how.trace.empty()
      && (!how.from.empty() || how.compress != 1 || how.whole_nodes || how.is_strict))
    return wrong("--from, --compress, --whole-nodes and --strict are about a trace",
                 "give --trace FILE, or leave them out");
  if (how.generate.empty() && how.load)
    return wrong("--load is about a generated workload", "with --trace use --compress");
  if (!how.generate.empty() && how.gpus_per_node == 0)
    return wrong(
        fmt::format("--generate {}: its gangs ask for GPUs, and nodes have none", how.generate),
        "give --gpus-per-node a number above 0");
  if (!how.generate.empty() && how.until == "drained")
    return wrong("--until drained: a generated workload never ends", "give a duration");
  return {};
}

base::result<meaning> meaning_of(const sim_options& how) {
  if (auto ok = check_source(how); !ok)
    return ok.error();
  meaning out;
  auto levels = workload::read_topology(how.topology);
  if (!levels)
    return levels.error();
  out.run.shape = {how.nodes, how.gpus_per_node, how.cpus_per_node, std::move(*levels)};
  out.run.seed = how.seed;
  out.run.shards = how.shards;
  out.run.together = how.within;
  if (!how.within.empty() && out.run.shape.level_named(how.within) == out.run.shape.levels.size()) {
    std::vector<std::string> names;
    for (const auto& x : out.run.shape.levels)
      names.push_back(x.name);
    return wrong(fmt::format("--within {}: the topology has no such level", how.within),
                 fmt::format("it has {}", fmt::join(names, ", ")));
  }
  if (how.until != "drained") {
    auto until = span_of("--until", how.until);
    if (!until)
      return until.error();
    out.run.until = *until;
    out.lasts = *until;
  }
  if (!how.sample.empty()) {
    auto every = span_of("--sample", how.sample);
    if (!every)
      return every.error();
    out.run.sample_every = *every;
  }
  out.trace = {.path = how.trace,
               .until = out.run.until,
               .compress = how.compress,
               .takes_whole_nodes = how.whole_nodes};
  if (!how.from.empty()) {
    auto from = span_of("--from", how.from);
    if (!from)
      return from.error();
    out.trace.from = *from;
  }
  out.csv =
      how.csv.empty() ? std::filesystem::path{how.report}.replace_extension().string() : how.csv;
  if (out.csv == how.report)
    return wrong(
        fmt::format("--report {}: the tables would go into a folder of the same name", how.report),
        "let the name end in .html, or give --csv FOLDER");
  return out;
}

/// What makes this run again.
std::string command_of(const sim_options& how) {
  auto out = fmt::format("tutti sim run --nodes {} --gpus-per-node {} --topology {}", how.nodes,
                         how.gpus_per_node, how.topology);
  out += how.trace.empty() ? fmt::format(" --generate {}", how.generate)
                           : fmt::format(" --trace {}", how.trace);
  if (how.load)
    out += fmt::format(" --load {}", *how.load);
  if (!how.from.empty())
    out += fmt::format(" --from {}", how.from);
  if (how.compress != 1)
    out += fmt::format(" --compress {}", how.compress);
  if (how.whole_nodes)
    out += " --whole-nodes";
  if (!how.within.empty())
    out += fmt::format(" --within {}", how.within);
  if (how.cpus_per_node != sim_options{}.cpus_per_node)
    out += fmt::format(" --cpus-per-node {}", how.cpus_per_node);
  if (how.shards != sim_options{}.shards)
    out += fmt::format(" --shards {}", how.shards);
  if (!how.sample.empty())
    out += fmt::format(" --sample {}", how.sample);
  return out + fmt::format(" --until {} --seed {}", how.until, how.seed);
}

base::result<workload::gangs> gangs_of(const sim_options& how, const meaning& what) {
  if (!how.trace.empty())
    return workload::read_trace(what.trace, what.run.shape);
  return workload::generate_philly({.seed = how.seed, .until = *what.run.until, .load = how.load},
                                   what.run.shape);
}

/// Nothing vanishes in silence: rejected gangs are told before the run and counted after it.
void tell_rejected(const workload::gangs& all) {
  if (all.rejected.empty())
    return;
  for (std::size_t n = 0; n < std::min(all.rejected.size(), rejected_named); ++n)
    fmt::print(stderr, "warning: {}:{}: rejected: {}\n", all.origin, all.rejected[n].what.line,
               all.rejected[n].why);
  if (all.rejected.size() > rejected_named)
    fmt::print(stderr, "warning: {}: {} more gangs are rejected; gangs.csv names them all\n",
               all.origin, all.rejected.size() - rejected_named);
}

double hours(base::duration d) {
  return std::chrono::duration<double, std::ratio<3'600>>(d).count();
}

/// What may differ from machine to machine stays out of the files.
struct cost {
  double nodes_s = 0;
  double run_s = 0;
  double all_s() const { return std::max(nodes_s + run_s, 0.001); }
};

/// The most that this process has held so far.
double memory_mib() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1'024;
}

void print_summary(const sim_options& how, const meaning& what, const report::results& of,
                   const cost& took) {
  const auto facts = report::summary_of(of);
  const auto steps = of.run.steps();
  if (how.format == "json") {
    json::object out;
    for (const auto& x : facts)
      out[x.name] = x.value;
    json::object reasons;
    for (const auto& [reason, n] : of.reasons)
      reasons[reason] = n;
    out["waiting_for"] = std::move(reasons);
    out["wall_seconds"] = took.all_s();
    out["wall_seconds_of_nodes"] = took.nodes_s;
    out["memory_mib"] = memory_mib();
    out["steps"] = steps;
    out["report"] = how.report;
    out["csv"] = what.csv;
    fmt::print("{}", pretty_json(out));
    return;
  }
  std::size_t width = 0;
  for (const auto& x : facts)
    width = std::max(width, x.value.size());
  for (const auto& x : facts)
    fmt::print("{:<26} {:<{}}  {}\n", x.name, x.value, width, x.meaning);
  for (const auto& [reason, n] : of.reasons)
    fmt::print("{:<26} {:<{}}  {}\n", "waiting: " + reason, n, width, "gangs at the end");
  fmt::print("\n{:.1f} h of the cluster in {:.1f} s ({:.1f} s for the nodes), {:.0f} steps/s, "
             "{:.0f} MiB of memory\nreport {}, tables {}/\n",
             hours(of.run.elapsed()), took.all_s(), took.nodes_s,
             static_cast<double>(steps) / took.all_s(), memory_mib(), how.report, what.csv);
}

/// A long run does not end with a folder in which nothing can be written.
base::result<void> make_places(const sim_options& how, const meaning& what) {
  const auto page_folder = std::filesystem::absolute(how.report).parent_path();
  for (const auto& folder : {page_folder, std::filesystem::path{what.csv}}) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (!failed && ::access(folder.c_str(), W_OK) != 0)
      failed = {errno, std::generic_category()};
    if (failed)
      return error{
          code::io,
          fmt::format("cannot write into the folder {}: {}", folder.string(), failed.message()),
          "choose others with --report and --csv"};
  }
  return {};
}

/// How long it will take at least, where the gangs say it, and how often to look.
meaning with_samples(const sim_options& how, meaning what, const workload::gangs& all) {
  if (!what.run.until)
    for (const auto& x : all.arrivals)
      what.lasts = std::max(what.lasts, x.at + x.runs_for);
  if (how.sample.empty())
    what.run.sample_every = std::max<base::duration>(
        std::chrono::minutes{1},
        std::chrono::ceil<std::chrono::minutes>(what.lasts / samples_wanted));
  return what;
}

int play(const sim_options& how, const meaning& what, workload::gangs all) {
  sim_progress shown{how.is_quiet};
  workload::simulation run{what.run, std::exchange(all.arrivals, {})};
  shown.begin("nodes", "nodes", how.nodes);
  run.begin([&](std::uint32_t nodes) { shown.at(nodes, ""); });
  shown.end();
  cost took{.nodes_s = shown.seconds()};
  const auto samples = static_cast<std::uint64_t>(what.lasts / what.run.sample_every) + 1;
  report::series over_time{what.run.shape, samples};
  shown.begin("run", "virtual minutes", what.run.until ? hours(what.lasts) * 60 : 0);
  over_time.take(run);
  while (run.advance()) {
    over_time.take(run);
    using workload::gang_state;
    shown.at(hours(run.elapsed()) * 60, fmt::format("{} gangs over, {} running, {} waiting",
                                                    run.book().in(gang_state::over).gangs,
                                                    run.book().in(gang_state::running).gangs,
                                                    run.book().in(gang_state::waiting).gangs));
  }
  shown.end();
  took.run_s = shown.seconds() - took.nodes_s;
  const auto of = report::results_of(run, over_time, all, command_of(how));
  if (auto ok = report::write_csv(what.csv, of); !ok) {
    print_error(ok.error());
    return failed;
  }
  if (auto ok = report::write_file(how.report, report::html_page(of)); !ok) {
    print_error(ok.error());
    return failed;
  }
  print_summary(how, what, of, took);
  return done;
}

} // namespace

std::optional<base::duration> read_span(const std::string& text) {
  constexpr double longest_s = 3'600.0 * 24 * 366 * 10; // ten years
  double seconds = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t used = 0;
    const auto digits = std::min(text.find_first_not_of("0123456789.", at), text.size());
    if (digits == at || digits == text.size() || digits - at > 12)
      return std::nullopt;
    double amount = 0;
    try {
      amount = std::stod(text.substr(at, digits - at), &used);
    } catch (const std::exception&) {
      return std::nullopt;
    }
    const char unit = text[digits];
    const double scale = unit == 's'   ? 1
                         : unit == 'm' ? 60
                         : unit == 'h' ? 3'600
                         : unit == 'd' ? 86'400
                                       : 0;
    if (used != digits - at || scale == 0)
      return std::nullopt;
    seconds += amount * scale;
    at = digits + 1;
  }
  if (seconds <= 0 || seconds > longest_s)
    return std::nullopt;
  return base::duration{std::llround(seconds * 1e9)};
}

int run_sim(const sim_options& how) {
  const auto what = meaning_of(how);
  if (!what) {
    print_error(what.error());
    return wrong_usage;
  }
  auto all = gangs_of(how, *what);
  if (!all) {
    print_error(all.error());
    return wrong_file;
  }
  if (all->arrivals.empty() && all->rejected.empty()) {
    print_error(wrong(fmt::format("{}: no gang comes in the time that is played", all->origin),
                      how.trace.empty() ? "give a longer --until, more --nodes or more --load"
                                        : "give an earlier --from or a longer --until"));
    return wrong_usage;
  }
  if (how.is_strict && !all->rejected.empty()) {
    const auto& first = all->rejected.front();
    print_error({code::bad_input,
                 fmt::format("{}:{}: {} ({} of such gangs)", all->origin, first.what.line,
                             first.why, all->rejected.size()),
                 "leave --strict out to have them counted as rejected"});
    return wrong_file;
  }
  tell_rejected(*all);
  if (auto ok = make_places(how, *what); !ok) {
    print_error(ok.error());
    return failed;
  }
  const auto whole = with_samples(how, *what, *all);
  return play(how, whole, std::move(*all));
}

int list_topologies() {
  table out{{"NAME", "LEVELS", "SOURCE"}};
  for (const auto& x : workload::known_topologies())
    out.add({std::string{x.name}, std::string{x.levels}, std::string{x.source}});
  fmt::print("{}", out.text());
  return done;
}

} // namespace tutti::cli
