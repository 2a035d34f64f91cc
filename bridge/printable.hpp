// Words of somebody whom we do not trust, before they are shown: a server nobody has checked yet, a
// program that fails.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::bridge {

/// At most `most` bytes of `text`, then "…" if there were more. What is no printable ASCII becomes
/// "?": it could write lines of its own, or move the cursor of a terminal.
std::string printable(std::string_view text, std::size_t most);

} // namespace tutti::bridge
