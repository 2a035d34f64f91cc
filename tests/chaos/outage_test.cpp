// How long nothing is decided when something fails, held against the limits that are published.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "chaos/outage.hpp"

namespace tutti::chaos {
namespace {

using namespace std::chrono_literals;

std::string seconds(base::duration x) {
  return std::to_string(std::chrono::duration<double>(x).count()) + " s";
}

void every_row_keeps_its_limit(const outage_options& how) {
  for (const auto& what : outage_cases(how.replicas)) {
    const auto r = measure_outage(what, how);
    EXPECT_EQ(r.undecided, 0u) << r.name;
    EXPECT_LE(r.wait, r.limit) << r.name << ": waited " << seconds(r.wait) << ", limit "
                               << seconds(r.limit);
    EXPECT_GT(r.gangs, 250 * how.runs) << r.name;
  }
}

TEST(Outage, of_one_process_keeps_the_published_limits) {
  every_row_keeps_its_limit({.replicas = 1, .first_seed = 100, .runs = 2});
}

TEST(Outage, of_three_processes_keeps_the_published_limits) {
  every_row_keeps_its_limit({.replicas = 3, .first_seed = 100, .runs = 2});
}

TEST(Outage, a_longer_standstill_is_a_longer_silence) {
  outage_case still{"still", "F8", 20s, {{0ms, "pause", "scheduler-0", {{"for", "4s"}}}}};
  const auto r = measure_outage(still, {.runs = 1});
  EXPECT_GT(r.silence, 3500ms);
  EXPECT_LT(r.silence, 4500ms);
  EXPECT_GT(r.wait, 3500ms);
  EXPECT_TRUE(r.holds());
  still.limit = 1s;
  EXPECT_FALSE(measure_outage(still, {.runs = 1}).holds());
}

TEST(Outage, is_the_same_each_time) {
  const auto cases = outage_cases(3);
  const auto last = cases.back();
  const auto a = measure_outage(last, {.replicas = 3, .runs = 1});
  const auto b = measure_outage(last, {.replicas = 3, .runs = 1});
  EXPECT_EQ(a.silence, b.silence);
  EXPECT_EQ(a.wait, b.wait);
}

TEST(Outage, rows_and_limits_are_those_of_the_page) {
  std::ifstream file{std::string{TUTTI_SOURCE_DIR} + "/docs/reference/outages.md"};
  std::set<std::string> shown; // "name|limit"
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| ") && line.ends_with(" s |")) {
      const auto name = line.substr(2, line.find(" | ") - 2);
      const auto limit = line.substr(line.rfind("| ", line.size() - 3) + 2);
      shown.insert(name + "|" + limit.substr(0, limit.size() - 2));
    }
  std::set<std::string> known;
  for (const auto replicas : {1u, 3u})
    for (const auto& x : outage_cases(replicas))
      known.insert(
          fmt::format("{}|{:.2f} s", x.name, std::chrono::duration<double>(x.limit).count()));
  EXPECT_EQ(shown, known);
}

} // namespace
} // namespace tutti::chaos
