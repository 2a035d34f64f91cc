// The published experiment on clusters so small that every number can be told by hand.
#include "sim/openb/replay.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tutti::sim::openb {
namespace {

namespace fs = std::filesystem;
using placement::engine::whole_gpu;

struct OpenB : ::testing::Test {
  fs::path folder =
      fs::path{::testing::TempDir()}
      / (std::string{"openb_"} + ::testing::UnitTest::GetInstance()->current_test_info()->name());

  void SetUp() override { fs::create_directories(folder / "pods"); }
  void TearDown() override { fs::remove_all(folder); }

  void nodes(const std::string& rows) {
    std::ofstream{folder / "openb_node_list_gpu_node.csv"} << "sn,cpu_milli,memory_mib,gpu,model\n"
                                                           << rows;
  }
  void pods(const std::string& rows, const std::string& columns = ",gpu_spec") {
    std::ofstream{folder / "pods/openb_pod_list_default.csv"}
        << "name,cpu_milli,memory_mib,num_gpu,gpu_milli" << columns << "\n"
        << rows;
  }
  base::result<trace> read() const { return read_trace({folder.string(), "default"}); }
  std::string complaint() const {
    const auto got = read();
    return got ? "" : got.error().message();
  }
  replay_result run(const std::string& policy, double arrival, std::uint64_t seed = 1) const {
    const auto of = read();
    EXPECT_TRUE(of.has_value()) << complaint();
    return replay(*of, usual_pods(*of), *find_contestant(policy), {seed, arrival});
  }
};

TEST_F(OpenB, reads_nodes_pods_models_and_shares) {
  nodes("b,4000,1024,2,T4\na,8000,2048,1,G2\nc,1000,1,0,\n");
  pods("p2,100,1,1,250,T4|G2\np1,100,1,1,250,T4|G2\np3,200,2,2,1000,\np4,300,3,0,0,\np5,1,1,1,1000,"
       "A9\n");
  const auto got = read();
  ASSERT_TRUE(got.has_value()) << complaint();
  EXPECT_EQ(got->nodes[0].cpu_milli, 8'000); // by name
  EXPECT_EQ(got->nodes[1].whole_gpus, 2);
  EXPECT_EQ(got->nodes[1].memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(got->nodes[2].model, 0u);
  EXPECT_EQ(got->gpu_milli(), 3'000);
  EXPECT_EQ(got->pods.size(), 5u);
  EXPECT_EQ(got->shapes.size(), 4u);
  const auto& shared = got->shapes[got->pods[0]];
  EXPECT_EQ(shared.gpu_milli, 250);
  EXPECT_EQ(shared.models, got->nodes[0].model | got->nodes[1].model);
  EXPECT_EQ(got->pods[0], got->pods[1]);
  const auto& nowhere = got->shapes[got->pods[4]];
  for (const auto& n : got->nodes)
    EXPECT_FALSE(fits(n, nowhere));
}

TEST_F(OpenB, tells_file_and_line_of_what_makes_no_sense) {
  nodes("a,8000,2048,1,G2\n");
  pods("p1,100,1,1,1000,\np2,-5,1,1,1000,\n");
  EXPECT_NE(complaint().find("openb_pod_list_default.csv:3: cpu_milli: '-5'"), std::string::npos)
      << complaint();
  pods("p1,100,1,2,500,\n");
  EXPECT_NE(complaint().find(":2: 500 thousandths of 2 GPUs"), std::string::npos) << complaint();
  pods("p1,100,1,1,1001,\n");
  EXPECT_NE(complaint().find("1001 thousandths"), std::string::npos) << complaint();
  pods("p1,100,1,1\n");
  EXPECT_NE(complaint().find("has 4 fields, not 6"), std::string::npos) << complaint();
  pods("");
  EXPECT_NE(complaint().find("no GPUs or no pods"), std::string::npos) << complaint();
  fs::remove(folder / "pods/openb_pod_list_default.csv");
  EXPECT_NE(complaint().find("no such file"), std::string::npos) << complaint();
}

TEST_F(OpenB, a_list_without_models_fits_every_node) {
  nodes("a,8000,2048,1,G2\n");
  pods("p1,100,1,1,1000\n", "");
  EXPECT_EQ(run("random", 1).in_use, 1);
}

TEST_F(OpenB, usual_pods_are_the_most_frequent_ninety_five_per_cent) {
  nodes("a,8000,2048,1,G2\n");
  std::string rows;
  for (int i = 100; i < 200; ++i) // 80, 16 and 4 of 100; memory does not make kinds
    rows += "p" + std::to_string(i) + ",100," + std::to_string(i) + ",1,"
            + (i < 180   ? "1000"
               : i < 196 ? "500"
                         : "100")
            + ",\n";
  pods(rows);
  const auto got = usual_pods(*read());
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].pod.gpu_milli, 1000);
  EXPECT_DOUBLE_EQ(got[0].share, 80.0 / 96);
  EXPECT_DOUBLE_EQ(got[1].share, 16.0 / 96);
}

TEST_F(OpenB, as_much_comes_as_was_asked_for_and_what_fits_is_in_use) {
  nodes("a,64000,65536,4,G2\nb,64000,65536,4,G2\n");
  pods("p1,1000,1,1,1000,\np2,1000,1,1,1000,\n");
  const auto half = run("best-fit", 0.5);
  EXPECT_EQ(half.came, 4u);
  EXPECT_EQ(half.refused, 0u);
  EXPECT_EQ(half.in_use, 0.5);
  const auto more = run("best-fit", 1.5);
  EXPECT_EQ(more.came, 12u);
  EXPECT_EQ(more.refused, 4u);
  EXPECT_EQ(more.in_use, 1);
  EXPECT_EQ(more.came_share, 1.5);
  EXPECT_EQ(run("best-fit", 0.125).came, 1u); // fewer than the list has
}

TEST_F(OpenB, the_same_seed_gives_the_same_numbers_for_every_policy) {
  nodes("a,20000,65536,4,G2\nb,64000,65536,4,T4\nc,10000,65536,2,T4\n");
  pods("p1,4000,1,1,1000,\np2,6000,1,1,700,\np3,1000,1,1,300,T4\np4,9000,1,2,1000,\np5,5000,1,0,0,"
       "\n");
  for (const auto& c : contestants()) {
    EXPECT_EQ(run(c.name, 1.3, 7), run(c.name, 1.3, 7)) << c.name;
    EXPECT_LE(run(c.name, 1.3, 7).in_use, 1) << c.name;
  }
  EXPECT_FALSE(find_contestant("nobody"));
}

TEST_F(OpenB, gpus_without_cpu_are_what_least_stranded_avoids) {
  // Pods without GPU fit both nodes; on the small one they take the CPU that its GPUs need.
  nodes("a,8000,65536,8,G2\nb,64000,65536,8,T4\n");
  std::string rows;
  for (int i = 10; i < 20; ++i)
    rows += "g" + std::to_string(i) + ",1000,1,1,1000,\n";
  for (int i = 10; i < 15; ++i)
    rows += "c" + std::to_string(i) + ",6000,1,0,0,\n";
  pods(rows);
  double stranded = 0, packed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stranded += run("least-stranded", 1.0, seed).in_use;
    packed += run("packing", 1.0, seed).in_use;
  }
  EXPECT_GT(stranded, packed + 0.5);
}

} // namespace
} // namespace tutti::sim::openb
