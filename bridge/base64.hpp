// Bytes in JSON: base64 as RFC 4648 has it, with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::bridge {

std::string to_base64(std::string_view bytes);
/// Nothing if `text` is not what `to_base64` makes of some bytes.
std::optional<std::string> from_base64(std::string_view text);

} // namespace tutti::bridge
