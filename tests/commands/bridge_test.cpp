// `tutti bridge` between schedulers and an API server: one set of watches, and nothing lost when it
// is killed.
#include <csignal>
#include <filesystem>
#include <optional>

#include <boost/json.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "creating.hpp"
#include "judge.hpp"
#include "manifests.hpp"
#include "tests/bridge/certificates.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

using namespace std::chrono_literals;

struct Bridge : testing::Test {
  temp_dir home_;
  testing_tls::authority authority_{"of the links"};

  static void create_gangs(const daemon& api, int from, int to) {
    for (int i = from; i < to; ++i)
      create(api.api(), manifest(gang_text{.name = fmt::format("g{}", i),
                                           .members = 8,
                                           .min = 8,
                                           .more = ", schedulerName: tutti"}));
  }
  /// 0: nobody; 8: everybody; -1: the gang is partial.
  static int bound_of(const daemon& api, int gang) {
    const auto n = look_at(api.api()).bound_of(fmt::format("g{}", gang));
    return n == 0 || n == 8 ? static_cast<int>(n) : -1;
  }
  static bool are_bound(const daemon& api, int from, int to) {
    for (int i = from; i < to; ++i)
      if (bound_of(api, i) != 8)
        return false;
    return true;
  }
  daemon serve() const {
    return daemon{{.what = {"--serve-only", "--data-dir", home_.sub("api"), "-f",
                            home_.file("world.yaml", nodes_in_racks(16, 4))},
                   .listens = true,
                   .has_admin = false}};
  }
  /// `at` is the port at which schedulers find it; 0: any.
  daemon bridge(const daemon& api, int at = 0, arguments more = {}) const {
    arguments all{"--server", fmt::format("127.0.0.1:{}", api.api().port()), "--listen",
                  fmt::format("127.0.0.1:{}", at)};
    all.insert(all.end(), more.begin(), more.end());
    return daemon{{.what = std::move(all), .verb = "bridge"}};
  }
  static int port_of(daemon& bridge) {
    const auto line = bridge.itself().line_with("schedulers on ");
    EXPECT_TRUE(line) << bridge.itself().err();
    const auto from = line->rfind(':') + 1;
    return std::stoi(line->substr(from));
  }
  daemon scheduler(const std::string& name, int bridge, arguments more = {}) const {
    arguments all{"--bridge", fmt::format("127.0.0.1:{}", bridge), "--data-dir", home_.sub(name)};
    all.insert(all.end(), more.begin(), more.end());
    return daemon{{.what = std::move(all), .verb = "scheduler"}};
  }
  daemon replica(const std::string& name, int bridge, arguments more = {}) const {
    arguments all{"--replica", name, "--link", "127.0.0.1:0", "--lease-duration", "3"};
    all.insert(all.end(), more.begin(), more.end());
    return scheduler(name, bridge, std::move(all));
  }
  /// Files of a link's certificate; their directory.
  std::string certificate(const std::string& name, const std::string& alternative) const {
    std::filesystem::create_directory(home_.sub("tls-" + name));
    const auto shown = authority_.issue({.names = {alternative}});
    const auto file = [&](const char* what) { return "tls-" + name + "/" + what; };
    home_.file(file("tls.crt"), shown.certificate);
    home_.file(file("tls.key"), shown.key);
    home_.file(file("ca.crt"), authority_.certificate());
    return home_.sub("tls-" + name);
  }
  /// A number of /metrics; -1 if it is not there.
  static double metric(const daemon& asked, const std::string& name) {
    const auto text = asked.admin_client().get("/metrics").body;
    const auto pos = text.find("\n" + name + " ");
    return pos == text.npos ? -1 : std::stod(text.substr(pos + name.size() + 2));
  }
};

TEST_F(Bridge, serves_several_schedulers_from_one_set_of_watches) {
  auto api = serve();
  auto between = bridge(api);
  const auto at = port_of(between);
  auto a = replica("a", at);
  auto b = replica("b", at);
  auto c = replica("c", at);
  create_gangs(api, 0, 8);
  ASSERT_TRUE(eventually([&] { return are_bound(api, 0, 8); }, 60s))
      << between.itself().err() << a.ask({"get", "gangs"}).out;
  expect_sound(look_at(api.api()));
  EXPECT_TRUE(eventually([&] {
    return metric(between, "gang_bridge_schedulers") == 3
           && metric(between, "gang_bridge_followers{resource=\"pods\"}") == 3;
  })) << between.admin_client().get("/metrics").body;
  for (const char* kind : {"nodes", "pods", "podgroups"}) {
    EXPECT_EQ(metric(between, fmt::format("gang_bridge_watch_fresh{{resource=\"{}\"}}", kind)), 1);
  }
  EXPECT_GE(metric(between, "gang_bridge_writes_total{verb=\"create\"}"), 64) << "the Bindings";
  EXPECT_EQ(between.admin_client().get("/readyz").status, 200);
  for (auto* x : {&a, &b, &c})
    x->stop();
  EXPECT_TRUE(eventually([&] { return metric(between, "gang_bridge_schedulers") == 0; }));
  between.stop();
  api.stop();
}

/// Whoever watches from outside never sees a gang that is partial and stays so; the schedulers go
/// on without a restart.
TEST_F(Bridge, may_be_killed_again_and_again_and_the_schedulers_go_on) {
  auto api = serve();
  std::optional<daemon> between{bridge(api)};
  const auto at = port_of(*between);
  auto one = scheduler("one", at);
  for (int round = 0; round < 4; ++round) {
    create_gangs(api, 2 * round, 2 * round + 2);
    if (round % 2 == 1) { // in the midst of it, or after it
      ASSERT_TRUE(eventually([&] { return bound_of(api, 2 * round) != 0; }, 60s));
    }
    between->itself().kill();
    between.emplace(bridge(api, at));
    ASSERT_TRUE(eventually([&] { return are_bound(api, 0, 2 * round + 2); }, 60s))
        << one.itself().err() << one.ask({"get", "gangs"}).out;
  }
  expect_sound(look_at(api.api()));
  EXPECT_TRUE(one.itself().is_running());
  one.stop();
  between->stop();
  api.stop();
}

TEST_F(Bridge, goes_on_when_a_scheduler_is_killed) {
  auto api = serve();
  auto between = bridge(api);
  const auto at = port_of(between);
  auto a = replica("a", at);
  auto b = replica("b", at);
  create_gangs(api, 0, 4);
  ASSERT_TRUE(eventually([&] { return bound_of(api, 0) != 0; }, 60s));
  a.itself().kill();
  create_gangs(api, 4, 8);
  ASSERT_TRUE(eventually([&] { return are_bound(api, 0, 8); }, 60s)) << b.ask({"get", "gangs"}).out;
  expect_sound(look_at(api.api()));
  EXPECT_TRUE(eventually([&] { return metric(between, "gang_bridge_schedulers") == 1; }));
  b.stop();
  between.stop();
  api.stop();
}

/// A view that hangs on a bridge is no fresher than the bridge (S12).
TEST_F(Bridge, that_is_gone_or_hangs_leaves_no_view_that_is_trusted) {
  auto api = serve();
  std::optional<daemon> between{bridge(api)};
  const auto at = port_of(*between);
  auto one = scheduler("one", at);
  const auto is_ready = [&] { return one.admin_client().get("/readyz").status == 200; };
  const auto is_fresh = [&] { return one.admin_client().get("/readyz/watch-fresh").status == 200; };
  ASSERT_TRUE(eventually(is_ready, 60s)) << one.admin_client().get("/readyz?verbose").body;
  between->itself().send(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return !is_fresh(); }, 30s));
  between->itself().send(SIGCONT);
  EXPECT_TRUE(eventually(is_ready, 30s)) << one.admin_client().get("/readyz?verbose").body;
  between->itself().kill();
  EXPECT_TRUE(eventually([&] { return !is_fresh(); }, 30s));
  create_gangs(api, 0, 1);
  between.emplace(bridge(api, at));
  EXPECT_TRUE(eventually([&] { return are_bound(api, 0, 1); }, 60s)) << one.itself().err();
  one.stop();
  between->stop();
  api.stop();
}

TEST_F(Bridge, outlives_its_api_server) {
  auto api = serve();
  auto between = bridge(api);
  auto one = scheduler("one", port_of(between));
  create_gangs(api, 0, 1);
  ASSERT_TRUE(eventually([&] { return are_bound(api, 0, 1); }, 60s)) << one.itself().err();
  const auto listen = fmt::format("127.0.0.1:{}", api.api().port());
  api.itself().kill();
  EXPECT_TRUE(eventually([&] { return between.admin_client().get("/readyz").status == 503; }, 30s));
  daemon again{{.what = {"--serve-only", "--data-dir", home_.sub("api"), "--listen", listen},
                .has_admin = false}};
  EXPECT_TRUE(eventually([&] { return api.api().get("/version").status == 200; }, 30s));
  create_gangs(api, 1, 2);
  EXPECT_TRUE(eventually([&] { return are_bound(api, 0, 2); }, 60s)) << one.itself().err();
  EXPECT_TRUE(eventually([&] { return between.admin_client().get("/readyz").status == 200; }, 30s));
  one.stop();
  between.stop();
}

TEST_F(Bridge, shares_one_budget_of_writes_among_all) {
  auto api = serve();
  auto between = bridge(api, 0, {"--qps", "20", "--burst", "1"});
  const auto at = port_of(between);
  auto one = scheduler("one", at);
  ASSERT_TRUE(eventually([&] { return one.admin_client().get("/readyz").status == 200; }, 60s));
  const auto begun = std::chrono::steady_clock::now();
  create_gangs(api, 0, 4);
  ASSERT_TRUE(eventually([&] { return are_bound(api, 0, 4); }, 60s)) << one.itself().err();
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1500ms) << "32 Bindings, 20 a second";
  one.stop();
  between.stop();
  api.stop();
}

TEST_F(Bridge, speaks_to_those_who_show_the_right_certificate) {
  auto api = serve();
  auto between = bridge(api, 0, {"--link-tls", certificate("bridge", "IP:127.0.0.1")});
  const auto at = port_of(between);
  auto a = replica("a", at, {"--link-tls", certificate("a", "DNS:a")});
  create_gangs(api, 0, 2);
  EXPECT_TRUE(eventually([&] { return are_bound(api, 0, 2); }, 60s)) << a.itself().err();
  a.stop();
  between.stop();
  api.stop();
}

TEST_F(Bridge, with_the_wrong_certificate_is_refused_in_words) {
  auto api = serve();
  auto between = bridge(api, 0, {"--link-tls", certificate("bridge", "DNS:elsewhere.example")});
  const auto at = port_of(between);
  const auto said =
      run({"scheduler", "--bridge", fmt::format("127.0.0.1:{}", at), "--data-dir", home_.sub("a"),
           "--admin", "", "--link-tls", certificate("a", "DNS:scheduler")});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find(fmt::format("error: bridge 127.0.0.1:{}: ", at)), std::string::npos)
      << said.err;
  EXPECT_NE(said.err.find("hint: look at tls.crt and ca.crt of both sides, and at --link-name"),
            std::string::npos)
      << said.err;
  EXPECT_FALSE(std::filesystem::exists(home_.sub("a/scheduler"))) << "nothing is begun";
  between.stop();
  api.stop();
}

/// Under TLS 1.3 a client learns behind the greeting only that it is not wanted: the bridge knows.
TEST_F(Bridge, says_whom_it_does_not_let_in) {
  auto api = serve();
  auto between = bridge(api, 0, {"--link-tls", certificate("bridge", "IP:127.0.0.1")});
  const auto at = port_of(between);
  auto a = start({"scheduler", "--bridge", fmt::format("127.0.0.1:{}", at), "--data-dir",
                  home_.sub("a"), "--admin", "", "--link-tls", certificate("a", "DNS:other")});
  EXPECT_TRUE(between.itself().line_with("who says to be scheduler has a certificate for others"))
      << between.itself().err();
  EXPECT_TRUE(a.line_with("it may not let this scheduler in", 30s)) << a.err();
  a.kill();
  between.stop();
  api.stop();
}

TEST_F(Bridge, says_what_is_wrong_with_its_flags) {
  const std::pair<arguments, std::string> bad[] = {
      {{"--listen", "nowhere"}, "--listen: \"nowhere\" is not ADDRESS:PORT"},
      {{"--admin", "nowhere"}, "--admin: \"nowhere\" is not ADDRESS:PORT"},
      {{"--server", "nowhere"}, "--server: \"nowhere\" has no port"},
      {{"--listen", "0.0.0.0:1"}, "a bridge that other machines reach needs --link-tls"},
      {{"--link-tls", "d", "--link-plain"}, "--link-tls and --link-plain exclude each other"},
      {{"--link-name", "x"}, "--link-name needs --link-tls"},
      {{"--burst", "5"}, "--burst needs --qps"}};
  for (const auto& [flags, words] : bad) {
    arguments all{"bridge"};
    all.insert(all.end(), flags.begin(), flags.end());
    const auto said = run(all);
    EXPECT_EQ(said.code(), 2) << words;
    EXPECT_NE(said.err.find(words), std::string::npos) << said.err;
    EXPECT_NE(said.err.find("hint: "), std::string::npos) << said.err;
  }
}

TEST_F(Bridge, is_named_by_schedulers_in_a_way_that_makes_sense) {
  const std::pair<arguments, std::string> bad[] = {
      {{"--bridge", "nowhere"}, "--bridge: \"nowhere\" is not ADDRESS:PORT"},
      {{"--bridge", "0.0.0.0:1"}, "--bridge 0.0.0.0:1 cannot be called"},
      {{"--bridge", "127.0.0.1:0"}, "--bridge 127.0.0.1:0 cannot be called"},
      {{"--bridge", "bridge.example:1"}, "a bridge on another machine needs --link-tls"},
      {{"--bridge", "127.0.0.1:1", "--qps", "5"}, "--qps has no meaning with --bridge"},
      {{"--bridge", "127.0.0.1:1", "--kubeconfig", "f"},
       "--kubeconfig has no meaning with --bridge"},
      {{"--bridge", "127.0.0.1:1", "--link-name", "x"}, "--link-name needs --link-tls"}};
  for (const auto& [flags, words] : bad) {
    arguments all{"scheduler", "--data-dir", home_.sub("data")};
    all.insert(all.end(), flags.begin(), flags.end());
    const auto said = run(all);
    EXPECT_EQ(said.code(), 2) << words << said.err;
    EXPECT_NE(said.err.find(words), std::string::npos) << said.err;
    EXPECT_FALSE(std::filesystem::exists(home_.sub("data"))) << "nothing is begun";
  }
}

TEST_F(Bridge, may_be_named_in_the_file) {
  auto api = serve();
  auto between = bridge(api);
  const auto file =
      home_.file("config.yaml",
                 fmt::format("apiVersion: tutti.dev/v1alpha1\nkind: GangSchedulerConfiguration\n"
                             "clientConnection: {{bridge: \"127.0.0.1:{}\"}}\n"
                             "store: {{dataDir: \"{}\"}}\n",
                             port_of(between), home_.sub("one")));
  daemon one{{.what = {"--config", file}, .verb = "scheduler"}};
  create_gangs(api, 0, 1);
  EXPECT_TRUE(eventually([&] { return are_bound(api, 0, 1); }, 60s)) << one.itself().err();
  one.stop();
  between.stop();
  api.stop();
}

TEST_F(Bridge, that_cannot_listen_says_so) {
  auto api = serve();
  const auto taken = fmt::format("127.0.0.1:{}", api.api().port());
  const auto said = run({"bridge", "--server", taken, "--listen", taken, "--admin", ""});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("--listen: cannot listen on " + taken), std::string::npos) << said.err;
  api.stop();
}

} // namespace
} // namespace tutti::commands
