// What a pod takes from its node.
#include "api/requests.hpp"

#include "base/limits.hpp"
#include "tests/api/fixtures.hpp"

namespace tutti::api {
namespace {

using namespace testing_words;
using base::limits::amount_max;

base::resources takes(const std::string& spec, const std::string& status = "{}") {
  return footprint_of(pod_with(spec, status)).amounts;
}

std::string asks(const char* cpu) {
  return std::string{"'resources':{'requests':{'cpu':'"} + cpu + "'}}";
}

TEST(Footprint, of_a_pod_without_requests_is_one_pod) {
  auto f = footprint_of(pod_with("{'containers':[{'name':'a'}]}"));
  EXPECT_EQ(f, (base::footprint{base::resources{.pods = 1}, {}}));
}

TEST(Footprint, adds_containers_up_and_overhead_on_top) {
  auto x = takes("{'containers':[{" + asks("1") + "},{" + asks("500m")
                 + "}],'overhead':{'cpu':'50m','memory':'1Mi'}}");
  EXPECT_EQ(x.cpu_milli, 1550);
  EXPECT_EQ(x.memory_bytes, 1 << 20);
  EXPECT_EQ(x.pods, 1);
}

TEST(Footprint, counts_the_greediest_init_container_only_where_it_takes_more) {
  EXPECT_EQ(takes("{'initContainers':[{" + asks("3") + "},{" + asks("2") + "}],'containers':[{"
                  + asks("1") + "}]}")
                .cpu_milli,
            3000);
  EXPECT_EQ(takes("{'initContainers':[{" + asks("1") + "}],'containers':[{" + asks("2") + "}]}")
                .cpu_milli,
            2000);
}

TEST(Footprint, counts_init_containers_per_resource) {
  auto x = takes("{'initContainers':[{'resources':{'requests':{'cpu':'1','memory':'8Gi',"
                 "'a.b/c':'2'}}}],"
                 "'containers':[{'resources':{'requests':{'cpu':'4','memory':'1Gi'}}}]}");
  EXPECT_EQ(x.cpu_milli, 4000);
  EXPECT_EQ(x.memory_bytes, 8LL << 30);
  EXPECT_EQ(x.of(base::symbol{"a.b/c"}), 2);
}

TEST(Footprint, a_sidecar_runs_beside_init_containers_that_come_after_it) {
  auto sidecar = "{'restartPolicy':'Always'," + asks("1") + "}";
  auto init = "{" + asks("3") + "}";
  auto main = ",'containers':[{" + asks("1") + "}]}";
  EXPECT_EQ(takes("{'initContainers':[" + sidecar + "," + init + "]" + main).cpu_milli, 4000);
  EXPECT_EQ(takes("{'initContainers':[" + init + "," + sidecar + "]" + main).cpu_milli, 3000);
  EXPECT_EQ(takes("{'initContainers':[" + sidecar + "," + sidecar + "]" + main).cpu_milli, 3000);
}

TEST(Footprint, a_pod_level_request_replaces_what_the_containers_add_up_to) {
  auto x = takes("{'resources':{'requests':{'cpu':'3','hugepages-2Mi':'4Mi'}},"
                 "'initContainers':[{"
                 + asks("9")
                 + "}],"
                   "'containers':[{'resources':{'requests':{'cpu':'1','memory':'2Gi',"
                   "'hugepages-2Mi':'8Mi'}}}],'overhead':{'cpu':'100m'}}");
  EXPECT_EQ(x.cpu_milli, 3100) << "overhead comes on top of it";
  EXPECT_EQ(x.memory_bytes, 2LL << 30) << "not named at pod level: the containers' sum stands";
  EXPECT_EQ(x.of(base::symbol{"hugepages-2Mi"}), 4 << 20);
  EXPECT_EQ(
      takes("{'resources':{'requests':{'cpu':'0'}},'containers':[{" + asks("1") + "}]}").cpu_milli,
      0);
  EXPECT_EQ(
      takes("{'resources':{'requests':{'a.b/c':'1'}},'containers':[{}]}").of(base::symbol{"a.b/c"}),
      0)
      << "other resources cannot be asked for at pod level";
}

TEST(Footprint, is_one_pod_whatever_the_containers_say) {
  EXPECT_EQ(takes("{'containers':[{'resources':{'requests':{'pods':'7'}}}]}").pods, 1);
}

TEST(Footprint, saturates) {
  auto x = takes("{'containers':[{'resources':{'requests':{'cpu':'1e30','memory':'7Ei',"
                 "'a.b/c':'2E'}}},{'resources':{'requests':{'cpu':'1e30','memory':'7Ei',"
                 "'a.b/c':'2E'}}}],'overhead':{'memory':'7Ei'}}");
  EXPECT_EQ(x.cpu_milli, amount_max);
  EXPECT_EQ(x.memory_bytes, amount_max);
  EXPECT_EQ(x.of(base::symbol{"a.b/c"}), amount_max);
}

TEST(Footprint, takes_host_ports_of_containers_and_sidecars_but_not_of_init_containers) {
  auto f = footprint_of(pod_with(R"({
    'initContainers':[{'ports':[{'hostPort':1}]},
                      {'restartPolicy':'Always','ports':[{'hostPort':2,'protocol':'UDP'}]}],
    'containers':[{'ports':[{'hostPort':80},{'hostPort':80}]},{'ports':[{'hostPort':22}]}]})"));
  base::symbol any{""};
  base::symbol tcp{"TCP"};
  EXPECT_EQ(f.ports,
            (base::port_list{{any, tcp, 22}, {any, tcp, 80}, {any, base::symbol{"UDP"}, 2}}));
}

TEST(Footprint, of_a_pod_being_resized_is_the_largest_of_asked_granted_and_set) {
  auto spec = "{'containers':[{'name':'m'," + asks("2") + "}]}";
  auto status = [](const char* allocated, const char* actual, const char* more) {
    return std::string{"{'containerStatuses':[{'name':'m','allocatedResources':{'cpu':'"}
           + allocated + "'},'resources':{'requests':{'cpu':'" + actual + "'}}}]" + more + "}";
  };
  EXPECT_EQ(takes(spec, status("1", "1", "")).cpu_milli, 2000);
  EXPECT_EQ(takes(spec, status("3", "1", "")).cpu_milli, 3000);
  EXPECT_EQ(takes(spec, status("1", "4", "")).cpu_milli, 4000);
  EXPECT_EQ(takes(spec, status("1", "1", ",'resize':'Infeasible'")).cpu_milli, 1000);
  EXPECT_EQ(takes(spec, status("1", "1",
                               ",'conditions':[{'type':'PodResizePending','status':'True',"
                               "'reason':'Infeasible'}]"))
                .cpu_milli,
            1000);
  EXPECT_EQ(takes(spec, status("1", "1",
                               ",'conditions':[{'type':'PodResizePending','status':'True',"
                               "'reason':'Deferred'}]"))
                .cpu_milli,
            2000);
  EXPECT_EQ(takes(spec, "{'containerStatuses':[{'name':'m','allocatedResources':{'cpu':'9'}}]}")
                .cpu_milli,
            2000)
      << "without actual resources the status says nothing";
}

} // namespace
} // namespace tutti::api
