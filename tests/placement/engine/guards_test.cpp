// Guards of a plan: whoever asks takes them for itself, whoever is asked for shares them.
#include <gtest/gtest.h>

#include "placement/engine/guards.hpp"
#include "tests/placement/engine/tied_words.hpp"

namespace tutti::placement::engine {
namespace {

using namespace testing;

/// "kind space key!" per guard; "!" = exclusive.
std::vector<std::string> words_of(const std::vector<guard_need>& list) {
  std::vector<std::string> out;
  for (const auto& g : list)
    out.push_back(g.kind + " " + g.space + " " + g.key + (g.is_exclusive ? "!" : ""));
  return out;
}
using words = std::vector<std::string>;

TEST(GuardsOf, own_terms_are_exclusive) {
  cluster c;
  c.node({.name = "a"});
  const auto ties = pod("web")
                        .apart("web", "host")
                        .near("db", "zone")
                        .spread("web", "rack")
                        .wish_spread("x", "y");
  EXPECT_EQ(words_of(guards_of(c.view.now(), tied_gang(3, {}, ties))),
            (words{"affinity shop zone!", "anti-affinity shop host!", "spread shop rack!"}));
}

TEST(GuardsOf, pods_that_a_term_may_mean_share_its_guard) {
  cluster c;
  put(c, {.name = "a"}, {{pod("db").apart("web", "host").spread("web", "zone"), 1}});
  EXPECT_EQ(words_of(guards_of(c.view.now(), tied_gang(1, {}, pod("web")))),
            (words{"anti-affinity shop host", "spread shop zone"}));
  EXPECT_TRUE(guards_of(c.view.now(), tied_gang(1, {}, pod("cache"))).empty());
  EXPECT_EQ(words_of(guards_of(c.view.now(), tied_gang(1, {}, pod("web").apart("web", "host")))),
            (words{"anti-affinity shop host!", "spread shop zone"}))
      << "its own term needs the guard for itself, and that is enough";
}

TEST(GuardsOf, terms_of_gangs_in_flight_count_like_those_of_pods) {
  cluster c;
  c.node({.name = "a"});
  const auto web = tied_gang(1, {}, pod("web"));
  EXPECT_TRUE(guards_of(c.view.now(), web).empty());
  const std::vector<base::ties_ptr> others{pod("db").near("web", "zone"), nullptr};
  EXPECT_EQ(words_of(guards_of(c.view.now(), web, others)), (words{"affinity shop zone"}));
}

TEST(GuardsOf, a_term_that_chooses_namespaces_by_labels_may_mean_any) {
  cluster c;
  auto wide = pod("db").apart("web", "host");
  wide.x.anti_affinity[0].space_labels = app_is("any");
  put(c, {.name = "a"}, {{wide, 1}});
  EXPECT_EQ(words_of(guards_of(c.view.now(), tied_gang(1, {}, pod("web")))),
            (words{"anti-affinity * host"}));
  EXPECT_EQ(words_of(guards_of(c.view.now(), tied_gang(1, {}, wide))),
            (words{"anti-affinity * host!"}));
}

TEST(GuardsOf, members_that_are_bound_already_need_none) {
  cluster c;
  c.node({.name = "a"});
  auto what = gang_words{1}.bound(c.at("a")).what;
  what.members[0].ties = pod("web").apart("web", "host");
  EXPECT_TRUE(guards_of(c.view.now(), what).empty());
}

} // namespace
} // namespace tutti::placement::engine
