// What the cluster serves decides how groups are spoken of.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/live/audit.hpp"
#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::manifest;
using commands::nodes_in_racks;

class Dialect : public Live {};

TEST_F(Dialect, that_alone_is_served_is_spoken) {
  control_plane on{{"--api-arg", "--runtime-config=scheduling.k8s.io/v1beta1=false"}};
  auto text = manifest(our_gang("pair", 2, 1));
  const std::string newest = "v1beta1";
  text.replace(text.find(newest), newest.size(), "v1alpha3");
  on.create(nodes_in_racks(2) + text);
  auto scheduler = start_scheduler(on);
  EXPECT_NE(scheduler.itself().err().find("groups of pods in scheduling.k8s.io/v1alpha3"),
            std::string::npos)
      << scheduler.itself().err();
  EXPECT_NE(scheduler.ask({"version"}).out.find("scheduling.k8s.io/v1alpha3"), std::string::npos);
  expect_bound(scheduler, "pair");
  scheduler.stop();
}

TEST_F(Dialect, that_is_missing_ends_the_start_in_words) {
  control_plane on{{"--gates", "GenericWorkload=false"}};
  const auto said = commands::run(
      {"scheduler", "--kubeconfig", on.kubeconfig(), "--data-dir", home_.sub("scheduler")});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("is Kubernetes 1.37 and serves no groups of pods\n"), std::string::npos)
      << said.err;
  EXPECT_NE(said.err.find("GenericWorkload=true"), std::string::npos) << said.err;
}

/// A cluster of another release whose group API is on, or off; skipped where there is no such
/// release.
struct cluster_kind {
  std::string name;
  std::string release; ///< empty: the default
  arguments more;
};

/// The folder of that release's parts; empty if they are not there.
std::string assets_of(const std::string& release) {
  const auto found = commands::run_in_shell("'" + std::string{TUTTI_SOURCE_DIR}
                                            + "/scripts/kube_assets.sh' --find " + release);
  return found.code() == 0 ? found.out.substr(0, found.out.find('\n')) : std::string{};
}

class OnRelease : public Live, public testing::WithParamInterface<cluster_kind> {
protected:
  arguments of_release() {
    auto out = GetParam().more;
    if (const auto& release = GetParam().release; !release.empty()) {
      const auto assets = assets_of(release);
      if (assets.empty())
        return {};
      out.insert(out.end(), {"--assets", assets});
    }
    return out;
  }
};

class OwnGroups : public OnRelease {};

/// Members name their group by a label.
std::string own_gang(const std::string& name, int members, int cpu) {
  std::string text = "---\napiVersion: tutti.dev/v1alpha1\nkind: PodGroup\nmetadata: {name: " + name
                     + "}\nspec: {schedulingPolicy: {gang: {minCount: " + std::to_string(members)
                     + "}}}\n";
  for (int i = 0; i < members; ++i)
    text +=
        fmt::format("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {0}-{1}, labels: "
                    "{{tutti.dev/pod-group: {0}}}}}\nspec: {{schedulerName: tutti, containers: "
                    "[{{name: main, image: work, resources: {{requests: {{cpu: \"{2}\"}}}}}}]}}\n",
                    name, i, cpu);
  return text;
}

/// "True Scheduled" of the condition; empty if it is not there.
std::string started(const control_plane& on, const std::string& gang) {
  const auto group =
      on.api().get("/apis/tutti.dev/v1alpha1/namespaces/default/podgroups/" + gang).object();
  const auto* status = group.if_contains("status");
  if (status == nullptr || !status->as_object().contains("conditions"))
    return {};
  for (const auto& c : status->at("conditions").as_array())
    if (c.at("type") == "PodGroupInitiallyScheduled")
      return std::string{c.at("status").as_string()} + " "
             + std::string{c.at("reason").as_string()};
  return {};
}

TEST_P(OwnGroups, make_gangs_where_the_cluster_serves_no_groups) {
  const auto how = of_release();
  if (how.empty())
    GTEST_SKIP() << "no parts of Kubernetes " << GetParam().release;
  control_plane on{how};
  const auto refused = commands::run(
      {"scheduler", "--kubeconfig", on.kubeconfig(), "--data-dir", home_.sub("too-early")});
  EXPECT_EQ(refused.code(), 1);
  EXPECT_NE(refused.err.find("kubectl apply -f deploy/crds"), std::string::npos) << refused.err;
  on.create(file_in_source("deploy/crds/podgroups.tutti.dev.yaml") + "---\n"
            + file_in_source("deploy/rbac.yaml") + given_to_plain_user("tutti"));
  ASSERT_TRUE(commands::eventually(
      [&] { return on.api().get("/apis/tutti.dev/v1alpha1/podgroups").status == 200; }));
  on.create(nodes_in_racks(4) + own_gang("trio", 3, 2) + own_gang("huge", 5, 4));
  auto scheduler = start_scheduler(on, {}, "plain");
  EXPECT_NE(scheduler.ask({"version"}).out.find("tutti.dev/v1alpha1"), std::string::npos);
  expect_bound(scheduler, "trio");
  EXPECT_TRUE(commands::eventually([&] { return started(on, "trio") == "True Scheduled"; }))
      << started(on, "trio");
  EXPECT_TRUE(commands::eventually([&] { return started(on, "huge").starts_with("False "); }))
      << started(on, "huge");
  const auto pods = on.api().get("/api/v1/namespaces/default/pods").object();
  int bound = 0;
  for (const auto& pod : pods.at("items").as_array())
    bound += pod.at("spec").as_object().contains("nodeName");
  EXPECT_EQ(bound, 3) << "of the one that does not fit nobody is bound";
  scheduler.stop();
  EXPECT_EQ(rights_missed(on.audit_log(), "plain-user"), std::set<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(
    Of, OwnGroups,
    testing::Values(cluster_kind{"the_default", {}, {"--gates", "GenericWorkload=false"}},
                    cluster_kind{"v1_36", "v1.36.3", {"--gates", "GenericWorkload=false"}}),
    [](const auto& x) { return x.param.name; });

class OlderRelease : public OnRelease {};

TEST_P(OlderRelease, is_spoken_to_in_its_own_dialect) {
  const auto how = of_release();
  if (how.empty())
    GTEST_SKIP() << "no parts of Kubernetes " << GetParam().release;
  control_plane on{how};
  auto text = manifest(our_gang("trio", 3, 1));
  const std::string newest = "v1beta1";
  text.replace(text.find(newest), newest.size(), "v1alpha2");
  on.create(nodes_in_racks(4) + text);
  auto scheduler = start_scheduler(on);
  EXPECT_NE(scheduler.ask({"version"}).out.find("scheduling.k8s.io/v1alpha2"), std::string::npos);
  expect_bound(scheduler, "trio");
  const auto group = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups/trio";
  EXPECT_TRUE(commands::eventually([&] {
    return on.api().get(group).body.find("PodGroupScheduled") != std::string::npos;
  })) << on.api().get(group).body;
  scheduler.stop();
}

INSTANTIATE_TEST_SUITE_P(Of, OlderRelease, testing::Values(cluster_kind{"v1_36", "v1.36.3", {}}),
                         [](const auto& x) { return x.param.name; });

} // namespace
} // namespace tutti::live
