// Asks the operating system how much space a disk has left for us.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::persistence {

/// Free bytes on the disk of `directory`, without what the file system keeps for root: a quota or a
/// volume behind it may not give that to root either. The greatest number if it does not say.
std::uint64_t free_bytes_at(const std::string& directory);

} // namespace tutti::persistence
