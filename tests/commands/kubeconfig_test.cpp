// A scheduler that finds its API server by a kubeconfig: TLS, tokens that rotate, plugins, and what
// it says when something is wrong. The API server is the embedded one behind a TLS front.
#include <atomic>
#include <csignal>
#include <mutex>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "judge.hpp"
#include "manifests.hpp"
#include "tests/bridge/certificates.hpp"
#include "tests/bridge/tls_server.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

using testing_tls::authority;
using testing_tls::certified;
using testing_tls::served;
using testing_tls::tls_server;

const authority& ours() {
  static const authority x{"our authority"};
  return x;
}

/// An API server that speaks TLS and knows one token.
struct secured {
  temp_dir home;
  daemon api{{.what = {"--serve-only", "--seed", "1", "--data-dir", home.sub("api"), "-f",
                       example("small")},
              .listens = true,
              .has_admin = false}};
  std::mutex mutex;
  std::string token = "Bearer good"; ///< empty = everybody may come
  std::atomic<int> refused{0};
  std::unique_ptr<tls_server> front;

  explicit secured(const testing_tls::wish& w = {.names = {"IP:127.0.0.1"}}) {
    front = std::make_unique<tls_server>(tls_server::options{
        .identity = ours().issue(w),
        .answer = [this](const served& x) { return may_pass(x) ? "" : denied(); },
        .upstream = api.api().port()});
    home.file("ca.crt", ours().certificate());
  }
  ~secured() { front.reset(); }

  bool may_pass(const served& x) {
    const std::lock_guard lock{mutex};
    return token.empty() || x.authorization == token;
  }
  std::string denied() {
    ++refused;
    return testing_tls::http_answer(401, R"({"kind": "Status", "code": 401})");
  }
  void accept_only(const std::string& x) {
    const std::lock_guard lock{mutex};
    token = x;
  }
  /// Writes a kubeconfig whose user has these fields; returns its path.
  std::string kubeconfig(const std::string& user, const std::string& cluster = {}) const {
    return home.file(
        "config", fmt::format(R"(
current-context: main
clusters: [{{name: c, cluster: {{server: "{}", {}}}}}]
users: [{{name: u, user: {{{}}}}}]
contexts:
- {{name: main, context: {{cluster: c, user: u}}}}
- {{name: nobody, context: {{cluster: c}}}}
)",
                              front->url(),
                              cluster.empty() ? "certificate-authority: ca.crt" : cluster, user));
  }
  arguments scheduler(const std::string& config) const {
    return {"scheduler",           "--kubeconfig", config,       "--data-dir",
            home.sub("scheduler"), "--admin",      "127.0.0.1:0"};
  }
};

/// A scheduler that runs, and its admin address.
struct running {
  explicit running(arguments what, std::map<std::string, std::string> environment = {})
      : itself(start(std::move(what), std::move(environment))) {
    const auto line = itself.line_with("admin address");
    EXPECT_TRUE(line) << itself.err();
    if (line)
      admin = line->substr(line->find("http://") + 7);
  }
  outcome ask(arguments verb) const {
    verb.insert(verb.end(), {"--server", admin});
    return run(verb);
  }
  void expect_bound(const std::string& gang) const {
    const auto said = ask({"wait", "gang/" + gang, "--timeout", "12"});
    EXPECT_EQ(said.code(), 0) << said.err << itself.err();
  }
  void stop() {
    itself.send(SIGTERM);
    const auto how = itself.wait();
    EXPECT_TRUE(how && *how == (ending{0, 0})) << itself.err();
  }
  process itself;
  std::string admin;
};

TEST(Kubeconfig, leads_a_scheduler_over_tls_to_its_server_where_it_binds_gangs) {
  secured server;
  running scheduler{server.scheduler(server.kubeconfig("token: good"))};
  EXPECT_NE(scheduler.itself.err().find(
                fmt::format("API server {} (context main of ", server.front->url())),
            std::string::npos)
      << scheduler.itself.err();
  scheduler.expect_bound("ring");
  EXPECT_GT(look_at(server.api.api()).bound_of("ring"), 0);
  expect_sound(look_at(server.api.api()));
  EXPECT_EQ(server.refused, 0);
  scheduler.stop();
}

TEST(Kubeconfig, leads_tutti_local_too_and_the_context_may_be_another) {
  secured server;
  const auto config = server.kubeconfig("token: good");
  running scheduler{
      {"local", "--kubeconfig", config, "--context", "main", "--admin", "127.0.0.1:0"}};
  scheduler.expect_bound("ring");
  scheduler.stop();
  const auto said = run({"local", "--kubeconfig", config, "--context", "nobody", "--admin", ""});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("does not know who we are (401)\nhint: "), std::string::npos) << said.err;
}

TEST(Kubeconfig, of_the_environment_is_a_list_that_is_merged) {
  secured server;
  const auto config = server.kubeconfig("token: bad");
  const auto first = server.home.file("first", "users: [{name: u, user: {token: good}}]\n");
  running scheduler{
      {"scheduler", "--data-dir", server.home.sub("scheduler"), "--admin", "127.0.0.1:0"},
      {{"KUBECONFIG", server.home.sub("missing") + ":" + first + ":" + config}}};
  scheduler.expect_bound("ring");
  scheduler.stop();
}

TEST(Kubeconfig, with_a_token_file_follows_the_file) {
  secured server;
  const auto token = server.home.file("token", "good\n");
  running scheduler{server.scheduler(server.kubeconfig("tokenFile: token"))};
  scheduler.expect_bound("ring");
  server.accept_only("Bearer better");
  server.home.file("token", "better\n");
  // Written beside the front: the scheduler must see it through its watches, and bind.
  const auto more = run({"get", "gangs", "--server", scheduler.admin});
  EXPECT_EQ(more.code(), 0) << more.err;
  const auto made = server.api.api().post("/api/v1/namespaces/default/pods", R"({
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "late"},
    "spec": {"schedulerName": "tutti", "containers": [{"name": "main", "image": "work"}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto is_bound = [&] { return !look_at(server.api.api()).pods.at("late").node.empty(); };
  EXPECT_TRUE(eventually(is_bound)) << scheduler.itself.err();
  EXPECT_GT(server.refused, 0) << "the old token was tried";
  scheduler.stop();
}

TEST(Kubeconfig, with_a_plugin_asks_it) {
  secured server;
  const auto plugin = server.home.file("login", R"(#!/bin/sh
echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
       "status": {"token": "'"$WORD"'"}}'
)");
  std::filesystem::permissions(plugin, std::filesystem::perms::owner_all);
  running scheduler{server.scheduler(
      server.kubeconfig("exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, "
                        "interactiveMode: Never, env: [{name: WORD, value: good}]}"))};
  scheduler.expect_bound("ring");
  scheduler.stop();
}

TEST(Kubeconfig, with_a_plugin_that_ceases_to_work_is_warned_of) {
  secured server;
  const auto plugin = server.home.file("login", R"(#!/bin/sh
test -e "$0.fails" && echo no network >&2 && exit 1
echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
       "status": {"token": "good"}}'
)");
  std::filesystem::permissions(plugin, std::filesystem::perms::owner_all);
  running scheduler{server.scheduler(
      server.kubeconfig("exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, "
                        "interactiveMode: Never}"))};
  scheduler.expect_bound("ring");
  server.home.file("login.fails", "");
  server.accept_only("Bearer better");
  server.api.api().post("/api/v1/namespaces/default/pods", R"({
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "late"},
    "spec": {"schedulerName": "tutti", "containers": [{"name": "main", "image": "work"}]}})");
  for (const auto* words : {"login: ended with 1: no network", "does not know who we are (401)"}) {
    const auto line = scheduler.itself.line_with(words);
    ASSERT_TRUE(line) << scheduler.itself.err();
    EXPECT_EQ(line->rfind("warning: " + server.front->url() + ": ", 0), 0u) << *line;
  }
  scheduler.stop();
}

TEST(Kubeconfig, with_a_plugin_that_hangs_keeps_no_signal_waiting) {
  secured server;
  const auto plugin = server.home.file("login", "#!/bin/sh\ntouch \"$0.begun\"\nsleep 100\n");
  std::filesystem::permissions(plugin, std::filesystem::perms::owner_all);
  auto child = start(server.scheduler(
      server.kubeconfig("exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, "
                        "interactiveMode: Never}")));
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(plugin + ".begun"); }))
      << child.err();
  child.send(SIGTERM);
  const auto how = child.wait(std::chrono::seconds{5});
  ASSERT_TRUE(how) << "still runs";
  EXPECT_EQ(*how, (ending{0, 0})) << child.err();
  EXPECT_EQ(child.err(), "");
}

TEST(Kubeconfig, with_a_certificate_shows_it) {
  secured server;
  tls_server front{{.identity = ours().issue({.names = {"DNS:kubernetes"}}),
                    .client_authority = ours().certificate(),
                    .upstream = server.api.api().port()}};
  const auto me = ours().issue({.common_name = "system:kube-scheduler"});
  server.home.file("me.crt", me.certificate);
  server.home.file("me.key", me.key);
  const auto config = server.home.file(
      "mine", fmt::format("current-context: a\n"
                          "clusters: [{{name: c, cluster: {{server: '{}', tls-server-name: "
                          "kubernetes, certificate-authority: ca.crt}}}}]\n"
                          "users: [{{name: u, user: {{client-certificate: me.crt, client-key: "
                          "me.key}}}}]\n"
                          "contexts: [{{name: a, context: {{cluster: c, user: u}}}}]\n",
                          front.url()));
  running scheduler{server.scheduler(config)};
  scheduler.expect_bound("ring");
  scheduler.stop();
}

TEST(Kubeconfig, that_skips_the_verification_is_warned_of) {
  secured server{{.names = {"DNS:other.example"}}};
  running scheduler{
      server.scheduler(server.kubeconfig("token: good", "insecure-skip-tls-verify: true"))};
  EXPECT_NE(scheduler.itself.err().find("insecure-skip-tls-verify is set"), std::string::npos)
      << scheduler.itself.err();
  scheduler.expect_bound("ring");
  scheduler.stop();
}

TEST(Server, with_https_is_trusted_if_the_system_trusts_it) {
  secured server;
  server.accept_only("");
  const arguments what{"local", "--server", server.front->url(), "--admin", "127.0.0.1:0"};
  running scheduler{what, {{"SSL_CERT_FILE", server.home.sub("ca.crt")}}};
  scheduler.expect_bound("ring");
  scheduler.stop();
  const auto said = run({"local", "--server", server.front->url(), "--admin", ""});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("unknown authority: /CN=our authority\nhint: "), std::string::npos)
      << said.err;
}

// ---------------------------------------------------------------- refusals

void expect_refusal(const outcome& said, std::initializer_list<std::string> words) {
  EXPECT_EQ(said.code(), 1) << said.err;
  EXPECT_EQ(said.err.rfind("error: ", 0), 0u) << said.err;
  EXPECT_NE(said.err.find("\nhint: "), std::string::npos) << said.err;
  EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 2) << said.err;
  for (const auto& word : words)
    EXPECT_NE(said.err.find(word), std::string::npos) << "lacks \"" << word << "\": " << said.err;
}

/// Runs a scheduler that must not come up, by a kubeconfig with this user and cluster.
outcome refused(const secured& server, const std::string& user, const std::string& cluster = {}) {
  auto what = server.scheduler(server.kubeconfig(user, cluster));
  what.push_back("--quiet");
  return run(what);
}

TEST(Refusal, names_the_host_and_what_is_wrong_with_its_certificate) {
  secured other{{.names = {"DNS:other.example"}}};
  expect_refusal(
      refused(other, "token: good"),
      {other.front->url() + ": the certificate is for other.example, not for 127.0.0.1"});
  secured expired{{.names = {"IP:127.0.0.1"}, .valid_from_days = -9, .valid_to_days = -2}};
  expect_refusal(refused(expired, "token: good"),
                 {expired.front->url() + ": the certificate has expired at 20"});
  secured unknown;
  const authority theirs{"their authority"};
  unknown.home.file("other.crt", theirs.certificate());
  expect_refusal(refused(unknown, "token: good", "certificate-authority: other.crt"),
                 {unknown.front->url() + ": the certificate was issued by an unknown authority"});
  EXPECT_EQ(other.front->requests() + expired.front->requests() + unknown.front->requests(), 0);
}

TEST(Refusal, of_a_user_says_what_to_look_at) {
  secured server;
  expect_refusal(refused(server, "token: bad"), {"does not know who we are (401)", "its token"});
  EXPECT_LE(server.refused, 2);
}

TEST(Refusal, in_silence_still_warns_that_nobody_is_checked) {
  secured server;
  const auto said = refused(server, "token: bad", "insecure-skip-tls-verify: true");
  EXPECT_EQ(said.err.rfind("warning: ", 0), 0u) << said.err;
  EXPECT_NE(said.err.find("insecure-skip-tls-verify is set"), std::string::npos) << said.err;
}

TEST(Refusal, of_files_names_file_and_field) {
  secured server;
  const auto config = server.home.sub("config");
  expect_refusal(refused(server, "tokenFile: nowhere"),
                 {config + ": users[u].user.tokenFile: ", "nowhere: No such file or directory"});
  expect_refusal(refused(server, "token: good", "certificate-authority: nowhere"),
                 {config + ": clusters[c].cluster.certificate-authority: "});
  expect_refusal(refused(server, "token: good", "certificate-authority-data: aGVsbG8="),
                 {"certificate-authority-data: holds no certificate"});
  expect_refusal(refused(server, "exec: {apiVersion: client.authentication.k8s.io/v1, "
                                 "interactiveMode: Never, command: ./nowhere}"),
                 {config + ": users[u].user.exec: ", "nowhere: No such file or directory"});
  expect_refusal(refused(server, "token: 1"), {config + ": users[u].user.token: is a number"});
  expect_refusal(run({"scheduler", "--kubeconfig", "/nowhere", "--data-dir", server.home.sub("d"),
                      "--admin", ""}),
                 {"/nowhere: No such file or directory"});
  EXPECT_EQ(server.front->requests(), 0);
}

TEST(Refusal, of_a_scheduler_that_is_told_nothing_says_what_to_give) {
  temp_dir home;
  const arguments what{"scheduler", "--data-dir", home.sub("d"), "--admin", ""};
  expect_refusal(run(what, {{"KUBECONFIG", ""}, {"KUBERNETES_SERVICE_HOST", ""}}),
                 {"this is no pod", "--kubeconfig FILE"});
  expect_refusal(run(what, {{"KUBECONFIG", ""},
                            {"KUBERNETES_SERVICE_HOST", "127.0.0.1"},
                            {"KUBERNETES_SERVICE_PORT", "1"}}),
                 {"serviceaccount/ca.crt: No such file or directory"});
  const auto said = run({"scheduler", "--kubeconfig", "x"});
  EXPECT_EQ(said.code(), 2) << "its store is wanted: " << said.err;
}

TEST(Server, that_is_silent_over_tls_is_not_said_to_lack_it) {
  secured server;
  boost::asio::io_context io;
  using boost::asio::ip::tcp;
  tcp::acceptor silent{io, {boost::asio::ip::address_v4::loopback(), 0}}; // the kernel accepts
  const auto config = server.home.file(
      "silent", fmt::format("current-context: a\n"
                            "clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{}'}}}}]\n"
                            "contexts: [{{name: a, context: {{cluster: c}}}}]\n",
                            silent.local_endpoint().port()));
  running scheduler{server.scheduler(config)};
  const auto err = scheduler.itself.err();
  EXPECT_NE(err.find("does not answer in time; going on with what the store knows, and trying again"
                     "\nhint: look at the address, the network and its firewalls\n"),
            std::string::npos)
      << err;
  scheduler.stop();
}

TEST(Server, that_is_not_there_is_waited_for_over_tls_too) {
  secured server;
  const auto url = fmt::format("https://127.0.0.1:{}", server.front->port());
  const auto config = server.kubeconfig("token: good");
  server.front.reset();
  running scheduler{server.scheduler(config)};
  EXPECT_NE(
      scheduler.itself.err().find("no API server answers at " + url + ": nobody listens there"),
      std::string::npos)
      << scheduler.itself.err();
  scheduler.stop();
}

} // namespace
} // namespace tutti::commands
