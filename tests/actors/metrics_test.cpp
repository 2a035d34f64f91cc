// What /metrics says, read as Prometheus reads it, and what the meter makes of messages.
#include "actors/metrics.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "actors/metrics_meter.hpp"
#include "tests/actors/stage.hpp"

namespace tutti::actors::testing {
namespace {

using namespace std::chrono_literals;
using protocol::attempt_outcome;
using protocol::role_kind;
using protocol::to;

// ---------------------------------------------------------------- meter

base::time_point at(base::duration since_zero) {
  return base::time_point{since_zero};
}

TEST(Histogram, counts_what_is_below_and_at_each_bound) {
  histogram h;
  h.add(1ms);
  h.add(2ms);
  h.add(3ms);
  h.add(24h);
  EXPECT_EQ(h.at_most(0), 1u);
  EXPECT_EQ(h.at_most(1), 2u);
  EXPECT_EQ(h.at_most(2), 3u);
  EXPECT_EQ(h.at_most(histogram::bucket_count - 1), 3u) << "a day is above the last bound";
  EXPECT_EQ(h.count(), 4u);
  EXPECT_NEAR(h.sum_seconds(), 86'400.006, 1e-6);
}

struct Meter : ::testing::Test {
  meter numbers;
  const base::attempt_id attempt{{"g"}, 1, {1}, 7};
  const protocol::address gang = protocol::to_gang({"g"});

  void try_it(base::duration when) {
    auto who = std::make_shared<protocol::gang>();
    who->uid = {"g"};
    numbers.sees(protocol::to_partition({0}), protocol::try_gang{who, 0}, at(when));
    numbers.sees(gang, protocol::begin_attempt{attempt, 0, {0}, who, 0}, at(when));
  }
  void end(attempt_outcome how, base::duration when) {
    protocol::attempt_over over{.attempt = attempt, .outcome = how};
    numbers.sees(protocol::to_partition({0}), over, at(when));
    numbers.sees(to(role_kind::queue), over, at(when));
  }
};

TEST_F(Meter, an_end_that_is_passed_on_is_counted_once) {
  try_it(0s);
  end(attempt_outcome::bound, 4s);
  const auto all = numbers.now();
  ASSERT_EQ(all.attempts.size(), 1u);
  EXPECT_EQ(all.attempts.begin()->second, 1u);
  EXPECT_DOUBLE_EQ(all.attempt_duration.at({"scheduled"}).sum_seconds(), 4);
}

TEST_F(Meter, attempts_are_told_apart_by_their_result) {
  try_it(0s);
  end(attempt_outcome::refused, 1s);
  try_it(5s);
  end(attempt_outcome::bound, 8s);
  const auto all = numbers.now();
  EXPECT_DOUBLE_EQ(all.attempt_duration.at({"scheduled"}).sum_seconds(), 3);
  EXPECT_DOUBLE_EQ(all.attempt_duration.at({"unschedulable"}).sum_seconds(), 1);
}

TEST_F(Meter, time_to_bound_begins_with_the_creation_of_the_gang) {
  const auto bound = [this](std::int64_t created_ms, std::int64_t now_ms) {
    numbers.sees(protocol::note{"queue.bound", {{"gang", "ns/g"}, {"created_ms", created_ms}}},
                 {now_ms});
  };
  bound(40'000, 108'000);
  EXPECT_EQ(numbers.now().time_to_bound.count(), 1u);
  EXPECT_DOUBLE_EQ(numbers.now().time_to_bound.sum_seconds(), 68);
  bound(400'000, 100'000); // two clocks disagree
  EXPECT_EQ(numbers.now().time_to_bound.count(), 2u);
  EXPECT_DOUBLE_EQ(numbers.now().time_to_bound.sum_seconds(), 68);
}

TEST_F(Meter, the_epoch_is_the_highest_that_was_begun) {
  for (const auto epoch : {3u, 7u, 5u})
    numbers.sees(protocol::to_shard({0}), protocol::new_epoch{{epoch}, {epoch}, 0}, at(0s));
  EXPECT_EQ(numbers.now().epoch.value, 7u);
}

TEST_F(Meter, a_phase_lasts_until_the_next_one_or_the_end) {
  const auto say = [&](protocol::phase x, base::duration when) {
    numbers.sees(to(role_kind::queue), protocol::gang_progress{.attempt = attempt, .at = x},
                 at(when));
  };
  try_it(0s);
  say(protocol::phase::planning, 1s);
  say(protocol::phase::planning, 2s); // told again
  say(protocol::phase::binding, 4s);
  end(attempt_outcome::bound, 9s);
  const auto all = numbers.now();
  EXPECT_DOUBLE_EQ(all.phase_duration.at({"Planning"}).sum_seconds(), 3);
  EXPECT_DOUBLE_EQ(all.phase_duration.at({"Binding"}).sum_seconds(), 5);
}

TEST_F(Meter, planning_lasts_from_the_question_to_the_answer) {
  try_it(0s);
  numbers.sees(to(role_kind::topology), protocol::plan_request{attempt, nullptr}, at(1s));
  numbers.sees(gang, protocol::plan_answer{attempt, nullptr, {}}, at(3s));
  numbers.sees(gang, protocol::plan_answer{attempt, nullptr, {}}, at(9s)); // repeated
  EXPECT_EQ(numbers.now().planning_duration.count(), 1u);
  EXPECT_DOUBLE_EQ(numbers.now().planning_duration.sum_seconds(), 2);
}

TEST_F(Meter, nothing_is_remembered_of_gangs_that_are_not_under_way) {
  try_it(0s);
  EXPECT_EQ(numbers.remembered(), 1u);
  end(attempt_outcome::bound, 1s);
  EXPECT_EQ(numbers.remembered(), 0u);
  try_it(2s);
  numbers.sees(protocol::to_partition({0}), protocol::gang_deleted{{"g"}}, at(4s));
  EXPECT_EQ(numbers.remembered(), 0u);
}

// ---------------------------------------------------------------- the page

struct parsed_page {
  std::map<std::string, std::string> types;
  std::set<std::string> helped;
  std::map<std::string, double> samples; ///< by name with labels
  std::vector<std::string> mistakes;

  explicit parsed_page(const std::string& text) {
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);)
      read(line);
    if (text.empty() || text.back() != '\n')
      mistakes.push_back("the last line does not end");
  }
  double value(const std::string& sample) const {
    const auto pos = samples.find(sample);
    return pos == samples.end() ? std::nan("") : pos->second;
  }
  /// Of all samples whose name begins so.
  double sum(const std::string& prefix) const {
    double out = 0;
    for (const auto& [name, x] : samples)
      out += name.starts_with(prefix) ? x : 0;
    return out;
  }

private:
  void read(const std::string& line) {
    std::istringstream words{line};
    std::string first, what, name, rest;
    if (line.starts_with("#")) {
      words >> first >> what >> name >> rest;
      if (what == "HELP" && !rest.empty())
        helped.insert(name);
      else if (what == "TYPE" && types.emplace(name, rest).second && helped.contains(name))
        current_ = name;
      else
        mistakes.push_back(line);
      return;
    }
    const auto space = line.rfind(' ');
    const auto key = line.substr(0, space);
    const auto number = space == line.npos ? std::string{} : line.substr(space + 1);
    double x = 0;
    const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), x);
    const bool is_number = ec == std::errc{} && end == number.data() + number.size();
    if (!is_number || !key.starts_with(current_) || !samples.emplace(key, x).second)
      mistakes.push_back(line);
  }

  std::string current_;
};

/// Buckets of a histogram grow, and the last is the count.
void check_histogram(const parsed_page& page, const std::string& name) {
  std::map<std::string, std::map<double, double>> buckets; // by the labels before le
  for (const auto& [key, x] : page.samples) {
    const auto le = key.find("le=\"");
    if (!key.starts_with(name + "_bucket{") || le == key.npos)
      continue;
    const auto bound = key.substr(le + 4, key.find('"', le + 4) - le - 4);
    const auto labels = key.substr(name.size() + 8, le - name.size() - 8);
    buckets[labels][bound == "+Inf" ? std::numeric_limits<double>::infinity() : std::stod(bound)] =
        x;
  }
  for (const auto& [labels, by_bound] : buckets) {
    EXPECT_EQ(by_bound.size(), histogram::bucket_count + 1) << name;
    double last = 0;
    for (const auto& [bound, x] : by_bound) {
      EXPECT_GE(x, last) << name << " le " << bound;
      last = x;
    }
    const auto inner = labels.empty() ? "" : "{" + labels.substr(0, labels.size() - 1) + "}";
    EXPECT_EQ(page.value(name + "_count" + inner), last) << name << labels;
    EXPECT_FALSE(std::isnan(page.value(name + "_sum" + inner))) << name << labels;
  }
}

TEST(Metrics, of_a_gang_that_is_bound_and_one_that_waits_read_as_prometheus_reads_them) {
  stage on{{.shards = 2}};
  on.node("n1", 8, "a");
  ASSERT_TRUE(on.start());
  on.gang("fits", 2, 2);
  on.gang("too-wide", 2, 64);
  ASSERT_TRUE(eventually([&] { return on.is_bound("fits", 2) && on.noted("gang.over") >= 2; }));
  ASSERT_TRUE(eventually([&] {
    return parsed_page{metrics_text(on.it())}.value("gang_phase{phase=\"Bound\"}") == 1;
  }));
  const parsed_page page{metrics_text(on.it())};
  EXPECT_TRUE(page.mistakes.empty()) << page.mistakes.front();
  EXPECT_EQ(page.value("gang_time_to_bound_seconds_count"), 1);
  EXPECT_GE(page.value("gang_time_to_bound_seconds_sum"), 0);
  EXPECT_EQ(page.sum("gang_pending{"), 1);
  EXPECT_EQ(page.sum("gang_attempts_total{outcome=\"bound\""), 1);
  EXPECT_GE(page.sum("gang_attempts_total{outcome=\"refused\""), 1);
  EXPECT_GE(page.sum("gang_votes_total{vote=\"yes\""), 1);
  EXPECT_EQ(page.value("gang_bindings_total{verdict=\"bound\"}"), 2);
  EXPECT_EQ(page.value("gang_decision_sync_seconds_count"), 1);
  EXPECT_EQ(page.sum("gang_invariant_violations_total"), 0);
  EXPECT_EQ(page.value("gang_silent_shards"), 0);
  EXPECT_EQ(page.value("gang_epoch"), 1);
  EXPECT_EQ(page.value("gang_in_doubt_oldest_seconds"), 0);
  for (const auto* never :
       {"gang_binding_unknown_total", "gang_degraded_total", "gang_external_pressure_total"})
    EXPECT_EQ(page.value(never), 0) << never;
  EXPECT_GE(page.value("gang_view_age_seconds{resource=\"pods\"}"), 0);
  int histograms = 0;
  for (const auto& [name, type] : page.types)
    if (type == "histogram" && ++histograms > 0)
      check_histogram(page, name);
  EXPECT_GE(histograms, 5);
  for (const auto& [key, x] : page.samples)
    for (const auto* name : {"n1", "fits", "too-wide"})
      EXPECT_EQ(key.find(name), key.npos) << "no names of objects in labels: " << key;
}

TEST(Metrics, room_that_vanishes_under_a_promise_is_counted) {
  stage on{{.shards = 1}};
  on.node("n1", 8, "a");
  on.keep_bindings();
  ASSERT_TRUE(on.start());
  on.gang("g", 2, 2);
  ASSERT_TRUE(eventually([&] { return on.bindings_kept() == 2; }));
  on.node("n1", 1, "a"); // it shrinks below what is promised
  EXPECT_TRUE(eventually([&] {
    return parsed_page{metrics_text(on.it())}.value("gang_external_pressure_total") == 1;
  }));
}

} // namespace
} // namespace tutti::actors::testing
