// Nothing of the planted bugs is left in a build that does not ask for them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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

/// By itself, or by the preset that it inherits from.
bool asks_for_mutants(const std::map<std::string, const boost::json::object*>& all,
                      const std::string& name) {
  const auto& preset = *all.at(name);
  const auto* values = preset.if_contains("cacheVariables");
  if (values != nullptr)
    if (const auto* value = values->as_object().if_contains("TUTTI_MUTANTS"))
      return *value != "OFF";
  const auto* from = preset.if_contains("inherits");
  return from != nullptr && asks_for_mutants(all, std::string{from->as_string()});
}

TEST(NoMutants, are_in_what_users_run) {
  const auto presets = boost::json::parse(bytes_of(root / "CMakePresets.json")).as_object();
  std::map<std::string, const boost::json::object*> all;
  for (const auto& x : presets.at("configurePresets").as_array())
    all.emplace(x.at("name").as_string(), &x.as_object());
  std::set<std::string> asking;
  for (const auto& [name, preset] : all)
    if (asks_for_mutants(all, name))
      asking.insert(name);
  EXPECT_EQ(asking, (std::set<std::string>{"asan", "dev"}));
  EXPECT_TRUE(has(bytes_of(root / "cmake/TuttiMutants.cmake"), "tests of the tests\" OFF)"))
      << "whoever does not ask gets none";
}

/// A file that asks for bugs, and the lists of their names.
TEST(NoMutants, leave_a_trace_in_an_object_file_without_them) {
  std::string clean;
  std::istringstream list{TUTTI_CLEAN_OBJECTS};
  for (std::string path; std::getline(list, path, '|');)
    clean += bytes_of(path);
  for (const char* there : {"fence_table", "planted_bugs", "role_bugs"})
    EXPECT_TRUE(has(clean, there)) << there << ": these are not the right files";
  const std::vector<const char*> traces{"with_mutants", "is_planted", "bind-before-decision",
                                        "list-pods-before-decisions", "let-an-older-owner-amend"};
  for (const char* trace : traces)
    EXPECT_FALSE(has(clean, trace)) << trace;
#ifdef TUTTI_MUTATED_LIBRARIES
  std::string mutated;
  std::istringstream libraries{TUTTI_MUTATED_LIBRARIES};
  for (std::string path; std::getline(libraries, path, '|');)
    mutated += bytes_of(path);
  for (const char* trace : traces)
    EXPECT_TRUE(has(mutated, trace)) << trace << ": the same search does not find them";
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
