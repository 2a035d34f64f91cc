// `tutti plan` and the scheduler itself, asked about the same gang: they say the same, and for the
// same reason. The gangs are of the OpenB example, one at a time on its empty cluster.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

constexpr std::string_view separator = "---\n";

std::string text_of(const std::string& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// The documents of the example that speak of the gang or of a priority class.
std::string manifests_of(const std::string& gang) {
  const auto all = text_of(example("openb/gangs.yaml"));
  std::string out;
  for (std::size_t from = 0; from < all.size();) {
    const auto to = std::min(all.find(separator, from), all.size());
    const auto document = all.substr(from, to - from);
    if (document.find("kind: PriorityClass") != document.npos
        || document.find("name: " + gang + "}") != document.npos
        || document.find("podGroupName: " + gang + "}") != document.npos)
      out.append(separator).append(document);
    from = to + separator.size();
  }
  return out;
}

/// Whether it can be placed, and its primary reason.
struct judgement {
  bool is_placed = false;
  std::string reason;
  friend bool operator==(const judgement&, const judgement&) = default;
};

std::ostream& operator<<(std::ostream& out, const judgement& x) {
  return out << (x.is_placed ? "placed" : "not placed") << ", " << x.reason;
}

/// From the row of the gang in a table with titles: `word` stands below `title` if it is placed.
judgement judge(const std::string& table, const std::string& gang, const std::string& title,
                const std::string& word) {
  std::istringstream lines{table};
  std::string titles, row;
  std::getline(lines, titles);
  while (std::getline(lines, row) && row.find(gang + " ") == row.npos) {
  }
  EXPECT_NE(row.find(gang + " "), row.npos) << "no row of " << gang << " in\n" << table;
  const auto cell = [&](const std::string& name) {
    const auto at = titles.find(name);
    EXPECT_NE(at, titles.npos) << "no column " << name << " in\n" << table;
    return at < row.size() ? row.substr(at, row.find(' ', at) - at) : std::string{};
  };
  return {cell(title) == word, cell("REASON")};
}

struct Sample : testing::TestWithParam<const char*> {};

TEST_P(Sample, of_openb_gangs_is_judged_by_plan_as_by_the_scheduler) {
  temp_dir home;
  const auto cluster = example("openb/cluster.yaml");
  const auto gang = home.file("gang.yaml", manifests_of(GetParam()));
  const auto planned = run({"plan", "-f", cluster, "-f", gang});
  const auto happened =
      run({"local", "-f", cluster, "-f", gang, "--admin", "", "--until", "settled"});
  ASSERT_EQ(happened.code(), 0) << happened.err;
  const auto by_plan = judge(planned.out, GetParam(), "FITS", "yes");
  const auto in_fact = judge(happened.out, GetParam(), "PHASE", "Bound");
  EXPECT_EQ(by_plan, in_fact) << planned.out << happened.out;
  EXPECT_EQ(by_plan.is_placed, std::string{GetParam()}.starts_with("job-")) << planned.out;
  EXPECT_TRUE(by_plan.is_placed || by_plan.reason.size() > 1) << planned.out;
}

/// Small, large, in one rack or anywhere, and the three that cannot be placed.
INSTANTIATE_TEST_SUITE_P(OpenB, Sample,
                         testing::Values("job-000", "job-057", "job-120", "job-315",
                                         "llm-whole-rack", "llm-everything", "wants-unknown-gpu"),
                         [](const auto& x) {
                           std::string name = x.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The gang "late", which would fit if "early" were not there, and why it does not.
struct crowded {
  std::string name;
  std::string world;
  std::string reason;
};

std::vector<crowded> crowded_worlds() {
  const auto classes = manifest(priority_text{"five", 5}) + manifest(priority_text{"nine", 9});
  const auto of = [](const char* name, const char* priority, int members, int cpu) {
    return gang_text{
        .name = name, .members = members, .min = members, .cpu = cpu, .priority = priority};
  };
  auto in_one_rack = of("late", "five", 2, 3);
  in_one_rack.topology = "example.com/rack";
  const auto two_racks = manifest(node_text{"a1", "a"}) + manifest(node_text{"a2", "a"})
                         + manifest(node_text{"b1", "b"}) + manifest(node_text{"b2", "b"});
  auto one_in_each = of("early", "nine", 2, 3);
  one_in_each.more = ", nodeSelector: {example.com/half: \"yes\"}";
  std::string halves;
  for (const char* rack : {"a", "b"})
    halves += fmt::format("---\napiVersion: v1\nkind: Node\nmetadata: {{name: {0}1, labels: "
                          "{{example.com/rack: {0}, example.com/half: \"yes\"}}}}\n"
                          "status: {{allocatable: {{cpu: \"4\", memory: 32Gi, pods: \"110\"}}}}\n",
                          rack);
  const auto others = manifest(node_text{"a2", "a"}) + manifest(node_text{"b2", "b"});
  return {{"no_room",
           classes + two_racks + manifest(of("early", "nine", 4, 3))
               + manifest(of("late", "five", 2, 3)),
           "InsufficientResources"},
          {"room_in_pieces",
           classes + halves + others + manifest(one_in_each) + manifest(in_one_rack),
           "TopologyTooFragmented"}};
}

TEST(Crowded, gangs_that_others_leave_no_room_are_judged_by_plan_as_by_the_scheduler) {
  for (const auto& x : crowded_worlds()) {
    temp_dir home;
    const auto file = home.file("world.yaml", x.world);
    const auto planned = run({"plan", "-f", file});
    const auto happened = run({"local", "-f", file, "--admin", "", "--until", "settled"});
    ASSERT_EQ(happened.code(), 0) << happened.err;
    for (const auto* gang : {"early", "late"})
      EXPECT_EQ(judge(planned.out, gang, "FITS", "yes"),
                judge(happened.out, gang, "PHASE", "Bound"))
          << x.name << "\n"
          << planned.out << happened.out;
    EXPECT_EQ(judge(happened.out, "late", "PHASE", "Bound"), (judgement{false, x.reason}))
        << x.name;
  }
}

} // namespace
} // namespace tutti::commands
