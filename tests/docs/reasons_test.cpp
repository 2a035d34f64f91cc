// Every reason that the reference lists is named by code, and a test expects it; or the gaps say
// that nobody gives it, and then nobody does.
#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pages.hpp"

namespace tutti::docs {
namespace {

/// "never_fits" of "NeverFits": how the sources write it.
std::string enumerator_of(const std::string& word) {
  std::string out;
  for (const char c : word) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !out.empty())
      out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// Behind the words of the gaps, up to the end of that sentence.
words not_given() {
  static const std::string head = "* Reasons that nobody gives, kept for what is not built: ";
  const auto text = text_of("docs/internals/gaps.md");
  const auto at = text.find(head);
  if (at == text.npos)
    return {};
  const auto from = at + head.size();
  std::istringstream list{text.substr(from, text.find('.', from) - from)};
  words out;
  for (std::string word; list >> word;) {
    if (word.ends_with(','))
      word.pop_back();
    out.insert(word);
  }
  return out;
}

/// The statements `EXPECT_EQ(…);` and `ASSERT_EQ(…);` in a source: each begins a line.
std::vector<std::string> expectations_in(const std::string& source) {
  static const std::regex head{"\n *(EXPECT|ASSERT)_EQ\\("};
  std::vector<std::string> out;
  for (std::sregex_iterator it{source.begin(), source.end(), head}, end; it != end; ++it) {
    const auto from = static_cast<std::size_t>(it->position());
    out.push_back(source.substr(from, source.find(";\n", from) - from));
  }
  return out;
}

/// Of all tests, but for those that try the words themselves.
std::vector<std::string> expectations() {
  std::vector<std::string> out;
  for (const auto& source : files_below("tests", ".cpp"))
    if (!source.path.starts_with("tests/base/") && !source.path.starts_with("tests/docs/"))
      for (auto& statement : expectations_in(source.text))
        out.push_back(std::move(statement));
  return out;
}

/// It compares a reason with this one: as the code has it, or in a row that people read.
bool expects(const std::string& statement, const std::string& word) {
  const std::regex in_code{"reason_code::" + enumerator_of(word) + "\\b"};
  return std::regex_search(statement, in_code)
         || (statement.find("\"reason\"") != statement.npos
             && statement.find("\"" + word + "\"") != statement.npos);
}

/// Some code outside base/, which has only the words, names it.
bool is_given(const std::string& word) {
  const std::regex in_code{"reason_code::" + enumerator_of(word) + "\\b"};
  for (const auto& source : files_below("", ".cpp"))
    if (!source.path.starts_with("tests/") && !source.path.starts_with("base/")
        && std::regex_search(source.text, in_code))
      return true;
  return false;
}

words listed() {
  const auto headings =
      headings_of({"docs/reference/reasons.md", text_of("docs/reference/reasons.md")}, 2);
  return {headings.begin(), headings.end()};
}

TEST(Reasons, are_each_expected_by_a_test_but_for_those_that_nobody_gives) {
  const auto nobody = not_given();
  const auto statements = expectations();
  EXPECT_GT(statements.size(), 1000u) << "the tests have gone";
  std::size_t found = 0;
  for (const auto& word : listed()) {
    const auto is_tried = std::any_of(statements.begin(), statements.end(),
                                      [&](const auto& x) { return expects(x, word); });
    EXPECT_NE(is_tried, nobody.contains(word))
        << word
        << (is_tried ? " is expected by a test, and the gaps say that nobody gives it"
                     : " is expected by no test");
    found += is_tried ? 1 : 0;
  }
  EXPECT_GT(found, 15u);
}

TEST(Reasons, that_nobody_gives_are_given_by_no_code_and_all_others_are) {
  const auto nobody = not_given();
  for (const auto& word : nobody)
    EXPECT_TRUE(listed().contains(word)) << word;
  for (const auto& word : listed())
    EXPECT_NE(is_given(word), nobody.contains(word)) << word;
}

TEST(Reasons, are_found_in_an_expectation_and_nowhere_else) {
  EXPECT_TRUE(expects("EXPECT_EQ(why.primary, reason_code::never_fits)", "NeverFits"));
  EXPECT_TRUE(expects(R"(EXPECT_EQ(row("g", "reason"), "NeverFits"))", "NeverFits"));
  EXPECT_FALSE(expects(R"(EXPECT_EQ(row("g", "phase"), "Binding"))", "Binding"));
  EXPECT_FALSE(expects("EXPECT_EQ(why.primary, reason_code::binding_late)", "Binding"));
  EXPECT_FALSE(expects("EXPECT_EQ(why.primary, reason_code::bind_refused)", "Binding"));
  EXPECT_EQ(
      expectations_in("\n  EXPECT_EQ(a,\n            b) << c;\n  // EXPECT_EQ(d, e);\n").size(), 1u)
      << "not in a comment";
}

} // namespace
} // namespace tutti::docs
