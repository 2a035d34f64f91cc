// The scanner that the house checks stand on.
#include "source_text.hpp"

#include <gtest/gtest.h>

namespace tutti::tidy {
namespace {

TEST(SourceText, functions_are_found_by_their_braces_and_measured_from_their_first_word) {
  const auto found = functions_in(R"(
namespace a {
struct s : t {
  int get() const { return 1; }
  std::vector<int> list{1, 2};
public:
  s(int x)
      : x_(x) {
    if (x) { f(); }
  }
};
static int
long_one(int a,
         int b) {
  auto text = "}";  // }
  return a + b;
}
enum class e { one, two };
} // namespace a
)");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].length(), 1u);
  EXPECT_EQ(found[1].first_line, 7u);
  EXPECT_EQ(found[1].last_line, 10u);
  EXPECT_EQ(found[2].head, "static int long_one(int a, int b) ");
  EXPECT_EQ(found[2].length(), 6u);
}

TEST(SourceText, comments_strings_and_directives_are_blanks_and_lines_stay) {
  const std::string text =
      "a /* b\nc */ d // e\n#define F(x) \\\n  x\n\"f\\\"g\" '{' 1'000 R\"(h)\" i";
  const auto code = without_comments(text);
  EXPECT_EQ(code.size(), text.size());
  EXPECT_EQ(std::count(code.begin(), code.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  std::string left;
  for (char c : code)
    if (c != ' ' && c != '\n')
      left += c;
  EXPECT_EQ(left, "ad1'000i");
}

TEST(SourceText, a_word_is_not_found_inside_another) {
  EXPECT_TRUE(has_word("x = rand();", "rand"));
  EXPECT_FALSE(has_word("operand(x)", "rand"));
  EXPECT_FALSE(has_word("snprintf(", "printf"));
  EXPECT_TRUE(has_word("std::unordered_map<", "std::unordered_"));
}

TEST(SourceText, columns_count_characters_not_bytes) {
  EXPECT_EQ(columns("a ─▶ b"), 6u);
}

} // namespace
} // namespace tutti::tidy
