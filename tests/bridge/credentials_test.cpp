#include "bridge/credentials.hpp"

#include <functional>
#include <map>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "certificates.hpp"

namespace tutti::bridge {
namespace {

using namespace std::chrono_literals;
using base::code;
using base::error;

/// Files, a program and a time that the test decides.
struct pretended final : machine, base::clock {
  std::map<std::string, std::string> files;
  std::function<base::result<std::string>(const program&)> answer;
  int reads = 0;
  int runs = 0;
  base::time_point time{1h};
  base::wall_time wall{1'800'000'000'000};

  base::result<std::string> read(const std::string& file) override {
    ++reads;
    const auto pos = files.find(file);
    if (pos == files.end())
      return error{code::not_found, "No such file or directory"};
    return pos->second;
  }
  base::result<std::string> run(const program& what, const std::atomic<bool>&) override {
    ++runs;
    return answer(what);
  }
  const base::clock& clock() const override { return *this; }
  base::time_point now() const override { return time; }
  base::wall_time wall_now() const override { return wall; }
  void pass(std::chrono::seconds x) {
    time += x;
    wall.unix_ms += std::chrono::milliseconds{x}.count();
  }
};

struct Credentials : testing::Test {
  std::shared_ptr<pretended> world = std::make_shared<pretended>();
  cluster_access where = access_of(server_url{true, "h", 443, ""});
  std::shared_ptr<credentials> who;

  void begin() { who = std::make_shared<credentials>(where, world); }
  /// The header that a request carries now, looking where it has to.
  std::string header() {
    auto known = who->known();
    if (known)
      return known->authorization;
    auto fetched = who->fetch(nullptr);
    return fetched ? (*fetched)->authorization : "error: " + fetched.error().message();
  }
  /// The one after this one was refused; empty if there is no other.
  std::string after_refusal() {
    const auto mine = who->known();
    const auto other = who->fetch(mine);
    if (!other)
      return "error: " + other.error().message();
    return *other == mine ? "" : (*other)->authorization;
  }
};

TEST_F(Credentials, of_nobody_say_nothing) {
  begin();
  EXPECT_EQ(header(), "");
  EXPECT_NE(who->known(), nullptr);
  EXPECT_EQ(world->reads, 0);
}

TEST_F(Credentials, are_a_token_or_a_name_and_a_password) {
  where.token = "abc";
  begin();
  EXPECT_EQ(header(), "Bearer abc");
  where.token = "";
  where.username = "ann";
  where.password = "secret";
  begin();
  EXPECT_EQ(header(), "Basic YW5uOnNlY3JldA==");
}

TEST_F(Credentials, are_told_to_nobody_over_plain_http) {
  where.server.is_tls = false;
  where.token = "abc";
  begin();
  EXPECT_EQ(header(), "");
}

struct TokenFile : Credentials {
  TokenFile() {
    where.token = "first";
    where.token_file = {{}, "/token", "FILE: users[a].user.tokenFile"};
    world->files["/token"] = "one\n";
    begin();
  }
};

TEST_F(TokenFile, goes_before_the_token_and_is_trimmed) {
  EXPECT_EQ(header(), "Bearer one");
}

TEST_F(TokenFile, is_read_again_after_a_minute) {
  EXPECT_EQ(header(), "Bearer one");
  world->files["/token"] = "two";
  world->pass(59s);
  EXPECT_EQ(header(), "Bearer one");
  EXPECT_EQ(world->reads, 1);
  world->pass(1s);
  EXPECT_EQ(header(), "Bearer two");
}

TEST_F(TokenFile, is_read_again_when_it_is_refused) {
  header();
  EXPECT_EQ(after_refusal(), "") << "it says the same";
  world->files["/token"] = "two";
  EXPECT_EQ(after_refusal(), "Bearer two");
  EXPECT_EQ(header(), "Bearer two");
}

TEST_F(TokenFile, that_is_away_for_a_moment_is_remembered) {
  header();
  world->files.clear();
  world->pass(60s);
  EXPECT_EQ(header(), "Bearer one");
  world->files["/token"] = "two";
  world->pass(60s);
  EXPECT_EQ(header(), "Bearer two");
}

TEST_F(TokenFile, that_never_was_is_an_error_with_its_place) {
  world->files.clear();
  EXPECT_EQ(header(), "error: FILE: users[a].user.tokenFile: /token: No such file or directory");
}

TEST_F(TokenFile, with_more_than_a_token_is_refused) {
  world->files["/token"] = "one\nX-Header: two";
  EXPECT_NE(header().find("is no token"), std::string::npos) << header();
  world->files["/token"] = " \n";
  world->pass(2s);
  EXPECT_NE(header().find("/token: is empty"), std::string::npos) << header();
}

TEST_F(Credentials, of_certificate_files_follow_the_files) {
  const testing_tls::authority ours{"ours"};
  auto pair = ours.issue({});
  where.certificate = {{}, "/cert", "CERTIFICATE"};
  where.key = {{}, "/key", "KEY"};
  world->files = {{"/cert", pair.certificate}, {"/key", pair.key}};
  begin();
  header();
  const auto first = who->known();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tls->certificate.pem, pair.certificate);

  world->pass(60s);
  header();
  EXPECT_EQ(who->known(), first) << "nothing has changed: connections stay";

  const auto next = ours.issue({});
  world->files["/cert"] = next.certificate;
  world->pass(60s);
  header();
  EXPECT_EQ(who->known(), first) << "half of a rotation is not taken";

  world->files["/key"] = next.key;
  world->pass(60s);
  header();
  ASSERT_NE(who->known(), nullptr);
  EXPECT_EQ(who->known()->tls->certificate.pem, next.certificate);
}

TEST_F(Credentials, that_are_no_pem_are_an_error_at_once) {
  where.authority = {"hello", {}, "FILE: clusters[a].cluster.certificate-authority-data"};
  begin();
  EXPECT_EQ(header(),
            "error: FILE: clusters[a].cluster.certificate-authority-data: holds no certificate");
}

// ---------------------------------------------------------------- plugins

struct Plugin : Credentials {
  std::string status = R"({"token": "one"})";
  std::vector<machine::program> asked;

  Plugin() {
    where.exec = exec_plugin{.command = "login",
                             .arguments = {"now"},
                             .environment = {{"REGION", "north"}},
                             .api_version = "client.authentication.k8s.io/v1",
                             .install_hint = "brew\n  install login",
                             .place = "FILE: users[a].user.exec"};
    world->answer = [this](const machine::program& x) -> base::result<std::string> {
      asked.push_back(x);
      return printed(status);
    };
    begin();
  }
  static std::string printed(const std::string& status_text,
                             const std::string& version = "client.authentication.k8s.io/v1") {
    return R"({"kind": "ExecCredential", "apiVersion": ")" + version + R"(", "status": )"
           + status_text + "}";
  }
};

TEST_F(Plugin, prints_a_token_that_is_used_until_somebody_refuses_it) {
  EXPECT_EQ(header(), "Bearer one");
  world->pass(24h);
  EXPECT_EQ(header(), "Bearer one");
  EXPECT_EQ(world->runs, 1);
  status = R"({"token": "two"})";
  EXPECT_EQ(after_refusal(), "Bearer two");
  EXPECT_EQ(world->runs, 2);
}

TEST_F(Plugin, is_not_run_for_every_refusal) {
  header();
  world->pass(2s);
  EXPECT_EQ(after_refusal(), "");
  EXPECT_EQ(after_refusal(), "");
  EXPECT_EQ(world->runs, 2);
}

TEST_F(Plugin, is_told_its_words_and_what_is_wanted) {
  header();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].command, "login");
  EXPECT_EQ(asked[0].arguments, std::vector<std::string>{"now"});
  ASSERT_EQ(asked[0].environment.size(), 2u);
  EXPECT_EQ(asked[0].environment[0].second, "north");
  EXPECT_EQ(asked[0].environment[1].first, "KUBERNETES_EXEC_INFO");
  const auto info = boost::json::parse(asked[0].environment[1].second);
  EXPECT_EQ(info.at("kind").as_string(), "ExecCredential");
  EXPECT_EQ(info.at("apiVersion").as_string(), "client.authentication.k8s.io/v1");
  EXPECT_FALSE(info.at("spec").at("interactive").as_bool());
  EXPECT_FALSE(info.at("spec").as_object().contains("cluster"));
}

TEST_F(Plugin, is_told_the_cluster_if_it_wants_to_know) {
  const testing_tls::authority ours{"ours"};
  where.exec->wants_cluster = true;
  where.exec_config = {{"audience", "me"}};
  where.server_name = "kubernetes";
  where.authority = {{}, "/ca", "CA"};
  world->files["/ca"] = ours.certificate();
  begin();
  header();
  const auto info = boost::json::parse(asked.at(0).environment.at(1).second);
  const auto& cluster = info.at("spec").at("cluster");
  EXPECT_EQ(cluster.at("server").as_string(), "https://h:443");
  EXPECT_EQ(cluster.at("tls-server-name").as_string(), "kubernetes");
  EXPECT_EQ(cluster.at("config").at("audience").as_string(), "me");
  EXPECT_TRUE(cluster.at("certificate-authority-data").as_string().starts_with("LS0tLS1CRUdJ"));
}

TEST_F(Plugin, is_asked_again_when_its_credential_expires) {
  status = R"({"token": "one", "expirationTimestamp": "2027-01-15T08:00:30Z"})"; // in 30 s
  EXPECT_EQ(header(), "Bearer one");
  world->pass(29s);
  EXPECT_EQ(header(), "Bearer one");
  EXPECT_EQ(world->runs, 1);
  status = R"({"token": "two"})";
  world->pass(1s);
  EXPECT_EQ(header(), "Bearer two");
  EXPECT_EQ(world->runs, 2);
}

TEST_F(Plugin, may_print_a_certificate) {
  const auto pair = testing_tls::authority{"ours"}.issue({});
  status = boost::json::serialize(boost::json::object{{"clientCertificateData", pair.certificate},
                                                      {"clientKeyData", pair.key}});
  EXPECT_EQ(header(), "");
  ASSERT_NE(who->known(), nullptr);
  EXPECT_EQ(who->known()->tls->certificate.pem, pair.certificate);
  EXPECT_EQ(who->known()->tls->key.pem, pair.key);
}

TEST_F(Plugin, that_is_not_there_is_an_error_with_its_own_hint) {
  world->answer = [](const auto&) {
    return base::result<std::string>{error{code::not_found, "No such file or directory"}};
  };
  const auto said = who->fetch(nullptr);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().what(), code::bad_input);
  EXPECT_EQ(said.error().message(), "FILE: users[a].user.exec: login: No such file or directory");
  EXPECT_EQ(said.error().hint(), "brew   install login");
}

TEST_F(Plugin, that_is_not_there_has_a_hint_of_one_printable_line) {
  where.exec->install_hint = "install\r\n\tit\x1b[2J";
  begin();
  world->answer = [](const auto&) {
    return base::result<std::string>{error{code::not_found, "No such file or directory"}};
  };
  const auto said = who->fetch(nullptr);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().hint(), "install   it?[2J");
}

TEST_F(Plugin, that_fails_is_not_run_again_at_once) {
  world->answer = [](const auto&) {
    return base::result<std::string>{error{code::unavailable, "ended with 1: no network"}};
  };
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(header(), "error: FILE: users[a].user.exec: login: ended with 1: no network");
  EXPECT_EQ(world->runs, 1);
  world->pass(2s);
  header();
  EXPECT_EQ(world->runs, 2);
}

TEST_F(Plugin, that_prints_what_has_expired_is_not_run_for_every_request) {
  status = R"({"token": "old", "expirationTimestamp": "2020-01-01T00:00:00Z"})";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(header(), "Bearer old");
  EXPECT_EQ(world->runs, 1);
}

TEST_F(Plugin, that_prints_nonsense_is_refused_in_words) {
  struct nonsense {
    std::string text;
    const char* must_say;
  };
  for (const auto& x : {
           nonsense{"hello", "no JSON object"},
           nonsense{"{}", "no ExecCredential"},
           nonsense{printed("{}", "client.authentication.k8s.io/v1beta1"),
                    "apiVersion \"client.authentication.k8s.io/v1beta1\", not "},
           nonsense{
               R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1"})",
               "no status"},
           nonsense{printed("{}"), "neither a token nor a certificate"},
           nonsense{printed(R"({"clientKeyData": "k"})"), "a key without its certificate"},
           nonsense{printed(R"({"token": "a", "expirationTimestamp": "soon"})"), "\"soon\""},
           nonsense{printed(R"({"token": "a", "expirationTimestamp": "a\nb"})"), "\"a?b\""},
           nonsense{printed(R"({"token": "a\r\nb: c"})"), "spaces, line ends"},
       }) {
    world->pass(2s);
    world->answer = [&x](const auto&) { return base::result<std::string>{x.text}; };
    EXPECT_NE(header().find(x.must_say), std::string::npos) << header();
  }
}

} // namespace
} // namespace tutti::bridge
