// Who could be evicted is told in whole units, by the priority of groups, with budgets counted.
#include "bridge/victim_book.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "api/pod_terms.hpp"
#include "api/ties.hpp"

namespace tutti::bridge {
namespace {

struct VictimBook : testing::Test {
  std::optional<victim_book> book;
  std::map<std::uint32_t, api::pod> pods;
  std::map<std::uint32_t, std::string> nodes;

  void begin(victim_book::options how = {}) { book.emplace(std::move(how)); }
  void SetUp() override { begin(); }

  void pod(std::uint32_t number, std::int32_t priority, const std::string& group = {},
           const api::string_map& labels = {}) {
    auto& p = pods[number];
    p.meta.space = "ns";
    p.meta.name = "p" + std::to_string(number);
    p.meta.uid = "uid-" + p.meta.name;
    p.meta.labels = labels;
    p.priority = priority;
    p.grace_seconds = 7;
    p.started = base::wall_time{1000};
    nodes[number] = "N1";
    book->put(number, p, group);
  }
  void leaves(std::uint32_t number, const std::string& group = {}) {
    pods[number].meta.deleting_since = base::wall_time{2000};
    book->put(number, pods[number], group);
  }
  void group(const std::string& name, std::int32_t priority, bool evicts_whole) {
    protocol::group_facts g;
    g.uid = "g-" + name;
    g.name = {"ns", name};
    g.priority = priority;
    g.evicts_whole = evicts_whole;
    changed = book->put_group(g);
  }
  void budget(const std::string& name, std::int64_t allowed, const std::string& app,
              std::set<std::string> disrupted = {}, const std::string& space = "ns") {
    api::disruption_budget b;
    b.meta.space = space;
    b.meta.name = name;
    b.allowed = allowed;
    b.pods = api::parse_label_selector("app=" + app).value();
    b.disrupted = std::move(disrupted);
    book->put_budget(std::move(b));
  }
  std::vector<protocol::offers> pieces(std::int32_t below) {
    return book->tell({{{"g"}, 1, {1}, 1}, below}, [this](std::uint32_t number) {
      const auto& p = pods.at(number);
      auto takes = std::make_shared<base::footprint>();
      takes->amounts.cpu_milli = 1000;
      return victim_book::place{
          {p.meta.uid}, {nodes[number]}, takes, api::make_ties(api::ties_of(p))};
    });
  }
  std::vector<protocol::offer_unit> units(std::int32_t below) {
    std::vector<protocol::offer_unit> out;
    for (const auto& piece : pieces(below))
      out.insert(out.end(), piece.units.begin(), piece.units.end());
    return out;
  }
  static std::vector<std::string> names(const protocol::offer_unit& x) {
    std::vector<std::string> out;
    for (const auto& p : x.pods)
      out.push_back(p.name.name);
    std::sort(out.begin(), out.end());
    return out;
  }
  std::vector<std::uint32_t> changed;
};
using list = std::vector<std::string>;

TEST_F(VictimBook, P8_offers_those_of_strictly_lower_priority) {
  pod(0, 1);
  pod(1, 10);
  pod(2, 11);
  const auto all = units(10);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(names(all[0]), (list{"p0"}));
  EXPECT_EQ(all[0].priority, 1);
  EXPECT_FALSE(all[0].is_group);
  EXPECT_EQ(all[0].pods[0].pod.value, "uid-p0");
  EXPECT_EQ(all[0].pods[0].node.value, "N1");
  EXPECT_EQ(all[0].pods[0].takes.amounts.cpu_milli, 1000);
  EXPECT_EQ(all[0].pods[0].grace_ms, 7000);
  EXPECT_EQ(all[0].pods[0].started_ms, 1000);
}

TEST_F(VictimBook, P7_a_group_that_goes_whole_is_one_unit_and_its_members_are_none) {
  group("v", 1, true);
  pod(0, 0, "v");
  pod(1, 0, "v");
  pod(2, 0, "w");
  const auto all = units(10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(names(all[0]), (list{"p2"}));
  EXPECT_EQ(names(all[1]), (list{"p0", "p1"}));
  EXPECT_TRUE(all[1].is_group);
  EXPECT_EQ(all[1].gang.value, "g-v");
  EXPECT_EQ(all[1].name, (protocol::object_name{"ns", "v"}));
}

TEST_F(VictimBook, P8_a_member_counts_for_what_its_group_says) {
  pod(0, 0, "v");
  EXPECT_EQ(units(50).size(), 1u) << "the group is not there yet";
  group("v", 100, false);
  EXPECT_EQ(changed, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(book->standing_of(0), 100);
  EXPECT_TRUE(units(50).empty());
  EXPECT_EQ(book->drop_group({"ns", "v"}), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(units(50).size(), 1u) << "nor any more";
}

TEST_F(VictimBook, where_groups_have_no_priority_that_of_the_pod_counts) {
  begin({.has_group_priorities = false});
  group("v", 0, false);
  pod(0, 70, "v");
  EXPECT_TRUE(units(50).empty());
}

TEST_F(VictimBook, whoever_is_leaving_is_told_whatever_his_priority_and_by_himself) {
  group("v", 1, true);
  pod(0, 1, "v");
  pod(1, 1, "v");
  pod(2, 99);
  leaves(1, "v");
  leaves(2);
  const auto all = units(10);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].is_leaving);
  EXPECT_TRUE(all[1].is_leaving);
  EXPECT_EQ(names(all[2]), (list{"p0"}));
  EXPECT_FALSE(all[2].is_leaving);
  EXPECT_LT(book->standing_of(2), -1'000'000'000);
}

TEST_F(VictimBook, who_is_leaving_is_told_where_nobody_is_below) {
  group("v", 20, false);
  pod(0, 1, "v");
  pod(1, 30);
  leaves(1);
  const auto all = units(10);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(names(all[0]), (list{"p1"}));
  book->drop_group({"ns", "v"});
  EXPECT_EQ(units(10).size(), 2u);
  book->remove(0);
  book->remove(1);
  EXPECT_TRUE(units(10).empty());
}

TEST_F(VictimBook, P9_says_which_budgets_count_a_pod) {
  budget("a", 1, "x");
  budget("b", 0, "y");
  budget("c", 3, "x", {"p1"});
  budget("d", 3, "x", {}, "other");
  pod(0, 1, {}, {{"app", "x"}});
  pod(1, 1, {}, {{"app", "x"}});
  const auto told = pieces(10);
  ASSERT_EQ(told.size(), 1u);
  ASSERT_EQ(told[0].budgets.size(), 4u);
  EXPECT_EQ(told[0].budgets[2].name.name, "c");
  EXPECT_EQ(told[0].budgets[2].allowed, 3);
  EXPECT_EQ(told[0].units[0].pods[0].budgets, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(told[0].units[1].pods[0].budgets, (std::vector<std::uint32_t>{0}))
      << "p1 is counted as gone already";
  book->drop_budget({"ns", "a"});
  EXPECT_EQ(pieces(10)[0].budgets.size(), 3u);
}

TEST_F(VictimBook, a_unit_with_an_exempt_pod_stays_whole) {
  begin({.exempt = api::parse_label_selector("queue in (a,b)").value()});
  group("v", 1, true);
  pod(0, 1, "v");
  pod(1, 1, "v", {{"queue", "a"}});
  pod(2, 1);
  const auto all = units(10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].is_exempt);
  EXPECT_TRUE(all[1].is_exempt);
}

TEST_F(VictimBook, a_unit_of_which_not_all_places_are_known_stays) {
  group("v", 1, true);
  pod(0, 1, "v");
  pod(1, 1, "v");
  nodes[1] = "";
  const auto all = units(10);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].is_exempt);
}

TEST_F(VictimBook, who_is_gone_is_not_told) {
  group("v", 1, true);
  pod(0, 1, "v");
  pod(1, 1);
  book->remove(0);
  book->remove(1);
  book->remove(7);
  EXPECT_TRUE(units(10).empty());
  EXPECT_EQ(pieces(10).size(), 1u) << "an answer, all the same";
}

TEST_F(VictimBook, tells_many_in_pieces_and_no_unit_in_two) {
  group("v", 1, true);
  for (std::uint32_t n = 0; n < 3'000; ++n)
    pod(n, 1, "v");
  for (std::uint32_t n = 3'000; n < 5'500; ++n)
    pod(n, 1);
  const auto all = pieces(10);
  ASSERT_GE(all.size(), 2u);
  std::size_t told = 0;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].piece, i);
    EXPECT_EQ(all[i].pieces, all.size());
    for (const auto& u : all[i].units) {
      told += u.pods.size();
      EXPECT_TRUE(!u.is_group || u.pods.size() == 3'000);
    }
  }
  EXPECT_EQ(told, 5'500u);
}

} // namespace
} // namespace tutti::bridge
