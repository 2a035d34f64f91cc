// What travels between a scheduler and a bridge outside of its process: the exchanges that its
// roles ask for, and what becomes of them. Each is the body of one frame (link_frames.hpp). Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "base/limits.hpp"
#include "base/result.hpp"
#include "protocol/effects.hpp"
#include "protocol/events.hpp"
#include "protocol/http.hpp"

namespace tutti::protocol {

/// Said by the scheduler. Ids are its own, and distinct among the exchanges of one connection.
using bridge_question = std::variant<exchange, hang_up>;
/// Said by the bridge, under the id of the question.
using bridge_answer =
    std::variant<answered, answer_unknown, stream_opened, stream_lines, stream_closed>;

std::string encode(const bridge_question& x);
/// So many bytes of a body fit into a frame beside all else.
inline constexpr std::size_t bridge_body_bytes_max = base::limits::frame_bytes_max - 4096;
/// An answer whose body is above `bridge_body_bytes_max` becomes `answer_unknown`: it is known here
/// and cannot be told, so whoever asked must look.
std::string encode(const bridge_answer& x);

/// `corrupt` if the bytes are no such message, `newer_format` if they say what we do not know,
/// `bad_input` for a request that no HTTP request can be made of: a method that is none, line
/// breaks or blanks where none may stand.
base::result<bridge_question> decode_bridge_question(std::string_view bytes);
/// Errors as above, without `bad_input`.
base::result<bridge_answer> decode_bridge_answer(std::string_view bytes);

} // namespace tutti::protocol
