// What the documentation says of code is compared with the code: names, sections, links, tests.
#include "pages.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/explanation.hpp"

namespace tutti::docs {
namespace {

page page_at(const std::string& path) {
  EXPECT_TRUE(exists(path)) << path << " is missing";
  return {path, text_of(path)};
}

/// Both ways, and says which side lacks what.
void expect_same(const words& in_code, const words& in_docs, const std::string& page_path) {
  words undocumented, invented;
  std::set_difference(in_code.begin(), in_code.end(), in_docs.begin(), in_docs.end(),
                      std::inserter(undocumented, undocumented.end()));
  std::set_difference(in_docs.begin(), in_docs.end(), in_code.begin(), in_code.end(),
                      std::inserter(invented, invented.end()));
  EXPECT_TRUE(undocumented.empty())
      << page_path << " lacks " << fmt::format("{}", fmt::join(undocumented, ", "));
  EXPECT_TRUE(invented.empty()) << page_path << " speaks of "
                                << fmt::format("{}", fmt::join(invented, ", "))
                                << ", which is not in the code";
  EXPECT_FALSE(in_code.empty()) << "nothing to compare " << page_path << " with";
}

void expect_none(const std::vector<std::string>& findings) {
  EXPECT_TRUE(findings.empty()) << fmt::format("{}", fmt::join(findings, "\n"));
}

// ---------------------------------------------------------------- reference

words reason_names() {
  words out;
  for (int i = 1; i <= static_cast<int>(base::reason_code::scheduler_error); ++i)
    out.emplace(base::name_of(static_cast<base::reason_code>(i)));
  return out;
}

TEST(Reference, every_reason_has_an_anchor_and_every_anchor_a_reason) {
  const auto reasons = page_at("docs/reference/reasons.md");
  const auto headings = headings_of(reasons, 2);
  expect_same(reason_names(), {headings.begin(), headings.end()}, reasons.path);
}

TEST(Reference, every_reason_has_a_cause_a_check_and_a_cure) {
  const auto reasons = page_at("docs/reference/reasons.md");
  const auto lines = prose_of(reasons);
  for (const char* part : {"**Cause.**", "**Check.**", "**Cure.**"}) {
    const auto n = std::count_if(lines.begin(), lines.end(),
                                 [&](const auto& line) { return line.starts_with(part); });
    EXPECT_EQ(static_cast<std::size_t>(n), reason_names().size()) << part;
  }
}

words metric_names() {
  words out;
  for (const auto& source : files_below("actors", ".cpp"))
    if (source.path.starts_with("actors/metrics"))
      for (const auto& word : words_between(source.text, "\"", "\""))
        if (word.starts_with("gang_") || word.starts_with("scheduler_"))
          out.insert(word);
  return out;
}

/// First cells of table rows that hold one word between backticks.
words first_cells_of(const page& x) {
  words out;
  for (const auto& line : prose_of(x))
    if (line.starts_with("| `"))
      if (const auto end = line.find('`', 3); line.substr(end).starts_with("` |"))
        out.insert(line.substr(3, end - 3));
  return out;
}

TEST(Reference, every_metric_has_a_row_and_every_row_a_metric) {
  const auto metrics = page_at("docs/reference/metrics.md");
  words rows;
  for (const auto& word : first_cells_of(metrics))
    if (word.starts_with("gang_") || word.starts_with("scheduler_"))
      rows.insert(word);
  expect_same(metric_names(), rows, metrics.path);
}

TEST(Reference, every_note_that_the_metrics_page_explains_is_made_somewhere) {
  std::string sources;
  for (const auto& source : files_below("", ".cpp"))
    if (!source.path.starts_with("tests/"))
      sources += source.text;
  for (const auto& word : code_words_of(page_at("docs/reference/metrics.md")))
    if (word.find('.') != word.npos && word.find('/') == word.npos) {
      EXPECT_NE(sources.find("\"" + word + "\""), sources.npos) << word;
    }
}

/// The parser: main.cpp, and a file for each verb that has verbs below it.
std::string parser_text() {
  auto out = text_of("cli/main.cpp");
  for (const auto& source : files_below("cli", "_verbs.cpp"))
    out += source.text;
  return out;
}

words verbs_in_code() {
  const auto main = parser_text();
  auto out = words_between(main, "app.add_subcommand(\"", "\"");
  out.merge(words_between(main, "add_gang_verb(app, a, \"", "\""));
  return out;
}

TEST(Reference, every_verb_has_a_section_and_every_section_a_verb) {
  const auto cli = page_at("docs/reference/cli.md");
  words sections;
  for (const auto& heading : headings_of(cli, 2))
    if (std::islower(static_cast<unsigned char>(heading.front())) != 0)
      sections.insert(heading);
  expect_same(verbs_in_code(), sections, cli.path);
}

/// The ids between the quotes behind `head`.
words ids_behind(std::string_view folder_of_code, std::string_view head) {
  words out;
  for (const auto& source : files_below(std::string{folder_of_code}, ".cpp"))
    if (!source.path.starts_with("tests/") && !source.path.starts_with("base/"))
      out.merge(words_between(source.text, head, "\""));
  return out;
}

TEST(Reference, tutti_local_knows_every_fault_point_and_no_other) {
  auto passed = ids_behind("", "fault{\"");
  passed.merge(ids_behind("", "pass_fault(\""));
  const auto check = text_of("cli/local_check.cpp");
  const auto from = check.find("fault_points{");
  const auto known = words_between(check.substr(from, check.find("};", from) - from), "\"", "\"");
  expect_same(passed, known, "cli/local_check.cpp");
}

/// "--filename" of every flag that the parser defines or the page names.
words flags_in(const std::string& text) {
  words out;
  for (std::size_t pos = text.find("--"); pos != text.npos; pos = text.find("--", pos + 2)) {
    auto to = pos + 2;
    while (to < text.size()
           && (std::isalpha(static_cast<unsigned char>(text[to])) != 0 || text[to] == '-'))
      ++to;
    if (to > pos + 2)
      out.insert(text.substr(pos, to - pos));
  }
  return out;
}

TEST(Reference, every_flag_of_the_parser_is_described) {
  const auto described = flags_in(page_at("docs/reference/cli.md").text);
  for (const auto& flag : flags_in(parser_text()))
    EXPECT_TRUE(described.contains(flag)) << flag;
}

TEST(Reference, annotations_are_those_that_the_code_names) {
  words in_code;
  for (const auto& source : files_below("", ".hpp"))
    if (source.path.starts_with("bridge/"))
      in_code.merge(words_between(source.text, "\"tutti.dev/", "\""));
  const auto text = page_at("docs/reference/annotations.md").text;
  for (const auto& word : in_code)
    EXPECT_NE(text.find("`tutti.dev/" + word + "`"), text.npos) << word;
  EXPECT_FALSE(in_code.empty());
}

// ---------------------------------------------------------------- claims

TEST(Claims, every_test_that_the_documentation_names_is_there) {
  const auto names = test_names();
  const auto prefixes = test_prefixes();
  std::vector<std::string> missing;
  for (const auto& x : files_below("", ".md"))
    for (const auto& word : code_words_of(x))
      if (is_test_name(word, prefixes) && !names.contains(word))
        missing.push_back(x.path + ": no test " + word);
  expect_none(missing);
  EXPECT_GT(names.size(), 100u);
}

TEST(Claims, every_promise_of_the_readme_names_a_test) {
  const auto readme = page_at("README.md");
  const auto prefixes = test_prefixes();
  const auto lines = prose_of(readme);
  auto row = std::find(lines.begin(), lines.end(), "| promise | shown by |");
  ASSERT_NE(row, lines.end());
  std::size_t promises = 0;
  for (row += 2; row != lines.end() && row->starts_with("|"); ++row, ++promises) {
    const auto said = code_words_of({readme.path, *row});
    const auto shown = std::any_of(said.begin(), said.end(),
                                   [&](const auto& word) { return is_test_name(word, prefixes); });
    EXPECT_TRUE(shown) << *row;
  }
  EXPECT_GT(promises, 3u);
}

TEST(Claims, files_that_the_readme_names_are_there) {
  for (const auto& word : code_words_of(page_at("README.md"))) {
    const auto is_path = word.find('/') != word.npos && word.find_first_of(" *:|<>=") == word.npos
                         && !word.starts_with("build/");
    EXPECT_TRUE(!is_path || exists(word)) << word;
  }
}

TEST(Claims, the_readme_maps_every_top_level_folder) {
  const auto text = page_at("README.md").text;
  for (const auto& folder : top_folders())
    EXPECT_NE(text.find("`" + folder + "/`"), text.npos) << folder;
}

TEST(Claims, every_top_level_folder_says_what_it_is_for) {
  for (const auto& folder : top_folders())
    EXPECT_TRUE(folder == "tests" || folder == "examples" || exists(folder + "/README.md"))
        << folder;
}

TEST(Claims, the_index_lists_every_page) {
  const auto linked = links_of(page_at("docs/README.md"));
  for (const auto& x : files_below("docs", ".md"))
    if (x.path != "docs/README.md") {
      EXPECT_NE(std::find(linked.begin(), linked.end(), x.path.substr(5)), linked.end()) << x.path;
    }
}

// ---------------------------------------------------------------- form

TEST(Pages, links_lead_somewhere) {
  std::vector<std::string> broken;
  for (const auto& x : files_below("", ".md"))
    for (const auto& link : links_of(x)) {
      const auto hash = link.find('#');
      const auto file = link.substr(0, hash);
      const auto folder = std::filesystem::path{x.path}.parent_path();
      const auto target =
          file.empty() ? x.path : (folder / file).lexically_normal().generic_string();
      if (!exists(target))
        broken.push_back(x.path + ": " + link);
      else if (hash != link.npos
               && !anchors_of({target, text_of(target)}).contains(link.substr(hash + 1)))
        broken.push_back(x.path + ": no anchor " + link);
    }
  expect_none(broken);
}

TEST(Pages, have_one_title_in_their_first_line) {
  for (const auto& x : files_below("", ".md")) {
    EXPECT_EQ(headings_of(x, 1).size(), 1u) << x.path;
    EXPECT_TRUE(x.text.starts_with("# ")) << x.path;
  }
}

TEST(Pages, name_no_path_of_a_machine) {
  std::vector<std::string> findings;
  for (const auto& x : files_below("", ".md"))
    for (const char* head : {"/work/", "/root/", "/home/", "/usr/local/", "/tmp/"})
      if (x.text.find(head) != x.text.npos)
        findings.push_back(x.path + ": " + head);
  expect_none(findings);
}

TEST(Pages, words_of_the_glossary_stand_in_order_and_once) {
  std::vector<std::string> entries;
  for (const auto& line : prose_of(page_at("docs/glossary.md")))
    if (line.starts_with("| ") && !line.starts_with("| word |"))
      entries.push_back(line.substr(2, line.find(" |", 2) - 2));
  auto lower = entries;
  for (auto& entry : lower)
    std::transform(entry.begin(), entry.end(), entry.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  EXPECT_TRUE(std::is_sorted(lower.begin(), lower.end()));
  EXPECT_EQ(std::adjacent_find(lower.begin(), lower.end()), lower.end());
  EXPECT_GT(entries.size(), 20u);
}

} // namespace
} // namespace tutti::docs
