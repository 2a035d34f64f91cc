// Groups and workloads in all four dialects become one model.
#include "api/decode.hpp"

#include "tests/api/fixtures.hpp"

namespace tutti::api {
namespace {

using namespace testing_words;

pod_group group(dialect spoken, const std::string& spec, const std::string& status = "{}") {
  return sound(decode_pod_group(json("{'metadata':{'namespace':'d','name':'g','uid':'gu'},'spec':"
                                     + spec + ",'status':" + status + "}"),
                                spoken));
}

std::string refusal(const std::string& spec, dialect spoken = dialect::v1beta1) {
  return group(spoken, spec).rules.refused;
}

TEST(Dialect, is_found_by_api_version_and_names_its_condition) {
  for (auto d : {dialect::v1alpha1, dialect::v1alpha2, dialect::v1alpha3, dialect::v1beta1}) {
    EXPECT_EQ(dialect_of(api_version_of(d)), d);
    EXPECT_EQ(dialect_of(api_version_of(d).substr(18)), d);
  }
  EXPECT_EQ(dialect_of("tutti.dev/v1alpha1"), dialect::own);
  EXPECT_EQ(dialect_of("v1alpha1"), dialect::v1alpha1) << "a bare version is of scheduling.k8s.io";
  EXPECT_EQ(dialect_of("scheduling.k8s.io/v1"), std::nullopt);
  EXPECT_EQ(dialect_of("batch/v1beta1"), std::nullopt);
  EXPECT_EQ(scheduled_condition_of(dialect::v1alpha1), "");
  EXPECT_EQ(scheduled_condition_of(dialect::v1alpha2), "PodGroupScheduled");
  EXPECT_EQ(scheduled_condition_of(dialect::v1beta1), "PodGroupInitiallyScheduled");
}

TEST(DecodeGroup, reads_v1beta1_and_v1alpha3_alike) {
  for (auto d : {dialect::v1beta1, dialect::v1alpha3}) {
    auto g = group(d,
                   R"({'parentCompositePodGroupName':'root',
                       'workloadRef':{'workloadName':'train','templateName':'worker'},
                       'schedulingPolicy':{'gang':{'minCount':4}},
                       'schedulingConstraints':{'topology':[{'key':'rack'}]},
                       'resourceClaims':[{'name':'net','resourceClaimTemplateName':'t'}],
                       'disruptionMode':{'all':{}},'priorityClassName':'high','priority':1000,
                       'preemptionPolicy':'Never'})",
                   R"({'conditions':[{'type':'PodGroupInitiallyScheduled','status':'True'}],
                       'resourceClaimStatuses':[{'name':'net','resourceClaimName':'g-net-x'}]})");
    EXPECT_EQ(g.spoken, d);
    EXPECT_EQ(g.meta.uid, "gu");
    EXPECT_EQ(g.parent, "root");
    EXPECT_EQ(g.made_from, (template_ref{"train", "worker"}));
    EXPECT_FALSE(g.rules.is_basic);
    EXPECT_EQ(g.rules.min_count, 4);
    EXPECT_EQ(g.rules.topology_key, "rack");
    EXPECT_EQ(g.rules.claims, (std::vector<group_claim>{{"net", "", "t"}}));
    EXPECT_TRUE(g.rules.evicts_whole);
    EXPECT_EQ(g.rules.priority, 1000);
    EXPECT_EQ(g.rules.priority_class_name, "high");
    EXPECT_EQ(g.rules.never_preempts, true);
    EXPECT_EQ(g.rules.refused, "");
    EXPECT_TRUE(g.has_started());
    EXPECT_EQ(g.claim_names.at("net"), "g-net-x");
  }
}

TEST(DecodeGroup, reads_v1alpha2) {
  auto g = group(dialect::v1alpha2,
                 R"({'podGroupTemplateRef':{'workload':{'workloadName':'train',
                                                        'podGroupTemplateName':'worker'}},
                     'schedulingPolicy':{'gang':{'minCount':2}},
                     'schedulingConstraints':{'topology':[{'key':'zone'}]},
                     'disruptionMode':'PodGroup'})",
                 "{'conditions':[{'type':'PodGroupScheduled','status':'True'}]}");
  EXPECT_EQ(g.made_from, (template_ref{"train", "worker"}));
  EXPECT_EQ(g.rules.min_count, 2);
  EXPECT_EQ(g.rules.topology_key, "zone");
  EXPECT_TRUE(g.rules.evicts_whole);
  EXPECT_EQ(g.rules.priority, std::nullopt);
  EXPECT_EQ(g.rules.never_preempts, std::nullopt);
  EXPECT_TRUE(g.has_started());
  EXPECT_FALSE(group(dialect::v1alpha2, "{'schedulingPolicy':{'basic':{}},'disruptionMode':'Pod'}")
                   .rules.evicts_whole);
}

TEST(DecodeGroup, has_not_started_by_the_condition_of_another_dialect) {
  auto status = "{'conditions':[{'type':'PodGroupScheduled','status':'True'},"
                "{'type':'PodGroupInitiallyScheduled','status':'False'}]}";
  EXPECT_FALSE(group(dialect::v1beta1, "{'schedulingPolicy':{'basic':{}}}", status).has_started());
}

TEST(DecodeGroup, takes_null_missing_and_empty_for_the_same) {
  auto plain = group(dialect::v1beta1, "{'schedulingPolicy':{'basic':{}}}");
  EXPECT_TRUE(plain.rules.is_basic);
  EXPECT_EQ(plain.rules.min_count, 1);
  EXPECT_EQ(plain, group(dialect::v1beta1,
                         R"({'schedulingPolicy':{'basic':{},'gang':null},
                             'schedulingConstraints':null,'workloadRef':null,'resourceClaims':null,
                             'disruptionMode':null,'priority':null})"));
  EXPECT_EQ(plain, group(dialect::v1beta1,
                         R"({'schedulingPolicy':{'basic':{}},
                             'schedulingConstraints':{'topology':[]},'resourceClaims':[],
                             'disruptionMode':{}})"));
  auto v1alpha2 = group(dialect::v1alpha2, "{'schedulingPolicy':{'basic':{}},"
                                           "'podGroupTemplateRef':{'workload':null}}");
  EXPECT_EQ(v1alpha2.made_from, template_ref{});
}

TEST(DecodeGroup, refuses_what_it_must_not_guess) {
  EXPECT_EQ(refusal("{'schedulingPolicy':{'elastic':{'max':9}}}"),
            "spec.schedulingPolicy: \"elastic\" is not known to this scheduler");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'gang':{'minCount':2},'elastic':{}}}"),
            "spec.schedulingPolicy: \"elastic\" is not known to this scheduler");
  EXPECT_EQ(refusal("{}"), "spec.schedulingPolicy: neither \"basic\" nor \"gang\" is set");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'basic':{},'gang':{'minCount':1}}}"),
            "spec.schedulingPolicy: both \"basic\" and \"gang\" are set");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'gang':{}}}"),
            "spec.schedulingPolicy.gang.minCount: 0 is less than 1");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'gang':{'minCount':-3}}}"),
            "spec.schedulingPolicy.gang.minCount: -3 is less than 1");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'basic':{}},'disruptionMode':{'half':{}}}"),
            "spec.disruptionMode: \"half\" is not known to this scheduler");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'basic':{}},'disruptionMode':'Half'}", dialect::v1alpha2),
            "spec.disruptionMode: \"Half\" is not known to this scheduler");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'basic':{}},'preemptionPolicy':'Maybe'}"),
            "spec.preemptionPolicy: \"Maybe\" is not known to this scheduler");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'basic':{}},"
                    "'schedulingConstraints':{'topology':[{'key':'a'},{'key':'b'}]}}"),
            "spec.schedulingConstraints.topology: 2 constraints, at most 1 is known");
  EXPECT_EQ(refusal("{'schedulingPolicy':{'basic':{}},"
                    "'schedulingConstraints':{'topology':[{'level':'rack'}]}}"),
            "spec.schedulingConstraints.topology[0]: a constraint without a key");
}

TEST(DecodeGroup, names_the_path_of_what_it_cannot_read) {
  auto complaint_of = [](const char* spec, dialect spoken) {
    return complaint(decode_pod_group(json(std::string{"{'spec':"} + spec + "}"), spoken));
  };
  EXPECT_EQ(complaint_of("{'schedulingPolicy':{'gang':{'minCount':'2'}}}", dialect::v1beta1),
            "spec.schedulingPolicy.gang.minCount: expected an integer, found a string");
  EXPECT_EQ(complaint_of("{'schedulingPolicy':{'gang':{'minCount':2147483648}}}", dialect::v1beta1),
            "spec.schedulingPolicy.gang.minCount: 2147483648 does not fit into 32 bits");
  EXPECT_EQ(complaint_of("{'disruptionMode':'Pod'}", dialect::v1beta1),
            "spec.disruptionMode: expected an object, found a string");
  EXPECT_EQ(complaint_of("{'disruptionMode':{'all':{}}}", dialect::v1alpha2),
            "spec.disruptionMode: expected a string, found an object");
  EXPECT_EQ(complaint_of("{}", dialect::v1alpha1), "scheduling.k8s.io/v1alpha1 has no PodGroup");
}

TEST(DecodeGroup, reads_composites) {
  auto g = sound(decode_composite_pod_group(json(R"({
    'metadata':{'name':'root'},
    'spec':{'workloadRef':{'workloadName':'w','templateName':'t'},
            'schedulingPolicy':{'gang':{'minGroupCount':2}},
            'schedulingConstraints':{'topology':[{'key':'zone'}]}},
    'status':{'conditions':[{'type':'CompositePodGroupInitiallyScheduled','status':'True'}]}})")));
  EXPECT_TRUE(g.is_composite);
  EXPECT_EQ(g.rules.min_count, 2);
  EXPECT_EQ(g.rules.topology_key, "zone");
  EXPECT_TRUE(g.has_started());
}

TEST(DecodeWorkload, reads_the_templates_of_each_dialect) {
  auto old = sound(decode_workload(json(R"({'metadata':{'name':'w','uid':'wu'},'spec':{
      'controllerRef':{'apiGroup':'batch','kind':'Job','name':'j'},
      'podGroups':[{'name':'worker','policy':{'gang':{'minCount':3}}},
                   {'name':'rest','policy':{'basic':{}}}]}})"),
                                   dialect::v1alpha1));
  EXPECT_EQ(old.controller.api_version, "batch");
  EXPECT_EQ(old.controller.kind, "Job");
  ASSERT_EQ(old.templates.size(), 2U);
  EXPECT_EQ(old.templates[0].rules.min_count, 3);
  EXPECT_TRUE(old.templates[1].rules.is_basic);

  for (auto d : {dialect::v1alpha2, dialect::v1alpha3, dialect::v1beta1}) {
    auto flat = sound(decode_workload(json(R"({'spec':{'podGroupTemplates':[
        {'name':'worker','schedulingPolicy':{'gang':{'minCount':3}},'schedulingConstraints':null,
         'priorityClassName':'high'}]}})"),
                                      d));
    ASSERT_EQ(flat.templates.size(), 1U);
    EXPECT_EQ(flat.templates[0].rules.min_count, 3);
    EXPECT_EQ(flat.templates[0].rules.priority_class_name, "high");
  }
}

TEST(DecodeWorkload, reads_a_tree_of_composites) {
  auto w = sound(decode_workload(json(R"({'spec':{'podGroupTemplates':null,
    'compositePodGroupTemplates':[
      {'name':'replica','schedulingPolicy':{'gang':{'minGroupCount':2}},
       'podGroupTemplates':[{'name':'leader','schedulingPolicy':{'gang':{'minCount':1}}}],
       'compositePodGroupTemplates':[
         {'name':'inner','schedulingPolicy':{'basic':{}},
          'podGroupTemplates':[{'name':'worker',
            'schedulingPolicy':{'gang':{'minCount':8}}}]}]}]}})"),
                                 dialect::v1beta1));
  ASSERT_EQ(w.templates.size(), 1U);
  EXPECT_TRUE(w.templates[0].is_composite);
  EXPECT_EQ(w.templates[0].rules.min_count, 2);
  ASSERT_EQ(w.templates[0].children.size(), 2U);
  ASSERT_NE(find_template(w, "worker"), nullptr);
  EXPECT_EQ(find_template(w, "worker")->rules.min_count, 8);
  EXPECT_EQ(find_template(w, "nobody"), nullptr);
}

TEST(DecodeWorkload, makes_up_the_group_of_v1alpha1_pods) {
  auto w = sound(decode_workload(json(R"({'metadata':{'namespace':'d','name':'pair','uid':'wu'},
      'spec':{'podGroups':[{'name':'worker','policy':{'gang':{'minCount':2}}}]}})"),
                                 dialect::v1alpha1));
  auto a = synthesise_group(w, {"pair", "worker", "r0"});
  auto b = synthesise_group(w, {"pair", "worker", "r1"});
  EXPECT_EQ(a.meta.space, "d");
  EXPECT_EQ(a.meta.name, "pair/worker/r0");
  EXPECT_EQ(a.rules.min_count, 2);
  EXPECT_EQ(a.made_from, (template_ref{"pair", "worker"}));
  EXPECT_NE(a.meta.uid, b.meta.uid) << "each replica key is a gang of its own";
  EXPECT_EQ(a.meta.uid, "wu/worker/r0");
  EXPECT_EQ(synthesise_group(w, {"pair", "worker", ""}).meta.uid, "wu/worker");
  EXPECT_FALSE(a.has_started());
  EXPECT_EQ(synthesise_group(w, {"pair", "boss", ""}).rules.refused,
            "Workload \"pair\" has no pod group \"boss\"");
}

} // namespace
} // namespace tutti::api
