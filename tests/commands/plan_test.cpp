// `tutti plan`: what it prints for each verdict, and what its exit code says.
#include <algorithm>

#include <gtest/gtest.h>

#include "golden.hpp"
#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

TEST(Plan, prints_placements_and_reasons_as_a_table_and_ends_with_the_highest_code) {
  const auto said = run({"plan", "-f", example("small")});
  EXPECT_EQ(said.code(), 12);
  EXPECT_EQ(said.err, "");
  expect_golden("plan-small.txt", said.out);
}

TEST(Plan, prints_the_same_as_json) {
  const auto said = run({"plan", "-f", example("small"), "-o", "json"});
  EXPECT_EQ(said.code(), 12);
  expect_golden("plan-small.json", said.out);
}

TEST(Plan, prints_the_same_as_yaml_and_names_alone) {
  expect_golden("plan-small.yaml", run({"plan", "-f", example("small"), "-o", "yaml"}).out);
  EXPECT_EQ(run({"plan", "-f", example("small"), "-o", "name"}).out,
            "gang/rack-mates\ngang/ring\ngang/too-wide\n");
}

TEST(Plan, ends_with_0_when_everything_fits) {
  temp_dir home;
  const auto world = home.file("world.yaml", nodes_in_racks(2) + manifest(gang_text{"pair"}));
  const auto said = run({"plan", "-f", world});
  EXPECT_EQ(said.code(), 0) << said.err;
  expect_golden("plan-fits.txt", said.out);
}

TEST(Plan, ends_with_11_when_something_would_fit_on_an_empty_cluster) {
  temp_dir home;
  const auto world =
      home.file("world.yaml", nodes_in_racks(2) + manifest(gang_text{.name = "first", .cpu = 3})
                                  + manifest(gang_text{.name = "second", .cpu = 3}));
  const auto said = run({"plan", "-f", world});
  EXPECT_EQ(said.code(), 11) << said.err;
  expect_golden("plan-not-now.txt", said.out);
}

TEST(Plan, ends_with_10_and_says_who_must_go_when_it_fits_once_others_are_evicted) {
  temp_dir home;
  const auto world = home.file(
      "world.yaml",
      nodes_in_racks(2) + manifest(priority_text{"high", 10})
          + manifest(gang_text{
              .name = "low", .members = 1, .min = 1, .cpu = 4, .more = ", nodeName: node-0"})
          + manifest(gang_text{.name = "urgent", .cpu = 4, .priority = "high"}));
  const auto said = run({"plan", "-f", world});
  EXPECT_EQ(said.code(), 10) << said.err;
  expect_golden("plan-evicting.txt", said.out);
  const auto read = run({"plan", "-f", world, "-o", "json"});
  EXPECT_NE(read.out.find("\"victims\""), std::string::npos) << read.out;
  EXPECT_NE(read.out.find("\"pod default/low-0\""), std::string::npos) << read.out;
}

TEST(Plan, counts_bound_pods_of_the_files_as_room_that_is_taken) {
  temp_dir home;
  const auto resident = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: resident}\n"
                        "spec: {nodeName: node-0, schedulerName: other, containers: [{name: main, "
                        "image: work, resources: {requests: {cpu: \"4\"}}}]}\n";
  const auto world = home.file("world.yaml", nodes_in_racks(2) + resident
                                                 + manifest(gang_text{.name = "pair", .cpu = 3}));
  EXPECT_EQ(run({"plan", "-f", world}).code(), 11);
}

TEST(Plan, waits_for_members_that_are_not_there) {
  temp_dir home;
  const auto world = home.file(
      "world.yaml", nodes_in_racks(2) + manifest(gang_text{.name = "pair", .members = 1}));
  const auto said = run({"plan", "-f", world});
  EXPECT_EQ(said.code(), 11) << said.err;
  expect_golden("plan-waits-for-members.txt", said.out);
}

TEST(Plan, of_thousands_of_gangs_ends_in_time_and_shows_no_progress_in_a_file) {
  temp_dir home;
  std::string text = nodes_in_racks(500, 64);
  for (int i = 0; i < 3000; ++i)
    text += manifest(gang_text{.name = "gang-" + std::to_string(i)});
  const auto said = run({"plan", "-f", home.file("world.yaml", text), "-o", "name"});
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 3000);
}

TEST(Plan, ends_with_1_when_a_file_is_missing) {
  const auto said = run({"plan", "-f", "no-such-file.yaml"});
  EXPECT_EQ(said.code(), 1);
  EXPECT_EQ(said.out, "");
  expect_golden("plan-no-file.txt", said.err);
}

TEST(Plan, ends_with_2_when_used_wrongly) {
  EXPECT_EQ(run({"plan"}).code(), 2);
  EXPECT_EQ(run({"plan", "-f", "x.yaml", "--frob"}).code(), 2);
  EXPECT_EQ(run({"plan", "-f", "x.yaml", "-o", "wide"}).code(), 2);
}

TEST(Plan, reads_from_stdin) {
  const auto said = run({"plan", "-f", "-"}, {}, nodes_in_racks(2) + manifest(gang_text{"pair"}));
  EXPECT_EQ(said.code(), 0) << said.err;
  expect_golden("plan-fits.txt", said.out);
}

TEST(Plan, agrees_with_what_then_happens) {
  EXPECT_EQ(run({"plan", "-f", example("small")}).code(), 12);
  const auto happened = run({"local", "-f", example("small"), "--admin", "", "--until", "settled"});
  EXPECT_EQ(happened.code(), 0) << happened.err;
  const auto plan = run({"plan", "-f", example("small")}).out;
  for (const char* name : {"rack-mates", "ring", "too-wide"}) {
    const auto in_plan = plan.substr(plan.find(name));
    const auto in_fact = happened.out.substr(happened.out.find(name));
    const auto fits = in_plan.substr(0, in_plan.find('\n')).find(" yes ") != std::string::npos;
    const auto bound = in_fact.substr(0, in_fact.find('\n')).find(" Bound ") != std::string::npos;
    EXPECT_EQ(fits, bound) << name;
  }
}

} // namespace
} // namespace tutti::commands
