// Who is where: the view counts pods by their ties, and snapshots keep what they saw.
#include <gtest/gtest.h>

#include "tests/placement/engine/cluster.hpp"

namespace tutti::placement::engine {
namespace {

using namespace testing;

base::ties_ptr labelled(const std::string& app, bool asks = false) {
  api::pod_ties x;
  x.space = "shop";
  x.labels = {{"app", app}};
  if (asks)
    x.anti_affinity = {{"topology/rack",
                        {{{"app", api::label_requirement::operation::in, {app}}}, false},
                        {"shop"},
                        std::nullopt}};
  return api::make_ties(x);
}

/// "web:2 db:1" for a node, in the order of apps.
std::string rows_of(const snapshot& where, node_ref node) {
  std::map<std::string, std::uint32_t> counts;
  if (const auto* rows = where.tied(node))
    for (const auto& r : *rows)
      counts[r.kind->terms->labels.front().second] += r.count;
  std::string out;
  for (const auto& [app, n] : counts)
    out += (out.empty() ? "" : " ") + app + ":" + std::to_string(n);
  return out;
}

struct TiedPods : ::testing::Test {
  void report(const std::string& node, std::vector<base::tied_pods> pods) {
    auto x = state_of({.name = node, .rack = "r", .zone = "z"});
    x.pods = std::move(pods);
    c.view.upsert(x);
  }
  std::string on(const std::string& node) { return rows_of(c.view.now(), c.at(node)); }
  bool recount(const std::string& node, std::vector<base::tied_pods> pods) {
    const auto at = c.at(node);
    return c.view.set_free({"uid-" + node}, free_of(c.view.now(), at), {}, pods);
  }

  cluster c;
  base::ties_ptr web = labelled("web");
  base::ties_ptr db = labelled("db", true);
};

TEST_F(TiedPods, are_counted_per_node_and_kind) {
  report("a", {{web, 2}, {db, 1}});
  report("b", {});
  EXPECT_EQ(on("a"), "db:1 web:2");
  EXPECT_EQ(on("b"), "");
  EXPECT_TRUE(recount("a", {{web, 1}}));
  EXPECT_EQ(on("a"), "web:1");
  EXPECT_FALSE(recount("a", {{web, 1}})) << "nothing has changed";
  EXPECT_TRUE(recount("a", {}));
  EXPECT_EQ(on("a"), "");
}

TEST_F(TiedPods, of_marked_seats_count_until_the_mark_goes) {
  report("a", {{web, 2}});
  const base::attempt_id attempt{{"gang"}, 1};
  c.view.mark(attempt, {{{"uid-a"}, {}, web}, {{"uid-a"}, {}, db}, {{"uid-a"}, {}, nullptr}});
  EXPECT_EQ(on("a"), "db:1 web:3");
  EXPECT_TRUE(recount("a", {{web, 5}}));
  EXPECT_EQ(on("a"), "db:1 web:6");
  report("b", {});
  auto moved = state_of({.name = "a", .rack = "r2", .zone = "z"});
  moved.pods = {{web, 5}};
  c.view.upsert(moved);
  EXPECT_EQ(on("a"), "db:1 web:6") << "the node has another rack now";
  c.view.unmark(attempt);
  EXPECT_EQ(on("a"), "web:5");
}

TEST_F(TiedPods, kinds_that_ask_are_listed_while_they_are_there) {
  EXPECT_EQ(c.view.now().asking, nullptr);
  report("a", {{web, 2}});
  EXPECT_EQ(c.view.now().asking, nullptr);
  report("b", {{db, 2}});
  ASSERT_NE(c.view.now().asking, nullptr);
  EXPECT_EQ(c.view.now().asking->front()->id, db->id);
  const auto version = c.view.now().asking_version;
  report("a", {{web, 2}, {db, 1}});
  EXPECT_EQ(c.view.now().asking_version, version) << "one more of a kind known already";
  c.view.remove({"uid-b"});
  EXPECT_NE(c.view.now().asking, nullptr);
  c.view.remove({"uid-a"});
  EXPECT_EQ(c.view.now().asking, nullptr);
  EXPECT_GT(c.view.now().asking_version, version);
}

TEST_F(TiedPods, a_snapshot_does_not_move_when_the_view_does) {
  report("a", {{web, 2}});
  const auto before = c.view.now();
  recount("a", {{db, 4}});
  EXPECT_EQ(rows_of(before, c.at("a")), "web:2");
  EXPECT_EQ(on("a"), "db:4");
}

TEST_F(TiedPods, a_number_is_given_to_one_kind_at_a_time) {
  report("a", {{web, 1}});
  const auto gone = (*c.view.now().tied(c.at("a")))[0].kind;
  report("a", {{db, 1}});
  const auto second = (*c.view.now().tied(c.at("a")))[0].kind;
  report("a", {{web, 1}, {db, 1}});
  const auto& rows = *c.view.now().tied(c.at("a"));
  EXPECT_NE(rows[0].kind->number, rows[1].kind->number);
  EXPECT_EQ(second->number, 1U) << "opened before the first was closed";
}

TEST_F(TiedPods, namespaces_have_labels_until_they_are_gone) {
  EXPECT_EQ(c.view.now().labels_of_space("shop"), nullptr);
  c.view.set_space("shop", api::string_map{{"team", "red"}});
  ASSERT_NE(c.view.now().labels_of_space("shop"), nullptr);
  EXPECT_EQ(c.view.now().labels_of_space("shop")->at("team"), "red");
  const auto version = c.view.now().spaces_version;
  c.view.set_space("shop", api::string_map{{"team", "red"}});
  EXPECT_EQ(c.view.now().spaces_version, version);
  c.view.set_space("shop", std::nullopt);
  EXPECT_EQ(c.view.now().labels_of_space("shop"), nullptr);
}

} // namespace
} // namespace tutti::placement::engine
