// Reading the documentation and what it speaks of as text: pages, anchors, links, test names.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::docs {

using words = std::set<std::string>;

/// A file of the repository, by its path from the root.
struct page {
  std::string path;
  std::string text;
};

/// The text of a file; empty if there is none.
std::string text_of(const std::string& path);
bool exists(const std::string& path);

/// All files below `folder` ("" = the whole repository) whose name ends with `suffix`, ascending.
/// Hidden and build folders are left out.
std::vector<page> files_below(const std::string& folder, std::string_view suffix);

/// The folders in the root that hold text of ours; not hidden ones, builds or data.
words top_folders();

/// Lines outside fenced code blocks.
std::vector<std::string> prose_of(const page& x);

/// The text of a heading line ("## Exit codes" → "Exit codes") of that level.
std::vector<std::string> headings_of(const page& x, std::size_t level);
/// The anchors of all headings, as GitHub makes them.
words anchors_of(const page& x);

/// Targets of Markdown links that stay in the repository, as written: "../a.md#b".
std::vector<std::string> links_of(const page& x);

/// What stands between backticks in prose.
std::vector<std::string> code_words_of(const page& x);

/// Every `head` + word + `tail` in `text`: the words, which consist of letters, digits and "_".
words words_between(std::string_view text, std::string_view head, std::string_view tail);

/// Names of all tests in the sources, "prefix.Suite.test", as ctest has them.
words test_names();

/// True if it looks like the name of a test: three parts, the first of them the prefix of a test
/// program.
bool is_test_name(std::string_view word, const words& prefixes);
/// Prefixes of all test programs: the first argument of tutti_add_tests.
words test_prefixes();

} // namespace tutti::docs
