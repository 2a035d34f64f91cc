// Pods as servers send them.
#include "api/decode.hpp"

#include "tests/api/fixtures.hpp"

namespace tutti::api {
namespace {

using namespace testing_words;
using operation = label_requirement::operation;

TEST(DecodePod, reads_what_decides_where_it_may_go) {
  auto p = pod_with(R"({
    'schedulerName':'tutti','nodeName':'n7','nodeSelector':{'disk':'ssd'},
    'priority':1000,'priorityClassName':'high','preemptionPolicy':'Never',
    'schedulingGates':[{'name':'quota'}],'schedulingGroup':{'podGroupName':'train'},
    'terminationGracePeriodSeconds':0,
    'affinity':{'nodeAffinity':{
      'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[
        {'matchExpressions':[{'key':'zone','operator':'In','values':['a','b']},
                             {'key':'cores','operator':'Gt','values':['8']}]},
        {'matchFields':[{'key':'metadata.name','operator':'In','values':['n1']}]}]},
      'preferredDuringSchedulingIgnoredDuringExecution':[
        {'weight':10,'preference':{'matchExpressions':[{'key':'spot','operator':'DoesNotExist'}]}}]
    }},
    'tolerations':[{'operator':'Exists'},{'key':'gpu','value':'yes','effect':'NoSchedule'},
                   {'key':'bad','operator':'Exists','effect':'NoExecute','tolerationSeconds':300}],
    'containers':[{'name':'main'}]})");
  EXPECT_EQ(p.scheduler_name, "tutti");
  EXPECT_EQ(p.node_name, "n7");
  EXPECT_EQ(p.node_selector.at("disk"), "ssd");
  EXPECT_EQ(p.priority, 1000);
  EXPECT_EQ(p.priority_class_name, "high");
  EXPECT_TRUE(p.never_preempts);
  EXPECT_EQ(p.gates, std::vector<std::string>{"quota"});
  EXPECT_EQ(p.group, "train");
  EXPECT_EQ(p.grace_seconds, 0);
  EXPECT_TRUE(p.has_required_affinity);
  EXPECT_EQ(p.required_affinity,
            (std::vector<node_term>{
                {{{"zone", operation::in, {"a", "b"}}, {"cores", operation::gt, {"8"}}}, {}},
                {{}, {{"metadata.name", operation::in, {"n1"}}}}}));
  EXPECT_EQ(p.preferred_affinity,
            (std::vector<preferred_term>{{10, {{{"spot", operation::does_not_exist, {}}}, {}}}}));
  EXPECT_EQ(p.tolerations,
            (std::vector<toleration>{{"", true, "", true, taint_effect::no_schedule},
                                     {"gpu", false, "yes", false, taint_effect::no_schedule},
                                     {"bad", true, "", false, taint_effect::no_execute}}));
  EXPECT_TRUE(p.unweighed.empty());
  EXPECT_TRUE(p.refused.empty());
}

TEST(DecodePod, reads_requests_and_host_ports_of_every_container) {
  auto p = pod_with(R"({
    'initContainers':[{'name':'fetch','resources':{'requests':{'cpu':'2'}}},
                      {'name':'proxy','restartPolicy':'Always','ports':[{'hostPort':9000}]}],
    'containers':[{'name':'main','resources':{'requests':{'cpu':'0.1','memory':'64Mi',
                                                          'nvidia.com/gpu':2},
                                              'limits':{'cpu':'9'}},
                   'ports':[{'containerPort':80},
                            {'hostPort':53,'protocol':'UDP','hostIP':'10.0.0.1'}]}],
    'overhead':{'cpu':'50m'},'resources':{'requests':{'memory':'1Gi'}}})");
  ASSERT_EQ(p.init_containers.size(), 2U);
  EXPECT_FALSE(p.init_containers[0].is_sidecar);
  EXPECT_TRUE(p.init_containers[1].is_sidecar);
  EXPECT_EQ(p.init_containers[0].requests.cpu_milli, 2000);
  EXPECT_EQ(p.init_containers[1].ports[0],
            (base::host_port{base::symbol{""}, base::symbol{"TCP"}, 9000}));
  ASSERT_EQ(p.containers.size(), 1U);
  EXPECT_EQ(p.containers[0].requests.cpu_milli, 100);
  EXPECT_EQ(p.containers[0].requests.memory_bytes, 64 << 20);
  EXPECT_EQ(p.containers[0].requests.of(base::symbol{"nvidia.com/gpu"}), 2);
  ASSERT_EQ(p.containers[0].ports.size(), 1U) << "a port of the container alone is no host port";
  EXPECT_EQ(p.containers[0].ports[0],
            (base::host_port{base::symbol{"10.0.0.1"}, base::symbol{"UDP"}, 53}));
  EXPECT_EQ(p.overhead.cpu_milli, 50);
  EXPECT_EQ(p.pod_request_names, std::vector<std::string>{"memory"});
}

TEST(DecodePod, reads_its_status) {
  struct {
    const char* word;
    pod_phase phase;
    bool is_terminal;
  } rows[] = {{"Pending", pod_phase::pending, false}, {"", pod_phase::pending, false},
              {"Running", pod_phase::running, false}, {"Succeeded", pod_phase::succeeded, true},
              {"Failed", pod_phase::failed, true},    {"Unknown", pod_phase::unknown, false}};
  for (const auto& row : rows) {
    auto p = pod_with("{}", std::string{"{'phase':'"} + row.word + "','nominatedNodeName':'n2'}");
    EXPECT_EQ(p.phase, row.phase) << row.word;
    EXPECT_EQ(p.is_terminal(), row.is_terminal) << row.word;
    EXPECT_EQ(p.nominated_node, "n2");
  }
}

TEST(DecodePod, an_empty_pod_has_the_defaults_of_the_api) {
  auto p = sound(decode_pod(json("{}")));
  EXPECT_EQ(p, pod{});
  EXPECT_EQ(p.grace_seconds, 30);
  EXPECT_FALSE(p.priority);
  EXPECT_EQ(p, sound(decode_pod(json("{'spec':{'affinity':null,'containers':[],'tolerations':null,"
                                     "'schedulingGroup':null},'status':null}"))));
}

TEST(DecodePod, required_affinity_without_terms_is_still_required) {
  auto p = pod_with("{'affinity':{'nodeAffinity':{"
                    "'requiredDuringSchedulingIgnoredDuringExecution':{}}}}");
  EXPECT_TRUE(p.has_required_affinity);
  EXPECT_TRUE(p.required_affinity.empty());
}

TEST(DecodePod, an_operator_we_do_not_know_makes_its_term_match_nothing) {
  auto p = pod_with(R"({'affinity':{'nodeAffinity':{
    'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[
      {'matchExpressions':[{'key':'a','operator':'Exists'},
                           {'key':'b','operator':'Like','values':['x*']}]}]}}}})");
  EXPECT_EQ(p.required_affinity, std::vector<node_term>{node_term{}});
  EXPECT_EQ(p.unweighed, std::vector<std::string>{"spec.affinity.nodeAffinity"});
}

TEST(DecodePod, a_toleration_we_do_not_know_tolerates_nothing) {
  auto p = pod_with("{'tolerations':[{'key':'a','operator':'Gt','value':'3'},"
                    "{'key':'b','operator':'Exists','effect':'NoSleep'}]}");
  EXPECT_TRUE(p.tolerations.empty());
  EXPECT_EQ(p.unweighed, (std::vector<std::string>{"spec.tolerations[0]", "spec.tolerations[1]"}));
}

TEST(DecodePod, lists_hard_demands_that_nobody_weighs_yet) {
  auto p = pod_with(R"({
    'topologySpreadConstraints':[{'whenUnsatisfiable':'DoNotSchedule'}],
    'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{}]},
                'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{}]}},
    'resourceClaims':[{'name':'gpu'}],
    'volumes':[{'name':'tmp','emptyDir':{}},{'name':'d','persistentVolumeClaim':{}}]})");
  EXPECT_EQ(p.unweighed,
            (std::vector<std::string>{
                "spec.topologySpreadConstraints[0]",
                "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]",
                "spec.resourceClaims", "spec.volumes[1]"}));
}

TEST(DecodePod, names_the_workload_entry_and_replica_it_belongs_to_in_v1alpha1) {
  auto p =
      pod_with("{'workloadRef':{'name':'pair','podGroup':'worker','podGroupReplicaKey':'r0'}}");
  ASSERT_TRUE(p.workload_ref);
  EXPECT_EQ(*p.workload_ref, (workload_member_ref{"pair", "worker", "r0"}));
  EXPECT_EQ(synthetic_group_name(*p.workload_ref), "pair/worker/r0");
  EXPECT_EQ(synthetic_group_name({"pair", "worker", ""}), "pair/worker");
}

TEST(DecodePod, a_group_named_in_a_way_we_do_not_know_is_no_lone_pod) {
  EXPECT_FALSE(pod_with("{'schedulingGroup':{'compositeName':'x'}}").refused.empty());
  EXPECT_FALSE(pod_with("{'schedulingGroup':{}}").refused.empty());
  EXPECT_FALSE(pod_with("{'workloadRef':{'name':'w'}}").refused.empty());
}

TEST(DecodePod, names_the_path_of_what_it_cannot_read) {
  auto complaint_of = [](const char* text) { return complaint(decode_pod(json(text))); };
  EXPECT_EQ(complaint_of("{'spec':{'priority':'high'}}"),
            "spec.priority: expected an integer, found a string");
  EXPECT_EQ(complaint_of("{'spec':{'containers':[{},{'resources':{'requests':{'cpu':'1K'}}}]}}"),
            "spec.containers[1].resources.requests.cpu: unable to parse quantity's suffix");
  EXPECT_EQ(complaint_of("{'metadata':{'creationTimestamp':'yesterday'}}"),
            "metadata.creationTimestamp: \"yesterday\" is no RFC 3339 time");
}

} // namespace
} // namespace tutti::api
