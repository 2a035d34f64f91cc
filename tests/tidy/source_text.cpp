#include "source_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

namespace tutti::tidy {

namespace {

namespace fs = std::filesystem;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string read_file(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// Paths as git lists them, those not added yet included; empty if this is no work tree.
std::vector<std::string> listed_by_git(const std::string& root) {
  const auto command = "git -C '" + root + "' ls-files -co --exclude-standard 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), &pclose};
  std::string all;
  std::array<char, 4096> buffer{};
  while (pipe) {
    const auto n = fread(buffer.data(), 1, buffer.size(), pipe.get());
    if (n == 0)
      break;
    all.append(buffer.data(), n);
  }
  std::vector<std::string> out;
  std::istringstream lines{all};
  for (std::string line; std::getline(lines, line);)
    out.push_back(line);
  return out;
}

std::vector<std::string> found_below(const std::string& root) {
  std::vector<std::string> out;
  for (auto pos = fs::recursive_directory_iterator{root}; pos != fs::recursive_directory_iterator{};
       ++pos) {
    const auto name = pos->path().filename().string();
    if (pos->is_directory() && (name == "build" || name.starts_with(".")))
      pos.disable_recursion_pending();
    else if (pos->is_regular_file())
      out.push_back(fs::relative(pos->path(), root).string());
  }
  return out;
}

/// Blanks what is not code, one construct at a time.
class blanker {
public:
  explicit blanker(std::string_view text) : text_(text), out_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (starts("//"))
        blank_to(text_.find('\n', at_));
      else if (starts("/*"))
        blank_to(after("*/", 2));
      else if (is_line_start() && text_[first_on_line()] == '#')
        blank_to(end_of_directive());
      else if (starts("R\"") && (at_ == 0 || !is_word(text_[at_ - 1])))
        blank_raw();
      else if (text_[at_] == '"' || is_char_quote())
        blank_quoted(text_[at_]);
      else
        ++at_;
    }
    return std::move(out_);
  }

private:
  bool starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  bool is_char_quote() const { // not the separator of 100'000
    return text_[at_] == '\'' && (at_ == 0 || !is_word(text_[at_ - 1]));
  }
  bool is_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }
  std::size_t first_on_line() const {
    const auto pos = text_.find_first_not_of(" \t", at_);
    return pos == std::string_view::npos ? at_ : pos;
  }
  std::size_t after(std::string_view what, std::size_t skip) const {
    const auto pos = text_.find(what, at_ + skip);
    return pos == std::string_view::npos ? pos : pos + what.size();
  }
  std::size_t end_of_directive() const {
    auto end = text_.find('\n', at_);
    while (end != std::string_view::npos && end > 0 && text_[end - 1] == '\\')
      end = text_.find('\n', end + 1);
    return end;
  }
  void blank_to(std::size_t end) {
    end = std::min(end, text_.size());
    for (; at_ < end; ++at_)
      if (text_[at_] != '\n')
        out_[at_] = ' ';
  }
  void blank_raw() {
    const auto open = text_.find('(', at_);
    const auto mark = std::string{text_.substr(at_ + 2, open - at_ - 2)};
    blank_to(after(")" + mark + "\"", 2));
  }
  void blank_quoted(char quote) {
    auto end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    blank_to(end + 1);
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
};

/// The words before a brace on one line, and whether they open a scope or a function.
struct brace_head {
  std::string words;
  std::size_t first = 0; ///< offset of the first word

  bool is_scope() const {
    auto rest = std::string_view{words};
    for (std::string_view skip : {"inline ", "export ", "typedef "})
      if (rest.starts_with(skip))
        rest.remove_prefix(skip.size());
    if (rest.starts_with("template"))
      return rest.find(" struct ") != rest.npos || rest.find(" class ") != rest.npos;
    const std::array<std::string_view, 6> openers{"namespace", "class", "struct",
                                                  "enum",      "union", "extern"};
    return std::any_of(openers.begin(), openers.end(), [&](std::string_view opener) {
      return rest.starts_with(opener)
             && (rest.size() == opener.size() || !is_word(rest[opener.size()]));
    });
  }
  bool is_function() const { return words.find('(') != words.npos && !is_scope(); }
};

brace_head head_before(std::string_view code, std::size_t begin, std::size_t brace) {
  brace_head out;
  out.first = std::min(code.find_first_not_of(" \t\n", begin), brace);
  for (auto i = out.first; i < brace; ++i) {
    const char c = code[i] == '\n' ? ' ' : code[i];
    if (c != ' ' || (!out.words.empty() && out.words.back() != ' '))
      out.words += c;
  }
  for (std::string_view label : {"public: ", "private: ", "protected: "})
    if (out.words.starts_with(label)) {
      out.first = code.find_first_not_of(" \t\n", out.first + label.size() - 1);
      out.words.erase(0, label.size());
    }
  return out;
}

} // namespace

std::vector<std::string_view> source_file::lines() const {
  std::vector<std::string_view> out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    out.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string source_file::folder() const {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

std::string source_file::name() const {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

bool source_file::is_in(std::string_view folder_path) const {
  return path.size() > folder_path.size() && path.starts_with(folder_path)
         && path[folder_path.size()] == '/';
}

std::vector<source_file> files_below(const std::string& root) {
  auto paths = listed_by_git(root);
  if (paths.empty())
    paths = found_below(root);
  std::sort(paths.begin(), paths.end());
  std::vector<source_file> out;
  for (const auto& path : paths) {
    if (!fs::is_regular_file(fs::path{root} / path))
      continue; // deleted, or a submodule
    auto text = read_file(fs::path{root} / path);
    if (text.find('\0') == std::string::npos)
      out.push_back({path, std::move(text)});
  }
  return out;
}

std::string without_comments(std::string_view text) {
  return blanker{text}.run();
}

std::vector<function_extent> functions_in(std::string_view text) {
  const auto code = without_comments(text);
  std::vector<function_extent> out;
  std::size_t head_begin = 0, line = 1;
  std::size_t depth = 0; // of braces inside the function at hand; 0 = in none
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    line += c == '\n' ? 1u : 0u;
    if (c == '{' && depth > 0) {
      ++depth;
    } else if (c == '{') {
      auto head = head_before(code, head_begin, i);
      if (head.is_function()) {
        const auto gap = std::count(code.begin() + static_cast<std::ptrdiff_t>(head.first),
                                    code.begin() + static_cast<std::ptrdiff_t>(i), '\n');
        out.push_back({line - static_cast<std::size_t>(gap), line, std::move(head.words)});
        depth = 1;
      }
    } else if (c == '}' && depth > 0 && --depth == 0) {
      out.back().last_line = line;
    }
    if (c == ';' || c == '{' || c == '}')
      head_begin = i + 1;
  }
  return out;
}

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

bool has_word(std::string_view line, std::string_view word) {
  for (auto pos = line.find(word); pos != line.npos; pos = line.find(word, pos + 1)) {
    const auto end = pos + word.size();
    const bool is_cut_before = !is_word(word.front()) || pos == 0 || !is_word(line[pos - 1]);
    const bool is_prefix = !is_word(word.back()) || word.back() == '_';
    const bool is_cut_after = is_prefix || end == line.size() || !is_word(line[end]);
    if (is_cut_before && is_cut_after)
      return true;
  }
  return false;
}

} // namespace tutti::tidy
