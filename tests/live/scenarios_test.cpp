// Scenario files on a genuine control plane: told to our scheduler, and by whom they may be told.
#include <chrono>

#include <boost/json.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::nodes_in_racks;
using commands::outcome;

/// Several stories, each with its seconds of rest.
constexpr std::chrono::seconds play_patience{200};

class Scenarios : public Live {
protected:
  /// The scheduler is asked whether it rests, so that this does not hang on how fast it is.
  outcome play(const control_plane& on, const daemon& scheduler, arguments more) const {
    more.insert(more.begin(), {"scenario", "run", "--kubeconfig", on.kubeconfig(), "--server",
                               scheduler.admin(), "--rest", "3"});
    auto child = commands::start(more);
    const auto how = child.wait(play_patience);
    EXPECT_TRUE(how) << child.out() << child.err();
    return {how.value_or(commands::ending{}), child.out(), child.err()};
  }
  static std::string story(const std::string& name) {
    return fmt::format("{}/tests/scenarios/{}.yaml", TUTTI_SOURCE_DIR, name);
  }
  static std::size_t nodes_on(const control_plane& on) {
    return on.api().get("/api/v1/nodes").object().at("items").as_array().size();
  }
};

/// Those that tell much in little time; which others hold is in docs/reference/differences.md.
class Told : public Scenarios, public testing::WithParamInterface<arguments> {};

TEST_P(Told, hold_on_a_genuine_cluster_and_leave_nothing_behind) {
  control_plane on{{"--kcm"}};
  auto scheduler = start_scheduler(on);
  arguments files{"--loosely"};
  for (const auto& name : GetParam())
    files.push_back(story(name));
  const auto said = play(on, scheduler, files);
  EXPECT_EQ(said.code(), 0) << said.out << said.err;
  EXPECT_NE(said.out.find(" 0 failed, 0 expected to fail, "), std::string::npos) << said.out;
  EXPECT_EQ(nodes_on(on), 0);
  EXPECT_EQ(on.api().get("/api/v1/pods").object().at("items").as_array().size(), 0);
  scheduler.stop();
}

INSTANTIATE_TEST_SUITE_P(
    Of, Told,
    testing::Values(arguments{"cases/a-05", "cases/b-06", "cases/c-04", "cases/d-01", "cases/f-01",
                              "cases/f-03"},
                    arguments{"upstream/a-07", "upstream/a-08", "upstream/d-22", "upstream/f-05",
                              "upstream/h-04", "upstream/h-15", "upstream/h-17"}),
    [](const auto& x) { return x.param.front().substr(0, x.param.front().find('/')); });

TEST_F(Scenarios, that_do_not_hold_fail_and_say_what_was_found) {
  control_plane on;
  auto scheduler = start_scheduler(on);
  const auto file = home_.file("b.yaml", "scenario: A pod that does not fit is bound\n"
                                         "id: T-02\n"
                                         "steps:\n"
                                         "- nodes: {n1: {cpu: 4}}\n"
                                         "- pods: {a: {cpu: 5}}\n"
                                         "- settle: {}\n"
                                         "- expect: {bound: {a: n1}}\n"
                                         "---\n"
                                         "scenario: What only the scheduler knows\n"
                                         "id: T-03\n"
                                         "steps:\n"
                                         "- nodes: {n1: {cpu: 4}}\n"
                                         "- expect: {reserved: 0}\n");
  const auto said = play(on, scheduler, {file});
  EXPECT_EQ(said.code(), 1) << said.out << said.err;
  EXPECT_NE(said.out.find("  wanted: bound: {a: n1}\n  found:  not bound\n"), std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("What only the scheduler knows (needs reserved)"), std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("0 passed, 1 failed, 0 expected to fail, 1 not supported"),
            std::string::npos)
      << said.out;
  scheduler.stop();
}

TEST_F(Scenarios, touch_nothing_of_others) {
  control_plane on;
  on.create(nodes_in_racks(2));
  auto scheduler = start_scheduler(on);
  const auto file = home_.file("a.yaml", "scenario: A pod that fits is bound\n"
                                         "id: T-01\n"
                                         "steps:\n"
                                         "- nodes: {n1: {cpu: 4, labels: {mine: x}}}\n"
                                         "- pods: {a: {cpu: 1, selector: {mine: x}}}\n"
                                         "- settle: {}\n"
                                         "- expect: {bound: {a: n1}}\n");
  const auto refused = play(on, scheduler, {file});
  EXPECT_EQ(refused.code(), 1) << refused.out;
  EXPECT_NE(refused.err.find("the node node-0 was made by no scenario"), std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("hint: "), std::string::npos) << refused.err;
  EXPECT_EQ(nodes_on(on), 2);
  const auto said = play(on, scheduler, {"--among-others", file});
  EXPECT_EQ(said.code(), 0) << said.out << said.err;
  EXPECT_EQ(nodes_on(on), 2) << "its own node is gone, and those of others are not";
  scheduler.stop();
}

} // namespace
} // namespace tutti::live
