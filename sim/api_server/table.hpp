// Objects as rows for people: the server-side tables that `kubectl get` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "sim/api_server/object.hpp"

namespace tutti::sim::api_server {

/// Whether an Accept header asks for a table.
bool wants_table(std::string_view accept);

/// What a row carries besides its cells: nothing, the object's metadata, or all of it.
enum class row_object : std::uint8_t { none, metadata, whole };

/// The parameter `includeObject`; metadata if it is empty, nothing if there is no such word.
std::optional<row_object> row_object_of(std::string_view parameter);

/// A Table with one row per object; `list_meta` is the JSON of the list's metadata.
std::string table_of(const endpoint& what, const std::vector<object_ptr>& rows,
                     std::string_view list_meta, base::wall_time now, row_object carries);

} // namespace tutti::sim::api_server
