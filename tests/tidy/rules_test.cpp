// The rules of the house, executed: size, layers, banned calls, words, titles.
#include "source_text.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tutti::tidy {
namespace {

constexpr std::size_t lines_max = 800;
constexpr std::size_t function_lines_max = 70;
constexpr std::size_t columns_max = 100;

const std::vector<source_file>& all_files() {
  static const auto files = files_below(TUTTI_SOURCE_DIR);
  return files;
}

/// Collects what is wrong, each with its place, and says all of it at once.
class findings {
public:
  void add(const source_file& file, std::size_t line, const std::string& what) {
    list_.push_back(fmt::format("{}:{}: {}", file.path, line, what));
  }
  void expect_none() const {
    EXPECT_TRUE(list_.empty()) << fmt::format("{}", fmt::join(list_, "\n"));
  }

private:
  std::vector<std::string> list_;
};

/// Files that people write and read as code.
bool is_code(const source_file& f) {
  return f.is_cpp() || f.ends_with(".capnp") || f.ends_with(".sh") || f.ends_with(".cmake")
         || f.ends_with(".py") || f.name() == "CMakeLists.txt";
}

/// Calls `use(file, line number, line)` for each line of each file that `wanted` accepts.
template <class Wanted, class Use>
void for_each_line(Wanted wanted, Use use) {
  for (const auto& file : all_files()) {
    if (!wanted(file))
      continue;
    std::size_t number = 0;
    for (auto line : file.lines())
      use(file, ++number, line);
  }
}

TEST(House, there_are_files_to_check) {
  EXPECT_GT(all_files().size(), 10u) << "looked in " << TUTTI_SOURCE_DIR;
}

// ---------------------------------------------------------------- size

TEST(House, no_file_is_longer_than_800_lines) {
  findings found;
  for (const auto& file : all_files())
    if ((is_code(file) || file.ends_with(".md")) && file.lines().size() > lines_max)
      found.add(file, file.lines().size(), "split this file");
  found.expect_none();
}

TEST(House, no_function_is_longer_than_70_lines) {
  findings found;
  for (const auto& file : all_files()) {
    if (!file.is_cpp())
      continue;
    for (const auto& f : functions_in(file.text))
      if (f.length() > function_lines_max)
        found.add(file, f.first_line, fmt::format("{} lines: {}", f.length(), f.head));
  }
  found.expect_none();
}

TEST(House, no_line_of_code_is_wider_than_100_columns) {
  findings found;
  const auto is_wrapped = [](const source_file& f) { return f.is_cpp() || f.ends_with(".capnp"); };
  for_each_line(is_wrapped,
                [&](const source_file& file, std::size_t number, std::string_view line) {
                  if (columns(line) > columns_max)
                    found.add(file, number, fmt::format("{} columns", columns(line)));
                });
  found.expect_none();
}

// ---------------------------------------------------------------- roles are pure

struct ban {
  std::string_view word;
  std::string_view instead;
};

const std::vector<ban>& bans() {
  static constexpr std::string_view time = "the `now` handed to role::on";
  static constexpr std::string_view draw = "base::hash_of(seed, gang, try)";
  static constexpr std::string_view wait = "the effect `arm`";
  static constexpr std::string_view say = "the effect `note`";
  static constexpr std::string_view host = "an effect, performed by the shell";
  static constexpr std::string_view order =
      "std::map, or boost::unordered_flat_map for lookups only";
  static const std::vector<ban> list{
      {"steady_clock", time},
      {"system_clock", time},
      {"clock::now", time},
      {"high_resolution_clock", time},
      {"time(nullptr)", time},
      {"gettimeofday", time},
      {"rand", draw},
      {"srand", draw},
      {"random_device", draw},
      {"mt19937", draw},
      {"std::thread", host},
      {"std::jthread", host},
      {"std::async", host},
      {"sleep_for", wait},
      {"sleep_until", wait},
      {"sleep", wait},
      {"usleep", wait},
      {"nanosleep", wait},
      {"printf", say},
      {"fprintf", say},
      {"puts", say},
      {"std::cout", say},
      {"std::cerr", say},
      {"spdlog", say},
      {"fmt::print", say},
      {"std::unordered_", order},
      {"getenv", "an options struct that main fills"},
  };
  return list;
}

/// Folders whose code may only compute. The HTTP client is the one place of the bridge that does
/// not.
bool is_pure(const source_file& f) {
  static constexpr std::string_view folders[] = {"protocol", "queue", "placement", "shards",
                                                 "bridge"};
  if (!f.is_cpp() || f.path.starts_with("bridge/http_client"))
    return false;
  return std::any_of(std::begin(folders), std::end(folders),
                     [&](std::string_view folder) { return f.is_in(folder); });
}

TEST(House, folders_of_roles_ask_no_clock_thread_dice_or_environment) {
  findings found;
  for (const auto& file : all_files()) {
    if (!is_pure(file))
      continue;
    const source_file code{file.path, without_comments(file.text)};
    std::size_t number = 0;
    for (auto line : code.lines()) {
      ++number;
      for (const auto& b : bans())
        if (has_word(line, b.word))
          found.add(file, number, fmt::format("{}: use {}", b.word, b.instead));
    }
  }
  found.expect_none();
}

// ---------------------------------------------------------------- who may know whom

using folder_set = std::set<std::string, std::less<>>;

/// docs/internals/folders.md as data: what each folder may include besides itself.
const std::map<std::string, folder_set, std::less<>>& layers() {
  static const folder_set below_actors{"base",        "api",    "protocol",
                                       "persistence", "queue",  "placement",
                                       "shards",      "bridge", "placement/engine"};
  static const auto with = [](folder_set x, std::initializer_list<const char*> more) {
    x.insert(more.begin(), more.end());
    return x;
  };
  static const std::map<std::string, folder_set, std::less<>> table{
      {"base", {}},
      {"api", {"base"}},
      {"protocol", {"base"}},
      {"persistence", {"base", "protocol"}},
      {"queue", {"base", "protocol"}},
      {"placement/engine", {"base", "api"}},
      {"placement", {"base", "api", "protocol", "placement/engine"}},
      {"shards", {"base", "api", "protocol", "placement/engine", "persistence"}},
      {"bridge", {"base", "api", "protocol", "persistence"}},
      {"actors", below_actors},
      {"sim", with(below_actors, {"actors"})},
      {"chaos", with(below_actors, {"actors", "sim"})},
  };
  return table;
}

/// The path in quotes of an #include line; empty if it is none.
std::string_view included_path(std::string_view line) {
  if (!line.starts_with("#include \""))
    return {};
  line.remove_prefix(10);
  return line.substr(0, line.find('"'));
}

/// The layer that a path belongs to; empty for a file beside the including one or one of others.
std::string layer_of(std::string_view path) {
  std::string best;
  for (const auto& [folder, allowed] : layers())
    if (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/'
        && folder.size() > best.size())
      best = folder;
  if (best.empty() && (path.starts_with("cli/") || path.starts_with("ui/")))
    best = path.substr(0, path.find('/'));
  return best;
}

TEST(House, a_folder_includes_only_what_the_map_of_folders_allows) {
  findings found;
  for_each_line(
      [](const source_file& f) { return f.is_cpp() && layers().contains(layer_of(f.path)); },
      [&](const source_file& file, std::size_t number, std::string_view line) {
        const auto mine = layer_of(file.path);
        const auto theirs = layer_of(included_path(line));
        if (!theirs.empty() && theirs != mine && !layers().at(mine).contains(theirs))
          found.add(file, number, fmt::format("{} may not know {}", mine, theirs));
      });
  found.expect_none();
}

TEST(House, what_cap_n_proto_generates_is_included_by_codecs_only) {
  findings found;
  for_each_line([](const source_file& f) { return f.is_cpp() && !f.ends_with("_codec.cpp"); },
                [&](const source_file& file, std::size_t number, std::string_view line) {
                  if (included_path(line).ends_with(".capnp.h"))
                    found.add(file, number, "move this to a *_codec.cpp");
                });
  found.expect_none();
}

TEST(House, the_readme_maps_every_folder) {
  const auto& files = all_files();
  const auto readme =
      std::find_if(files.begin(), files.end(), [](const auto& f) { return f.path == "README.md"; });
  if (readme == files.end())
    GTEST_SKIP() << "no README.md yet";
  findings found;
  std::set<std::string> folders;
  for (const auto& f : files)
    if (f.path.find('/') != std::string::npos && !f.path.starts_with("."))
      folders.insert(f.path.substr(0, f.path.find('/')));
  for (const auto& folder : folders)
    if (!has_word(readme->text, folder + "/"))
      found.add(*readme, 1, folder + "/ is not in the map");
  found.expect_none();
}

// ---------------------------------------------------------------- words

/// Checks must spell what they forbid.
bool is_of_this_check(const source_file& f) {
  return f.is_in("tests/tidy") || f.is_in("tests/docs");
}

TEST(House, what_is_left_to_do_says_why_and_nothing_broken_is_merged) {
  findings found;
  for_each_line([](const source_file& f) { return is_code(f) && !is_of_this_check(f); },
                [&](const source_file& file, std::size_t number, std::string_view line) {
                  if (has_word(line, "FIXME") || has_word(line, "XXX"))
                    found.add(file, number, "does not merge");
                  const bool has_reason = line.find("TODO(soon):") != line.npos
                                          || line.find("TODO(perf):") != line.npos
                                          || line.find("TODO(test):") != line.npos;
                  if (has_word(line, "TODO") && !has_reason)
                    found.add(file, number, "write TODO(soon|perf|test): why");
                });
  found.expect_none();
}

TEST(House, every_file_begins_by_saying_what_it_is_for) {
  findings found;
  for (const auto& file : all_files()) {
    const auto lines = file.lines();
    const auto first = lines.empty() ? std::string_view{} : lines.front();
    const auto second = lines.size() < 2 ? std::string_view{} : lines[1];
    bool is_good = true;
    if (file.ends_with(".hpp"))
      is_good = first.starts_with("// ");
    else if (file.ends_with(".cpp")) // its own header says it
      is_good = first.starts_with("// ") || first.starts_with("#include \"");
    else if (file.ends_with(".capnp"))
      is_good = first.starts_with("# ") || second.starts_with("# ");
    else if (file.ends_with(".sh"))
      is_good = first.starts_with("#!") && second.starts_with("# ");
    else if (file.ends_with(".cmake"))
      is_good = first.starts_with("# ");
    if (!is_good)
      found.add(file, 1, "begin with one sentence that says what this file is for");
  }
  found.expect_none();
}

TEST(House, no_path_of_somebodys_machine_is_written_down) {
  findings found;
  const auto is_checked = [](const source_file& f) {
    return !is_of_this_check(f) && !f.is_in("tests/data") && !f.is_in("api/openapi");
  };
  for_each_line(
      is_checked, [&](const source_file& file, std::size_t number, std::string_view line) {
        for (std::string_view path : {"/work/", "/root/", "/home/"}) {
          const auto pos = line.find(path);
          const bool begins =
              pos != line.npos
              && (pos == 0
                  || std::string_view{" \"'=(`:,"}.find(line[pos - 1]) != std::string_view::npos);
          if (begins)
            found.add(file, number, std::string{path});
        }
      });
  found.expect_none();
}

TEST(House, a_page_has_one_title) {
  findings found;
  for (const auto& file : all_files()) {
    if (!file.ends_with(".md"))
      continue;
    std::size_t titles = 0;
    bool is_fenced = false;
    for (auto line : file.lines()) {
      if (line.starts_with("```"))
        is_fenced = !is_fenced;
      titles += !is_fenced && line.starts_with("# ") ? 1u : 0u;
    }
    if (titles != 1)
      found.add(file, 1, fmt::format("{} titles", titles));
  }
  found.expect_none();
}

} // namespace
} // namespace tutti::tidy
