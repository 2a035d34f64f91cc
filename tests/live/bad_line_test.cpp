// A genuine API server behind a line that is slow, or breaks in the middle of answers.
#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/commands/judge.hpp"
#include "tests/live/audit.hpp"
#include "tests/live/bad_line.hpp"
#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::look_at;
using commands::manifest;
using commands::nodes_in_racks;
using namespace std::chrono_literals;

class Line : public Live {
protected:
  daemon scheduler_over(const bad_line& line, const control_plane& on) const {
    std::ifstream file{on.kubeconfig()};
    std::stringstream text;
    text << file.rdbuf();
    auto config = text.str();
    const auto port = fmt::format(":{}", on.api().port());
    config.replace(config.find(port), port.size(), fmt::format(":{}", line.port()));
    return daemon{{.what = {"--kubeconfig", home_.file("kubeconfig", config), "--data-dir",
                            home_.sub("scheduler")},
                   .verb = "scheduler"}};
  }
  static void create_gangs(const control_plane& on, int from, int to) {
    for (int i = from; i < to; ++i)
      on.create(manifest(our_gang(fmt::format("g{}", i), 4, 1)));
  }
  static void expect_all_bound(const control_plane& on, const daemon& scheduler, int gangs) {
    for (int i = 0; i < gangs; ++i)
      expect_bound(scheduler, fmt::format("g{}", i));
    commands::expect_sound(look_at(on.api()));
    for (const auto& [pod, times] : bindings_taken(on.audit_log()))
      EXPECT_EQ(times, 1) << pod;
  }
};

TEST_F(Line, that_is_slow_costs_time_and_nothing_else) {
  control_plane on;
  bad_line line{on.api().port()};
  on.create(nodes_in_racks(6));
  auto scheduler = scheduler_over(line, on);
  line.delay_answers(300ms);
  create_gangs(on, 0, 4);
  expect_all_bound(on, scheduler, 4);
  scheduler.stop();
}

/// What a cut answer was about may have been done: it is read back, and nothing is done twice.
TEST_F(Line, that_breaks_in_the_middle_of_answers_leaves_no_gang_partial) {
  control_plane on;
  bad_line line{on.api().port()};
  on.create(nodes_in_racks(8));
  auto scheduler = scheduler_over(line, on);
  create_gangs(on, 0, 1);
  expect_bound(scheduler, "g0");
  line.cut_after(6'000); // a handshake and an answer or two
  line.cut_all();
  create_gangs(on, 1, 6);
  EXPECT_TRUE(commands::eventually([&] { return line.cuts() >= 5; }, 120s)) << line.cuts();
  line.cut_after(0);
  expect_all_bound(on, scheduler, 6);
  scheduler.stop();
}

} // namespace
} // namespace tutti::live
