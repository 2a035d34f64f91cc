// What ties pods to each other: read from manifests, written as bytes, and asked whom it means.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/decode.hpp"
#include "api/pod_terms.hpp"
#include "api/ties.hpp"
#include "tests/api/fixtures.hpp"

namespace tutti::api {
namespace {

using namespace testing_words;
using operation = label_requirement::operation;

pod_ties ties_in(const std::string& spec) {
  return ties_of(sound(decode_pod(json("{'metadata':{'namespace':'shop','name':'p','uid':'u',"
                                       "'labels':{'app':'web','hash':'7'}},'spec':"
                                       + spec + "}"))));
}

label_selector means(const std::string& key, const std::string& value) {
  return {{{key, operation::in, {value}}}, false};
}

pod_ties rich_ties() {
  pod_ties x;
  x.space = "shop";
  x.labels = {{"app", "web"}, {"tier", "front"}};
  x.affinity = {{"zone", means("app", "db"), {"shop"}, std::nullopt}};
  x.anti_affinity = {{"host", means("app", "web"), {"shop", "test"}, label_selector{{}, true}},
                     {"rack", means("app", "web"), {"shop"}, std::nullopt}};
  x.spread = {{2, "zone", means("app", "web"), 3, true, true, true},
              {1, "host", means("app", "web"), 1, false, false, false}};
  x.preferred = {{-10, {"zone", means("app", "db"), {"shop"}, std::nullopt}}};
  return x;
}

TEST(Ties, are_read_from_a_manifest) {
  const auto x = ties_in(R"({'affinity':{
    'podAffinity':{
      'requiredDuringSchedulingIgnoredDuringExecution':[
        {'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'db'}}}],
      'preferredDuringSchedulingIgnoredDuringExecution':[
        {'weight':7,'podAffinityTerm':{'topologyKey':'rack','namespaces':['b','a','b'],
         'labelSelector':{'matchExpressions':[{'key':'app','operator':'Exists'}]}}}]},
    'podAntiAffinity':{
      'requiredDuringSchedulingIgnoredDuringExecution':[
        {'topologyKey':'host','namespaceSelector':{},'labelSelector':{}}],
      'preferredDuringSchedulingIgnoredDuringExecution':[
        {'weight':3,'podAffinityTerm':{'topologyKey':'zone'}}]}},
    'topologySpreadConstraints':[
      {'topologyKey':'zone','maxSkew':2,'whenUnsatisfiable':'DoNotSchedule','minDomains':3,
       'nodeAffinityPolicy':'Ignore','nodeTaintsPolicy':'Honor',
       'labelSelector':{'matchLabels':{'app':'web'}}},
      {'topologyKey':'host','maxSkew':1,'whenUnsatisfiable':'ScheduleAnyway'}]})");
  EXPECT_EQ(x.space, "shop");
  EXPECT_EQ(x.labels.size(), 2U);
  EXPECT_EQ(x.affinity,
            (std::vector<pod_term>{{"zone", means("app", "db"), {"shop"}, std::nullopt}}));
  EXPECT_EQ(
      x.anti_affinity,
      (std::vector<pod_term>{{"host", label_selector{{}, true}, {}, label_selector{{}, true}}}));
  ASSERT_EQ(x.preferred.size(), 2U);
  EXPECT_EQ(x.preferred[0].weight, 7);
  EXPECT_EQ(x.preferred[0].term.spaces, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(x.preferred[1].weight, -3);
  EXPECT_EQ(x.preferred[1].term.pods, label_selector{}); // no selector: nobody
  ASSERT_EQ(x.spread.size(), 2U);
  EXPECT_EQ(x.spread[0], (spread_term{2, "zone", means("app", "web"), 3, true, false, true}));
  EXPECT_EQ(x.spread[1], (spread_term{1, "host", {}, 1, false, true, false}));
  EXPECT_TRUE(x.has_required());
}

TEST(Ties, labels_to_match_and_to_differ_in_are_merged_once) {
  const std::string merged = R"({'key':'hash','operator':'In','values':['7']})";
  for (const auto& given : {std::string{}, merged}) {
    const auto x = ties_in(
        R"({'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[
             {'topologyKey':'host','matchLabelKeys':['hash','none'],'mismatchLabelKeys':['app'],
              'labelSelector':{'matchExpressions':[)"
        + given + R"(]}}]}},
            'topologySpreadConstraints':[{'topologyKey':'zone','maxSkew':1,
              'whenUnsatisfiable':'DoNotSchedule','matchLabelKeys':['hash'],
              'labelSelector':{'matchExpressions':[)"
        + given + "]}}]}");
    ASSERT_EQ(x.anti_affinity.size(), 1U) << given;
    EXPECT_EQ(x.anti_affinity[0].pods,
              (label_selector{{{"app", operation::not_in, {"web"}}, {"hash", operation::in, {"7"}}},
                              false}))
        << given;
    ASSERT_EQ(x.spread.size(), 1U) << given;
    EXPECT_EQ(x.spread[0].pods, means("hash", "7")) << given;
  }
}

TEST(Ties, what_nobody_can_weigh_is_said_and_left_out) {
  const auto p = pod_with(R"({'affinity':{'podAffinity':{
    'requiredDuringSchedulingIgnoredDuringExecution':[
      {'topologyKey':'zone','labelSelector':{'matchExpressions':[{'key':'a','operator':'Near'}]}},
      {'topologyKey':'zone','labelSelector':{'matchExpressions':[
        {'key':'a','operator':'Gt','values':['1']}]}},
      {'topologyKey':'zone','labelSelector':{}}],
    'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1}]}},
    'topologySpreadConstraints':[
      {'topologyKey':'zone','maxSkew':1,'whenUnsatisfiable':'Perhaps'},
      {'topologyKey':'zone','maxSkew':1,'whenUnsatisfiable':'DoNotSchedule',
       'nodeTaintsPolicy':'Sometimes'},
      {'topologyKey':'zone','maxSkew':0,'whenUnsatisfiable':'DoNotSchedule'},
      {'topologyKey':'','maxSkew':1,'whenUnsatisfiable':'ScheduleAnyway'}]})");
  const std::string required =
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution";
  EXPECT_EQ(p.unweighed, (std::vector<std::string>{"spec.topologySpreadConstraints[0]",
                                                   "spec.topologySpreadConstraints[1]",
                                                   "spec.topologySpreadConstraints[2]",
                                                   required + "[0]", required + "[1]"}));
  EXPECT_EQ(p.pod_affinity.size(), 1U);
  EXPECT_TRUE(p.preferred_pods.empty());
  EXPECT_TRUE(p.spread.empty());
}

TEST(TiesBlob, reads_back_as_what_was_written) {
  const auto made = make_ties(rich_ties());
  const auto read = decode_ties(made->blob);
  ASSERT_TRUE(read) << read.error().message();
  auto want = rich_ties();
  EXPECT_EQ(read->space, want.space);
  EXPECT_EQ(read->labels, want.labels);
  EXPECT_EQ(read->affinity, want.affinity);
  EXPECT_EQ(read->anti_affinity, want.anti_affinity);
  EXPECT_EQ(read->spread.size(), want.spread.size());
  EXPECT_EQ(read->preferred, want.preferred);
  EXPECT_EQ(make_ties(*read)->blob, made->blob);
  EXPECT_TRUE(made->has_terms);
}

TEST(TiesBlob, is_the_same_whatever_the_order_in_the_manifest) {
  const auto x = rich_ties();
  auto y = x;
  std::swap(y.labels[0], y.labels[1]);
  std::swap(y.anti_affinity[0], y.anti_affinity[1]);
  std::swap(y.spread[0], y.spread[1]);
  y.affinity.push_back(y.affinity[0]);
  y.preferred.push_back({0, {"zone", means("x", "y"), {"shop"}, std::nullopt}});
  EXPECT_EQ(make_ties(x)->id, make_ties(y)->id);
}

TEST(TiesBlob, differs_with_every_part) {
  std::vector<pod_ties> all(9, rich_ties());
  all[1].space = "test";
  all[2].labels[0].second = "db";
  all[3].affinity[0].spaces.push_back("test");
  all[4].anti_affinity[0].space_labels.reset();
  all[5].spread[0].min_domains = 2;
  all[6].spread[0].is_required = false;
  all[7].preferred[0].weight = 10;
  all[8].anti_affinity[1].topology_key = "row";
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      EXPECT_NE(make_ties(all[i])->id, make_ties(all[k])->id) << i << " " << k;
}

TEST(TiesBlob, labels_alone_are_no_terms) {
  pod_ties x;
  x.space = "shop";
  x.labels = {{"app", "web"}};
  EXPECT_FALSE(make_ties(x)->has_terms);
  x.spread = {{1, "zone", {}, 1, false, true, false}};
  EXPECT_TRUE(make_ties(x)->has_terms);
  EXPECT_FALSE(x.has_required());
}

RC_GTEST_PROP(TiesBlob, damage_is_an_error_and_never_a_crash, ()) {
  auto bytes = make_ties(rich_ties())->blob;
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  if (auto read = decode_ties(bytes))
    RC_ASSERT(make_ties(*read)->blob.size() <= bytes.size());
  bytes.resize(at);
  RC_ASSERT(!decode_ties(bytes));
}

TEST(TiesBlob, a_later_version_is_told_from_damage) {
  auto bytes = make_ties(rich_ties())->blob;
  bytes[1] = 2;
  EXPECT_EQ(decode_ties(bytes).error().what(), base::code::newer_format);
  bytes[1] = 0;
  EXPECT_EQ(decode_ties(bytes).error().what(), base::code::corrupt);
}

TEST(PodTerm, means_the_named_spaces_and_those_with_the_labels) {
  pod_ties other;
  other.labels = {{"app", "web"}};
  pod_term term{"zone", means("app", "web"), {"a"}, std::nullopt};
  const string_map team{{"team", "red"}};
  other.space = "a";
  EXPECT_TRUE(selects(term, other, nullptr));
  other.space = "b";
  EXPECT_FALSE(selects(term, other, &team));
  term.space_labels = means("team", "red");
  EXPECT_TRUE(selects(term, other, &team));
  EXPECT_FALSE(selects(term, other, nullptr)) << "labels of the namespace are not known";
  term.space_labels = label_selector{{}, true};
  EXPECT_TRUE(selects(term, other, nullptr)) << "every namespace";
  other.labels[0].second = "db";
  EXPECT_FALSE(selects(term, other, nullptr));
  term.pods = {};
  EXPECT_FALSE(selects(term, other, nullptr)) << "a missing selector means nobody";
}

TEST(SpreadTerm, means_pods_of_its_own_space_only) {
  pod_ties other;
  other.space = "a";
  other.labels = {{"app", "web"}};
  const spread_term term{1, "zone", means("app", "web"), 1, true, true, false};
  EXPECT_TRUE(selects(term, "a", other));
  EXPECT_FALSE(selects(term, "b", other));
}

} // namespace
} // namespace tutti::api
