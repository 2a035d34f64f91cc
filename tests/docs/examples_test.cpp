// What the documentation shows on a terminal is what the program prints.
#include <algorithm>
#include <csignal>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "pages.hpp"
#include "tutti.hpp"

namespace tutti::docs {
namespace {

using commands::arguments;
using lines = std::vector<std::string>;

lines lines_of(const std::string& text) {
  lines out;
  for (std::size_t from = 0, to = 0; from < text.size(); from = to + 1) {
    to = std::min(text.find('\n', from), text.size());
    out.push_back(text.substr(from, to - from));
  }
  return out;
}

/// The indented lines of a page around the first one that begins with `head`, without the indent.
/// A blank line within a block belongs to it if indented lines follow.
lines block_with(const std::string& path, const std::string& head) {
  lines block;
  bool is_it = false;
  for (const auto& line : prose_of({path, text_of(path)})) {
    if (line.starts_with("    ")) {
      block.push_back(line.substr(4));
      is_it = is_it || block.back().starts_with(head);
    } else if (line.empty() && is_it) {
      block.push_back(line);
    } else if (is_it) {
      break;
    } else if (!line.empty()) {
      block.clear();
    }
  }
  const auto first = std::find_if(block.begin(), block.end(),
                                  [&](const auto& line) { return line.starts_with(head); });
  EXPECT_NE(first, block.end()) << path << " shows nothing that begins with " << head;
  block.erase(block.begin(), first);
  while (!block.empty() && block.back().empty())
    block.pop_back();
  return block;
}

/// Times differ from run to run, and columns are as wide as their widest cell.
std::string without_times(std::string line) {
  static const std::regex time{"\\b[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)\\b"};
  static const std::regex blanks{" +"};
  return std::regex_replace(std::regex_replace(line, time, "TIME"), blanks, " ");
}

/// The first line of `shown` that `printed` does not have at its place; empty = all are there. A
/// shown line may end with "…" for whatever follows.
std::string first_difference(const lines& shown, const std::string& printed) {
  const auto real = lines_of(printed);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto is = without_times(i < real.size() ? real[i] : "<no more lines>");
    auto wanted = without_times(shown[i]);
    const bool is_cut = wanted.ends_with("…");
    if (is_cut)
      wanted.resize(wanted.size() - std::string{"…"}.size());
    if (is_cut ? !is.starts_with(wanted) : is != wanted)
      return "shown:   " + wanted + "\nprinted: " + is;
  }
  return {};
}

/// The indented lines of a page that call the program, without what a shell makes of their ends. A
/// schedule's first line is none of them.
lines commands_of(const std::string& path) {
  lines out;
  for (auto line : prose_of({path, text_of(path)})) {
    line = line.starts_with("    ") ? line.substr(4) : std::string{};
    if (line.starts_with("TUTTI_FAULT="))
      line = line.substr(line.find(' ') + 1);
    line = line.substr(0, std::min(line.find(" #"), line.find(" &")));
    if (line.starts_with("tutti ") && !line.starts_with("tutti schedule "))
      out.push_back(line);
  }
  return out;
}

TEST(Shown, commands_for_newcomers_are_found_by_the_shell) {
  for (const std::string path : {"README.md", "docs/start/quickstart.md"}) {
    const auto text = text_of(path);
    const auto set = text.find("    export PATH=\"$PWD/build/dev/bin:$PATH\"\n");
    ASSERT_NE(set, text.npos) << path;
    EXPECT_LT(set, text.find("\n    tutti ")) << path << ": before the first command";
    EXPECT_FALSE(commands_of(path).empty()) << path;
  }
}

TEST(Shown, commands_of_all_pages_have_verbs_and_flags_that_are_there) {
  const std::set<std::string> with_verbs_below{"chaos", "scenario", "sim"};
  std::set<std::string> pages{"README.md"};
  for (const auto& x : files_below("docs", ".md"))
    if (x.path.starts_with("docs/start/") || x.path.starts_with("docs/operate/"))
      pages.insert(x.path);
  for (const auto& path : pages)
    for (const auto& command : commands_of(path)) {
      std::istringstream words{command};
      std::string word, verb;
      words >> word >> verb;
      arguments help{verb, "--help"};
      if (words >> word; with_verbs_below.contains(verb))
        help.insert(help.begin() + 1, word);
      const auto known = commands::run(help);
      ASSERT_EQ(known.code(), 0) << path << ": " << command;
      for (bool more = !word.empty(); more; more = static_cast<bool>(words >> word))
        if (word.starts_with("-") && word != "-") {
          EXPECT_NE(known.out.find(word.substr(0, word.find('='))), std::string::npos)
              << path << ": " << command << ": " << word;
        }
    }
}

TEST(Shown, plan_of_the_quick_start_is_what_is_printed) {
  const auto said = commands::run({"plan", "-f", commands::example("small")});
  EXPECT_EQ(first_difference(block_with("docs/start/quickstart.md", "NAME   "), said.out), "");
}

TEST(Shown, settled_gangs_of_the_quick_start_are_what_is_printed) {
  const auto said = commands::run(
      {"local", "-f", commands::example("small"), "--admin", "", "--until", "settled"});
  EXPECT_EQ(first_difference(block_with("docs/start/quickstart.md", "NAMESPACE   "), said.out), "");
}

/// Gangs that come together are tried in the order in which their members are seen, so not every
/// start explains the same: one of some must explain what is shown.
TEST(Shown, explanation_of_the_quick_start_is_what_is_printed) {
  constexpr int starts_max = 20;
  for (const char* page : {"docs/start/quickstart.md", "docs/concepts/explanations.md"}) {
    const auto shown = block_with(page, "too-wide Queued");
    std::string difference = "never started";
    for (int i = 0; i < starts_max && !difference.empty(); ++i) {
      commands::daemon one{{.what = {"-f", commands::example("small")}}};
      one.settle();
      difference = first_difference(shown, one.ask({"explain", "gang", "too-wide"}).out);
      one.stop();
    }
    EXPECT_EQ(difference, "") << page;
  }
}

/// The first words of indented lines that call the program, such as {"plan", "-f", …}.
std::vector<arguments> calls_in(const std::string& path) {
  std::vector<arguments> out;
  for (auto line : prose_of({path, text_of(path)})) {
    if (line.find("    ") != 0)
      continue;
    line = line.substr(0, line.find('#'));
    if (const auto at = line.find("tutti "); at != 4 && line.find("    TUTTI_FAULT") != 0)
      continue;
    if (line.find("tutti schedule ") == 4)
      continue; // the first line of a file that is shown
    arguments words;
    static const std::regex word{R"(\S+)"};
    const auto from = line.find("tutti ") + 6;
    for (std::sregex_iterator
             it{line.begin() + static_cast<std::ptrdiff_t>(from), line.end(), word},
         end;
         it != end; ++it)
      if (it->str() != "&")
        words.push_back(it->str());
    out.push_back(std::move(words));
  }
  return out;
}

/// Commands that are given to be typed: not the patterns of the reference ("tutti VERB [NOUN]").
TEST(Shown, every_command_names_a_verb_flags_and_files_that_are_there) {
  std::size_t seen = 0;
  for (const auto& page : files_below("", ".md")) {
    if (page.path == "docs/reference/cli.md")
      continue;
    for (const auto& words : calls_in(page.path)) {
      ++seen;
      ASSERT_FALSE(words.empty()) << page.path;
      auto help = commands::run({"help", words.front()});
      EXPECT_EQ(help.code(), 0) << page.path << ": tutti " << words.front();
      if (words.size() > 1 && !words[1].starts_with("-")) // a verb may have verbs of its own
        help.out += commands::run({words.front(), words[1], "--help"}).out;
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i].starts_with("-") && words[i] != "-") {
          EXPECT_NE(help.out.find(words[i]), std::string::npos) << page.path << ": " << words[i];
        }
        if (words[i].starts_with("examples/")) {
          EXPECT_TRUE(exists(words[i])) << page.path << ": " << words[i];
        }
      }
    }
  }
  EXPECT_GT(seen, 10u);
}

TEST(Shown, every_verb_has_examples_and_exit_codes_in_its_help) {
  const auto list = commands::run({"help"}).out;
  std::size_t verbs = 0;
  for (const auto& line : lines_of(list.substr(list.find("Subcommands:")))) {
    static const std::regex verb{"^  ([a-z]+)  +[A-Z].*"};
    std::smatch found;
    if (!std::regex_match(line, found, verb))
      continue;
    ++verbs;
    const auto help = commands::run({found[1].str(), "--help"});
    EXPECT_EQ(help.code(), 0) << found[1];
    EXPECT_NE(help.out.find("Example"), std::string::npos) << found[1];
    EXPECT_NE(help.out.find("tutti " + found[1].str()), std::string::npos) << found[1];
    EXPECT_NE(help.out.find("Exit codes:"), std::string::npos) << found[1];
  }
  EXPECT_GT(verbs, 8u);
}

} // namespace
} // namespace tutti::docs
