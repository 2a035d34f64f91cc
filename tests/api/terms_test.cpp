// Which node a pod may go to, as far as labels and taints say.
#include "api/pod_terms.hpp"

#include "tests/api/fixtures.hpp"

namespace tutti::api {
namespace {

using namespace testing_words;

static_verdict verdict(const std::string& pod_spec, const node& n) {
  return judge(terms_of(pod_with(pod_spec)), terms_of(n), n.meta.name, host_name_of(n));
}

std::string required(const std::string& terms) {
  return "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
         "{'nodeSelectorTerms':["
         + terms + "]}}}}";
}

std::string expression(const std::string& key, const std::string& how, const std::string& values) {
  return "{'key':'" + key + "','operator':'" + how + "','values':[" + values + "]}";
}

TEST(Judge, a_node_selector_needs_every_label) {
  auto n = node_with("{'disk':'ssd','zone':'a'}");
  EXPECT_EQ(verdict("{'nodeSelector':{'disk':'ssd','zone':'a'}}", n), static_verdict::ok);
  EXPECT_EQ(verdict("{'nodeSelector':{'disk':'hdd'}}", n), static_verdict::selector);
  EXPECT_EQ(verdict("{'nodeSelector':{'rack':''}}", n), static_verdict::selector);
}

TEST(Judge, knows_every_operator_of_node_affinity) {
  auto n = node_with("{'zone':'a','cores':'16','odd':'x16'}");
  struct {
    const char* key;
    const char* how;
    const char* values;
    bool fits;
  } rows[] = {{"zone", "In", "'a','b'", true},     {"zone", "In", "'b'", false},
              {"none", "In", "'a'", false},        {"zone", "NotIn", "'a'", false},
              {"zone", "NotIn", "'b'", true},      {"none", "NotIn", "'b'", true},
              {"zone", "Exists", "", true},        {"none", "Exists", "", false},
              {"zone", "DoesNotExist", "", false}, {"none", "DoesNotExist", "", true},
              {"cores", "Gt", "'8'", true},        {"cores", "Gt", "'16'", false},
              {"cores", "Lt", "'17'", true},       {"cores", "Lt", "'16'", false},
              {"odd", "Gt", "'8'", false},         {"odd", "Lt", "'99'", false},
              {"cores", "Gt", "'eight'", false},   {"none", "Lt", "'9'", false},
              {"zone", "Like", "'a'", false}};
  for (const auto& row : rows)
    EXPECT_EQ(
        verdict(required("{'matchExpressions':[" + expression(row.key, row.how, row.values) + "]}"),
                n),
        row.fits ? static_verdict::ok : static_verdict::selector)
        << row.key << " " << row.how << " " << row.values;
}

TEST(Judge, one_term_must_hold_with_all_its_expressions) {
  auto n = node_with("{'zone':'a','disk':'ssd'}");
  auto in = [](const char* key, const char* value) {
    return expression(key, "In", std::string{"'"} + value + "'");
  };
  auto both = "{'matchExpressions':[" + in("zone", "a") + "," + in("disk", "hdd") + "]}";
  auto one = "{'matchExpressions':[" + in("disk", "ssd") + "]}";
  EXPECT_EQ(verdict(required(both), n), static_verdict::selector);
  EXPECT_EQ(verdict(required(both + "," + one), n), static_verdict::ok);
}

TEST(Judge, an_empty_term_and_no_term_match_nothing) {
  auto n = node_with("{}");
  EXPECT_EQ(verdict(required("{}"), n), static_verdict::selector);
  EXPECT_EQ(verdict(required(""), n), static_verdict::selector);
  EXPECT_EQ(verdict("{}", n), static_verdict::ok);
}

TEST(Judge, fields_compare_the_name_of_the_node) {
  auto n = node_with("{}");
  auto field = [](const char* how, const char* values, const char* key = "metadata.name") {
    return required("{'matchFields':[" + expression(key, how, values) + "]}");
  };
  EXPECT_EQ(verdict(field("In", "'n1'"), n), static_verdict::ok);
  EXPECT_EQ(verdict(field("In", "'n2'"), n), static_verdict::selector);
  EXPECT_EQ(verdict(field("NotIn", "'n2'"), n), static_verdict::ok);
  EXPECT_EQ(verdict(field("NotIn", "'n1'"), n), static_verdict::selector);
  EXPECT_EQ(verdict(field("Exists", ""), n), static_verdict::selector);
  EXPECT_EQ(verdict(field("NotIn", "'n2'", "spec.providerID"), n), static_verdict::selector);
}

TEST(Judge, node_selector_and_affinity_must_both_hold) {
  auto n = node_with("{'zone':'a'}");
  auto p = pod_with("{'nodeSelector':{'zone':'b'},'affinity':{'nodeAffinity':{"
                    "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':["
                    "{'matchExpressions':[{'key':'zone','operator':'Exists'}]}]}}}}");
  EXPECT_EQ(judge(terms_of(p), terms_of(n), "n1", ""), static_verdict::selector);
}

TEST(Tolerates, as_the_table_of_kubernetes_says) {
  taint what{"gpu", "yes", taint_effect::no_schedule};
  struct {
    toleration how;
    bool expected;
  } rows[] = {
      {{"gpu", false, "yes", true, {}}, true},
      {{"gpu", false, "no", true, {}}, false},
      {{"cpu", false, "yes", true, {}}, false},
      {{"gpu", true, "", true, {}}, true},
      {{"", true, "", true, {}}, true},
      {{"", true, "", false, taint_effect::no_schedule}, true},
      {{"", true, "", false, taint_effect::no_execute}, false},
      {{"gpu", false, "yes", false, taint_effect::no_schedule}, true},
      {{"gpu", false, "yes", false, taint_effect::prefer_no_schedule}, false},
      {{"", false, "yes", true, {}}, true},
      {{"", false, "", true, {}}, false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(tolerates(row.how, what), row.expected)
        << row.how.key << " " << row.how.is_exists << " " << row.how.value << " "
        << row.how.any_effect;
}

TEST(Judge, stops_at_the_first_taint_that_is_not_tolerated) {
  auto n = node_with("{}", "{'taints':[{'key':'soft','effect':'PreferNoSchedule'},"
                           "{'key':'a','effect':'NoSchedule'},{'key':'b','effect':'NoExecute'}]}");
  auto tolerating = [](const std::string& list) { return "{'tolerations':[" + list + "]}"; };
  auto a = std::string{"{'key':'a','operator':'Exists'}"};
  auto b = std::string{"{'key':'b','operator':'Exists'}"};
  EXPECT_EQ(verdict("{}", n), static_verdict::tainted);
  EXPECT_EQ(verdict(tolerating(a), n), static_verdict::tainted);
  EXPECT_EQ(verdict(tolerating(a + "," + b), n), static_verdict::ok)
      << "a preference does not forbid";
  auto shape = terms_of(pod_with(tolerating(a)));
  auto kind = terms_of(n);
  ASSERT_NE(untolerated(shape, kind), nullptr);
  EXPECT_EQ(untolerated(shape, kind)->key, "b");
}

TEST(Judge, an_unschedulable_node_takes_only_pods_that_tolerate_it) {
  auto n = node_with("{}", "{'unschedulable':true}");
  EXPECT_EQ(verdict("{}", n), static_verdict::unschedulable);
  EXPECT_EQ(verdict("{'tolerations':[{'key':'node.kubernetes.io/unschedulable',"
                    "'operator':'Exists','effect':'NoSchedule'}]}",
                    n),
            static_verdict::ok);
  EXPECT_EQ(verdict("{'tolerations':[{'operator':'Exists'}]}", n), static_verdict::ok);
}

TEST(Judge, names_the_reason_that_the_reference_names_first) {
  auto n = node_with("{}", "{'unschedulable':true,'taints':[{'key':'a','effect':'NoSchedule'}]}");
  EXPECT_EQ(verdict("{'nodeSelector':{'x':'y'}}", n), static_verdict::unschedulable);
  shape_terms shape;
  shape.node_name = "n9";
  auto tainted = terms_of(node_with("{}", "{'taints':[{'key':'a','effect':'NoSchedule'}]}"));
  EXPECT_EQ(judge(shape, tainted, "n1", ""), static_verdict::wrong_name);
  EXPECT_EQ(judge(shape, tainted, "n9", ""), static_verdict::tainted);
}

TEST(Judge, the_host_name_belongs_to_the_node_and_not_to_its_class) {
  auto a = node_with("{'kubernetes.io/hostname':'n1','zone':'a'}");
  auto b = node_with("{'kubernetes.io/hostname':'n2','zone':'a'}");
  EXPECT_EQ(class_of(a)->id, class_of(b)->id);
  auto wants_n1 = "{'nodeSelector':{'kubernetes.io/hostname':'n1'}}";
  EXPECT_EQ(verdict(wants_n1, a), static_verdict::ok);
  EXPECT_EQ(verdict(wants_n1, b), static_verdict::selector);
  EXPECT_FALSE(label_of(terms_of(a), "", host_name_label).has);
}

TEST(NameMatters, where_a_term_asks_for_host_or_name) {
  auto matters = [](const std::string& spec) { return name_matters(terms_of(pod_with(spec))); };
  EXPECT_FALSE(matters("{'nodeSelector':{'zone':'a'}}"));
  EXPECT_FALSE(matters(required("{'matchExpressions':[" + expression("zone", "In", "'a'") + "]}")));
  EXPECT_TRUE(matters("{'nodeSelector':{'kubernetes.io/hostname':'n1'}}"));
  EXPECT_TRUE(matters(required("{'matchExpressions':["
                               + expression("kubernetes.io/hostname", "NotIn", "'n1'") + "]}")));
  EXPECT_TRUE(
      matters(required("{'matchFields':[" + expression("metadata.name", "In", "'n1'") + "]}")));
  shape_terms named;
  named.node_name = "n1";
  EXPECT_TRUE(name_matters(named));
}

TEST(TermsOf, a_bound_pod_keeps_the_shape_it_had_while_pending) {
  EXPECT_EQ(shape_of(pod_with("{'nodeName':'n1'}"))->id, shape_of(pod_with("{}"))->id);
}

} // namespace
} // namespace tutti::api
