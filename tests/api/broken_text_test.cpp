// Whatever stands in a file or an amount: nothing crashes, and what is wrong is said with its
// place.
#include <regex>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/manifest.hpp"
#include "api/quantity.hpp"

namespace tutti::api {
namespace {

constexpr std::string_view good = R"(apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train}
spec:
  schedulingPolicy:
    gang: {minCount: 2}
---
apiVersion: v1
kind: Pod
metadata: {name: train-0, namespace: ml, labels: &l {a: "1"}, annotations: *l}
spec:
  schedulerName: tutti
  schedulingGroup: {podGroupName: train}
  containers:
  - name: main
    image: pause:3.10
    resources: {requests: {cpu: 1.5, memory: 64Mi}}
    ports: [{containerPort: 80}]
)";
constexpr std::string_view good_json =
    R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":)"
    R"({"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":)"
    R"({"cpu":"1","memory":"1e3"}}}],"priority":5,"tolerations":[{"operator":"Exists"}]}}]})";

/// Reads it; an error must begin with its place and be one line.
void expect_a_place(std::string_view text) {
  const auto read = read_manifest_text(text, "a.yaml", {.kubernetes = std::nullopt});
  if (read)
    return;
  static const std::regex place{
      "^file a\\.yaml, document [1-9][0-9]*( \\([A-Za-z0-9. -]+\\))?[,:][^\\n]+$"};
  const auto message = read.error().message();
  if (!std::regex_match(message, place))
    RC_FAIL("no place: " + message);
}

/// One small accident: a byte gone, doubled, replaced, a piece moved, or the end torn off.
std::string damaged(std::string text) {
  static const std::string bytes = "{}[]:,-&*!|>'\"%@`#? \t\n\\0aZ9.~<\x01\x7f\xc3\xff";
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
  const auto length = *rc::gen::inRange<std::size_t>(0, 12);
  const auto byte = *rc::gen::elementOf(bytes);
  switch (*rc::gen::inRange(0, 5)) {
  case 0:
    return text.substr(0, at) + byte + text.substr(at);
  case 1:
    return text.erase(at, length);
  case 2:
    return text.substr(0, at) + text.substr(at, length) + text.substr(at);
  case 3:
    return text.substr(0, at);
  default:
    if (at < text.size())
      text[at] = byte;
    return text;
  }
}

RC_GTEST_PROP(BrokenText, a_damaged_manifest_is_read_or_refused_with_its_place, ()) {
  std::string text{*rc::gen::element(good, good_json)};
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i)
    text = damaged(std::move(text));
  expect_a_place(text);
}

RC_GTEST_PROP(BrokenText, any_bytes_are_read_or_refused_with_their_place, ()) {
  expect_a_place(*rc::gen::string<std::string>());
  const auto marks = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string{"{}[]:,-&*!|>'\"%@`#? \t\n\\0aZ9.~<"}));
  expect_a_place(marks);
  expect_a_place("apiVersion: v1\nkind: Pod\nmetadata: " + marks);
}

RC_GTEST_PROP(BrokenText, any_value_in_the_place_of_another_is_refused_with_its_place, ()) {
  auto root = boost::json::parse(good_json);
  auto& pod = root.at("items").at(0);
  static const std::vector<std::string> paths{"/metadata",
                                              "/metadata/name",
                                              "/spec",
                                              "/spec/containers",
                                              "/spec/containers/0",
                                              "/spec/containers/0/resources",
                                              "/spec/containers/0/resources/limits",
                                              "/spec/containers/0/resources/limits/cpu",
                                              "/spec/priority",
                                              "/spec/tolerations"};
  static const std::vector<std::string> values{"null",
                                               "true",
                                               "-1",
                                               "1.5",
                                               "1e300",
                                               "\"\"",
                                               "[]",
                                               "{}",
                                               "[[]]",
                                               "{\"a\":{}}",
                                               "18446744073709551615"};
  boost::system::error_code failed;
  if (auto* there = pod.find_pointer(*rc::gen::elementOf(paths), failed))
    *there = boost::json::parse(*rc::gen::elementOf(values));
  expect_a_place(boost::json::serialize(root));
}

/// The parser stands still before such a document, and would for ever.
TEST(BrokenText, a_document_that_begins_with_an_end_is_refused) {
  for (const auto* text : {"]", "}", "- a\n]", "apiVersion: v1\n}\n", "--- }\n", ", ", "a\n? ]"}) {
    const auto said = read_manifest_text(text, "a.yaml");
    EXPECT_FALSE(said) << text;
  }
}

// ---------------------------------------------------------------- nesting

std::string nested(std::string_view open, std::string_view close, int levels) {
  std::string text;
  for (int i = 0; i < levels; ++i)
    text += open;
  text += "1";
  for (int i = 0; i < levels; ++i)
    text += close;
  return text;
}
std::string refusal_of(const std::string& text) {
  const auto read = read_manifest_text(text, "a.yaml");
  return read ? std::string{} : read.error().message();
}

TEST(Nesting, that_is_too_deep_is_said_in_these_words_whatever_the_language) {
  const std::string words = "…: nested too deeply; allowed: objects and lists, 400 in each other";
  for (const auto& text :
       {nested("[", "]", 401), nested("[", "]", 100'000), nested("{\"a\":", "}", 401),
        nested("{a: ", "}", 401), "apiVersion: v1\nspec: " + nested("[", "]", 500),
        "apiVersion: v1\nspec: " + nested("{a: ", "}", 100'000)}) {
    const auto said = refusal_of(text);
    EXPECT_TRUE(said.starts_with("file a.yaml, document 1, ")) << said;
    EXPECT_TRUE(said.ends_with(words)) << said;
    EXPECT_LT(said.size(), 180u) << said;
  }
  std::string block = "apiVersion: v1\n";
  for (int i = 0; i < 450; ++i)
    block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_TRUE(refusal_of(block).ends_with(words)) << refusal_of(block);
}

TEST(Nesting, just_below_is_read_and_refused_for_what_it_says) {
  EXPECT_EQ(refusal_of(nested("[", "]", 400)),
            "file a.yaml, document 1, top level: is no object; allowed: an object with apiVersion "
            "and kind");
  const auto said = refusal_of("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: "
                               + nested("{\"a\":", "}", 390));
  EXPECT_NE(said.find("spec.a: unknown field"), std::string::npos) << said;
}

// ---------------------------------------------------------------- amounts

void expect_sense(const base::result<quantity>& read) {
  if (!read) {
    const auto said = read.error().message();
    RC_ASSERT(said.starts_with("quantities must match") || said.starts_with("unable to parse"));
    return;
  }
  const auto text = read->text();
  const auto again = parse_quantity(text);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *read);
  RC_ASSERT(read->value() <= read->milli_value() || read->milli_value() < 0
            || read->value() == read->milli_value());
  (void)read->rounded_to_milli().text();
}

RC_GTEST_PROP(BrokenAmount, any_text_is_read_or_refused_in_the_words_of_a_server, ()) {
  expect_sense(parse_quantity(*rc::gen::string<std::string>()));
  expect_sense(parse_quantity(*rc::gen::container<std::string>(
      rc::gen::elementOf(std::string{"0123456789.+-eEinumkKMGTP"}))));
  const auto digits = *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"0059"}));
  const auto suffix = *rc::gen::elementOf(std::vector<std::string>{"",
                                                                   "n",
                                                                   "u",
                                                                   "m",
                                                                   "k",
                                                                   "M",
                                                                   "G",
                                                                   "T",
                                                                   "P",
                                                                   "E",
                                                                   "Ki",
                                                                   "Mi",
                                                                   "Gi",
                                                                   "Ti",
                                                                   "Pi",
                                                                   "Ei",
                                                                   "e3",
                                                                   "E-3",
                                                                   "e+2147483",
                                                                   "e-2147483",
                                                                   "e9223372036854775807",
                                                                   "e99999999999999999999",
                                                                   "ei"});
  expect_sense(parse_quantity(digits + suffix));
  expect_sense(parse_quantity("-" + digits + "." + digits + suffix));
}

/// Written out it would need an exponent that servers do not keep, so it is not read back the same.
TEST(BrokenAmount, with_the_last_exponent_that_servers_keep_is_read) {
  for (const auto* text : {"900e+2147483647", "0.009e-2147483648", "-5e2147483647"})
    EXPECT_TRUE(parse_quantity(text)) << text;
}

TEST(BrokenAmount, of_a_hundred_thousand_digits_is_an_amount_like_any_other) {
  for (const auto* suffix : {"", "Ei", "m", "e5"}) {
    const auto read = parse_quantity(std::string(100'000, '7') + suffix);
    ASSERT_TRUE(read) << suffix;
    EXPECT_GT(read->value(), 0);
    EXPECT_FALSE(read->text().empty());
  }
}

RC_GTEST_PROP(BrokenAmount, any_json_is_read_or_refused, ()) {
  static const std::vector<std::string> values{"null",
                                               "true",
                                               "[]",
                                               "{}",
                                               "\"\"",
                                               "\"  1 \"",
                                               "-0",
                                               "0.1",
                                               "1e308",
                                               "-1e9",
                                               "1e-30",
                                               "123456",
                                               "\"x\"",
                                               "18446744073709551615",
                                               "-9223372036854775808"};
  const auto text = *rc::gen::elementOf(values);
  expect_sense(quantity_of(boost::json::parse(text)));
  const auto answer = answer_to_request(text);
  RC_ASSERT(answer.status == 201 || answer.status == 400 || answer.status == 422);
  RC_ASSERT((answer.status == 201) == answer.message.empty());
}

} // namespace
} // namespace tutti::api
