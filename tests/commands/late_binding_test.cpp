// A Binding of a process that died arrives while its successor takes the gang back; the successor
// dies too.
#include <csignal>

#include <gtest/gtest.h>

#include "judge.hpp"
#include "manifests.hpp"
#include "relay.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

struct LateBinding : testing::TestWithParam<bool> {
  static constexpr auto pods = "/api/v1/namespaces/default/pods";
  temp_dir home_;

  arguments scheduler_on(const std::string& server, arguments more = {}) const {
    auto all = local_in(home_, {"--server", server});
    if (GetParam())
      all.push_back("--long-path");
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static std::int64_t bound(const api_client& api) { return look_at(api).bound_of("wide"); }
};

/// The minimum is out of reach, so the gang is to be withdrawn; but the first touch finds a member
/// bound by the life before. What is bound stays, whose room is held follows, and the missing one
/// is a later attempt's: nobody is bound and forgotten.
TEST_P(LateBinding, C14_the_gang_is_repaired_and_not_withdrawn) {
  const auto world = home_.file(
      "world.yaml",
      nodes_in_racks(8) + manifest(gang_text{.name = "wide", .members = 8, .min = 8, .cpu = 2}));
  daemon api{{.what = {"--data-dir", home_.sub("data"), "--serve-only", "-f", world},
              .listens = true,
              .has_admin = false}};
  {
    relay between{api.api().port()};
    between.keep_bindings(true);
    auto first = start(scheduler_on(between.address()));
    ASSERT_TRUE(eventually([&] { return between.kept() == 8; })) << first.err();
    first.kill();
    ASSERT_EQ(api.api().remove(std::string{pods} + "/wide-3").status, 200);
    between.keep_bindings(false);
    auto second = start(scheduler_on(between.address()), {{"TUTTI_FAULT", "C14"}});
    EXPECT_EQ(second.wait(), (ending{-1, SIGKILL})) << "never passed C14\n" << second.err();
    EXPECT_GE(between.taken_late(), 1u) << "all Bindings came in time";
  }
  const auto before = look_at(api.api());
  ASSERT_GE(before.bound_of("wide"), 1);
  daemon third{{.what = {"--data-dir", home_.sub("data"), "--server",
                         "127.0.0.1:" + std::to_string(api.api().port())}}};
  EXPECT_TRUE(eventually([&] { return bound(api.api()) == 7; })) << third.ask({"get", "gangs"}).out;
  expect_nobody_moved(before, look_at(api.api()));
  ASSERT_EQ(api.api()
                .post(pods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"wide-9"},
      "spec":{"schedulerName":"tutti","schedulingGroup":{"podGroupName":"wide"},"containers":[
      {"name":"main","image":"work","resources":{"requests":{"cpu":"2"}}}]}})")
                .status,
            201);
  EXPECT_TRUE(eventually([&] { return bound(api.api()) == 8; })) << third.ask({"get", "gangs"}).out;
  expect_nobody_moved(before, look_at(api.api()));
  expect_sound(look_at(api.api()));
  third.stop();
  api.stop();
}

INSTANTIATE_TEST_SUITE_P(Both, LateBinding, testing::Bool(), [](const auto& x) {
  return x.param ? "on_the_long_path" : "on_the_fast_path";
});

} // namespace
} // namespace tutti::commands
