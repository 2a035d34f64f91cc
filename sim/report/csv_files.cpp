#include "sim/report/csv_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace tutti::sim::report {

namespace {

using workload::gang_life;

/// Quoted where it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos)
    return text;
  std::string out = "\"";
  for (const char c : text)
    out += c == '"' ? std::string{"\"\""} : std::string{c};
  return out + "\"";
}

std::string summary_csv(const results& of) {
  std::string out = "name,value,meaning\n";
  for (const auto& x : summary_of(of))
    out += fmt::format("{},{},{}\n", x.name, cell(x.value), cell(x.meaning));
  for (const auto& [reason, n] : of.reasons)
    out += fmt::format("waiting_{},{},gangs that wait at the end for this reason\n", reason, n);
  return out;
}

std::string samples_csv(const results& of) {
  std::string out = "at_s,units_used,units_total,waiting_gangs,waiting_members,running_gangs,"
                    "over_gangs,empty_nodes,fragmentation_percent,rack_empty_nodes_most,"
                    "rack_empty_nodes_median,racks_without_empty_node,rack_units_free_most\n";
  const auto total = of.units(of.run.book().room().units());
  for (const auto& x : of.over_time.samples())
    fmt::format_to(std::back_inserter(out), "{:.0f},{},{},{},{},{},{},{},{:.2f},{},{},{},{}\n",
                   x.at_s, of.units(x.units_used), total, x.waiting_gangs, x.waiting_members,
                   x.running_gangs, x.over_gangs, x.empty_nodes, x.fragmentation, x.rack_most,
                   x.rack_median, x.racks_full, of.units(x.rack_units_most));
  return out;
}

std::string gang_row(const std::string& name, const workload::arrival& x) {
  const auto line = x.line > 0 ? fmt::format("{}", x.line) : "";
  return fmt::format("{},{},{:.3f},{},{},{},{:.3f}", name, line,
                     std::chrono::duration<double>(x.at).count(), x.members, x.each.gpus,
                     static_cast<double>(x.each.cpu_milli) / 1'000,
                     std::chrono::duration<double>(x.runs_for).count());
}

std::string gangs_csv(const results& of) {
  std::string out = "gang,trace_line,submit_s,members,gpus_each,cpus_each,runs_s,state,wait_s,"
                    "bound_s,over_s,why\n";
  const auto since_zero = [&](const std::optional<base::time_point>& t) {
    return t ? fmt::format("{:.3f}", std::chrono::duration<double>(*t - of.run.zero()).count())
             : std::string{};
  };
  const auto& gangs = of.run.book().gangs();
  for (std::size_t n = 0; n < gangs.size(); ++n) {
    const gang_life& x = gangs[n];
    const auto came = of.run.zero() + x.what.at;
    const auto wait =
        x.bound_at
            ? fmt::format("{:.3f}", std::chrono::duration<double>(*x.bound_at - came).count())
            : std::string{};
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},\n",
                   gang_row(workload::gang_name(n), x.what), workload::name_of(x.state()), wait,
                   since_zero(x.bound_at), since_zero(x.ended_at));
  }
  for (const auto& x : of.rejected)
    fmt::format_to(std::back_inserter(out), "{},rejected,,,,{}\n", gang_row("", x.what),
                   cell(x.why));
  return out;
}

std::string waits_csv(const results& of) {
  std::string out =
      "size_unit,size_from,size_to,gangs,bound,waiting,rejected,wait_p50_s,wait_p90_s,"
      "wait_p99_s,wait_most_s,wait_mean_s,longest_still_waiting_s\n";
  for (const auto& x : of.waits)
    fmt::format_to(std::back_inserter(out),
                   "{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n",
                   of.size_unit(), x.size_from, x.size_to, x.gangs, x.bound, x.waiting, x.rejected,
                   x.p50_s, x.p90_s, x.p99_s, x.most_s, x.mean_s, x.longest_still_s);
  return out;
}

std::string racks_csv(const results& of) {
  std::string out = "at_s,rack,empty_nodes,units_free\n";
  const auto& shape = of.run.how().shape;
  for (const auto& row : of.over_time.racks())
    for (std::size_t n = 0; n < row.empty_nodes.size(); ++n)
      fmt::format_to(std::back_inserter(out), "{:.0f},{},{},{}\n", row.at_s,
                     workload::domain_name(shape, 0, n), row.empty_nodes[n],
                     of.units(row.units_free[n]));
  return out;
}

} // namespace

base::result<void> write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << bytes;
  file.close();
  if (file)
    return {};
  return base::error{base::code::io,
                     fmt::format("cannot write {}: {}", path, std::strerror(errno))};
}

base::result<void> write_csv(const std::string& folder, const results& of) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return base::error{base::code::io,
                       fmt::format("cannot make the folder {}: {}", folder, failed.message())};
  const std::pair<const char*, std::string (*)(const results&)> files[] = {
      {"summary.csv", summary_csv},
      {"samples.csv", samples_csv},
      {"gangs.csv", gangs_csv},
      {"waits.csv", waits_csv},
      {"racks.csv", racks_csv}};
  for (const auto& [name, text] : files)
    if (auto ok = write_file((std::filesystem::path{folder} / name).string(), text(of)); !ok)
      return ok;
  return {};
}

} // namespace tutti::sim::report
