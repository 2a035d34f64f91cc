// Many lives of one data directory, each ended by kill -9 while a client writes, against a file
// that says what must be there.
#include <csignal>
#include <cstdlib>
#include <future>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "expected_state.hpp"
#include "judge.hpp"
#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

using wish = expected_state::wish;

/// Within half a minute on two cores. TUTTI_ROUNDS asks for more, TUTTI_SEED repeats a run as far
/// as the machine allows.
constexpr std::uint64_t rounds_by_default = 24;
/// So often the process is left alone until it has come to rest, and gangs are judged.
constexpr std::uint64_t rounds_to_rest = 6;
constexpr std::int64_t last_moment_ms = 250;
constexpr int nodes = 12;
constexpr int cpus_per_node = 4;
/// More gangs than fit, so that some wait.
constexpr std::size_t gangs_max = 20;

/// Rows that a busy process passes without further ado.
constexpr std::array<const char*, 22> rows{"C0", "C1",  "C2",  "C3", "C4", "C5", "C7", "C8",
                                           "C9", "C10", "C11", "P0", "P1", "P2", "P3", "P4",
                                           "P5", "P6",  "P8",  "B0", "B1", "B2"};

/// Ends a process by kill -9 after some time, unless called off.
class sudden_death {
public:
  sudden_death(process& whom, std::chrono::milliseconds after)
      : thread_([&whom, after, called_off = called_off_.get_future()] {
          if (called_off.wait_for(after) == std::future_status::timeout)
            whom.send(SIGKILL);
        }) {}
  ~sudden_death() {
    called_off_.set_value();
    thread_.join();
  }
  sudden_death(const sudden_death&) = delete;
  sudden_death& operator=(const sudden_death&) = delete;

private:
  std::promise<void> called_off_;
  std::thread thread_;
};

struct gang {
  int members = 2;
  int min = 2;
  bool is_wanted = true;
};

class KillRounds : public testing::TestWithParam<bool> {
protected:
  arguments with_path(arguments x) const {
    if (GetParam())
      x.push_back("--long-path");
    return x;
  }
  daemon::options life(std::map<std::string, std::string> environment = {}) {
    return {.what = with_path({"--data-dir", home_.sub("data")}),
            .listens = true,
            .environment = std::move(environment),
            .may_die = true};
  }

  // ---- the client

  /// One write. False if nobody has answered: it may have been done.
  bool write(const api_client& api, wish what, const std::string& name, const std::string& path,
             const std::string& body) {
    expected_state state{file_};
    if (state.is(what, name))
      return true;
    state.pending(what, name);
    const bool creates = what == wish::create;
    const auto status =
        creates ? api.post(path, body).status
                : api.remove(path + "/" + name.substr(name.find('/') + 1) + "?gracePeriodSeconds=0")
                      .status;
    if (status == 0)
      return false;
    const bool is_so = creates ? status == 201 || status == 409 : status == 200 || status == 404;
    EXPECT_TRUE(is_so) << name << ": " << status;
    state.done(what, name);
    return true;
  }
  bool write_group(const api_client& api, const std::string& name, const gang& x) {
    return write(api, x.is_wanted ? wish::create : wish::remove, "group/" + name,
                 "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups",
                 fmt::format(R"({{"metadata": {{"name": "{}"}}, "spec": {{"schedulingPolicy":
                                  {{"gang": {{"minCount": {}}}}}}}}})",
                             name, x.min));
  }
  bool write_pod(const api_client& api, const std::string& gang_name, int index, const gang& x) {
    const auto name = fmt::format("{}-{}", gang_name, index);
    return write(api, x.is_wanted ? wish::create : wish::remove, "pod/" + name,
                 "/api/v1/namespaces/default/pods",
                 fmt::format(R"({{"metadata": {{"name": "{}"}}, "spec": {{"schedulingGroup":
                                  {{"podGroupName": "{}"}}, "containers": [{{"name": "main",
                                  "image": "work", "resources": {{"requests":
                                  {{"cpu": "1"}}}}}}]}}}})",
                             name, gang_name));
  }
  /// Makes a gang what it is wanted to be. The group comes first and goes last.
  bool drive(const api_client& api, const std::string& name, const gang& x) {
    if (x.is_wanted && !write_group(api, name, x))
      return false;
    for (int i = 0; i < x.members; ++i)
      if (!write_pod(api, name, i, x))
        return false;
    return x.is_wanted || write_group(api, name, x);
  }
  bool drive_all(const api_client& api) {
    return std::all_of(gangs_.begin(), gangs_.end(),
                       [&](const auto& x) { return drive(api, x.first, x.second); });
  }
  /// Creates and removes gangs for as long as anybody answers.
  void write_until_death(const api_client& api) {
    while (drive_all(api)) {
      std::vector<std::string> there;
      for (const auto& [name, x] : gangs_)
        if (x.is_wanted)
          there.push_back(name);
      if (there.size() < gangs_max && dice_.chance(2, 3)) {
        const auto members = static_cast<int>(dice_.between(1, 4));
        gangs_[fmt::format("g{}", gangs_.size())] = {
            members, static_cast<int>(dice_.between(1, members)), true};
      } else if (!there.empty()) {
        gangs_[there[dice_.below(there.size())]].is_wanted = false;
      }
      const auto seen = try_to_look_at(api);
      if (seen)
        expected_state{file_}.saw(*seen);
    }
  }

  // ---- lives

  void first_life() {
    std::string text = nodes_in_racks(nodes, cpus_per_node);
    const auto world = home_.file("world.yaml", text);
    auto how = life();
    how.what.insert(how.what.end(), {"-f", world});
    daemon first{how};
    first.settle();
    first.stop();
  }
  /// It dies while it comes up, at a row of the crash table, or at any moment.
  void deadly_life() {
    if (dice_.chance(1, 5)) {
      auto child = start(with_path({"local", "--data-dir", home_.sub("data"), "--admin", ""}));
      child.wait(std::chrono::milliseconds{dice_.between(1, last_moment_ms)});
      child.kill();
      return;
    }
    std::map<std::string, std::string> environment;
    if (dice_.chance(1, 2))
      environment["TUTTI_FAULT"] =
          fmt::format("{}:{}", rows[dice_.below(rows.size())], dice_.between(1, 8));
    daemon it{life(environment)};
    if (!it.is_up())
      return; // died at its row, still recovering
    if (const auto seen = try_to_look_at(it.api()))
      expect(*seen);
    const sudden_death soon{it.itself(),
                            std::chrono::milliseconds{dice_.between(1, last_moment_ms)}};
    write_until_death(it.api());
  }
  /// It lives until it has come to rest: no gang is torn but by the client.
  void calm_life() {
    daemon it{life()};
    ASSERT_TRUE(it.is_up()) << it.itself().err();
    expect(look_at(it.api()));
    ASSERT_TRUE(drive_all(it.api()));
    it.settle();
    const auto seen = look_at(it.api());
    expect(seen);
    expect_sound(seen);
    expected_state{file_}.saw(seen);
    it.stop();
  }
  void expect(const cluster_seen& x) const {
    const expected_state state{file_};
    state.expect_in(x);
    expect_no_node_over_committed(x);
    if (HasFailure())
      ADD_FAILURE() << state.story();
  }

  temp_dir home_;
  const std::string file_ = home_.sub("expected");
  base::random_stream dice_{seed(), "rounds"};
  std::map<std::string, gang> gangs_;

  static std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* given = std::getenv(name);
    return given != nullptr ? std::stoull(given) : otherwise;
  }
  static std::uint64_t seed() {
    static const auto it = from_environment("TUTTI_SEED", std::random_device{}());
    return it;
  }
};

TEST_P(KillRounds, leave_all_that_was_acknowledged_and_every_gang_whole) {
  SCOPED_TRACE("repeat with TUTTI_SEED=" + std::to_string(seed()));
  const auto rounds = from_environment("TUTTI_ROUNDS", rounds_by_default);
  first_life();
  for (std::uint64_t round = 1; round <= rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    if (round % rounds_to_rest == 0)
      calm_life();
    else
      deadly_life();
  }
  RecordProperty("rounds", std::to_string(rounds));
}

INSTANTIATE_TEST_SUITE_P(On, KillRounds, testing::Bool(), [](const auto& x) {
  return std::string{x.param ? "the_long_path" : "the_fast_path"};
});

} // namespace
} // namespace tutti::commands
