#include "bridge/kubeconfig.hpp"

#include <gtest/gtest.h>

#include "bridge/cluster_access.hpp"

namespace tutti::bridge {
namespace {

/// A file with one of each.
constexpr const char* whole = R"(
apiVersion: v1
kind: Config
current-context: main
preferences: {colors: true}
clusters:
- name: here
  cluster:
    server: https://api.example:6443/k8s/c1/
    certificate-authority: pki/ca.crt
    tls-server-name: kubernetes
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: me}
- name: there
  cluster:
    server: https://10.0.0.1
    certificate-authority-data: SGVsbG8=
- name: unsafe
  cluster: {server: "https://[::1]:6443", insecure-skip-tls-verify: true}
users:
- name: certified
  user: {client-certificate-data: Q0VSVA==, client-key: /keys/mine.pem}
- name: with-token
  user: {token: abc, tokenFile: token.txt}
- name: with-password
  user: {username: ann, password: secret}
- name: with-plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [get, token]
      env: [{name: REGION, value: north}]
      interactiveMode: IfAvailable
      provideClusterInfo: true
      installHint: install it
contexts:
- name: main
  context: {cluster: here, user: certified, namespace: team}
- name: token
  context: {cluster: there, user: with-token}
- name: password
  context: {cluster: unsafe, user: with-password}
- name: plugin
  context: {cluster: here, user: with-plugin}
- name: nobody
  context: {cluster: there}
)";

kubeconfig read(const std::string& text, const std::string& path = "/etc/kube/config") {
  auto out = read_kubeconfig(path, text);
  EXPECT_TRUE(out) << out.error().message();
  return out ? *out : kubeconfig{};
}

cluster_access access(const std::string& text, const std::string& context = {}) {
  auto out = access_of(read(text), context);
  EXPECT_TRUE(out) << out.error().message();
  return out ? *out : cluster_access{};
}

TEST(Kubeconfig, gives_the_current_context_with_its_cluster_and_user) {
  const auto x = access(whole);
  EXPECT_EQ(x.server, (server_url{true, "api.example", 6443, "/k8s/c1"}));
  EXPECT_EQ(x.server_name, "kubernetes");
  EXPECT_EQ(x.authority.file, "/etc/kube/pki/ca.crt");
  EXPECT_EQ(x.authority.place, "/etc/kube/config: clusters[here].cluster.certificate-authority");
  EXPECT_EQ(x.certificate.data, "CERT");
  EXPECT_EQ(x.key.file, "/keys/mine.pem");
  EXPECT_EQ(x.origin, "context main of /etc/kube/config");
  EXPECT_FALSE(x.skips_verification);
  EXPECT_TRUE(x.has_credentials());
}

TEST(Kubeconfig, gives_another_context_when_asked) {
  const auto x = access(whole, "token");
  EXPECT_EQ(x.server, (server_url{true, "10.0.0.1", 443, ""}));
  EXPECT_EQ(x.authority.data, "Hello");
  EXPECT_EQ(x.token, "abc");
  EXPECT_EQ(x.token_file.file, "/etc/kube/token.txt");
  const auto y = access(whole, "password");
  EXPECT_EQ(y.username, "ann");
  EXPECT_EQ(y.password, "secret");
  EXPECT_TRUE(y.skips_verification);
  EXPECT_EQ(host_and_port(y.server), "[::1]:6443");
  EXPECT_FALSE(access(whole, "nobody").has_credentials());
}

TEST(Kubeconfig, knows_plugins) {
  const auto x = access(whole, "plugin");
  ASSERT_TRUE(x.exec);
  EXPECT_EQ(x.exec->command, "/etc/kube/./bin/login");
  EXPECT_EQ(x.exec->arguments, (std::vector<std::string>{"get", "token"}));
  EXPECT_EQ(x.exec->environment,
            (std::vector<std::pair<std::string, std::string>>{{"REGION", "north"}}));
  EXPECT_EQ(x.exec->api_version, "client.authentication.k8s.io/v1");
  EXPECT_TRUE(x.exec->wants_cluster);
  EXPECT_EQ(x.exec_config.at("audience").as_string(), "me");
}

TEST(Kubeconfig, a_plugin_without_a_slash_is_looked_up) {
  const auto x = access(R"(
current-context: a
clusters: [{name: c, cluster: {server: "https://h"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}}}]
contexts: [{name: a, context: {cluster: c, user: u}}]
)");
  EXPECT_EQ(x.exec->command, "aws");
}

TEST(Kubeconfig, may_be_json_or_empty) {
  EXPECT_EQ(read("{\"clusters\": [{\"name\": \"a\", \"cluster\": {}}]}").clusters.size(), 1u);
  EXPECT_TRUE(read("").clusters.empty());
  EXPECT_TRUE(read("clusters: null\nusers: []\n").clusters.empty());
}

TEST(KubeconfigList, the_first_file_that_has_a_name_wins_whole) {
  const auto first = read(R"(
clusters: [{name: c, cluster: {server: "https://first"}}]
users: [{name: u, user: {token: first}}]
)",
                          "/first");
  const auto second = read(R"(
current-context: x
clusters: [{name: c, cluster: {server: "https://second", tls-server-name: second}}]
users: [{name: v, user: {token: second}}]
contexts: [{name: x, context: {cluster: c, user: v}}]
)",
                           "/second");
  const auto third = read("current-context: z\ncontexts: [{name: x, context: {cluster: d}}]\n");
  const auto all = merge({first, second, third});
  EXPECT_EQ(all.current_context, "x");
  EXPECT_EQ(all.users.size(), 2u);
  const auto x = access_of(all, "");
  ASSERT_TRUE(x) << x.error().message();
  EXPECT_EQ(x->server.host, "first");
  EXPECT_EQ(x->server_name, "") << "entries are never mixed";
  EXPECT_EQ(x->token, "second");
  EXPECT_EQ(x->origin, "context x of /first:/second:/etc/kube/config");
}

TEST(KubeconfigList, is_split_at_colons) {
  EXPECT_EQ(paths_in("/a:/b/c::d"), (std::vector<std::string>{"/a", "/b/c", "d"}));
  EXPECT_TRUE(paths_in("").empty());
  EXPECT_TRUE(paths_in(":").empty());
}

// ---------------------------------------------------------------- what is wrong

struct bad {
  const char* name;
  const char* text;
  const char* must_say;
  const char* cure;
};

class BadKubeconfig : public testing::TestWithParam<bad> {};

void PrintTo(const bad& x, std::ostream* out) {
  *out << x.name;
}

TEST_P(BadKubeconfig, is_refused_with_file_field_and_cure) {
  const auto file = read_kubeconfig("FILE", GetParam().text);
  const auto said = file ? access_of(*file, "") : base::result<cluster_access>{file.error()};
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().what(), base::code::bad_input);
  EXPECT_EQ(said.error().message().rfind("FILE", 0), 0u) << said.error().message();
  EXPECT_NE(said.error().message().find(GetParam().must_say), std::string::npos)
      << said.error().message();
  EXPECT_NE(said.error().hint().find(GetParam().cure), std::string::npos) << said.error().hint();
  const auto all = said.error().message() + said.error().hint();
  EXPECT_EQ(all.find('\n'), std::string::npos);
  for (const auto* secret : {"hunter2", "SECRETTOKEN", "a=b"})
    EXPECT_EQ(all.find(secret), std::string::npos) << all;
}

#define TOP "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
#define CLUSTER TOP "users: [{name: u, user: {}}]\nclusters: "
#define USER TOP "clusters: [{name: c, cluster: {server: 'https://h'}}]\nusers: "

INSTANTIATE_TEST_SUITE_P(
    File, BadKubeconfig,
    testing::Values(
        bad{"no_yaml", "a: [", "FILE: document 1, line", ""},
        bad{"a_list", "[1, 2]", "is no kubeconfig", "kubectl config view"},
        bad{"two_documents", "a: 1\n---\nb: 2\n", "is no kubeconfig", "kubectl config view"},
        bad{"another_kind", "kind: Pod\n", "FILE: kind: is Pod, not Config", "kubectl config view"},
        bad{"another_version", "apiVersion: v2\n", "FILE: apiVersion: is v2", ""},
        bad{"a_map_for_a_list", "clusters: {}\n", "FILE: clusters: is a map, not a list", ""},
        bad{"an_entry_that_is_a_text", "users: [hello]\n", "users[0]: is a text, not a map", ""},
        bad{"an_entry_without_a_name", "users: [{user: {}}]\n", "users[0]: has no name", "one"},
        bad{"a_name_twice", "users: [{name: a, user: {}}, {name: a, user: {}}]\n",
            "users[a]: is there twice", "rename"},
        bad{"a_tag_that_nobody_knows", "users: [{name: a, user: {token: !vault SECRETTOKEN}}]\n",
            "users[0].user.token: what stands there cannot be read as !vault", ""},
        bad{"a_password_in_what_is_no_url",
            "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
            "clusters: [{name: c, cluster: {server: 'https://admin:hunter2@[h'}}]\n",
            "clusters[c].cluster.server: it is no URL", ""},
        bad{"a_number_for_a_token", "users: [{name: a, user: {token: 123}}]\n",
            "users[a].user.token: is a number, not a text", "quotes"},
        bad{"a_text_for_a_flag",
            "clusters: [{name: a, cluster: {insecure-skip-tls-verify: 'yes'}}]\n",
            "clusters[a].cluster.insecure-skip-tls-verify: is a text, not true or false", "quotes"},
        bad{"no_base64", "clusters: [{name: a, cluster: {certificate-authority-data: '?'}}]\n",
            "clusters[a].cluster.certificate-authority-data: is no base64", "base64 -w0"},
        bad{"no_context", "contexts: [{name: x, context: {cluster: c}}]\n",
            "current-context: is not set", "there are: x"},
        bad{"no_contexts_at_all", "{}", "current-context: is not set", "there is none"},
        bad{"a_context_that_is_not_there", "current-context: z\n",
            "current-context: there is no context \"z\"", "--context NAME"},
        bad{"a_cluster_that_is_not_there", TOP, "contexts[x].context.cluster: there is no cluster",
            "there is none"},
        bad{"a_user_that_is_not_there",
            TOP "clusters: [{name: c, cluster: {server: 'https://h'}}]\n",
            "contexts[x].context.user: there is no user \"u\"", ""}),
    [](const auto& x) { return x.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Cluster, BadKubeconfig,
    testing::Values(
        bad{"no_server", CLUSTER "[{name: c, cluster: {}}]\n",
            "clusters[c].cluster.server: is missing", "https://"},
        bad{"no_url", CLUSTER "[{name: c, cluster: {server: 'h:6443'}}]\n",
            "clusters[c].cluster.server", "https://HOST:PORT"},
        bad{"an_authority_and_a_file",
            CLUSTER "[{name: c, cluster: {server: 'https://h', certificate-authority: /ca, "
                    "certificate-authority-data: SGVsbG8=}}]\n",
            "clusters[c].cluster.certificate-authority: is there beside certificate-authority-data",
            "one of the two"},
        bad{"another_scheme", CLUSTER "[{name: c, cluster: {server: 'ftp://h'}}]\n",
            "neither https:// nor http://", "https://HOST:PORT"},
        bad{"a_query", CLUSTER "[{name: c, cluster: {server: 'https://h/?a=b'}}]\n",
            "more in it than", ""},
        bad{"a_password",
            CLUSTER "[{name: c, cluster: {server: 'https://admin:hunter2@10.0.0.1'}}]\n",
            "clusters[c].cluster.server: it has more in it than", "https://HOST:PORT"},
        bad{"a_line_end_in_the_host",
            CLUSTER "[{name: c, cluster: {server: 'https://h%0d%0aX: y'}}]\n", "no URL of a server",
            ""},
        bad{"a_line_end_in_the_host_in_disguise",
            CLUSTER "[{name: c, cluster: {server: 'https://h%0d%0aX'}}]\n",
            "no name and no address", ""},
        bad{"port_0", CLUSTER "[{name: c, cluster: {server: 'https://h:0'}}]\n", "no valid port",
            ""},
        bad{"a_port_that_is_no_number", CLUSTER "[{name: c, cluster: {server: 'https://h:x'}}]\n",
            "no valid port", ""},
        bad{"a_port_above_all", CLUSTER "[{name: c, cluster: {server: 'https://h:65536'}}]\n",
            "clusters[c].cluster.server", ""},
        bad{"a_proxy",
            CLUSTER "[{name: c, cluster: {server: 'https://h', proxy-url: 'http://p'}}]\n",
            "clusters[c].cluster.proxy-url: proxies are not built in", "kubectl proxy"},
        bad{"no_verification_and_an_authority",
            CLUSTER "[{name: c, cluster: {server: 'https://h', insecure-skip-tls-verify: true, "
                    "certificate-authority: /ca}}]\n",
            "insecure-skip-tls-verify: is there beside", "keep the authority"}),
    [](const auto& x) { return x.param.name; });

INSTANTIATE_TEST_SUITE_P(
    User, BadKubeconfig,
    testing::Values(
        bad{"a_certificate_without_a_key", USER "[{name: u, user: {client-certificate: /c}}]\n",
            "users[u].user.client-key: is missing", "client-key-data"},
        bad{"a_key_without_a_certificate", USER "[{name: u, user: {client-key: /c}}]\n",
            "users[u].user.client-certificate: is missing", ""},
        bad{"a_key_and_a_file",
            USER "[{name: u, user: {client-certificate: /c, client-key: /k, client-key-data: "
                 "SGVsbG8=}}]\n",
            "users[u].user.client-key: is there beside client-key-data", "one of the two"},
        bad{"two_ways", USER "[{name: u, user: {token: a, username: b}}]\n",
            "has a token and a username", "one way"},
        bad{"a_password_of_nobody", USER "[{name: u, user: {password: b}}]\n",
            "users[u].user.username: is missing", ""},
        bad{"a_token_of_two_lines", USER "[{name: u, user: {token: \"a\\nb: c\"}}]\n",
            "users[u].user.token: has spaces, line ends", ""},
        bad{"a_token_with_a_zero", USER "[{name: u, user: {token: \"a\\0b\"}}]\n",
            "users[u].user.token: has spaces, line ends or other characters", "token alone"},
        bad{"impersonation", USER "[{name: u, user: {token: a, as: admin}}]\n",
            "users[u].user.as: is not built in", "token"},
        bad{"an_old_provider", USER "[{name: u, user: {auth-provider: {name: gcp}}}]\n",
            "users[u].user.auth-provider: is not built in", "exec plugin"},
        bad{"a_plugin_without_a_command",
            USER "[{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1}}}]\n",
            "users[u].user.exec.command: is missing", ""},
        bad{"a_plugin_of_an_old_version",
            USER "[{name: u, user: {exec: {command: a, apiVersion: "
                 "client.authentication.k8s.io/v1alpha1}}}]\n",
            "v1alpha1, which is not known", "client.authentication.k8s.io/v1"},
        bad{"a_plugin_that_does_not_say_whether_it_asks",
            USER "[{name: u, user: {exec: {command: a, apiVersion: "
                 "client.authentication.k8s.io/v1}}}]\n",
            "interactiveMode: is missing", "interactiveMode: Never"},
        bad{"a_plugin_that_asks_people",
            USER "[{name: u, user: {exec: {command: a, interactiveMode: Always, apiVersion: "
                 "client.authentication.k8s.io/v1}}}]\n",
            "interactiveMode: is Always", "service account"},
        bad{"a_variable_without_a_name",
            USER "[{name: u, user: {exec: {command: a, env: [{value: b}], apiVersion: "
                 "client.authentication.k8s.io/v1beta1}}}]\n",
            "exec.env[0]: has no name", ""}),
    [](const auto& x) { return x.param.name; });

TEST(Kubeconfig, what_is_wrong_with_an_entry_that_is_not_used_does_not_matter) {
  const auto x = access(USER "[{name: u, user: {}}, {name: other, user: {client-key: /k}}]\n");
  EXPECT_EQ(x.server.host, "h");
  const auto y = access(USER "[{name: u, user: {token: a}}, {name: other, user: {client-key: /k, "
                             "client-key-data: SGVsbG8=}}]\n");
  EXPECT_EQ(y.token, "a");
}

TEST(Kubeconfig, says_which_contexts_there_are) {
  const auto said = access_of(read(whole), "elsewhere");
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().message(),
            "/etc/kube/config: contexts: there is no context \"elsewhere\"");
  EXPECT_EQ(said.error().hint(),
            "give --context NAME; there are: main, nobody, password, plugin, token");
}

// ---------------------------------------------------------------- in a pod

TEST(PodAccess, is_the_service_account) {
  const auto x = access_in_pod({.host = "10.96.0.1", .port = "443", .folder = "/sa"});
  ASSERT_TRUE(x);
  EXPECT_EQ(x->server, (server_url{true, "10.96.0.1", 443, ""}));
  EXPECT_EQ(x->authority.file, "/sa/ca.crt");
  EXPECT_EQ(x->token_file.file, "/sa/token");
  EXPECT_FALSE(x->skips_verification);
  const auto v6 = access_in_pod({.host = "fd00::1", .port = "443"});
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->server.host, "fd00::1");
  EXPECT_EQ(v6->token_file.file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
}

TEST(PodAccess, is_refused_outside_of_one) {
  const auto x = access_in_pod({.host = "10.96.0.1"});
  ASSERT_FALSE(x);
  EXPECT_NE(x.error().message().find("KUBERNETES_SERVICE_PORT"), std::string::npos);
  EXPECT_EQ(x.error().hint(), "give --kubeconfig FILE");
  EXPECT_FALSE(access_in_pod({.host = "10.96.0.1", .port = "x"}));
}

} // namespace
} // namespace tutti::bridge
