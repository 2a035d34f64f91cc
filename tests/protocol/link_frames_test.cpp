// Frames come out as they went in, however a connection cuts them; nothing a stranger sends is
// trusted.
#include "protocol/link_frames.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "protocol/messages_codec.hpp"

namespace tutti::protocol {
namespace {

using base::code;

constexpr std::size_t most = 1000;

struct reading {
  std::vector<std::string> bodies;
  code end = code::ok; ///< ok: it waits for more
};

/// What a reader makes of `bytes` that come in pieces of `piece`.
reading read(const std::string& bytes, std::size_t piece, std::size_t body_most = most) {
  frame_reader in{body_most};
  reading out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    in.take(std::string_view{bytes}.substr(at, piece));
    for (;;) {
      auto frame = in.next();
      if (!frame) {
        out.end = frame.error().what();
        return out;
      }
      if (!*frame)
        break;
      out.bodies.push_back(std::move((*frame)->body));
    }
  }
  return out;
}

TEST(LinkFrames, come_out_as_they_went_in_however_they_are_cut) {
  rc::check([] {
    const auto bodies =
        *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
    const auto piece = *rc::gen::inRange<std::size_t>(1, 200);
    std::string bytes;
    for (const auto& b : bodies)
      bytes += frame_of(frame_kind::envelope, b);
    const auto got = read(bytes, piece);
    RC_ASSERT(got.bodies == bodies);
    RC_ASSERT(got.end == code::ok);
  });
}

TEST(LinkFrames, of_kinds_that_are_not_known_yet_are_passed_over) {
  auto later = frame_of(frame_kind::envelope, "of a later version");
  later[4] = 77;
  frame_reader in{most};
  in.take(later + frame_of(frame_kind::heartbeat));
  const auto frame = in.next();
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->kind, frame_kind::heartbeat);
  EXPECT_EQ(in.passed_over(), 1u);
}

TEST(LinkFrames, whose_head_is_of_another_version_end_the_connection) {
  for (std::size_t at = 5; at < 8; ++at) {
    auto other = frame_of(frame_kind::envelope, "x");
    other[at] = 1;
    EXPECT_EQ(read(other, 100).end, code::newer_format) << at;
  }
}

/// The length alone decides: nothing is kept for a body that will not be taken.
TEST(LinkFrames, that_are_too_long_are_refused_by_their_length) {
  EXPECT_EQ(read(frame_of(frame_kind::envelope, std::string(most, 'x')), 64).bodies.size(), 1u);
  auto head = frame_of(frame_kind::envelope, std::string(most + 1, 'x')).substr(0, 8);
  EXPECT_EQ(read(head, 8).end, code::out_of_range);
  head.replace(0, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(read(head, 3).end, code::out_of_range);
  frame_reader in{most};
  in.take(head);
  EXPECT_FALSE(in.next());
  in.take(frame_of(frame_kind::heartbeat));
  EXPECT_FALSE(in.next()) << "it goes on after a head that it cannot believe";
}

/// A stream of frames with some bytes changed, cut anywhere: whatever comes out is no longer than
/// allowed, and the decoders behind it say no or yes.
TEST(LinkFrames, that_somebody_has_tampered_with_harm_nobody) {
  rc::check([] {
    std::string bytes =
        frame_of(frame_kind::hello, encode(link_hello{.cluster = "c", .replica = "a"}));
    bytes += frame_of(frame_kind::envelope,
                      encode(envelope{to_gang({"g"}), to_shard({7}), view_wanted{}}));
    bytes += frame_of(frame_kind::heartbeat);
    const auto changes = *rc::gen::inRange(0, 8);
    for (int i = 0; i < changes; ++i)
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
    for (const auto& body : read(bytes, *rc::gen::inRange<std::size_t>(1, 64)).bodies) {
      RC_ASSERT(body.size() <= most);
      (void)decode_envelope(body);
      (void)decode_link_hello(body);
    }
  });
}

TEST(LinkFrames, of_noise_harm_nobody) {
  rc::check([](const std::string& noise) {
    for (const auto& body : read(noise, 7).bodies)
      RC_ASSERT(body.size() <= most);
    (void)decode_link_hello(noise);
  });
}

TEST(LinkHello, survives_the_way) {
  const link_hello x{.version = 3, .oldest = 2, .cluster = "uid", .replica = "a"};
  const auto read_back = decode_link_hello(encode(x));
  ASSERT_TRUE(read_back) << read_back.error().message();
  EXPECT_EQ(*read_back, x);
}

TEST(LinkHello, says_only_what_can_be_a_name) {
  for (const char* bad : {".example", "A", "a b", "a\n", "-a", "a-"})
    EXPECT_EQ(decode_link_hello(encode(link_hello{.replica = bad})).error().what(), code::bad_input)
        << bad;
  EXPECT_FALSE(is_replica_name(std::string(58, 'a')));
  EXPECT_TRUE(is_replica_name("tutti-0"));
}

TEST(LinkHello, names_its_sender) {
  EXPECT_EQ(decode_link_hello(encode(link_hello{})).error().what(), code::bad_input);
  EXPECT_EQ(decode_link_hello("noise").error().what(), code::corrupt);
}

TEST(LinkHello, of_a_later_version_is_taken_if_that_one_still_understands_ours) {
  const link_hello ours{.cluster = "c", .replica = "a"};
  link_hello later{.version = 9, .oldest = link_version, .cluster = "c", .replica = "b"};
  EXPECT_TRUE(check_hello(ours, later));
  later.oldest = link_version + 1;
  EXPECT_EQ(check_hello(ours, later).error().what(), code::newer_format);
  EXPECT_EQ(check_hello(later, ours).error().what(), code::newer_format) << "both see it";
}

TEST(LinkHello, of_another_cluster_is_refused_where_both_know_theirs) {
  const link_hello ours{.cluster = "c", .replica = "a"};
  EXPECT_EQ(check_hello(ours, {.cluster = "d", .replica = "b"}).error().what(), code::foreign);
  EXPECT_TRUE(check_hello(ours, {.cluster = "", .replica = "b"}));
}

TEST(LinkHello, of_who_wants_something_else_of_us_is_refused) {
  const link_hello replica{.cluster = "c", .replica = "a"};
  const link_hello bridge{.cluster = "c", .replica = "b", .purpose = link_purpose::bridge};
  EXPECT_EQ(check_hello(replica, bridge).error().what(), code::bad_input);
  EXPECT_EQ(check_hello(bridge, replica).error().what(), code::bad_input);
  EXPECT_TRUE(check_hello(bridge, bridge)) << "a scheduler may be called as its bridge is";
  EXPECT_EQ(decode_link_hello(encode(bridge))->purpose, link_purpose::bridge);
}

TEST(LinkHello, of_our_own_name_is_refused) {
  const link_hello ours{.cluster = "c", .replica = "a"};
  EXPECT_EQ(check_hello(ours, ours).error().what(), code::already_exists);
}

} // namespace
} // namespace tutti::protocol
