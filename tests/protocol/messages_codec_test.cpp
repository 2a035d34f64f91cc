// Every message survives the way to another process, and what we do not know is refused by name.
#include "protocol/messages_codec.hpp"

#include <array>
#include <variant>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/limits.hpp"
#include "tests/protocol/random_values.hpp"

namespace tutti::protocol {
namespace {

using base::code;
using testing::deep_equal;
using testing::random_filler;

constexpr auto kinds = std::variant_size_v<message>;

template <std::size_t Kind>
message random_of(random_filler& fill) {
  std::variant_alternative_t<Kind, message> x{};
  fill(x);
  return x;
}

template <std::size_t... Kinds>
message random_message(std::size_t kind, random_filler& fill, std::index_sequence<Kinds...>) {
  using make = message (*)(random_filler&);
  static constexpr std::array<make, kinds> all{&random_of<Kinds>...};
  return all.at(kind)(fill);
}

envelope random_envelope(std::size_t kind, std::uint64_t seed) {
  random_filler fill{seed};
  envelope x;
  fill(x.from);
  fill(x.to);
  x.what = random_message(kind, fill, std::make_index_sequence<kinds>{});
  return x;
}

bool equal(const message& a, const message& b) {
  return a.index() == b.index()
         && std::visit(
             [&](const auto& x) {
               return deep_equal(x, std::get<std::remove_cvref_t<decltype(x)>>(b));
             },
             a);
}

code reading(const std::string& bytes) {
  auto x = decode_envelope(bytes);
  return x ? code::ok : x.error().what();
}

envelope to_shard_7(message what) {
  return {to_gang({"g"}), to_shard({7}), std::move(what)};
}

TEST(MessagesCodec, every_kind_of_message_survives_with_all_of_its_fields) {
  for (std::size_t kind = 0; kind < kinds; ++kind)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto x = random_envelope(kind, seed);
      auto back = decode_envelope(encode(x));
      ASSERT_TRUE(back) << name_of(x.what) << ": " << back.error().message();
      EXPECT_EQ(back->from, x.from);
      EXPECT_EQ(back->to, x.to);
      EXPECT_TRUE(equal(back->what, x.what)) << name_of(x.what) << ", seed " << seed;
    }
}

TEST(MessagesCodec, any_random_message_survives) {
  EXPECT_TRUE(rc::check([] {
    const auto kind = *rc::gen::inRange<std::size_t>(0, kinds);
    const auto x = random_envelope(kind, *rc::gen::arbitrary<std::uint64_t>());
    RC_ASSERT(equal(decode_envelope(encode(x)).value().what, x.what));
  }));
}

TEST(MessagesCodec, a_message_without_its_optional_parts_survives) {
  EXPECT_EQ(std::get<last_look_answer>(
                decode_envelope(encode(to_shard_7(last_look_answer{}))).value().what)
                .now,
            nullptr);
  EXPECT_TRUE(equal(decode_envelope(encode(to_shard_7(plan_answer{}))).value().what,
                    message{plan_answer{}}));
}

TEST(MessagesCodec, an_empty_slice_is_not_an_absent_one) {
  prepare x;
  x.asked = std::make_shared<slice>();
  const auto back = decode_envelope(encode(to_shard_7(x))).value();
  ASSERT_NE(std::get<prepare>(back.what).asked, nullptr);
  EXPECT_EQ(*std::get<prepare>(back.what).asked, slice{});
}

TEST(MessagesCodec, a_shape_is_carried_once_however_many_members_have_it) {
  gang g;
  for (int i = 0; i < 1000; ++i) {
    member m;
    m.uid = {"uid-" + std::to_string(i)};
    // Equal, not the same: facts of different pods may come from different places.
    m.kind = std::make_shared<shape>(shape{{5}, std::string(4000, 'x'), {}});
    g.members.push_back(std::move(m));
  }
  const auto bytes = encode(to_shard_7(try_gang{std::make_shared<gang>(g), 0}));
  EXPECT_LT(bytes.size(), 300'000u);
  const auto back = decode_envelope(bytes).value();
  const auto& members = std::get<try_gang>(back.what).who->members;
  EXPECT_EQ(*members[999].kind, *g.members[999].kind);
  EXPECT_EQ(members[0].kind, members[999].kind) << "one object again";
}

TEST(MessagesCodec, shapes_of_one_id_and_different_content_stay_apart) {
  gang g;
  g.members.resize(2);
  g.members[0].kind = std::make_shared<shape>(shape{{5}, "one", {}});
  g.members[1].kind = std::make_shared<shape>(shape{{5}, "other", {}});
  const auto back = decode_envelope(encode(to_shard_7(try_gang{std::make_shared<gang>(g), 0})));
  EXPECT_EQ(std::get<try_gang>(back.value().what).who->members[1].kind->blob, "other");
}

TEST(MessagesCodec, equal_envelopes_have_equal_bytes) {
  for (std::size_t kind = 0; kind < kinds; ++kind)
    EXPECT_EQ(encode(random_envelope(kind, 5)), encode(random_envelope(kind, 5))) << kind;
}

TEST(MessagesCodec, refuses_bytes_that_are_no_envelope) {
  EXPECT_EQ(reading(""), code::corrupt);
  EXPECT_EQ(reading("abc"), code::corrupt);
  EXPECT_EQ(reading(std::string(4096, '\xff')), code::corrupt);
}

TEST(MessagesCodec, refuses_a_frame_above_the_limit_before_it_is_read) {
  EXPECT_EQ(reading(std::string(base::limits::frame_bytes_max + 8, '\0')), code::out_of_range);
}

TEST(MessagesCodec, survives_any_flipped_byte_of_any_message) {
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const auto bytes = encode(random_envelope(kind, 3));
    for (std::size_t n = 0; n < bytes.size(); n += 3) {
      auto spoiled = bytes;
      spoiled[n] = static_cast<char>(spoiled[n] ^ 0xa5);
      (void)reading(spoiled); // any answer is right, except to crash or to take all memory
    }
  }
}

/// The bytes of an envelope whose only 16-bit field of value `from` becomes `to`.
std::string with_tag(std::string bytes, char from, char to) {
  const std::string tag{from, '\0'};
  std::size_t found = 0;
  for (std::size_t at = 8; at + 1 < bytes.size(); at += 2)
    if (bytes.compare(at, 2, tag) == 0 && (found == 0 || at < found))
      found = at;
  EXPECT_NE(found, 0u);
  bytes[found] = to;
  return bytes;
}

TEST(MessagesCodec, calls_an_unknown_kind_of_message_newer) {
  const auto last = static_cast<char>(message{inspected{}}.index());
  const auto bytes = encode({to(role_kind::node), to(role_kind::node), inspected{}});
  EXPECT_EQ(reading(bytes), code::ok);
  EXPECT_EQ(reading(with_tag(bytes, last, 120)), code::newer_format);
}

TEST(MessagesCodec, calls_an_unknown_kind_of_role_newer) {
  const auto admin = static_cast<char>(role_kind::admin);
  const auto bytes = encode({to(role_kind::admin), to(role_kind::node), try_gang{}});
  EXPECT_EQ(reading(with_tag(bytes, admin, 77)), code::newer_format);
}

} // namespace
} // namespace tutti::protocol
