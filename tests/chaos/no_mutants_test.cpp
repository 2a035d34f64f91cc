// Nothing of the planted bugs is left in a build that does not ask for them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/mutant.hpp"

namespace tutti::base {
namespace {

// This file is compiled without TUTTI_MUTANTS, as all of a release is.
static_assert(!has_mutants);
static_assert(!is_planted(mutant::none));
static_assert(!is_planted(mutant::ignore_epoch));

const std::filesystem::path root{TUTTI_SOURCE_DIR};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  EXPECT_TRUE(file) << path;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

bool has(const std::string& bytes, std::string_view text) {
  return bytes.find(text) != std::string::npos;
}

TEST(NoMutants, are_in_what_users_run) {
  const auto presets = boost::json::parse(bytes_of(root / "CMakePresets.json")).as_object();
  std::set<std::string> asking;
  for (const auto& x : presets.at("configurePresets").as_array()) {
    const auto& preset = x.as_object();
    const auto* values = preset.if_contains("cacheVariables");
    if (values != nullptr && values->as_object().contains("TUTTI_MUTANTS"))
      asking.emplace(preset.at("name").as_string());
    if (preset.at("name") == "release") {
      EXPECT_EQ(preset.at("inherits"), "base");
    }
  }
  EXPECT_EQ(asking, std::set<std::string>{"dev"});
  EXPECT_TRUE(has(bytes_of(root / "cmake/TuttiMutants.cmake"), "tests of the tests\" OFF)"))
      << "whoever does not ask gets none";
}

TEST(NoMutants, leave_a_trace_in_an_object_file_without_them) {
  const auto clean = bytes_of(TUTTI_CLEAN_OBJECT);
  EXPECT_TRUE(has(clean, "fence_table")) << "the right file";
  EXPECT_FALSE(has(clean, "with_mutants"));
  EXPECT_FALSE(has(clean, "is_planted"));
#ifdef TUTTI_MUTATED_LIBRARY
  EXPECT_TRUE(has(bytes_of(TUTTI_MUTATED_LIBRARY), "with_mutants")) << "the same search finds them";
#endif
}

/// A place in a file that is not named would never be switched on, and in a header it might mean
/// two things in one program.
TEST(NoMutants, are_asked_for_outside_the_files_that_are_named) {
  std::set<std::string> named;
  std::istringstream list{TUTTI_MUTATED_SOURCES};
  for (std::string path; std::getline(list, path, '|');)
    named.insert(std::filesystem::relative(path, root).string());
  for (const auto* folder : {"actors", "api", "base", "bridge", "chaos", "cli", "persistence",
                             "placement", "protocol", "queue", "shards", "sim"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator{root / folder}) {
      const auto extension = entry.path().extension();
      const auto path = std::filesystem::relative(entry.path(), root).string();
      if ((extension != ".cpp" && extension != ".hpp") || path == "base/mutant.hpp")
        continue;
      if (has(bytes_of(entry.path()), "base/mutant.hpp\"")) {
        EXPECT_TRUE(named.contains(path)) << path << " is not in tutti_mutated(…)";
      }
    }
  EXPECT_FALSE(named.empty());
}

} // namespace
} // namespace tutti::base
