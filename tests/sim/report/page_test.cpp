// What is told of a run: the page stands alone and says everything, the tables agree with it.
#include "sim/report/page.hpp"

#include <algorithm>
#include <regex>

#include <gtest/gtest.h>

#include "sim/report/chart.hpp"
#include "sim/report/results.hpp"

namespace tutti::sim::report {
namespace {

using namespace std::chrono_literals;
using workload::arrival;

arrival gang(base::duration at, std::uint32_t members, std::int64_t gpus, base::duration runs_for) {
  return {.at = at, .members = members, .each = {gpus, 0}, .runs_for = runs_for};
}

/// Eight nodes in two racks for half an hour: one gang takes six, another waits for it.
struct short_run {
  short_run() : run(options(), arrivals()), over_time(run.how().shape, 31) {
    asked.origin = "<a trace> & more";
    asked.rejected.push_back({gang(5s, 99, 8, 1s), "it asks for 99 members; there is room for 8"});
    asked.rejected.back().what.line = 17;
    run.begin({});
    over_time.take(run);
    while (run.advance())
      over_time.take(run);
  }
  static workload::simulation::options options() {
    workload::simulation::options out;
    out.shape.nodes = 8;
    out.shape.levels = {{"rack", 4}};
    out.shards = 2;
    out.until = 30min;
    return out;
  }
  static std::vector<arrival> arrivals() {
    return {gang(0s, 6, 8, 10min), gang(60s, 4, 8, 1h), gang(20min, 6, 8, 1s)};
  }
  results told() { return results_of(run, over_time, asked, "tutti sim run --nodes 8"); }

  workload::simulation run;
  series over_time;
  workload::gangs asked;
};

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + word.size()))
    ++n;
  return n;
}

TEST(Page, needs_nothing_but_itself) {
  short_run x;
  auto page = html_page(x.told());
  // The name of a namespace is no address that anybody visits.
  page = std::regex_replace(page, std::regex{"http://www\\.w3\\.org/2000/svg"}, "");
  for (const char* word : {"http", "src=", "href", "@import", "url(", "<link", "//cdn"})
    EXPECT_EQ(page.find(word), page.npos) << word;
  EXPECT_NE(page.find("prefers-color-scheme:dark"), page.npos);
  EXPECT_NE(page.find("<meta charset=utf-8>"), page.npos);
}

TEST(Page, says_what_was_asked_for_and_what_became_of_it) {
  short_run x;
  const auto page = html_page(x.told());
  for (const char* word :
       {"Utilisation", "Queue length", "Running", "Largest gang that fits into one rack",
        "Largest gang that fits, by rack", "Fragmentation", "Waiting times",
        "tutti sim run --nodes 8", "&lt;a trace&gt; &amp; more", "Rejected",
        "<td>17<td>5.0 s<td>99"})
    EXPECT_NE(page.find(word), page.npos) << word;
  EXPECT_EQ(page.find("<a trace>"), page.npos) << "names are text";
  EXPECT_EQ(count(page, "<figure>"), count(page, "</figure>"));
  EXPECT_EQ(count(page, "<figure>"), 7u);
  EXPECT_EQ(count(page, "<svg"), count(page, "</svg>"));
}

TEST(Page, is_the_same_for_the_same_run) {
  short_run a, b;
  EXPECT_EQ(html_page(a.told()), html_page(b.told()));
}

TEST(Waits, are_counted_by_size_and_from_submission) {
  short_run x;
  const auto rows = x.told().waits;
  ASSERT_EQ(rows.size(), 4u) << "32 GPUs, 48 GPUs, 792 GPUs, all";
  EXPECT_EQ(rows[0].size_text(), "17-32");
  EXPECT_EQ(rows[0].bound, 1u);
  EXPECT_NEAR(rows[0].p50_s, 540, 10) << "it waited until the first was over";
  EXPECT_EQ(rows[1].size_text(), "33-64");
  EXPECT_EQ(rows[1].gangs, 2u);
  EXPECT_EQ(rows[1].bound, 1u);
  EXPECT_EQ(rows[1].waiting, 1u);
  EXPECT_NEAR(rows[1].longest_still_s, 600, 1);
  EXPECT_LT(rows[1].p99_s, 0.1);
  EXPECT_EQ(rows[2].rejected, 1u);
  EXPECT_EQ(rows[2].gangs, 0u);
  EXPECT_EQ(rows.back().gangs, 3u);
  EXPECT_EQ(rows.back().rejected, 1u);
}

TEST(Series, has_a_row_a_minute_with_what_is_used_and_what_would_fit) {
  short_run x;
  const auto& all = x.over_time.samples();
  ASSERT_EQ(all.size(), 31u);
  EXPECT_EQ(all[0].units_used, 0);
  EXPECT_EQ(all[0].rack_most, 4u);
  EXPECT_EQ(all[5].units_used, 48);
  EXPECT_EQ(all[5].waiting_gangs, 1u);
  EXPECT_EQ(all[5].waiting_members, 4u);
  EXPECT_EQ(all[5].empty_nodes, 2u);
  EXPECT_EQ(all[5].fragmentation, 0);
  EXPECT_EQ(all[15].units_used, 32);
  EXPECT_EQ(all[15].running_gangs, 1u);
  EXPECT_EQ(all[15].over_gangs, 1u);
  EXPECT_EQ(all.back().at_s, 1'800);
  EXPECT_EQ(all[15].groups.size(), 2u);
  EXPECT_EQ(*std::max_element(all[15].groups.begin(), all[15].groups.end()), all[15].rack_most);
  const auto used = x.over_time.mean_use(64);
  EXPECT_NEAR(used, 100.0 * (10 * 48 + 20 * 32) / (30 * 64), 3);
}

TEST(Series, shows_many_racks_in_few_rows) {
  workload::cluster_shape shape;
  shape.nodes = 50'000;
  shape.levels = {{"rack", 4}};
  const series large{shape, 1'440};
  EXPECT_EQ(large.racks_per_group(), 261u) << "12,500 racks in 48 rows";
}

TEST(Results, say_why_gangs_wait_at_the_end) {
  short_run x;
  const auto reasons = x.told().reasons;
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0].first, "InsufficientResources");
  EXPECT_EQ(reasons[0].second, 1u);
}

TEST(ChartText, shows_numbers_as_people_write_them) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(0.25), "0.25");
  EXPECT_EQ(number_text(12.34), "12.3");
  EXPECT_EQ(number_text(999), "999");
  EXPECT_EQ(number_text(1'234'567), "1,234,567");
  EXPECT_EQ(number_text(-1'234), "-1,234");
}

TEST(ChartText, shows_spans_as_people_say_them) {
  EXPECT_EQ(span_text(0.006), "6 ms");
  EXPECT_EQ(span_text(4.31), "4.3 s");
  EXPECT_EQ(span_text(59), "59 s");
  EXPECT_EQ(span_text(60), "1 min");
  EXPECT_EQ(span_text(90), "1 min 30 s");
  EXPECT_EQ(span_text(7'200), "2 h");
  EXPECT_EQ(span_text(86'400 + 7'260), "1 d 2 h");
}

TEST(Chart, without_any_moment_there_is_nothing_to_draw) {
  EXPECT_EQ(to_html(line_chart{.title = "x", .lines = {{"a", {}, gather::mean}}}), "");
  EXPECT_EQ(to_html(heat_map{.title = "x"}), "");
  EXPECT_EQ(to_html(wait_chart{.title = "x"}), "");
}

TEST(Chart, a_line_keeps_its_highest_point_however_many_samples_there_are) {
  line_chart chart{.title = "x", .unit = "gangs"};
  line peaks{"a", {}, gather::most};
  for (int n = 0; n < 10'000; ++n) {
    chart.at_s.push_back(60.0 * n);
    peaks.values.push_back(n == 5'003 ? 77 : 1);
  }
  chart.lines.push_back(peaks);
  const auto drawn = to_html(chart);
  EXPECT_EQ(count(drawn, ",77,"), 1u);
  EXPECT_LT(drawn.size(), 40'000u);
}

} // namespace
} // namespace tutti::sim::report
