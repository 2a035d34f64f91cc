// The scheduler and the API server as two processes: what the scheduler knows when it comes back
// before the API server does.
#include <csignal>

#include <gtest/gtest.h>

#include "golden.hpp"
#include "judge.hpp"
#include "manifests.hpp"
#include "persistence/rocks_store.hpp"
#include "protocol/decision_rules.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

class TwoProcesses : public testing::Test {
protected:
  /// The API server alone; keeps its objects over a restart, on another port.
  daemon start_api(arguments more = {}) {
    arguments what{"--serve-only", "--data-dir", home_.sub("api")};
    what.insert(what.end(), more.begin(), more.end());
    return daemon{{.what = what, .listens = true, .has_admin = false}};
  }
  /// The scheduler alone, against the API server on that port.
  daemon start_scheduler(const api_client& api, std::map<std::string, std::string> env = {}) {
    return daemon{{.what = {"--server", "http://127.0.0.1:" + std::to_string(api.port()),
                            "--data-dir", home_.sub("scheduler")},
                   .environment = std::move(env)}};
  }
  static void wait_for(const daemon& who, const std::string& gang) {
    const auto said = who.ask({"wait", "gang/" + gang, "--timeout", "12"});
    EXPECT_EQ(said.code(), 0) << said.err;
  }
  /// Adds objects to a running API server, as a user would: with another file and a restart.
  std::string gang_file(const gang_text& x) { return home_.file(x.name + ".yaml", manifest(x)); }

  /// The row of that gang in `tutti get gangs -A -o wide`; empty if it is not there.
  static std::string row_of(const daemon& who, const std::string& gang) {
    const auto out = who.ask({"get", "gangs", "-A", "-o", "wide"}).out;
    const auto pos = out.find(" " + gang + " ");
    return pos == out.npos ? "" : out.substr(pos, out.find('\n', pos) - pos);
  }

  /// What the scheduler's store says while nobody has it open: committed, and not done.
  std::vector<protocol::decision_ptr> unfinished_decisions() {
    auto opened = persistence::open_rocks_store({.path = home_.sub("scheduler") + "/scheduler"});
    EXPECT_TRUE(opened) << opened.error().message();
    auto all = opened ? (*opened)->take_remains().decisions : std::vector<protocol::decision_ptr>{};
    std::erase_if(all, [](const auto& d) { return protocol::is_finished(*d); });
    return all;
  }
  /// Committed reservations of all shards.
  static std::size_t held_by_shards(const daemon& who) {
    std::size_t out = 0;
    const auto said = who.ask({"get", "shards", "-o", "yaml"}).out;
    constexpr std::string_view field = "committed: ";
    for (auto pos = said.find(field); pos != said.npos; pos = said.find(field, pos + 1))
      out += std::stoul(said.substr(pos + field.size()));
    return out;
  }

  temp_dir home_;
};

TEST_F(TwoProcesses, schedule_over_tcp_as_one_process_does) {
  auto api = start_api({"-f", example("small")});
  auto scheduler = start_scheduler(api.api());
  wait_for(scheduler, "ring");
  wait_for(scheduler, "rack-mates");
  EXPECT_TRUE(eventually([&] {
    return row_of(scheduler, "too-wide").find("NeverFits") != std::string::npos;
  })) << row_of(scheduler, "too-wide");
  expect_sound(look_at(api.api()));
  scheduler.stop();
  api.stop();
}

TEST_F(TwoProcesses, decided_reservations_and_refusals_are_known_before_the_first_list) {
  const auto world = home_.file(
      "world.yaml",
      nodes_in_racks(4) + manifest(gang_text{.name = "huge", .members = 5, .min = 5, .cpu = 3}));
  auto api = start_api({"-f", world});
  auto first = start_scheduler(api.api());
  EXPECT_TRUE(
      eventually([&] { return row_of(first, "huge").find("NeverFits") != std::string::npos; }));
  first.stop(); // the refusal is on the disk
  api.stop();

  const auto good = gang_file({.name = "good", .members = 4, .min = 4, .cpu = 2});
  auto api_again = start_api({"-f", good});
  auto second = start_scheduler(api_again.api(), {{"TUTTI_FAULT", "C4"}});
  const auto how = second.itself().wait();
  ASSERT_TRUE(how && how->signal == SIGKILL) << second.itself().err();
  const auto port = api_again.api();
  api_again.itself().kill();

  auto third = start_scheduler(port); // nobody answers there
  EXPECT_TRUE(eventually([&] { return !row_of(third, "good").empty(); }));
  EXPECT_NE(row_of(third, "good").find("Decided"), std::string::npos) << row_of(third, "good");
  EXPECT_NE(row_of(third, "huge").find("NeverFits"), std::string::npos)
      << "the refusal is not known:\n"
      << third.ask({"get", "gangs", "-A"}).out;
  EXPECT_NE(third.ask({"status"}).out.find("waiting for the first list"), std::string::npos);
  EXPECT_EQ(api_client{static_cast<std::uint16_t>(
                           std::stoul(third.admin().substr(third.admin().rfind(':') + 1)))}
                .get("/readyz")
                .status,
            503);
  third.itself().kill();

  auto api_at_last = start_api();
  auto fourth = start_scheduler(api_at_last.api());
  wait_for(fourth, "good");
  const auto seen = look_at(api_at_last.api());
  expect_sound(seen);
  EXPECT_EQ(seen.bound_of("good"), 4);
  EXPECT_EQ(seen.bound_of("huge"), 0);
  fourth.stop();
  api_at_last.stop();
}

TEST_F(TwoProcesses, every_decided_gang_holds_its_room_before_the_first_list) {
  auto text = nodes_in_racks(8, 8);
  for (int i = 0; i < 10; ++i)
    text += manifest(gang_text{.name = "gang-" + std::to_string(i), .members = 3, .min = 3});
  auto api = start_api({"-f", home_.file("world.yaml", text)});
  // C4: decided, and nobody has been told. Six of ten gangs come that far.
  auto first = start_scheduler(api.api(), {{"TUTTI_FAULT", "C4:6"}});
  const auto how = first.itself().wait();
  ASSERT_TRUE(how && how->signal == SIGKILL) << first.itself().err();
  const auto port = api.api();
  api.itself().kill();
  const auto decided = unfinished_decisions();
  ASSERT_FALSE(decided.empty()) << "the sixth was told to nobody, so it at least is not done";
  std::size_t slices = 0;
  for (const auto& d : decided)
    slices += d->chosen.slices.size();

  auto second = start_scheduler(port);
  for (const auto& d : decided) {
    const auto& gang = d->gang_name.name;
    EXPECT_TRUE(eventually([&] {
      return row_of(second, gang).find("Decided") != std::string::npos;
    })) << gang
        << ": " << row_of(second, gang);
  }
  EXPECT_TRUE(eventually([&] { return held_by_shards(second) == slices; }))
      << held_by_shards(second) << " of " << slices;
  second.stop();
}

TEST_F(TwoProcesses, the_scheduler_outlives_an_api_server_that_goes_and_comes_back) {
  auto api = start_api({"-f", example("small")});
  auto scheduler = start_scheduler(api.api());
  wait_for(scheduler, "ring");
  const auto port = std::to_string(api.api().port());
  api.itself().kill();
  EXPECT_FALSE(row_of(scheduler, "ring").empty());
  const auto more = gang_file({.name = "later", .members = 2, .min = 2});
  daemon again{{.what = {"--serve-only", "--data-dir", home_.sub("api"), "-f", more, "--listen",
                         "127.0.0.1:" + port},
                .has_admin = false}};
  wait_for(scheduler, "later");
  expect_sound(look_at(api.api()));
  scheduler.stop();
  again.stop();
}

} // namespace
} // namespace tutti::commands
