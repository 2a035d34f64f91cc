// The verbs that read, through a genuine API server: nothing but a kubeconfig leads to the
// scheduler.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/commands/judge.hpp"
#include "tests/commands/manifests.hpp"
#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::eventually;
using commands::manifest;
using commands::nodes_in_racks;
using commands::process;
using commands::run;
using namespace std::chrono_literals;

/// An IPv4 address of this machine that an API server agrees to call: not of the loopback. Empty if
/// it has none.
std::string own_address() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0)
    return {};
  std::string out;
  for (const auto* x = all; x != nullptr && out.empty(); x = x->ifa_next) {
    if (x->ifa_addr == nullptr || x->ifa_addr->sa_family != AF_INET
        || (x->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* at = reinterpret_cast<const sockaddr_in*>(x->ifa_addr);
    if (::inet_ntop(AF_INET, &at->sin_addr, text, sizeof text) != nullptr)
      out = text;
  }
  ::freeifaddrs(all);
  return out.starts_with("169.254.") ? std::string{} : out;
}

std::string file_beside_program(const std::string& name) {
  const std::string program = TUTTI_BINARY;
  return program.substr(0, program.rfind('/') + 1) + name;
}

class ThroughServer : public Live {
protected:
  void SetUp() override {
    Live::SetUp();
    if (!IsSkipped() && address_.empty())
      GTEST_SKIP() << "this machine has no address besides the loopback";
  }

  daemon start_in_cluster(const control_plane& on) const {
    return daemon{{.what = {"--kubeconfig", on.kubeconfig(), "--data-dir", home_.sub("store")},
                   .verb = "scheduler",
                   .admin = address_ + ":0"}};
  }
  /// The pod as which the manifests would run it, and a kubelet would report it.
  void create_its_pod(const control_plane& on, const daemon& it) const {
    const auto port = it.admin().substr(it.admin().rfind(':') + 1);
    on.create("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: tutti-system}\n");
    const auto pod = fmt::format(
        R"({{"metadata": {{"name": "tutti-0", "labels": {{"app.kubernetes.io/name": "tutti",
        "app.kubernetes.io/component": "scheduler"}}}}, "spec": {{"nodeName": "{}",
        "containers": [{{"name": "scheduler", "image": "tutti", "ports": [{{"name": "admin",
        "containerPort": {}}}]}}]}}}})",
        "n1", port);
    EXPECT_EQ(on.api().post("/api/v1/namespaces/tutti-system/pods", pod).status, 201);
    EXPECT_EQ(on.api()
                  .merge("/api/v1/namespaces/tutti-system/pods/tutti-0/status",
                         fmt::format(R"({{"status": {{"phase": "Running", "podIP": "{0}",
                                     "podIPs": [{{"ip": "{0}"}}]}}}})",
                                     address_))
                  .status,
              200);
  }
  static commands::outcome ask(const control_plane& on, arguments verb,
                               const std::string& who = {}) {
    verb.insert(verb.end(), {"--kubeconfig", on.kubeconfig(who)});
    return run(std::move(verb));
  }

  const std::string address_ = own_address();
};

TEST_F(ThroughServer, verbs_find_the_scheduler_by_its_pods) {
  control_plane on;
  on.create(nodes_in_racks(2) + manifest(our_gang("good", 2, 1))
            + manifest(our_gang("huge", 2, 900)));
  auto it = start_in_cluster(on);
  const auto nobody = ask(on, {"get", "gangs"});
  EXPECT_EQ(nobody.code(), 1);
  EXPECT_NE(nobody.err.find("no pod of a scheduler runs in namespace tutti-system"),
            std::string::npos)
      << nobody.err;

  create_its_pod(on, it);
  EXPECT_EQ(ask(on, {"wait", "gang/good", "--timeout", "60"}).code(), 0);
  const auto gangs = ask(on, {"get", "gangs"});
  EXPECT_EQ(gangs.code(), 0) << gangs.err;
  EXPECT_NE(gangs.out.find("good"), std::string::npos) << gangs.out;
  EXPECT_TRUE(eventually([&] {
    return ask(on, {"explain", "gang", "huge"}).out.find("NeverFits") != std::string::npos;
  })) << ask(on, {"explain", "gang", "huge"}).out;
  EXPECT_EQ(ask(on, {"status"}).code(), 0);
  EXPECT_EQ(ask(on, {"retry", "gang", "huge"}).code(), 0);
  // As kubectl runs its plugins: nothing but the environment says where.
  process plugin{{.command = {file_beside_program("kubectl-tutti"), "explain", "gang", "huge"},
                  .environment = {{"KUBECONFIG", on.kubeconfig()}}}};
  EXPECT_EQ(plugin.wait(60s).value_or(commands::ending{}).exit_code, 0) << plugin.err();
  EXPECT_NE(plugin.out().find("NeverFits"), std::string::npos) << plugin.out();
  const auto none = ask(on, {"explain", "gang", "nobody"});
  EXPECT_EQ(none.code(), 1);
  EXPECT_NE(none.err.find("nobody"), std::string::npos) << none.err;
  const auto other = ask(on, {"get", "nodes", "--scheduler-pod", "tutti-7"});
  EXPECT_NE(other.err.find("no pod tutti-7 of a scheduler"), std::string::npos) << other.err;
}

TEST_F(ThroughServer, a_missing_right_and_a_dead_pod_are_said) {
  control_plane on;
  on.create(nodes_in_racks(1));
  auto it = start_in_cluster(on);
  create_its_pod(on, it);
  const auto stranger = ask(on, {"get", "gangs"}, "plain");
  EXPECT_EQ(stranger.code(), 1);
  EXPECT_NE(stranger.err.find("rights to list pods and to get pods/proxy"), std::string::npos)
      << stranger.err;
  on.create("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"
            "metadata: {name: finds, namespace: tutti-system}\n"
            "rules: [{apiGroups: [''], resources: [pods], verbs: [list]}]\n"
            + given_to_plain_user("finds", "tutti-system"));
  const auto half = "get pods/proxy in namespace tutti-system";
  EXPECT_TRUE(eventually([&] {
    return ask(on, {"get", "gangs"}, "plain").err.find(half) != std::string::npos;
  })) << ask(on, {"get", "gangs"}, "plain").err;
  it.stop();
  const auto dead = ask(on, {"get", "gangs"});
  EXPECT_EQ(dead.code(), 1);
  EXPECT_NE(dead.err.find("no way to pod tutti-0"), std::string::npos) << dead.err;
}

} // namespace
} // namespace tutti::live
