// The scheduler and the API server as two processes: what the scheduler knows when it comes back
// before the API server does.
#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/attempt_text.hpp"
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

  static std::int64_t attempts_of(const daemon& who, const std::string& gang) {
    const auto said = who.ask({"explain", "gang", gang, "-o", "json"});
    return said.code() == 0 ? boost::json::parse(said.out).at("attempts").to_number<std::int64_t>()
                            : 0;
  }
  static std::string node_json(const std::string& name) {
    return R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": ")" + name + R"("},
               "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}}})";
  }

  /// What the scheduler's store says while nobody has it open: all decisions that it keeps.
  std::vector<protocol::decision_ptr> kept_decisions() {
    auto opened = persistence::open_rocks_store({.path = home_.sub("scheduler") + "/scheduler"});
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? (*opened)->take_remains().decisions : std::vector<protocol::decision_ptr>{};
  }
  /// Shards by attempt, of the committed reservations.
  using holds = std::map<std::string, std::set<std::uint64_t>>;
  static holds held(const daemon& who) {
    holds out;
    const auto said = who.ask({"get", "reservations", "-o", "json"});
    EXPECT_EQ(said.code(), 0) << said.err;
    const auto list = boost::json::parse(said.out);
    for (const auto& row : list.at("items").as_array())
      if (row.at("state") == "committed")
        out[std::string{row.at("attempt").as_string()}].insert(
            row.at("shard").to_number<std::uint64_t>());
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
  EXPECT_TRUE(eventually([&] {
    return row_of(third, "good").find("Decided") != std::string::npos;
  })) << row_of(third, "good");
  EXPECT_NE(row_of(third, "huge").find("NeverFits"), std::string::npos)
      << "the refusal is not known:\n"
      << third.ask({"get", "gangs", "-A"}).out;
  EXPECT_NE(third.ask({"status"}).out.find("waiting for the first list"), std::string::npos);
  EXPECT_EQ(third.admin_client().get("/readyz").status, 503);
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

TEST_F(TwoProcesses, a_rest_goes_on_after_a_restart_without_the_api_server) {
  auto api = start_api(
      {"-f",
       home_.file("world.yaml",
                  nodes_in_racks(2)
                      + manifest(gang_text{.name = "tall", .members = 12, .min = 12, .cpu = 3}))});
  auto first = start_scheduler(api.api());
  // Each node is worth a try, and each try makes the next rest longer.
  int node = 0;
  const auto rests_long = [&] {
    const auto row = row_of(first, "tall");
    if (row.find("BackingOff") == row.npos) {
      const auto name = "more-" + std::to_string(node++);
      EXPECT_EQ(api.api().post("/api/v1/nodes", node_json(name)).status, 201);
      return false;
    }
    return attempts_of(first, "tall") >= 4;
  };
  ASSERT_TRUE(eventually(rests_long)) << row_of(first, "tall");
  const auto port = api.api();
  api.itself().kill();
  first.stop(); // the rest is on the disk

  auto second = start_scheduler(port);
  EXPECT_TRUE(eventually([&] { return !row_of(second, "tall").empty(); }));
  EXPECT_NE(row_of(second, "tall").find("BackingOff"), std::string::npos) << row_of(second, "tall");
  EXPECT_GE(attempts_of(second, "tall"), 4);
  second.itself().kill();
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
  const auto kept = kept_decisions();
  // A fast API server sees some of the six to their end: their pods may be unseen yet, so their
  // room may be held. That of the others must be.
  holds must;
  std::set<std::string> may;
  for (const auto& d : kept) {
    const auto attempt = to_text(d->by);
    may.insert(attempt);
    if (!protocol::is_finished(*d))
      for (const auto& slice : d->chosen.slices)
        must[attempt].insert(slice.shard.value);
  }
  ASSERT_FALSE(must.empty()) << "the sixth was told to nobody, so it at least is not done";

  auto second = start_scheduler(port);
  for (const auto& d : kept) {
    const auto& gang = d->gang_name.name;
    EXPECT_TRUE(protocol::is_finished(*d) || eventually([&] {
                  return row_of(second, gang).find("Decided") != std::string::npos;
                }))
        << gang << ": " << row_of(second, gang);
  }
  holds seen;
  const auto are_there = [&] {
    seen = held(second);
    return std::ranges::all_of(must, [&](const auto& x) { return seen[x.first] == x.second; });
  };
  EXPECT_TRUE(eventually(are_there)) << second.ask({"get", "reservations"}).out;
  for (const auto& [attempt, shards] : seen)
    EXPECT_TRUE(may.contains(attempt)) << attempt << " was never decided, and holds room";
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
