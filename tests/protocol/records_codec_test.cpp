// What is kept on disk reads back as it was written, and nothing else reads as if it were ours.
#include "protocol/records_codec.hpp"

#include <gtest/gtest.h>

#include "tests/protocol/random_values.hpp"

namespace tutti::protocol {
namespace {

using base::code;

template <class T>
T random_one(std::uint64_t seed) {
  testing::random_filler fill{seed};
  T x{};
  fill(x);
  return x;
}

code reading(const std::string& bytes) {
  auto x = decode_record(bytes);
  return x ? code::ok : x.error().what();
}

TEST(RecordsCodec, every_kind_of_record_reads_back) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const record all[] = {random_one<prepared_record>(seed), random_one<committed_record>(seed),
                          random_one<released_record>(seed), random_one<epoch_record>(seed),
                          random_one<life_record>(seed)};
    for (const auto& x : all) {
      auto back = decode_record(encode(x));
      ASSERT_TRUE(back) << back.error().message();
      EXPECT_EQ(*back, x) << "seed " << seed << " kind " << x.index();
    }
  }
}

TEST(RecordsCodec, every_decision_reads_back) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto x = random_one<decision>(seed);
    auto back = decode_decision(encode(x));
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, x) << "seed " << seed;
  }
}

TEST(RecordsCodec, writes_before_a_binding_are_kept_in_their_order) {
  const std::vector<before_bind_write> writes{
      {"PUT", "/claims/a", "application/json", "{\"a\": 1}"},
      {"PATCH", "/claims/a/status", "application/merge-patch+json", "{}"},
      {"PATCH", "/claims/a/status", "application/merge-patch+json", "{}"}}; // once more: not a set
  slice part;
  part.seats.push_back({.pod = {"p-uid"}, .pod_name = "p", .before_bind = writes});
  decision what;
  what.chosen.slices.push_back(part);
  const auto decided = decode_decision(encode(what)).value();
  EXPECT_EQ(decided.chosen.slices.at(0).seats.at(0).before_bind, writes);
  const record promised = prepared_record{.asked = std::make_shared<slice>(part)};
  const auto back = decode_record(encode(promised)).value();
  EXPECT_EQ(std::get<prepared_record>(back).asked->seats.at(0).before_bind, writes);
}

TEST(RecordsCodec, equal_ties_are_written_once_and_read_back_as_one) {
  const auto many = [](std::size_t seats, bool have_ties) {
    auto out = std::make_shared<slice>();
    for (std::size_t i = 0; i < seats; ++i) {
      out->seats.push_back({.pod = {"p"}, .pod_name = "p"});
      if (have_ties)
        out->seats.back().ties =
            std::make_shared<base::ties>(base::ties{{7}, std::string(1000, 'x'), true});
    }
    return record{prepared_record{.asked = out}};
  };
  const auto back = decode_record(encode(many(50, true))).value();
  const auto& seats = std::get<prepared_record>(back).asked->seats;
  ASSERT_NE(seats.at(0).ties, nullptr);
  EXPECT_EQ(seats.at(0).ties, seats.at(49).ties);
  EXPECT_TRUE(seats.at(0).ties->has_terms);
  EXPECT_LT(encode(many(50, true)).size(), encode(many(50, false)).size() + 1100);
  decision what;
  what.chosen.slices.push_back(*std::get<prepared_record>(many(2, true)).asked);
  EXPECT_EQ(decode_decision(encode(what)).value(), what);
}

TEST(RecordsCodec, an_empty_decision_reads_back) {
  EXPECT_EQ(decode_decision(encode(decision{})).value(), decision{});
}

TEST(RecordsCodec, equal_values_have_equal_bytes) {
  EXPECT_EQ(encode(random_one<decision>(7)), encode(random_one<decision>(7)));
}

TEST(RecordsCodec, text_with_a_zero_inside_survives) {
  decision x;
  x.gang_name.name = std::string{"a\0b", 3};
  EXPECT_EQ(decode_decision(encode(x)).value().gang_name.name.size(), 3u);
}

TEST(RecordsCodec, refuses_bytes_that_are_no_record) {
  EXPECT_EQ(reading(""), code::corrupt);
  EXPECT_EQ(reading("abc"), code::corrupt);
  EXPECT_EQ(reading(std::string(64, '\xff')), code::corrupt);
}

TEST(RecordsCodec, refuses_a_reservation_without_a_slice) {
  EXPECT_EQ(reading(std::string(16, '\0')), code::corrupt) << "an empty root is PREPARED";
}

TEST(RecordsCodec, never_reads_beyond_cut_bytes) {
  const auto bytes = encode(record{random_one<prepared_record>(3)});
  for (std::size_t n = 0; n < bytes.size(); n += 8)
    EXPECT_NE(reading(bytes.substr(0, n)), code::ok) << n;
}

TEST(RecordsCodec, survives_any_flipped_byte) {
  const auto bytes = encode(record{random_one<prepared_record>(3)});
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    auto spoiled = bytes;
    spoiled[n] = static_cast<char>(spoiled[n] ^ 0x81);
    (void)reading(spoiled); // any answer is right, except to crash or to take all memory
  }
}

TEST(RecordsCodec, calls_an_unknown_kind_of_record_newer) {
  auto bytes = encode(record{life_record{{1}, {2}}});
  // The kind is the 16-bit tag in the root's first data word, behind segment table and root
  // pointer.
  ASSERT_EQ(bytes[16], 4) << "life is the last kind that we know";
  bytes[16] = 99;
  EXPECT_EQ(reading(bytes), code::newer_format);
}

} // namespace
} // namespace tutti::protocol
