// Groups of v1alpha1 come and go with their Workload and the pods that name them.
#include "bridge/workload_groups.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::bridge {
namespace {

struct WorkloadGroups : testing::Test {
  fact_maker facts{{}};
  workload_groups groups;
  std::vector<std::string> said;

  static workload_groups::use names(std::string key, std::string entry = "worker") {
    return {"ns", {"pair", std::move(entry), std::move(key)}};
  }
  static api::workload workload(std::string uid = "W", int min_count = 2) {
    api::workload w;
    w.spoken = api::dialect::v1alpha1;
    w.meta.space = "ns";
    w.meta.name = "pair";
    w.meta.uid = std::move(uid);
    w.templates.emplace_back();
    w.templates.back().name = "worker";
    w.templates.back().rules.min_count = min_count;
    return w;
  }
  void hear(const protocol::effects& out) {
    for (const auto& e : out.list()) {
      const auto& what = std::get<protocol::send>(e).what;
      if (const auto* x = std::get_if<protocol::group_seen>(&what))
        said.push_back("seen " + x->group.uid + " " + x->group.name.name + " min "
                       + std::to_string(x->group.min_count)
                       + (x->group.refused.empty() ? "" : " refused: " + x->group.refused));
      else
        said.push_back("gone " + std::get<protocol::group_gone>(what).uid);
    }
  }
  void add(const workload_groups::use& x) {
    protocol::effects out;
    groups.add(x, facts, out);
    hear(out);
  }
  void remove(const workload_groups::use& x) {
    protocol::effects out;
    groups.remove(x, out);
    hear(out);
  }
  void put(const api::workload& w) {
    protocol::effects out;
    groups.put(w, facts, out);
    hear(out);
  }
  void drop() {
    protocol::effects out;
    groups.drop({"ns", "pair"}, out);
    hear(out);
  }
  using story = std::vector<std::string>;
  story heard() { return std::exchange(said, {}); }
};

TEST_F(WorkloadGroups, a_workload_without_pods_has_no_groups) {
  put(workload());
  EXPECT_EQ(heard(), story{});
  EXPECT_EQ(groups.size(), 0u);
}

TEST_F(WorkloadGroups, each_replica_key_is_a_group_told_once) {
  put(workload());
  add(names("r0"));
  add(names("r0"));
  add(names("r1"));
  add(names(""));
  EXPECT_EQ(heard(),
            (story{"seen W/worker/r0 pair/worker/r0 min 2", "seen W/worker/r1 pair/worker/r1 min 2",
                   "seen W/worker pair/worker min 2"}));
}

TEST_F(WorkloadGroups, pods_may_come_before_their_workload) {
  add(names("r0"));
  EXPECT_EQ(heard(), story{});
  put(workload());
  EXPECT_EQ(heard(), (story{"seen W/worker/r0 pair/worker/r0 min 2"}));
}

TEST_F(WorkloadGroups, a_group_goes_with_the_last_pod_that_names_it) {
  put(workload());
  add(names("r0"));
  add(names("r0"));
  heard();
  remove(names("r0"));
  EXPECT_EQ(heard(), story{});
  remove(names("r0"));
  EXPECT_EQ(heard(), (story{"gone W/worker/r0"}));
  EXPECT_EQ(groups.size(), 0u);
}

TEST_F(WorkloadGroups, all_groups_go_with_their_workload_and_come_back_with_another) {
  put(workload());
  add(names("r0"));
  add(names("r1"));
  heard();
  drop();
  EXPECT_EQ(heard(), (story{"gone W/worker/r0", "gone W/worker/r1"}));
  remove(names("r1"));
  put(workload("W2"));
  EXPECT_EQ(heard(), (story{"seen W2/worker/r0 pair/worker/r0 min 2"}));
}

TEST_F(WorkloadGroups, an_entry_that_is_not_there_is_refused_in_words) {
  put(workload());
  add(names("r0", "boss"));
  EXPECT_EQ(heard(), (story{"seen W/boss/r0 pair/boss/r0 min 1 refused: Workload \"pair\" has no "
                            "pod group \"boss\""}));
}

TEST_F(WorkloadGroups, a_workload_that_cannot_be_read_refuses_its_groups) {
  add(names("r0"));
  protocol::effects out;
  groups.put_refused(workload().meta, "spec.podGroups: expected an array", facts, out);
  hear(out);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said.front().find("refused: spec.podGroups: expected an array"), std::string::npos);
}

} // namespace
} // namespace tutti::bridge
