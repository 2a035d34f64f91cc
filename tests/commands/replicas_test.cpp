// Several `tutti scheduler` processes on one cluster: they share it, and take over from the dead.
#include <filesystem>
#include <map>
#include <sstream>

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

struct Replicas : testing::Test {
  temp_dir home_;
  testing_tls::authority authority_{"of the links"};

  /// g0, g1, …, of 8 members each: 16 nodes of 4 hold eight of them.
  static void create_gangs(const daemon& api, int from, int to) {
    for (int i = from; i < to; ++i)
      create(api.api(), manifest(gang_text{.name = fmt::format("g{}", i),
                                           .members = 8,
                                           .min = 8,
                                           .more = ", schedulerName: tutti"}));
  }
  static bool are_bound(const daemon& api, int from, int to) {
    const auto seen = look_at(api.api());
    for (int i = from; i < to; ++i)
      if (seen.bound_of(fmt::format("g{}", i)) != 8)
        return false;
    return true;
  }
  daemon serve(const std::string& objects) {
    daemon api{{.what = {"--serve-only", "--data-dir", home_.sub("api"), "-f",
                         home_.file("world.yaml", objects)},
                .listens = true,
                .has_admin = false}};
    home_.file("kubeconfig", fmt::format("clusters: [{{name: c, cluster: {{server: "
                                         "\"http://127.0.0.1:{}\"}}}}]\n"
                                         "contexts: [{{name: x, context: {{cluster: c}}}}]\n"
                                         "current-context: x\n",
                                         api.api().port()));
    return api;
  }
  /// Files of a link's certificate; their directory.
  std::string certificate(const std::string& name) {
    std::filesystem::create_directory(home_.sub("tls-" + name));
    const auto shown = authority_.issue({.names = {"DNS:" + name}});
    const auto file = [&](const char* what) { return "tls-" + name + "/" + what; };
    home_.file(file("tls.crt"), shown.certificate);
    home_.file(file("tls.key"), shown.key);
    home_.file(file("ca.crt"), authority_.certificate());
    return home_.sub("tls-" + name);
  }
  daemon replica(const std::string& name, arguments more = {}, int lease_s = 3) {
    arguments all{"--kubeconfig",     home_.sub("kubeconfig"),
                  "--data-dir",       home_.sub(name),
                  "--replica",        name,
                  "--link",           "127.0.0.1:0",
                  "--lease-duration", std::to_string(lease_s)};
    all.insert(all.end(), more.begin(), more.end());
    return daemon{{.what = std::move(all), .verb = "scheduler"}};
  }
  /// Each is linked to all others and everything has an owner.
  static bool are_together(const daemon& asked, int n) {
    const auto said = asked.ask({"get", "replicas"});
    std::istringstream lines{said.out};
    int alive = 0;
    for (std::string line; std::getline(lines, line);)
      alive += line.find(" yes ") != line.npos
               && (line.find(" up") != line.npos || line.find(" self") != line.npos)
               && line.find(" 0 ") == line.npos;
    return alive == n;
  }
};

TEST_F(Replicas, share_a_cluster_and_bind_gangs_over_the_shards_of_all) {
  auto api = serve(nodes_in_racks(16, 4));
  auto a = replica("a", {"--link-tls", certificate("a")});
  auto b = replica("b", {"--link-tls", certificate("b")});
  auto c = replica("c", {"--link-tls", certificate("c")});
  for (const auto* x : {&a, &b, &c})
    ASSERT_TRUE(eventually([&] { return are_together(*x, 3); }, 60s))
        << x->ask({"get", "replicas", "-o", "wide"}).out;
  create_gangs(api, 0, 8);
  ASSERT_TRUE(eventually([&] { return are_bound(api, 0, 8); }, 60s)) << a.ask({"get", "gangs"}).out;
  expect_sound(look_at(api.api()));
  std::map<std::string, int> placed; // by how many, as they say themselves
  for (const auto* x : {&a, &b, &c}) {
    const auto said = x->admin_client().get("/api/gangs").object();
    for (const auto& row : said.at("items").as_array())
      placed[std::string{row.at("name").as_string()}] +=
          row.as_object().contains("elsewhere") ? 0 : 1;
  }
  EXPECT_EQ(placed.size(), 8u);
  for (const auto& [gang, by] : placed)
    EXPECT_EQ(by, 1) << gang;
  for (auto* x : {&a, &b, &c})
    x->stop();
  api.stop();
}

/// What the dead one had decided is carried out, what it had only reserved is given back, and what
/// comes afterwards is scheduled by the others.
TEST_F(Replicas, take_over_from_one_that_is_killed) {
  auto api = serve(nodes_in_racks(16, 4));
  auto a = replica("a");
  auto b = replica("b");
  for (const auto* x : {&a, &b})
    ASSERT_TRUE(eventually([&] { return are_together(*x, 2); }, 60s))
        << x->ask({"get", "replicas", "-o", "wide"}).out;
  create_gangs(api, 0, 4);
  a.itself().kill();
  ASSERT_TRUE(eventually([&] { return are_bound(api, 0, 4); }, 60s)) << b.ask({"get", "gangs"}).out;
  create_gangs(api, 4, 8);
  ASSERT_TRUE(eventually([&] { return are_bound(api, 4, 8); }, 60s)) << b.ask({"get", "gangs"}).out;
  expect_sound(look_at(api.api()));
  EXPECT_TRUE(eventually([&] { return are_together(b, 1); }, 60s))
      << b.ask({"get", "replicas"}).out;
  b.stop();
  api.stop();
}

TEST_F(Replicas, hand_over_when_they_end_in_order) {
  auto api = serve(nodes_in_racks(16, 4));
  constexpr int longer_than_we_wait = 60; // its Lease does not run out: it is given up
  auto a = replica("a", {}, longer_than_we_wait);
  auto b = replica("b", {}, longer_than_we_wait);
  ASSERT_TRUE(eventually([&] { return are_together(b, 2); }, 60s));
  a.stop();
  EXPECT_TRUE(eventually([&] { return are_together(b, 1); }, 30s))
      << b.ask({"get", "replicas"}).out;
  create_gangs(api, 0, 8);
  EXPECT_TRUE(eventually([&] { return are_bound(api, 0, 8); }, 60s)) << b.ask({"get", "gangs"}).out;
  b.stop();
  api.stop();
}

TEST_F(Replicas, say_what_is_wrong_with_their_flags) {
  const std::pair<arguments, std::string> bad[] = {
      {{"--link", "127.0.0.1:0"}, "--link is for one of several replicas"},
      {{"--replica", "Not A Name", "--link", "127.0.0.1:0"}, "--replica \"Not A Name\" is no name"},
      {{"--replica", "a"}, "--replica needs --link"},
      {{"--replica", "a", "--link", "0.0.0.0:1"}, "--link 0.0.0.0:1 cannot be called"},
      {{"--replica", "a", "--link", "[::]:1"}, "--link [::]:1 cannot be called"},
      {{"--replica", "a", "--link", "0.0.0.0:1", "--link-address", "10.0.0.1:1"},
       "a link that other machines reach needs --link-tls"},
      {{"--replica", "a", "--link", "127.0.0.1:1", "--link-address", "10.0.0.1:0"},
       "--link-address 10.0.0.1:0 cannot be called"},
      {{"--replica", "a", "--link", "127.0.0.1:1", "--link-name", "x"},
       "--link-name needs --link-tls"},
      {{"--replica", "a", "--link", "127.0.0.1:1", "--link-tls", "d", "--link-plain"},
       "--link-tls and --link-plain exclude each other"}};
  for (const auto& [flags, words] : bad) {
    arguments all{"scheduler", "--data-dir", home_.sub("data")};
    all.insert(all.end(), flags.begin(), flags.end());
    const auto said = run(all);
    EXPECT_EQ(said.code(), 2) << words;
    EXPECT_NE(said.err.find(words), std::string::npos) << said.err;
    EXPECT_FALSE(std::filesystem::exists(home_.sub("data"))) << "nothing is begun";
  }
}

TEST_F(Replicas, without_their_certificate_do_not_start) {
  auto api = serve(nodes_in_racks(1));
  const auto said = run({"scheduler", "--kubeconfig", home_.sub("kubeconfig"), "--data-dir",
                         home_.sub("a"), "--admin", "", "--replica", "a", "--link", "127.0.0.1:0",
                         "--link-tls", home_.sub("nowhere")});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("tls.crt: No such file or directory"), std::string::npos) << said.err;
  api.stop();
}

} // namespace
} // namespace tutti::commands
