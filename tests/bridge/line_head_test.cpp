#include "bridge/line_head.hpp"

#include <string>

#include <gtest/gtest.h>

namespace tutti::bridge {
namespace {

constexpr std::string_view pod =
    R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",)"
    R"("namespace":"ns","uid":"u-1","resourceVersion":"17","labels":{"name":"no","uid":"no"}},)"
    R"("spec":{"x":[1,{"y":"}"}]}}})"
    "\n";

TEST(LineHead, says_what_a_line_is_about) {
  const auto head = read_line_head(pod);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->type, "MODIFIED");
  EXPECT_EQ(head->space, "ns");
  EXPECT_EQ(head->name, "a");
  EXPECT_EQ(head->uid, "u-1");
  EXPECT_EQ(head->version, "17");
}

TEST(LineHead, finds_metadata_behind_anything_else) {
  const auto head = read_line_head(
      R"( { "type" : "ADDED", "object": {"spec":{"a":"\"}{","b":[[],{}],"c":-1.5e3,"d":null},)"
      R"("metadata":{"labels":{},"uid":"u","resourceVersion":"1","name":"n"}}})");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->space, "");
  EXPECT_EQ(head->name, "n");
}

TEST(LineHead, is_silent_about_every_line_that_is_cut) {
  const auto whole = pod.substr(0, pod.size() - 1);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto head = read_line_head(whole.substr(0, n));
    EXPECT_FALSE(head && !whole.substr(0, n).ends_with("}}")) << whole.substr(0, n);
  }
}

TEST(LineHead, leaves_to_the_parser_what_is_not_plain) {
  const std::string begin = R"({"type":"ADDED","object":{"metadata":)";
  for (const auto* metadata :
       {R"({"name":"a\u0062","uid":"u","resourceVersion":"1"}}})",
        R"({"name":"a","name":"b","uid":"u","resourceVersion":"1"}}})",
        R"({"name":"a","uid":"u","resourceVersion":1}}})", R"({"name":"a","uid":"u"}}})",
        R"({"uid":"u","resourceVersion":"1"}}})", R"([]}})", R"({}}})", R"("x"}})"})
    EXPECT_FALSE(read_line_head(begin + metadata)) << metadata;
  EXPECT_FALSE(read_line_head(R"({"object":{},"type":"ADDED"}})"));
  EXPECT_FALSE(read_line_head(""));
}

TEST(PageHeads, are_those_of_all_items) {
  const auto page = read_page_heads(
      R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"to",)"
      R"("remainingItemCount":3},"items":[)"
      R"({"metadata":{"name":"a","namespace":"s","uid":"1","resourceVersion":"5"},"spec":{}},)"
      R"({"spec":{"n":[1,2]},"metadata":{"name":"b","uid":"2","resourceVersion":"6"},)"
      R"("status":{}}]})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->version, "9");
  EXPECT_EQ(page->token, "to");
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_EQ(page->items[0].space, "s");
  EXPECT_EQ(page->items[1].name, "b");
  EXPECT_EQ(page->items[1].version, "6");
}

TEST(PageHeads, of_an_empty_list_are_none_and_of_nonsense_nothing) {
  const auto empty = read_page_heads(R"({"metadata":{"resourceVersion":"9"},"items":[]})");
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->items.empty());
  for (const auto* text : {"", "{}", R"({"items":[]})", R"({"metadata":{"resourceVersion":"9"}})",
                           R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{}}]})",
                           R"({"metadata":{"resourceVersion":"9"},"items":[)",
                           R"({"metadata":{"resourceVersion":"9"},"items":[1]})"})
    EXPECT_FALSE(read_page_heads(text)) << text;
}

} // namespace
} // namespace tutti::bridge
