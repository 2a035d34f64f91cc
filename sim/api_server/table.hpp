// Objects as rows for people: the server-side tables that `kubectl get` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "sim/api_server/object.hpp"
#include "sim/api_server/refusal.hpp"

namespace tutti::sim::api_server {

/// What a row carries besides its cells: nothing, the object's metadata, or all of it.
enum class row_object : std::uint8_t { none, metadata, whole };

/// The table that a request asks for by its Accept header and the parameter `includeObject`
/// (metadata if that is empty); nothing if it asks for none. Refused if there is no such word.
outcome<std::optional<row_object>> table_asked(std::string_view accept,
                                               std::string_view include_object);

/// A Table with one row per object; `list_meta` is the JSON of the list's metadata.
std::string table_of(const endpoint& what, const std::vector<object_ptr>& rows,
                     std::string_view list_meta, base::wall_time now, row_object carries);

} // namespace tutti::sim::api_server
