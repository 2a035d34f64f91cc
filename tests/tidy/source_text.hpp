// Reading source files as text: which there are, their lines, and where their functions begin and
// end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::tidy {

/// A file of the repository, by its path from the root.
struct source_file {
  std::string path;
  std::string text;

  std::vector<std::string_view> lines() const;
  /// "placement/engine", "tests/queue", "" for a file in the root.
  std::string folder() const;
  std::string name() const;
  bool ends_with(std::string_view suffix) const { return path.ends_with(suffix); }
  bool is_in(std::string_view folder_path) const;
  bool is_cpp() const { return ends_with(".cpp") || ends_with(".hpp"); }
};

/// All text files below `root` that git does not ignore; without git, all but `build` and
/// hidden folders. Ascending by path.
std::vector<source_file> files_below(const std::string& root);

/// C++ text of the same length and lines in which comments, strings, characters and preprocessor
/// lines are blanks.
std::string without_comments(std::string_view text);

/// A function body found by its braces, with the lines (from 1) of its first word and last brace.
struct function_extent {
  std::size_t first_line = 0;
  std::size_t last_line = 0;
  std::string head; ///< the words before the brace, on one line

  std::size_t length() const { return last_line - first_line + 1; }
};

/// Functions, tests and lambdas at namespace or class scope. Good for this house's style, not for
/// every C++.
std::vector<function_extent> functions_in(std::string_view text);

/// Number of columns of a UTF-8 line.
std::size_t columns(std::string_view line);

/// True if `word` stands in `line` without a letter, digit or underscore beside it; an end of
/// `word` that is no such character itself matches whatever follows.
bool has_word(std::string_view line, std::string_view word);

} // namespace tutti::tidy
