// Exchanges between a scheduler and its bridge to bytes and back.
#include <algorithm>
#include <array>

#include "protocol/bridge.capnp.h"
#include "protocol/bridge_frames.hpp"
#include "protocol/codec_fields.hpp"

namespace tutti::protocol {

using base::code;
using base::error;

namespace {

using frame = wire::BridgeFrame;

capnp::Data::Reader data_of(const std::string& x) {
  return {reinterpret_cast<const kj::byte*>(x.data()), x.size()};
}
std::string text_of(capnp::Data::Reader x) {
  return {reinterpret_cast<const char*>(x.begin()), x.size()};
}
capnp::Text::Reader words_of(const std::string& x) {
  return {x.c_str(), x.size()};
}

/// The visible characters of ASCII: nothing that could end a line of a request, or a word of it.
bool is_one_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

base::result<void> check(const http_request& x) {
  constexpr std::array<std::string_view, 5> methods{"GET", "POST", "PUT", "PATCH", "DELETE"};
  if (std::find(methods.begin(), methods.end(), x.method) == methods.end())
    return error{code::bad_input, "a request with a method that is none"};
  if (!x.target.starts_with('/') || !is_one_word(x.target))
    return error{code::bad_input, "a request whose target is no path"};
  if (!is_one_word(x.content_type))
    return error{code::bad_input, "a request whose content has no type"};
  return {};
}

void fill(frame::Builder to, const exchange& x) {
  to.setId(x.id);
  auto request = to.initRequest();
  request.setMethod(words_of(x.request.method));
  request.setTarget(words_of(x.request.target));
  request.setBody(data_of(x.request.body));
  request.setContentType(words_of(x.request.content_type));
  request.setIsStream(x.request.is_stream);
  request.setIsUrgent(x.request.is_urgent);
}
void fill(frame::Builder to, const hang_up& x) {
  to.setId(x.id);
  to.setHangUp();
}
void fill(frame::Builder to, const answer_unknown& x) {
  to.setId(x.id);
  to.setUnknown(words_of(x.why));
}
void fill(frame::Builder to, const answered& x) {
  to.setId(x.id);
  auto answer = to.initAnswered();
  answer.setStatus(static_cast<std::uint16_t>(x.status));
  answer.setBody(data_of(x.body));
  answer.setRetryAfterMs(x.retry_after_ms);
}
void fill(frame::Builder to, const stream_opened& x) {
  to.setId(x.id);
  to.setOpened();
}
void fill(frame::Builder to, const stream_lines& x) {
  to.setId(x.id);
  to.setLines(data_of(x.lines));
}
void fill(frame::Builder to, const stream_closed& x) {
  to.setId(x.id);
  to.setClosed(words_of(x.why));
}

template <class T>
std::string bytes_of(const T& x) {
  return codec::write_bytes<frame>([&](frame::Builder to) { fill(to, x); });
}

bool is_too_long(const bridge_answer& x) {
  const auto* whole = std::get_if<answered>(&x);
  return whole != nullptr && whole->body.size() > bridge_body_bytes_max;
}

exchange request_in(frame::Reader from) {
  const auto r = from.getRequest();
  http_request x;
  x.method = r.getMethod().cStr();
  x.target = r.getTarget().cStr();
  x.body = text_of(r.getBody());
  x.content_type = r.getContentType().cStr();
  x.is_stream = r.getIsStream();
  x.is_urgent = r.getIsUrgent();
  return {from.getId(), std::move(x)};
}

} // namespace

std::string encode(const bridge_question& x) {
  return std::visit([](const auto& y) { return bytes_of(y); }, x);
}

std::string encode(const bridge_answer& x) {
  if (is_too_long(x))
    return bytes_of(answer_unknown{std::get<answered>(x).id,
                                   "the answer is longer than what a bridge passes on"});
  return std::visit([](const auto& y) { return bytes_of(y); }, x);
}

base::result<bridge_question> decode_bridge_question(std::string_view bytes) {
  auto x = codec::read_bytes<frame, bridge_question>(
      bytes, "question to a bridge", [](frame::Reader from, codec::reader& io) -> bridge_question {
        if (from.which() == frame::REQUEST)
          return request_in(from);
        io.met_newer = from.which() != frame::HANG_UP;
        return hang_up{from.getId()};
      });
  const auto* asked = x ? std::get_if<exchange>(&*x) : nullptr;
  if (asked != nullptr)
    if (auto ok = check(asked->request); !ok)
      return ok.error();
  return x;
}

base::result<bridge_answer> decode_bridge_answer(std::string_view bytes) {
  return codec::read_bytes<frame, bridge_answer>(
      bytes, "answer of a bridge", [](frame::Reader from, codec::reader& io) -> bridge_answer {
        const auto id = from.getId();
        switch (from.which()) {
        case frame::ANSWERED: {
          const auto x = from.getAnswered();
          return answered{id, x.getStatus(), text_of(x.getBody()), x.getRetryAfterMs()};
        }
        case frame::UNKNOWN:
          return answer_unknown{id, from.getUnknown().cStr()};
        case frame::OPENED:
          return stream_opened{id};
        case frame::LINES:
          return stream_lines{id, text_of(from.getLines())};
        case frame::CLOSED:
          return stream_closed{id, from.getClosed().cStr()};
        case frame::REQUEST:
        case frame::HANG_UP:
          break;
        }
        io.met_newer = true; // said by no bridge that we know
        return stream_closed{id, {}};
      });
}

} // namespace tutti::protocol
