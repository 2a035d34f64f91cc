// Nodes, priority classes and metadata as servers send them.
#include "api/decode.hpp"

#include "base/limits.hpp"
#include "tests/api/fixtures.hpp"

namespace tutti::api {
namespace {

using namespace testing_words;

TEST(DecodeNode, reads_what_the_scheduler_counts) {
  auto n = sound(decode_node(json(R"({
    'apiVersion':'v1','kind':'Node',
    'metadata':{'name':'n1','uid':'u1','resourceVersion':'77',
                'creationTimestamp':'2026-07-24T10:11:12Z',
                'labels':{'kubernetes.io/hostname':'n1','rack':'r2'}},
    'spec':{'unschedulable':true,'podCIDR':'10.0.0.0/24',
            'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'},
                      {'key':'slow','effect':'PreferNoSchedule'},
                      {'key':'bad','effect':'NoExecute','timeAdded':null}]},
    'status':{'allocatable':{'cpu':'3920m','memory':'16Gi','ephemeral-storage':'100M','pods':'110',
                             'nvidia.com/gpu':'8','hugepages-2Mi':'1Gi','storage':'7'},
              'conditions':[{'type':'Ready','status':'True','reason':'KubeletReady',
                             'lastTransitionTime':'1970-01-01T00:00:01Z'}]}})")));
  EXPECT_EQ(n.meta.name, "n1");
  EXPECT_EQ(n.meta.uid, "u1");
  EXPECT_EQ(n.meta.resource_version, "77");
  EXPECT_EQ(n.meta.created.unix_ms, 1784887872000);
  EXPECT_EQ(n.meta.labels.at("rack"), "r2");
  EXPECT_TRUE(n.unschedulable);
  EXPECT_EQ(n.taints, (std::vector<taint>{{"gpu", "yes", taint_effect::no_schedule},
                                          {"slow", "", taint_effect::prefer_no_schedule},
                                          {"bad", "", taint_effect::no_execute}}));
  EXPECT_EQ(n.allocatable.cpu_milli, 3920);
  EXPECT_EQ(n.allocatable.memory_bytes, 16LL << 30);
  EXPECT_EQ(n.allocatable.ephemeral_bytes, 100'000'000);
  EXPECT_EQ(n.allocatable.pods, 110);
  EXPECT_EQ(n.allocatable.of(base::symbol{"nvidia.com/gpu"}), 8);
  EXPECT_EQ(n.allocatable.of(base::symbol{"hugepages-2Mi"}), 1 << 30);
  EXPECT_EQ(n.allocatable.extended.size(), 2U) << "a name without a domain does not count";
  ASSERT_NE(find_condition(n.conditions, "Ready"), nullptr);
  EXPECT_TRUE(find_condition(n.conditions, "Ready")->is_true());
  EXPECT_EQ(n.conditions[0].since.unix_ms, 1000);
  EXPECT_EQ(find_condition(n.conditions, "DiskPressure"), nullptr);
}

TEST(DecodeNode, takes_missing_null_and_empty_for_the_same) {
  auto missing = sound(decode_node(json("{'metadata':{'name':'n'}}")));
  auto null = sound(decode_node(json("{'metadata':{'name':'n','labels':null},'spec':null,"
                                     "'status':{'allocatable':null,'conditions':null}}")));
  auto empty = sound(decode_node(json("{'metadata':{'name':'n','labels':{}},'spec':{'taints':[]},"
                                      "'status':{'allocatable':{},'conditions':[]}}")));
  EXPECT_EQ(missing, null);
  EXPECT_EQ(missing, empty);
}

TEST(DecodeNode, saturates_amounts_that_would_wrap) {
  auto n = sound(decode_node(json("{'status':{'allocatable':{'cpu':'1e30','memory':'100Ei'}}}")));
  EXPECT_EQ(n.allocatable.cpu_milli, base::limits::amount_max);
  EXPECT_EQ(n.allocatable.memory_bytes, base::limits::amount_max);
}

TEST(DecodeNode, names_the_path_of_what_it_cannot_read) {
  EXPECT_EQ(complaint(decode_node(json("{'spec':{'taints':[{'key':'a','effect':'Sometimes'}]}}"))),
            "spec.taints[0].effect: unknown effect \"Sometimes\"");
  EXPECT_EQ(complaint(decode_node(json("{'status':{'allocatable':{'nvidia.com/gpu':'x'}}}"))),
            "status.allocatable[nvidia.com/gpu]: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  EXPECT_EQ(complaint(decode_node(json("{'status':{'allocatable':{'cpu':'-1'}}}"))),
            "status.allocatable.cpu: must be greater than or equal to 0");
  EXPECT_EQ(complaint(decode_node(json("{'spec':'none'}"))),
            "spec: expected an object, found a string");
  EXPECT_EQ(complaint(decode_node(json("{'metadata':{'labels':{'a/b':1}}}"))),
            "metadata.labels[a/b]: expected a string, found an integer");
  EXPECT_EQ(complaint(decode_node(json("{'spec':{'taints':{}}}"))),
            "spec.taints: expected a list, found an object");
}

TEST(DecodeMeta, reads_owners_finalizers_and_deletion) {
  auto m = sound(decode_meta(json(R"({'metadata':{
      'namespace':'team','name':'g','generation':3,'deletionTimestamp':'2026-01-01T00:00:00Z',
      'annotations':{'a':'b'},'finalizers':['x/y'],
      'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'ju',
                          'controller':true}]}})")));
  EXPECT_EQ(m.space, "team");
  EXPECT_EQ(m.generation, 3);
  EXPECT_TRUE(m.is_deleting());
  EXPECT_EQ(m.finalizers, std::vector<std::string>{"x/y"});
  EXPECT_EQ(m.owners, (std::vector<owner_reference>{{"batch/v1", "Job", "j", "ju", true}}));
}

TEST(DecodePriorityClass, reads_value_and_policy) {
  auto high = sound(
      decode_priority_class(json("{'metadata':{'name':'high'},'value':1000,'globalDefault':true,"
                                 "'preemptionPolicy':'Never'}")));
  EXPECT_EQ(high.value, 1000);
  EXPECT_TRUE(high.is_global_default);
  EXPECT_TRUE(high.never_preempts);
  auto plain =
      sound(decode_priority_class(json("{'value':-5,'preemptionPolicy':'PreemptLowerPriority'}")));
  EXPECT_EQ(plain.value, -5);
  EXPECT_FALSE(plain.never_preempts);
  EXPECT_EQ(complaint(decode_priority_class(json("{'value':3000000000}"))),
            "value: 3000000000 does not fit into 32 bits");
  EXPECT_EQ(complaint(decode_priority_class(json("{'value':1.5}"))),
            "value: expected an integer, found a number with a fraction");
}

} // namespace
} // namespace tutti::api
