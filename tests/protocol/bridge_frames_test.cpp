// What a scheduler and its bridge say comes out as it went in, and nothing that they are sent is
// trusted.
#include "protocol/bridge_frames.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace tutti::protocol {
namespace {

using base::code;

http_request a_patch() {
  http_request x;
  x.method = "PATCH";
  x.target = "/api/v1/namespaces/ns/pods/a?fieldManager=tutti";
  x.body = std::string{"{\"a\":\0}", 7};
  x.content_type = "application/merge-patch+json";
  x.is_urgent = true;
  return x;
}

TEST(BridgeFrames, carry_a_question_whole) {
  const auto back = decode_bridge_question(encode(exchange{7, a_patch()}));
  ASSERT_TRUE(back) << back.error().message();
  const auto* x = std::get_if<exchange>(&*back);
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->id, 7u);
  EXPECT_EQ(x->request.method, "PATCH");
  EXPECT_EQ(x->request.target, a_patch().target);
  EXPECT_EQ(x->request.body, a_patch().body);
  EXPECT_EQ(x->request.content_type, a_patch().content_type);
  EXPECT_TRUE(x->request.is_urgent);
  EXPECT_FALSE(x->request.is_stream);
  const auto up = decode_bridge_question(encode(bridge_question{hang_up{9}}));
  ASSERT_TRUE(up);
  EXPECT_EQ(std::get<hang_up>(*up).id, 9u);
}

TEST(BridgeFrames, carry_every_answer_whole) {
  const auto back = [](const bridge_answer& x) {
    auto read = decode_bridge_answer(encode(x));
    EXPECT_TRUE(read) << read.error().message();
    return *read;
  };
  const auto said = std::get<answered>(back(answered{1, 429, "wait", 3000}));
  EXPECT_EQ(said.id, 1u);
  EXPECT_EQ(said.status, 429);
  EXPECT_EQ(said.body, "wait");
  EXPECT_EQ(said.retry_after_ms, 3000);
  EXPECT_EQ(std::get<answer_unknown>(back(answer_unknown{2, "cut"})).why, "cut");
  EXPECT_EQ(std::get<stream_opened>(back(stream_opened{3})).id, 3u);
  EXPECT_EQ(std::get<stream_lines>(back(stream_lines{4, "{}\n"})).lines, "{}\n");
  EXPECT_EQ(std::get<stream_closed>(back(stream_closed{5, "gone"})).why, "gone");
}

/// With a line break in it the rest would be headers, or a request of its own.
TEST(BridgeFrames, of_what_is_no_request_are_refused) {
  const auto refused = [](auto change) {
    auto x = a_patch();
    change(x);
    const auto read = decode_bridge_question(encode(exchange{1, x}));
    return !read && read.error().what() == code::bad_input;
  };
  EXPECT_TRUE(refused([](auto& x) { x.method = "DANCE"; }));
  EXPECT_TRUE(refused([](auto& x) { x.method = "GET\r\nx: y"; }));
  EXPECT_TRUE(refused([](auto& x) { x.target = "/a\r\nx: y"; }));
  EXPECT_TRUE(refused([](auto& x) { x.target = "/a b"; }));
  EXPECT_TRUE(refused([](auto& x) { x.target = ""; }));
  EXPECT_TRUE(refused([](auto& x) { x.content_type = "a\nb"; }));
  EXPECT_FALSE(refused([](auto& x) { x.content_type = ""; }));
}

TEST(BridgeFrames, of_the_other_side_are_refused) {
  EXPECT_EQ(decode_bridge_question(encode(bridge_answer{stream_opened{1}})).error().what(),
            code::newer_format);
  EXPECT_EQ(decode_bridge_answer(encode(bridge_question{hang_up{1}})).error().what(),
            code::newer_format);
}

TEST(BridgeFrames, that_are_longer_than_a_frame_say_that_the_outcome_is_unknown) {
  const answered long_one{8, 200, std::string(bridge_body_bytes_max + 1, 'x')};
  const auto read = decode_bridge_answer(encode(bridge_answer{long_one}));
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<answer_unknown>(*read).id, 8u);
}

TEST(BridgeFrames, of_noise_harm_nobody) {
  rc::check([](const std::string& noise) {
    (void)decode_bridge_question(noise);
    (void)decode_bridge_answer(noise);
  });
  rc::check([] {
    auto bytes = encode(exchange{1, a_patch()});
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    (void)decode_bridge_question(bytes);
    (void)decode_bridge_answer(bytes);
  });
}

} // namespace
} // namespace tutti::protocol
