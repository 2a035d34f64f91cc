// Tables of submissions become gangs, or the row that is wrong is named.
#include "sim/workload/trace.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

namespace tutti::sim::workload {
namespace {

using namespace std::chrono_literals;

/// A file that is there as long as this object.
class trace_file {
public:
  explicit trace_file(const std::string& content, bool is_compressed = false)
      : path_(std::filesystem::temp_directory_path()
              / ("tutti-trace-" + std::to_string(::getpid()) + ".csv")) {
    if (is_compressed) {
      auto* out = gzopen(path_.c_str(), "wb");
      gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
      gzclose(out);
    } else {
      std::ofstream{path_, std::ios::binary} << content;
    }
  }
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;
  ~trace_file() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

  gangs read(trace_options how = {}, const cluster_shape& shape = {}) const {
    how.path = path();
    auto out = read_trace(how, shape);
    EXPECT_TRUE(out) << out.error().message();
    return out ? std::move(*out) : gangs{};
  }
  /// The error, with the file's folder left out, and the hint behind it.
  std::string refusal() const {
    const auto out = read_trace({.path = path()}, {});
    EXPECT_FALSE(out);
    if (out)
      return {};
    auto text = out.error().message();
    if (text.starts_with(path()))
      text.erase(0, path().size());
    return text + " | " + out.error().hint();
  }

private:
  std::filesystem::path path_;
};

TEST(Trace, gpus_are_dealt_out_over_as_few_nodes_as_can_hold_them) {
  const auto all = trace_file{"submit_s,gpus,min_nodes_8gpu,duration_s,vc\n"
                              "0,1,1,60,a\n5,12,2,61,b\n7,128,16,62,c\n"}
                       .read();
  ASSERT_EQ(all.arrivals.size(), 3u);
  EXPECT_EQ(all.arrivals[0].members, 1u);
  EXPECT_EQ(all.arrivals[0].each, (member_need{1, 0}));
  EXPECT_EQ(all.arrivals[1].members, 2u);
  EXPECT_EQ(all.arrivals[1].each, (member_need{6, 0}));
  EXPECT_EQ(all.arrivals[2].members, 16u);
  EXPECT_EQ(all.arrivals[2].each, (member_need{8, 0}));
  EXPECT_EQ(all.arrivals[2].at, 7s);
  EXPECT_EQ(all.arrivals[2].runs_for, 62s);
  EXPECT_EQ(all.arrivals[2].line, 4u);
}

TEST(Trace, nodes_say_how_many_members_share_the_gpus) {
  const auto all =
      trace_file{"submit_s,nodes,gpus,cpus,duration_s\n0,4,8,0,60\n1,1,16,0,60\n"}.read();
  EXPECT_EQ(all.arrivals[0].members, 4u);
  EXPECT_EQ(all.arrivals[0].each, (member_need{2, 0}));
  EXPECT_EQ(all.arrivals[1].members, 2u) << "sixteen do not fit into one node of ours";
}

TEST(Trace, without_gpus_a_row_asks_for_its_cpus) {
  const auto all = trace_file{"submit_s,nodes,gpus,cpus,duration_s\n0,2,0,5,60\n"}.read();
  EXPECT_EQ(all.arrivals[0].members, 2u);
  EXPECT_EQ(all.arrivals[0].each, (member_need{0, 2'500}));
}

TEST(Trace, where_nodes_are_all_that_is_said_members_take_whole_ones) {
  const auto all = trace_file{"submit_s,nodes,cpus,duration_s\n0,512,8192,60\n"}.read();
  EXPECT_EQ(all.arrivals[0].members, 512u);
  EXPECT_EQ(all.arrivals[0].each, (member_need{8, 112'000}));
}

TEST(Trace, a_window_of_it_can_be_played_faster) {
  const auto all =
      trace_file{"submit_s,gpus,duration_s\n0,1,60\n100,2,60\n300,3,60\n900,4,60\n"}.read(
          {.from = 100s, .until = 100s, .compress = 2});
  ASSERT_EQ(all.arrivals.size(), 2u);
  EXPECT_EQ(all.arrivals[0].at, 0s);
  EXPECT_EQ(all.arrivals[1].at, 100s);
  EXPECT_EQ(all.arrivals[1].runs_for, 60s) << "gangs run as long as they ran";
}

TEST(Trace, rows_in_any_order_compressed_or_with_other_line_ends_are_read) {
  const std::string text =
      "\xef\xbb\xbfsubmit_s,gpus,duration_s,\"a, b\"\r\n9,1,60,\"x, y\"\r\n\r\n2.5,2,0,z\r\n";
  for (const bool is_compressed : {false, true}) {
    const auto all = trace_file{text, is_compressed}.read();
    ASSERT_EQ(all.arrivals.size(), 2u);
    EXPECT_EQ(all.arrivals[0].at, 2'500ms);
    EXPECT_EQ(all.arrivals[0].line, 4u);
    EXPECT_EQ(all.arrivals[0].runs_for, 1ms) << "nothing runs for no time at all";
  }
}

TEST(Trace, a_gang_too_large_for_the_cluster_is_rejected_and_kept) {
  cluster_shape shape;
  shape.nodes = 10;
  const auto all = trace_file{"submit_s,gpus,duration_s\n0,80,60\n1,81,60\n"}.read({}, shape);
  EXPECT_EQ(all.arrivals.size(), 1u);
  ASSERT_EQ(all.rejected.size(), 1u);
  EXPECT_EQ(all.rejected[0].what.line, 3u);
  EXPECT_EQ(all.rejected[0].why, "it asks for 11 members of 8 GPUs; the cluster has room for 10");
}

TEST(Trace, gpus_of_a_cluster_without_any_are_rejected) {
  cluster_shape shape;
  shape.gpus_per_node = 0;
  const auto all = trace_file{"submit_s,gpus,duration_s\n0,3,60\n"}.read({}, shape);
  ASSERT_EQ(all.rejected.size(), 1u);
  EXPECT_EQ(all.rejected[0].why, "it asks for 3 GPUs; the cluster has none");
}

struct bad_trace {
  const char* name;
  const char* content;
  const char* said;
};
void PrintTo(const bad_trace& x, std::ostream* out) {
  *out << x.name;
}

class BadTrace : public testing::TestWithParam<bad_trace> {};

TEST_P(BadTrace, is_refused_with_its_place_and_what_is_allowed) {
  EXPECT_EQ(trace_file{GetParam().content}.refusal(), GetParam().said);
}

INSTANTIATE_TEST_SUITE_P(
    Of, BadTrace,
    testing::Values(
        bad_trace{"empty", "",
                  " is empty | the first line names the columns: submit_s, duration_s, and gpus or "
                  "nodes"},
        bad_trace{"no_rows", "submit_s,gpus,duration_s\n",
                  " has columns and no rows | every row below the first is one gang"},
        bad_trace{"no_duration", "submit_s,gpus,runtime\n0,1,2\n",
                  ":1: there is no column duration_s; it has submit_s, gpus, runtime | needed are "
                  "submit_s, duration_s, and gpus or nodes"},
        bad_trace{
            "no_size", "submit_s,duration_s\n0,1\n",
            ":1: there is no column gpus and none called nodes; it has submit_s, duration_s | "
            "needed are submit_s, duration_s, and gpus or nodes"},
        bad_trace{"column_twice", "submit_s,gpus,gpus,duration_s\n0,1,1,2\n",
                  ":1: the column gpus is there twice | each column once"},
        bad_trace{"negative_time", "submit_s,gpus,duration_s\n0,1,2\n-5,1,2\n",
                  ":3: submit_s is \"-5\" | submit_s is seconds from 0 to 3153600000"},
        bad_trace{"no_number", "submit_s,gpus,duration_s\n0,1,2h\n",
                  ":2: duration_s is \"2h\" | duration_s is seconds from 0 to 3153600000"},
        bad_trace{"not_a_number", "submit_s,gpus,duration_s\n0,1,nan\n",
                  ":2: duration_s is \"nan\" | duration_s is seconds from 0 to 3153600000"},
        bad_trace{"no_gpus", "submit_s,gpus,duration_s\n0,0,2\n",
                  ":2: gpus is \"0\" | gpus is a whole number from 1 to 100000000"},
        bad_trace{"half_a_gpu", "submit_s,gpus,duration_s\n0,0.5,2\n",
                  ":2: gpus is \"0.5\" | gpus is a whole number from 1 to 100000000"},
        bad_trace{"short_row", "submit_s,gpus,duration_s\n0,1\n",
                  ":2: the row has 2 fields, the first line 3 | one field for every column"},
        bad_trace{
            "many",
            "submit_s,gpus,duration_s\n0,x,-1\n1,1,1\n2,x,1\n3,x,1\n4,x,1\n5,x,1\n6,x,1\n7,x,1\n",
            ":2: duration_s is \"-1\" (and 6 more rows are wrong: 4, 5, 6, 7, 8, …) | duration_s "
            "is seconds from 0 to 3153600000"}),
    [](const auto& x) { return std::string{x.param.name}; });

TEST(Trace, a_file_that_is_not_there_or_is_cut_short_is_said_to_be) {
  EXPECT_EQ(read_trace({.path = "/nowhere.csv"}, {}).error().what(), base::code::not_found);
  EXPECT_EQ(read_trace({.path = "/tmp"}, {}).error().what(), base::code::bad_input);
  std::string rows = "submit_s,gpus,duration_s\n";
  for (int n = 0; n < 20'000; ++n)
    rows += std::to_string(n * 7919 % 65'537) + ",1," + std::to_string(n * 31 % 9973) + "\n";
  const trace_file whole{rows, true};
  std::filesystem::resize_file(whole.path(), std::filesystem::file_size(whole.path()) / 2);
  const auto cut = read_trace({.path = whole.path()}, {});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().what(), base::code::corrupt) << cut.error().message();
}

} // namespace
} // namespace tutti::sim::workload
