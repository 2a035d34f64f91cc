// The topology believes what is not so: shards and nodes decide from their own state.
#include "tests/actors/stage.hpp"

namespace tutti::actors::testing {
namespace {

using protocol::role_kind;
using protocol::to;

const auto topology = to(role_kind::topology);

/// A true view that was still on its way may put a lie right before anyone has believed it.
constexpr int lies_at_most = 8;

struct WrongView : ::testing::Test {
  stage on{{.shards = 1}};
  inbox_ptr heard;

  void begin() {
    ASSERT_TRUE(on.start());
    heard = on.tap(topology, [](const protocol::message&) { return true; });
    ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
    on.it().routes().send(topology, protocol::to_shard({0}), protocol::view_wanted{});
    ASSERT_TRUE(eventually([this] { return !whole().nodes.empty(); }));
  }
  protocol::view_delta whole() {
    protocol::view_delta out;
    for (auto& x : heard->all<protocol::view_delta>())
      if (x.is_whole)
        out = std::move(x);
    return out;
  }
  /// Tells the topology, in the shard's name, that `node` has so many free CPUs.
  void plant(const std::string& node, std::int64_t cpus) {
    const auto last = heard->all<protocol::view_delta>().back();
    protocol::view_delta lie{.shard = {0},
                             .incarnation = last.incarnation,
                             .version = last.version + 1,
                             .is_whole = false,
                             .nodes = {},
                             .settled = {}};
    for (auto x : whole().nodes)
      if (x.facts->name.value == node) {
        x.facts = nullptr;
        x.free.cpu_milli = cpus * 1000;
        lie.nodes.push_back(std::move(x));
      }
    ASSERT_EQ(lie.nodes.size(), 1u);
    on.it().routes().send(protocol::to_shard({0}), topology, std::move(lie));
  }
};

TEST_F(WrongView, a_node_refuses_what_it_has_no_room_for_and_the_gang_ends_elsewhere) {
  on.node("small", 2, "a");
  on.node("big-1", 64, "b");
  on.node("big-2", 64, "c");
  begin();
  for (int i = 0; i < lies_at_most && on.noted("shard.refused") == 0; ++i) {
    const auto name = "g" + std::to_string(i);
    plant("small", 6); // the tightest fit of all, if it were true
    on.gang(name, 2, 6);
    ASSERT_TRUE(eventually([&] { return on.is_bound(name, 2); })) << on.word(name, "reason");
  }
  for (const auto& [pod, node] : on.bound())
    EXPECT_NE(node, "small") << pod;
  EXPECT_GT(on.noted("shard.refused"), 0u) << "it was tried";
}

TEST_F(WrongView, a_gang_that_fits_only_into_a_lie_waits_with_numbers) {
  on.node("small", 2, "a");
  begin();
  std::string name;
  for (int i = 0; i < lies_at_most && on.noted("shard.refused") == 0; ++i) {
    name = "g" + std::to_string(i);
    plant("small", 64);
    on.gang(name, 2, 6);
    ASSERT_TRUE(eventually([&] { return on.word(name, "reason") == "NeverFits"; }))
        << on.word(name, "reason") << ' ' << on.word(name, "phase");
  }
  EXPECT_GT(on.noted("shard.refused"), 0u) << "it was tried";
  EXPECT_GT(on.noted_with("shard.refused", "reason", "InsufficientResources"), 0u)
      << "by the node's own ledger, and not for a stale view or a fence";
  EXPECT_NE(on.word(name, "explanation").find(R"("short_by":12000)"), std::string::npos)
      << on.all_words(name);
  EXPECT_TRUE(on.bound().empty());
  EXPECT_EQ(on.noted("gang.decided"), 0u) << "S1a: never decided";
  EXPECT_LT(on.noted("shard.refused"), 20u) << "the view is put right, not tried against for ever";
}

} // namespace
} // namespace tutti::actors::testing
