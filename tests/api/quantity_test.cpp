// Quantities as a genuine API server takes, refuses, rounds, writes and bounds them.
#include "api/quantity.hpp"

#include <fstream>
#include <sstream>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.hpp"

namespace tutti::api {
namespace {

using base::limits::amount_max;

quantity q(std::string_view text) {
  auto parsed = parse_quantity(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : quantity{};
}

/// One line of the recording.
struct recorded {
  std::string json_text;
  std::string resource;
  int code = 0;
  std::string stored;
  std::string message;
};

std::string unquoted(std::string field) {
  if (field.size() < 2 || field.front() != '"')
    return field;
  std::string out;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    out += field[i];
    if (field[i] == '"')
      ++i;
  }
  return out;
}

std::vector<recorded> recording() {
  std::ifstream file(TUTTI_TEST_DATA "/quantities-v1.37.2.tsv");
  std::vector<recorded> out;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    std::vector<std::string> fields;
    std::istringstream parts(line + "\t");
    for (std::string x; std::getline(parts, x, '\t');)
      fields.push_back(unquoted(x));
    EXPECT_EQ(fields.size(), 5U) << line;
    out.push_back({fields[0], fields[1], std::stoi(fields[2]), fields[3], fields[4]});
  }
  return out;
}

/// The message of a 422 as the server composes it and the recording cuts it.
std::string as_recorded(const request_answer& answer, const std::string& resource) {
  constexpr std::size_t cut_at = 110;
  if (answer.status != 422)
    return answer.message;
  return fmt::format("Pod \"p\" is invalid: spec.containers[0].resources.requests[{}]: {}",
                     resource, answer.message)
      .substr(0, cut_at);
}

TEST(Quantity, is_answered_as_a_real_server_answers_all_484_recorded_amounts) {
  auto rows = recording();
  ASSERT_EQ(rows.size(), 484U);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.json_text + " as " + row.resource);
    auto answer = answer_to_request(row.json_text);
    EXPECT_EQ(answer.status, row.code);
    EXPECT_EQ(answer.stored, row.stored);
    EXPECT_EQ(as_recorded(answer, row.resource), row.message);
  }
}

TEST(Quantity, is_the_same_read_from_parsed_json) {
  for (const auto& row : recording()) {
    SCOPED_TRACE(row.json_text);
    auto parsed = quantity_of(boost::json::parse(row.json_text));
    EXPECT_EQ(parsed.has_value(), row.code != 400);
    if (row.code == 201) {
      EXPECT_EQ(parsed->rounded_to_milli().text(), row.stored);
    }
  }
}

TEST(Quantity, counts_in_units_and_in_thousandths_rounded_up) {
  struct {
    const char* text;
    std::int64_t value;
    std::int64_t milli;
  } rows[] = {{"0", 0, 0},
              {"1", 1, 1000},
              {"100m", 1, 100},
              {"1500m", 2, 1500},
              {"1n", 1, 1},
              {"0.5", 1, 500},
              {"2Gi", 2147483648, 2147483648000},
              {"1.5Ki", 1536, 1536000},
              {".685Ki", 702, 701440},
              {"1e3", 1000, 1000000},
              {"3.14159265358979323846", 4, 3142},
              {"-1500m", -2, -1500},
              {"-1", -1, -1000}};
  for (const auto& row : rows) {
    EXPECT_EQ(q(row.text).value(), row.value) << row.text;
    EXPECT_EQ(q(row.text).milli_value(), row.milli) << row.text;
  }
}

TEST(Quantity, saturates_where_arithmetic_could_wrap) {
  for (auto text : {"1Ei", "8Ei", "1E19", "1e400", "9223372036854775807", "77282831770940086132T",
                    "1152921504606846976", "2E", "999999999999999999999"}) {
    EXPECT_EQ(q(text).value(), amount_max) << text;
    EXPECT_EQ(q(text).milli_value(), amount_max) << text;
  }
  EXPECT_EQ(q("1152921504606846974").value(), amount_max - 1);
  EXPECT_EQ(q("1152921504606846974").milli_value(), amount_max);
  EXPECT_EQ(q("-1e400").value(), -amount_max);
  EXPECT_EQ(q("1e-2000000000").value(), 1) << "an absurd exponent costs nothing";
}

TEST(Quantity, knows_fractions_from_whole_numbers) {
  EXPECT_TRUE(q("3").is_whole());
  EXPECT_TRUE(q("1.5Ki").is_whole());
  EXPECT_TRUE(q("1000m").is_whole());
  EXPECT_TRUE(q("0").is_whole());
  EXPECT_FALSE(q("1500m").is_whole());
  EXPECT_FALSE(q("0.1").is_whole());
}

TEST(Quantity, compares_as_a_number_whatever_the_spelling) {
  EXPECT_EQ(q("1Ki"), q("1024"));
  EXPECT_EQ(q("1000m"), q("1"));
  EXPECT_EQ(q("-0"), q("0"));
  EXPECT_LT(q("999m"), q("1"));
  EXPECT_LT(q("-2"), q("-1"));
  EXPECT_LT(q("-1"), q("0"));
  EXPECT_LT(q("9"), q("10"));
  EXPECT_LT(q("1e30"), q("1e31"));
  EXPECT_LT(q("10"), q("10.5"));
}

TEST(Quantity, keeps_its_value_where_servers_lose_an_exponent_without_suffix) {
  EXPECT_EQ(q("1000E").text(), "1e21");
  EXPECT_EQ(q(q("1000E").text()), q("1000E"));
}

TEST(Quantity, is_refused_if_nothing_but_a_sign_or_point_stands_before_a_tiny_exponent) {
  for (auto text : {"-e-20", ".e-20", "e-20"}) {
    auto parsed = parse_quantity(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(), "unable to parse numeric part of quantity") << text;
  }
}

/// Spellings of all kinds, sound and unsound.
rc::Gen<std::string> spellings() {
  using namespace rc;
  auto digits = gen::resize(24, gen::container<std::string>(gen::inRange('0', ':')));
  auto suffix =
      gen::element<std::string>("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi",
                                "Ti", "Pi", "Ei", "e3", "e-4", "E2", "e+30", "e-12", "K", "i");
  return gen::map(gen::tuple(gen::element<std::string>("", "+", "-"), digits,
                             gen::element<std::string>("", "."), digits, suffix),
                  [](const auto& x) {
                    return std::get<0>(x) + std::get<1>(x) + std::get<2>(x) + std::get<3>(x)
                           + std::get<4>(x);
                  });
}

RC_GTEST_PROP(Quantity, canonical_text_reads_back_as_the_same_amount, ()) {
  auto parsed = parse_quantity(*spellings());
  RC_PRE(parsed.has_value());
  auto again = parse_quantity(parsed->text());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *parsed);
  auto stored = parsed->rounded_to_milli();
  RC_ASSERT(parse_quantity(stored.text())->rounded_to_milli().text() == stored.text());
}

RC_GTEST_PROP(Quantity, a_larger_amount_never_counts_less, ()) {
  auto a = parse_quantity(*spellings());
  auto b = parse_quantity(*spellings());
  RC_PRE(a.has_value());
  RC_PRE(b.has_value());
  if (*b < *a)
    std::swap(*a, *b);
  RC_ASSERT(a->value() <= b->value());
  RC_ASSERT(a->milli_value() <= b->milli_value());
  RC_ASSERT(!(b->rounded_to_milli() < a->rounded_to_milli()));
  RC_ASSERT(b->value() <= amount_max);
  RC_ASSERT(a->value() >= -amount_max);
}

RC_GTEST_PROP(Quantity, rounding_never_takes_anything_away, ()) {
  auto parsed = parse_quantity(*spellings());
  RC_PRE(parsed.has_value());
  RC_PRE(!parsed->is_negative());
  RC_ASSERT(!(parsed->rounded_to_milli() < *parsed));
  RC_ASSERT(parsed->is_zero() == (parsed->value() == 0));
}

} // namespace
} // namespace tutti::api
