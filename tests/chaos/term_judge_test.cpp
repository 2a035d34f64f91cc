// The judge's own reading of terms among pods.
#include "chaos/term_judge.hpp"

#include <gtest/gtest.h>

namespace tutti::chaos {
namespace {

/// Pods by name, each on a node of this name in a rack.
struct Terms : ::testing::Test {
  using labels = std::map<std::string, std::string>;
  std::map<std::string, labels> nodes{{"n1", {{"host", "n1"}, {"rack", "r1"}}},
                                      {"n2", {{"host", "n2"}, {"rack", "r1"}}},
                                      {"n3", {{"host", "n3"}, {"rack", "r2"}}},
                                      {"bare", {}}};
  std::vector<standing> all;

  static api::pod_ties app(std::string value) {
    api::pod_ties out;
    out.space = "ns";
    out.labels = {{"app", std::move(value)}};
    return out;
  }
  static api::pod_term of(std::string value, std::string key) {
    api::pod_term out;
    out.topology_key = std::move(key);
    out.pods.requirements = {{"app", api::label_requirement::operation::in, {std::move(value)}}};
    out.spaces = {"ns"};
    return out;
  }
  void stands(const api::pod_ties& ties, const std::string& node, bool is_uncertain = false) {
    const auto name = std::to_string(all.size());
    all.push_back({name, name, &ties, &nodes.at(node), is_uncertain});
  }
  /// Of the pod that stands there last.
  bool breaks() const {
    domain_labels known;
    for (const auto& [name, has] : nodes)
      known.push_back(&has);
    return broken_term(all.back(), all, known).has_value();
  }
};

TEST_F(Terms, S15_distance_is_kept_in_both_directions) {
  auto shy = app("a");
  shy.anti_affinity = {of("b", "rack")};
  const auto plain = app("b");
  stands(shy, "n1");
  stands(plain, "n3");
  EXPECT_FALSE(breaks());
  stands(plain, "n2", true);
  EXPECT_FALSE(breaks()) << "it may have come after the other was placed";
  stands(plain, "n2");
  EXPECT_TRUE(breaks()) << "who comes must keep away";
  all.clear();
  stands(plain, "n2");
  stands(shy, "n1");
  EXPECT_TRUE(breaks()) << "who keeps away must not come";
}

TEST_F(Terms, S15_company_must_be_there_or_nowhere) {
  auto social = app("a");
  social.affinity = {of("a", "rack")};
  stands(social, "n1");
  EXPECT_FALSE(breaks()) << "the first";
  stands(social, "n2");
  EXPECT_FALSE(breaks());
  stands(social, "n3");
  EXPECT_TRUE(breaks()) << "the others are elsewhere";
  auto follower = app("c");
  follower.affinity = {of("b", "rack")};
  stands(follower, "n1");
  EXPECT_TRUE(breaks()) << "nobody is there, and it does not mean itself";
  stands(follower, "bare");
  EXPECT_TRUE(breaks()) << "a node without the label";
}

TEST_F(Terms, S15_evenness_counts_over_all_domains) {
  auto even = app("a");
  api::spread_term spread;
  spread.topology_key = "rack";
  spread.pods = of("a", "").pods;
  even.spread = {spread};
  stands(even, "n1");
  EXPECT_FALSE(breaks());
  stands(even, "n2");
  EXPECT_TRUE(breaks()) << "two here, none there";
  const auto plain = app("a");
  all.insert(all.begin(), standing{"x", "x", &plain, &nodes.at("n3"), false});
  EXPECT_FALSE(breaks());
}

} // namespace
} // namespace tutti::chaos
