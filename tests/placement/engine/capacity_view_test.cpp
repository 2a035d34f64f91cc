// The view follows its reports, keeps marks apart from them, and its copies stand still.
#include "tests/placement/engine/cluster.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

namespace tutti::placement::engine::testing {
namespace {

struct CapacityView : ::testing::Test {
  cluster c;

  static base::attempt_id nth(std::uint64_t n) { return {{"g"}, 1, {1}, n}; }
  std::vector<marked_seat> gpus_on(const std::string& node, std::int64_t n) {
    return {{{"uid-" + node}, shape_of({.cpu = 0, .gpus = n})->takes}};
  }
  std::int64_t free_gpus(const std::string& node) {
    return free_of(c.view.now(), c.at(node)).of(gpu_name);
  }
};

TEST_F(CapacityView, says_whether_a_report_may_let_a_waiting_gang_in) {
  EXPECT_TRUE(c.node({.name = "a", .gpus_used = 4})) << "a new node";
  EXPECT_FALSE(c.node({.name = "a", .gpus_used = 4})) << "nothing changed";
  EXPECT_FALSE(c.node({.name = "a", .gpus_used = 6})) << "room was taken";
  EXPECT_TRUE(c.node({.name = "a", .gpus_used = 5})) << "room was freed";
  EXPECT_FALSE(
      c.node({.name = "a", .taints = {{"t", "", api::taint_effect::no_schedule}}, .gpus_used = 5}))
      << "tainted";
  EXPECT_TRUE(c.node({.name = "a", .gpus_used = 5})) << "untainted";
  EXPECT_FALSE(c.node({.name = "a", .unschedulable = true, .gpus_used = 5})) << "cordoned";
  EXPECT_TRUE(c.node({.name = "a", .gpus_used = 5})) << "uncordoned";
  EXPECT_TRUE(c.node({.name = "a", .cpu = 65, .gpus_used = 5})) << "grew";
}

TEST_F(CapacityView, a_mark_takes_room_until_it_is_dropped) {
  c.node({.name = "a"});
  c.view.mark(nth(1), gpus_on("a", 6));
  EXPECT_EQ(free_gpus("a"), 2);
  EXPECT_EQ(c.placed(gang_of(3, {.gpus = 1})), 0u);
  EXPECT_EQ(c.view.unmark(nth(1)), 1u);
  EXPECT_EQ(c.placed(gang_of(3, {.gpus = 1})), 3u);
  EXPECT_EQ(c.view.unmark(nth(1)), 0u);
}

/// Bytes asked of the allocator and not given back; 0 where a sanitizer has replaced it.
std::size_t heap_in_use() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST_F(CapacityView, what_marks_needed_goes_with_the_last_of_them) {
  c.node({.name = "a"});
  const auto seats = std::vector<marked_seat>(1'000, gpus_on("a", 1).front());
  const auto before = heap_in_use();
  c.view.mark(nth(1), seats);
  EXPECT_EQ(c.view.unmark(nth(1)), 1u);
  EXPECT_LT(heap_in_use(), before + 1'000 * sizeof(marked_seat) / 10 + 1);
}

TEST_F(CapacityView, a_mark_outlives_reports_of_its_node) {
  c.node({.name = "a"});
  c.view.mark(nth(1), gpus_on("a", 3));
  c.node({.name = "a", .gpus_used = 1});
  EXPECT_EQ(free_gpus("a"), 4);
  c.node({.name = "a", .rack = "moved", .gpus_used = 1});
  EXPECT_EQ(free_gpus("a"), 4);
}

TEST_F(CapacityView, marks_end_shard_by_shard) {
  c.node({.name = "a"});
  c.node({.name = "b"});
  auto seats = gpus_on("a", 1);
  seats.push_back(gpus_on("b", 1).front());
  c.view.mark(nth(1), seats);
  c.view.unmark(nth(1), [](const node_info& x) { return x.name.value == "a"; });
  EXPECT_EQ(free_gpus("a"), 8);
  EXPECT_EQ(free_gpus("b"), 7);
  EXPECT_TRUE(c.view.has_marks(nth(1)));
}

TEST_F(CapacityView, marked_ports_are_taken) {
  const base::host_port port{base::symbol{""}, base::symbol{"TCP"}, 80};
  c.node({.name = "a"});
  pod_words pod;
  pod.ports = {port};
  c.view.mark(nth(1), {{{"uid-a"}, shape_of(pod)->takes}});
  EXPECT_EQ(c.placed(gang_of(1, pod)), 0u);
  c.view.unmark(nth(1));
  EXPECT_EQ(c.placed(gang_of(1, pod)), 1u);
}

TEST_F(CapacityView, a_copy_of_the_snapshot_stands_still) {
  c.nodes("n", 3, {.rack = "r1"});
  const auto before = c.view.now();
  c.view.mark(nth(1), gpus_on("n0", 8));
  c.view.remove({"uid-n1"});
  c.node({.name = "n9", .rack = "r2", .labels = {{"new", "class"}}});
  EXPECT_EQ(before.nodes, 3);
  const auto old = plan(before, gang_of(24, {.gpus = 1}), {}, c.memory);
  EXPECT_TRUE(std::holds_alternative<placement>(old));
  EXPECT_EQ(c.placed(gang_of(17, {.gpus = 1})), 0u);
  EXPECT_EQ(c.placed(gang_of(16, {.gpus = 1})), 16u);
}

TEST_F(CapacityView, blocks_that_did_not_change_are_shared_with_copies) {
  c.node({.name = "a", .rack = "r1"});
  c.node({.name = "b", .rack = "r2"});
  const auto before = c.view.now();
  c.node({.name = "b", .rack = "r2", .gpus_used = 1});
  EXPECT_EQ(before.blocks[0], c.view.now().blocks[0]);
  EXPECT_NE(before.blocks[1], c.view.now().blocks[1]);
}

TEST_F(CapacityView, a_rack_of_many_nodes_is_one_domain) {
  c.nodes("n", 600, {.rack = "r1"});
  EXPECT_EQ(c.placed(gang_of(4800, {.gpus = 1}, rack_key)), 4800u);
  EXPECT_EQ(c.placed(gang_of(4801, {.gpus = 1}, rack_key)), 0u);
}

TEST_F(CapacityView, a_node_that_gets_a_label_with_an_empty_value_joins_its_domain) {
  c.node({.name = "a", .labels = {{rack_key, ""}}});
  c.node({.name = "b"});
  EXPECT_EQ(c.placed(gang_of(9, {.gpus = 1}, rack_key)), 0u);
  EXPECT_TRUE(c.node({.name = "b", .labels = {{rack_key, ""}}}));
  EXPECT_EQ(c.placed(gang_of(9, {.gpus = 1}, rack_key)), 9u);
  c.node({.name = "b"});
  EXPECT_EQ(c.placed(gang_of(9, {.gpus = 1}, rack_key)), 0u);
}

TEST_F(CapacityView, forgets_classes_that_no_node_has) {
  for (int i = 0; i < 100; ++i)
    c.node({.name = "a", .labels = {{"generation", std::to_string(i)}}});
  EXPECT_LE(c.view.now().classes->size(), 4u);
  pod_words pod;
  pod.terms.selector = {{"generation", "99"}};
  EXPECT_EQ(c.placed(gang_of(1, pod)), 1u);
  c.node({.name = "a", .labels = {{"generation", "100"}}});
  EXPECT_EQ(c.placed(gang_of(1, pod)), 0u);
}

TEST_F(CapacityView, a_recreated_node_of_the_same_name_is_found_by_name) {
  c.node({.name = "a"});
  auto again = state_of({.name = "a"});
  auto info = *again.info;
  info.uid = {"second"};
  again.info = std::make_shared<const node_info>(info);
  c.view.upsert(again);
  c.view.remove({"uid-a"});
  ASSERT_TRUE(c.view.find(base::node_name{"a"}).has_value());
  EXPECT_EQ(c.view.now().nodes, 1);
}

TEST_F(CapacityView, that_is_made_anew_is_not_taken_for_the_one_before_it) {
  for (const auto* name : {"a", "b", "c"})
    c.node({.name = name, .rack = "r1"});
  EXPECT_EQ(c.placed(gang_of(20, {.gpus = 1}, rack_key)), 20u);
  c.view = capacity_view{{zone_key, rack_key}}; // its owner has died: versions begin anew
  c.node({.name = "a", .rack = "r1", .gpus_used = 8});
  c.node({.name = "b", .rack = "r1", .gpus_used = 8});
  c.node({.name = "c", .rack = "r2"});
  EXPECT_EQ(c.placed(gang_of(9, {.gpus = 1}, rack_key)), 0u);
  EXPECT_EQ(c.placed(gang_of(8, {.gpus = 1}, rack_key)), 8u);
}

} // namespace
} // namespace tutti::placement::engine::testing
