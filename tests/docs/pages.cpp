// Markdown read line by line, without a parser: headings, links, code words.
#include "pages.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

namespace tutti::docs {
namespace {

namespace fs = std::filesystem;

const fs::path& root() {
  static const fs::path where{TUTTI_SOURCE_DIR};
  return where;
}

bool is_left_out(const fs::path& folder) {
  const auto name = folder.filename().string();
  return name.starts_with(".") || name == "build";
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// "Suite.test" of every test that `text` defines.
void add_tests(const std::string& text, const std::string& prefix, words& out) {
  static const std::regex macro{
      R"((?:^|\n)(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+))"};
  for (std::sregex_iterator it{text.begin(), text.end(), macro}, end; it != end; ++it)
    out.insert(prefix + "." + (*it)[1].str() + "." + (*it)[2].str());
}

std::string prefix_in(const std::string& cmake) {
  const auto found = words_between(cmake, "tutti_add_tests(", "");
  return found.empty() ? std::string{} : *found.begin();
}

} // namespace

std::string text_of(const std::string& path) {
  std::ifstream in{root() / path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

bool exists(const std::string& path) {
  std::error_code ec;
  return fs::exists(root() / path, ec);
}

std::vector<page> files_below(const std::string& folder, std::string_view suffix) {
  std::vector<page> out;
  for (fs::recursive_directory_iterator it{root() / folder}, end; it != end; ++it) {
    if (it->is_directory()) {
      if (is_left_out(it->path()))
        it.disable_recursion_pending();
      continue;
    }
    const auto path = it->path().lexically_relative(root()).generic_string();
    if (path.ends_with(suffix))
      out.push_back({path, text_of(path)});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

words top_folders() {
  words out;
  for (const auto* suffix : {".md", ".cpp", ".hpp", ".sh", ".cmake", ".yaml"})
    for (const auto& x : files_below("", suffix))
      if (const auto slash = x.path.find('/'); slash != x.path.npos)
        out.insert(x.path.substr(0, slash));
  return out;
}

std::vector<std::string> prose_of(const page& x) {
  std::vector<std::string> out;
  bool is_fenced = false;
  std::size_t from = 0;
  while (from < x.text.size()) {
    const auto to = std::min(x.text.find('\n', from), x.text.size());
    auto line = x.text.substr(from, to - from);
    from = to + 1;
    if (line.starts_with("```"))
      is_fenced = !is_fenced;
    else if (!is_fenced)
      out.push_back(std::move(line));
  }
  return out;
}

std::vector<std::string> headings_of(const page& x, std::size_t level) {
  const auto mark = std::string(level, '#') + " ";
  std::vector<std::string> out;
  for (const auto& line : prose_of(x))
    if (line.starts_with(mark))
      out.push_back(line.substr(mark.size()));
  return out;
}

words anchors_of(const page& x) {
  words out;
  for (std::size_t level = 1; level <= 6; ++level)
    for (const auto& heading : headings_of(x, level)) {
      std::string anchor;
      for (char c : heading)
        if (c == ' ' || c == '-')
          anchor += '-';
        else if (is_word(c))
          anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      out.insert(anchor);
    }
  return out;
}

std::vector<std::string> links_of(const page& x) {
  static const std::regex link{R"(\]\(([^)\s]+)\))"};
  std::vector<std::string> out;
  for (const auto& line : prose_of(x))
    for (std::sregex_iterator it{line.begin(), line.end(), link}, end; it != end; ++it)
      if (const auto target = (*it)[1].str(); target.find("://") == std::string::npos)
        out.push_back(target);
  return out;
}

std::vector<std::string> code_words_of(const page& x) {
  static const std::regex code{"`([^`]+)`"};
  std::vector<std::string> out;
  for (const auto& line : prose_of(x))
    for (std::sregex_iterator it{line.begin(), line.end(), code}, end; it != end; ++it)
      out.push_back((*it)[1].str());
  return out;
}

words words_between(std::string_view text, std::string_view head, std::string_view tail) {
  words out;
  for (auto pos = text.find(head); pos != text.npos; pos = text.find(head, pos + 1)) {
    const auto from = pos + head.size();
    auto to = from;
    while (to < text.size() && is_word(text[to]))
      ++to;
    if (to > from && text.substr(to).starts_with(tail))
      out.emplace(text.substr(from, to - from));
  }
  return out;
}

words test_prefixes() {
  words out;
  for (const auto& cmake : files_below("tests", "CMakeLists.txt"))
    if (const auto prefix = prefix_in(cmake.text); !prefix.empty())
      out.insert(prefix);
  return out;
}

words test_names() {
  words out;
  for (const auto& cmake : files_below("tests", "CMakeLists.txt")) {
    const auto prefix = prefix_in(cmake.text);
    if (prefix.empty())
      continue;
    const auto folder = fs::path{cmake.path}.parent_path().generic_string();
    for (const auto& source : files_below(folder, "_test.cpp"))
      if (fs::path{source.path}.parent_path().generic_string() == folder)
        add_tests(source.text, prefix, out);
  }
  return out;
}

bool is_test_name(std::string_view word, const words& prefixes) {
  if (std::count(word.begin(), word.end(), '.') != 2)
    return false;
  if (!std::all_of(word.begin(), word.end(), [](char c) { return is_word(c) || c == '.'; }))
    return false;
  return prefixes.contains(std::string{word.substr(0, word.find('.'))});
}

} // namespace tutti::docs
