// Turns what is kept on disk, journal records and decisions, into Cap'n Proto bytes and back.
//
// records.capnp is the format. The bytes carry no checksum and no version of their own: the frame
// around them does (persistence/FORMAT.md).
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "protocol/decision.hpp"
#include "protocol/records.hpp"

namespace tutti::protocol {

/// The bytes of `x`. Equal values give equal bytes. A PREPARED or COMMITTED must have a slice.
std::string encode(const record& x);
std::string encode(const decision& x);

/// Reads `bytes` back. `corrupt` if they are not what `encode` makes, `newer_format` if they hold a
/// kind of record or a value that this version does not know. Unknown fields are ignored.
base::result<record> decode_record(std::string_view bytes);
base::result<decision> decode_decision(std::string_view bytes);

} // namespace tutti::protocol
