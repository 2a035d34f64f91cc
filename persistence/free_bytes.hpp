// Asks the operating system how much space a disk has left for us.
#pragma once

#include <cstdint>
#include <string>

namespace rocksdb {
class Env;
}

namespace tutti::persistence {

/// Free bytes on the disk of `directory`, without what the file system keeps for root: a quota or a
/// volume behind it may not give that to root either. The greatest number if it does not say.
/// With `env` its file system is asked, as the store asks it for everything else.
std::uint64_t free_bytes_at(const std::string& directory, rocksdb::Env* env = nullptr);

} // namespace tutti::persistence
