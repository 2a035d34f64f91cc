// The names of terms: made by who has them, understood by whom they mean.
#include "api/term_guards.hpp"

#include <gtest/gtest.h>

namespace tutti::api {
namespace {

using op = label_requirement::operation;

pod_ties pod(std::vector<std::pair<std::string, std::string>> labels, std::string space = "ns") {
  pod_ties out;
  out.space = std::move(space);
  out.labels = std::move(labels);
  return out;
}

pod_term term(std::vector<label_requirement> requirements, std::string key = "zone") {
  pod_term out;
  out.topology_key = std::move(key);
  out.pods.requirements = std::move(requirements);
  out.spaces = {"ns"};
  return out;
}

TEST(TermGuards, are_named_alike_whatever_the_order) {
  auto a = pod({});
  a.anti_affinity = {term({{"app", op::in, {"web", "db"}}, {"tier", op::exists, {}}})};
  auto b = pod({{"x", "y"}}, "elsewhere");
  b.anti_affinity = {term({{"tier", op::exists, {}}, {"app", op::in, {"db", "web"}}})};
  ASSERT_EQ(guards_of_terms(a).size(), 1u);
  EXPECT_EQ(guards_of_terms(a), guards_of_terms(b));
  EXPECT_EQ(guards_of_terms(a)[0],
            (term_guard{"anti-affinity", "ns", "zone app in (db,web),tier"}));
  EXPECT_EQ(topology_key_of(guards_of_terms(a)[0]), "zone");
}

TEST(TermGuards, mean_whom_the_term_means) {
  const std::vector<pod_term> terms{
      term({{"app", op::in, {"db"}}}),
      term({{"app", op::in, {"db", "web"}}, {"tier", op::not_in, {"x", "y"}}}),
      term({{"app", op::not_in, {"db"}}}),
      term({{"tier", op::exists, {}}}),
      term({{"tier", op::does_not_exist, {}}}),
      term({{"app", op::in, {""}}}),
  };
  const std::vector<pod_ties> pods{pod({}),
                                   pod({{"app", "db"}}),
                                   pod({{"app", "web"}, {"tier", "x"}}),
                                   pod({{"app", ""}}),
                                   pod({{"tier", "z"}}),
                                   pod({{"app", "db"}}, "elsewhere")};
  for (const auto& x : terms) {
    auto who = pod({});
    who.affinity = {x};
    const auto guards = guards_of_terms(who);
    ASSERT_EQ(guards.size(), 1u);
    for (const auto& other : pods)
      EXPECT_EQ(may_mean(guards[0], other), selects(x, other, nullptr)) << guards[0].key;
  }
}

TEST(TermGuards, are_one_for_each_namespace_and_one_for_all) {
  auto who = pod({});
  auto several = term({{"app", op::in, {"db"}}});
  several.spaces = {"a", "b"};
  auto every = several;
  every.space_labels.emplace().selects_all = true;
  who.anti_affinity = {several};
  EXPECT_EQ(guards_of_terms(who).size(), 2u);
  who.anti_affinity = {every};
  const auto guards = guards_of_terms(who);
  ASSERT_EQ(guards.size(), 1u);
  EXPECT_TRUE(may_mean(guards[0], pod({{"app", "db"}}, "anywhere")));
}

TEST(TermGuards, of_all_pods_and_of_none) {
  auto who = pod({});
  auto all = term({});
  all.pods.selects_all = true;
  who.affinity = {all, term({})};
  const auto guards = guards_of_terms(who);
  ASSERT_EQ(guards.size(), 1u) << "a selector that is missing selects nothing";
  EXPECT_TRUE(may_mean(guards[0], pod({})));
}

TEST(TermGuards, of_spread_only_where_it_is_required) {
  auto who = pod({{"app", "db"}});
  spread_term even;
  even.topology_key = "zone";
  even.pods.requirements = {{"app", op::in, {"db"}}};
  who.spread = {even};
  EXPECT_EQ(guards_of_terms(who), (std::vector<term_guard>{{"spread", "ns", "zone app=db"}}));
  who.spread[0].is_required = false;
  EXPECT_TRUE(guards_of_terms(who).empty());
}

TEST(TermGuards, that_nobody_made_mean_nobody) {
  EXPECT_FALSE(may_mean({"anti-affinity", "ns", "zone"}, pod({})));
  EXPECT_FALSE(may_mean({"anti-affinity", "ns", "zone a in (b"}, pod({{"a", "b"}})));
}

} // namespace
} // namespace tutti::api
