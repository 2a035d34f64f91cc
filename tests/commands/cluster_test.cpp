// Whose cluster it is: a scheduler's store goes with one, and is refused by every other.
#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "canned_server.hpp"
#include "judge.hpp"
#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

namespace fs = std::filesystem;

/// Makes a cluster with a settled gang in `where`, with uids of its own.
void make_cluster(const std::string& where) {
  const auto said = run({"local", "-f", example("small"), "--data-dir", where, "--admin", "",
                         "--until", "settled", "--quiet"});
  EXPECT_EQ(said.code(), 0) << said.err;
}

std::string uid_of_cluster(const daemon& who) {
  const auto space = who.api().get("/api/v1/namespaces/kube-system").object();
  return space.empty() ? "" : std::string{space.at("metadata").at("uid").as_string()};
}

void expect_refused(const outcome& said) {
  EXPECT_EQ(said.code(), 1) << said.out << said.err;
  EXPECT_NE(said.err.find("the store belongs to cluster "), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("hint: "), std::string::npos) << said.err;
}

arguments server_alone(const std::string& data, const std::string& port = "0") {
  return {"--serve-only", "--data-dir", data, "--listen", "127.0.0.1:" + port};
}

TEST(Cluster, draws_uids_that_no_other_has_and_keeps_them) {
  temp_dir home;
  std::vector<std::string> uids;
  for (const char* data : {"a", "b", "a"}) {
    process one{{{TUTTI_BINARY, "local", "--data-dir", home.sub(data), "--admin", "", "--listen",
                  "127.0.0.1:0"}}};
    const auto line = one.line_with("API server");
    ASSERT_TRUE(line) << one.err();
    const api_client api{
        static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(':') + 1)))};
    uids.emplace_back(
        api.get("/api/v1/namespaces/kube-system").object().at("metadata").at("uid").as_string());
    one.send(SIGTERM);
    EXPECT_EQ(one.wait(), (ending{0, 0}));
  }
  EXPECT_NE(uids[0], uids[1]);
  EXPECT_EQ(uids[0], uids[2]);
}

TEST(Cluster, has_the_same_uids_with_the_same_seed_and_keeps_its_seed) {
  temp_dir home;
  daemon one{{.what = {"--seed", "7", "--data-dir", home.sub("a")}, .listens = true}};
  daemon two{{.what = {"--seed", "7", "--data-dir", home.sub("b")}, .listens = true}};
  EXPECT_EQ(uid_of_cluster(one), uid_of_cluster(two));
  EXPECT_NE(uid_of_cluster(one), "");
  one.stop();
  two.stop();
  const auto said = run(
      {"local", "--seed", "8", "--data-dir", home.sub("a"), "--admin", "", "--until", "settled"});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("was made with seed 7, not 8"), std::string::npos) << said.err;
}

TEST(Cluster, refuses_the_store_of_another_before_anything_is_written) {
  temp_dir home;
  make_cluster(home.sub("a"));
  make_cluster(home.sub("b"));
  fs::rename(home.sub("a/scheduler"), home.sub("mine"));
  fs::copy(home.sub("b/scheduler"), home.sub("a/scheduler"), fs::copy_options::recursive);
  const auto more = home.file("more.yaml", manifest(gang_text{"more"}));

  for (int i = 0; i < 2; ++i) // a refusal changes nothing: the second try says the same
    expect_refused(
        run({"local", "--data-dir", home.sub("a"), "--admin", "", "--until", "settled"}));
  fs::remove_all(home.sub("a/scheduler"));
  fs::rename(home.sub("mine"), home.sub("a/scheduler"));
  const auto again =
      run({"local", "--data-dir", home.sub("a"), "-f", more, "--admin", "", "--until", "settled"});
  EXPECT_EQ(again.code(), 0) << again.err;
  EXPECT_NE(again.out.find("more"), std::string::npos) << again.out;
}

TEST(Cluster, of_a_server_elsewhere_is_compared_with_the_store) {
  temp_dir home;
  daemon a{
      {.what = {"--serve-only", "--seed", "1", "--data-dir", home.sub("a"), "-f", example("small")},
       .listens = true,
       .has_admin = false}};
  daemon b{
      {.what = {"--serve-only", "--seed", "2", "--data-dir", home.sub("b"), "-f", example("small")},
       .listens = true,
       .has_admin = false}};
  const auto to = [&](const daemon& api) -> arguments {
    return {"--server", "127.0.0.1:" + std::to_string(api.api().port()), "--data-dir",
            home.sub("scheduler")};
  };
  daemon first{{.what = to(a)}};
  EXPECT_EQ(first.ask({"wait", "gang/ring", "--timeout", "12"}).code(), 0);
  first.stop();
  auto second = start({"local", "--server", to(b)[1], "--data-dir", to(b)[3], "--admin", ""});
  ASSERT_TRUE(second.wait()) << "runs on against another cluster";
  expect_refused({*second.wait(), second.out(), second.err()});
  const auto seen = look_at(b.api());
  EXPECT_EQ(seen.bound_of("ring"), 0);
  daemon third{{.what = to(a)}};
  EXPECT_EQ(third.ask({"wait", "gang/ring", "--timeout", "12"}).code(), 0);
  third.stop();
  a.stop();
  b.stop();
}

TEST(Cluster, that_comes_up_later_and_is_another_ends_the_scheduler) {
  temp_dir home;
  daemon a{
      {.what = {"--serve-only", "--seed", "1", "--data-dir", home.sub("a"), "-f", example("small")},
       .listens = true,
       .has_admin = false}};
  const auto port = std::to_string(a.api().port());
  const arguments to{"--server", "127.0.0.1:" + port, "--data-dir", home.sub("scheduler")};
  daemon first{{.what = to}};
  EXPECT_EQ(first.ask({"wait", "gang/ring", "--timeout", "12"}).code(), 0);
  first.stop();
  a.stop();

  daemon second{{.what = to}}; // nobody answers: it starts with what the store knows
  EXPECT_NE(second.itself().err().find("no API server answers"), std::string::npos);
  auto what = server_alone(home.sub("b"), port);
  what.insert(what.end(), {"--seed", "2", "-f", example("small")});
  daemon b{{.what = what, .has_admin = false}};
  const auto how = second.itself().wait();
  ASSERT_TRUE(how) << "runs on against another cluster";
  expect_refused({*how, "", second.itself().err()});
  b.itself().send(SIGTERM);
}

/// What an object says of condition Ready; empty = nothing.
std::string ready_of(const boost::json::object& node) {
  const auto* status = node.if_contains("status");
  if (status == nullptr || !status->as_object().contains("conditions"))
    return {};
  for (const auto& c : status->at("conditions").as_array())
    if (c.at("type").as_string() == "Ready")
      return std::string{c.at("status").as_string()};
  return {};
}

TEST(Cluster, has_nodes_that_are_ready_unless_somebody_says_otherwise) {
  temp_dir home;
  const auto world =
      home.file("world.yaml", nodes_in_racks(1)
                                  + "---\napiVersion: v1\nkind: Node\nmetadata: {name: ill}\n"
                                    "status: {conditions: [{type: Ready, status: \"False\"}]}\n");
  daemon one{{.what = {"-f", world}, .listens = true}};
  one.settle();
  EXPECT_EQ(ready_of(one.api().get("/api/v1/nodes/node-0").object()), "True");
  EXPECT_EQ(ready_of(one.api().get("/api/v1/nodes/ill").object()), "False");
  one.stop();
}

TEST(Server, of_another_release_than_asked_for_is_refused_with_the_cure) {
  temp_dir home;
  daemon api{
      {.what = {"--serve-only", "--kubernetes", "1.36"}, .listens = true, .has_admin = false}};
  const auto where = "127.0.0.1:" + std::to_string(api.api().port());
  const auto said = run({"local", "--server", where, "--kubernetes", "1.37", "--admin", ""});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("is Kubernetes 1.36, not 1.37"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("hint: use --kubernetes 1.36"), std::string::npos) << said.err;
  api.stop();
}

/// What a server that is none of ours says to plain HTTP, and what must be said of it.
struct odd_server {
  std::string name;
  std::string answer;
  std::vector<std::string> must_say;
};

void PrintTo(const odd_server& x, std::ostream* out) {
  *out << x.name;
}

class OddServer : public testing::TestWithParam<odd_server> {};

TEST_P(OddServer, is_refused_in_words) {
  canned_server server{GetParam().answer};
  const auto said = run({"local", "--server", server.address(), "--admin", ""});
  EXPECT_EQ(said.code(), 1) << said.err;
  for (const auto& word : GetParam().must_say)
    EXPECT_NE(said.err.find(word), std::string::npos) << "lacks \"" << word << "\": " << said.err;
}

INSTANTIATE_TEST_SUITE_P(
    That, OddServer,
    testing::Values(
        odd_server{"wants_tls",
                   "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS "
                   "server.\n",
                   {"speaks TLS", "https://", "--kubeconfig"}},
        odd_server{"wants_a_token",
                   "HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\n{}",
                   {"may not be read", "hint: "}},
        odd_server{"is_a_web_site",
                   "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
                   {"does not speak like an API server", "hint: name another API server"}},
        odd_server{"is_of_another_age",
                   "HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\n{\"gitVersion\": \"v9.9.9\"}",
                   {"v9.9.9", "this program speaks 1.35 and later"}},
        odd_server{"is_too_old",
                   "HTTP/1.1 200 OK\r\ncontent-length: 25\r\n\r\n{\"gitVersion\": \"v1.34.9\"}",
                   {"v1.34.9", "this program speaks 1.35 and later"}}),
    [](const auto& x) { return x.param.name; });

} // namespace
} // namespace tutti::commands
