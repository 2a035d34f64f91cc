// What the cluster serves decides how groups are spoken of.
#include <gtest/gtest.h>

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

} // namespace
} // namespace tutti::live
