// Label selectors and the operators they share with node affinity.
#include "api/selector.hpp"

#include <boost/json/value.hpp>

#include "tests/api/fixtures.hpp"

namespace tutti::api {
namespace {

using namespace testing_words;
using operation = label_requirement::operation;

bool holds_for(operation how, std::vector<std::string> values, const char* label) {
  label_requirement requirement{"k", how, std::move(values)};
  if (label == nullptr)
    return holds(requirement, nullptr);
  std::string_view value = label;
  return holds(requirement, &value);
}

TEST(Requirement, holds_as_every_operator_says) {
  struct {
    operation how;
    std::vector<std::string> values;
    const char* label; // null = absent
    bool expected;
  } rows[] = {
      {operation::in, {"a", "b"}, "a", true},
      {operation::in, {"a", "b"}, "c", false},
      {operation::in, {"a"}, nullptr, false},
      {operation::in, {""}, "", true},
      {operation::in, {}, "a", false},
      {operation::not_in, {"a"}, "a", false},
      {operation::not_in, {"a"}, "b", true},
      {operation::not_in, {"a"}, nullptr, true},
      {operation::exists, {}, "", true},
      {operation::exists, {}, nullptr, false},
      {operation::does_not_exist, {}, nullptr, true},
      {operation::does_not_exist, {}, "a", false},
      {operation::gt, {"8"}, "9", true},
      {operation::gt, {"8"}, "8", false},
      {operation::gt, {"8"}, "10", true},
      {operation::gt, {"-3"}, "-2", true},
      {operation::lt, {"8"}, "7", true},
      {operation::lt, {"8"}, "8", false},
      {operation::lt, {"8"}, nullptr, false},
      {operation::gt, {"8"}, nullptr, false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(holds_for(row.how, row.values, row.label), row.expected)
        << static_cast<int>(row.how) << " " << (row.label ? row.label : "(absent)");
}

TEST(Requirement, gt_and_lt_hold_only_between_integers) {
  for (auto how : {operation::gt, operation::lt})
    for (auto bad : {"", "many", "8.5", "0x10", " 9", "9 ", "1e3", "99999999999999999999", "--1",
                     "+-1", "+"}) {
      EXPECT_FALSE(holds_for(how, {"8"}, bad)) << bad;
      EXPECT_FALSE(holds_for(how, {bad}, "8")) << bad;
    }
  EXPECT_FALSE(holds_for(operation::gt, {"1", "2"}, "8")) << "exactly one value";
  EXPECT_FALSE(holds_for(operation::gt, {}, "8"));
  EXPECT_TRUE(holds_for(operation::gt, {"+8"}, "+9"));
}

label_selector selector(const std::string& text) {
  return sound(decode_label_selector(json(text)));
}

TEST(LabelSelector, needs_all_labels_and_expressions) {
  auto s = selector("{'matchLabels':{'app':'web'},'matchExpressions':["
                    "{'key':'tier','operator':'In','values':['a','b']},"
                    "{'key':'old','operator':'DoesNotExist'}]}");
  EXPECT_TRUE(matches(s, {{"app", "web"}, {"tier", "b"}}));
  EXPECT_FALSE(matches(s, {{"app", "web"}, {"tier", "c"}}));
  EXPECT_FALSE(matches(s, {{"app", "db"}, {"tier", "b"}}));
  EXPECT_FALSE(matches(s, {{"app", "web"}, {"tier", "b"}, {"old", ""}}));
}

TEST(LabelSelector, empty_selects_everything_and_missing_nothing) {
  EXPECT_TRUE(matches(selector("{}"), {{"a", "b"}}));
  EXPECT_TRUE(matches(selector("{'matchLabels':{},'matchExpressions':null}"), {}));
  EXPECT_FALSE(matches(sound(decode_label_selector(nullptr)), {{"a", "b"}}));
}

TEST(LabelSelector, refuses_operators_of_nodes) {
  EXPECT_EQ(complaint(decode_label_selector(
                json("{'matchExpressions':[{'key':'a','operator':'Gt','values':['1']}]}"))),
            "matchExpressions[0].operator: unknown operator \"Gt\"");
}

TEST(LabelSelector, reads_the_text_of_a_query) {
  string_map web{{"app", "web"}, {"tier", "b"}, {"cores", "9"}};
  struct {
    const char* text;
    bool expected;
  } rows[] = {{"", true},
              {"app=web", true},
              {"app==web,tier in (a, b)", true},
              {"app=web,tier in (c)", false},
              {"app!=web", false},
              {"other!=web", true},
              {"tier notin (a,c),!old", true},
              {"!app", false},
              {"app", true},
              {"old", false},
              {"cores>8", true},
              {"cores<9", false},
              {"empty=", false}};
  for (const auto& row : rows)
    EXPECT_EQ(matches(sound(parse_label_selector(row.text)), web), row.expected) << row.text;
}

TEST(LabelSelector, names_the_part_of_a_query_that_it_cannot_read) {
  for (auto text : {"a=b,", "=b", "a in b", "a within (b)", "a>x", "a b", "a in (b", "!"})
    EXPECT_NE(complaint(parse_label_selector(text)).find("cannot read"), std::string::npos) << text;
}

} // namespace
} // namespace tutti::api
