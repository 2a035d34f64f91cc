// Turns a message and its two ends into the bytes that travel between processes, and back.
//
// messages.capnp is the format. Within a process messages travel as values and never come here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "protocol/address.hpp"
#include "protocol/messages.hpp"

namespace tutti::protocol {

/// One message under way from a role to another.
struct envelope {
  address from;
  address to;
  message what;
};

/// The bytes of `x`, a multiple of eight. Equal envelopes give equal bytes. Shapes and classes are
/// carried once each, however many members name them.
std::string encode(const envelope& x);

/// Reads `bytes` back. Equal shapes of one envelope are one object again. Errors: `corrupt` if the
/// bytes are no envelope; `newer_format` if they hold a kind of message, role or value that this
/// version does not know (refuse it with that code, keep the connection); `out_of_range` above
/// `limits::frame_bytes_max`. Unknown fields are ignored.
base::result<envelope> decode_envelope(std::string_view bytes);

} // namespace tutti::protocol
