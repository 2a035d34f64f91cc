// Objects as rows for people: the server-side tables that `kubectl get` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "sim/api_server/object.hpp"

namespace tutti::sim::api_server {

/// Whether an Accept header asks for a table.
bool wants_table(std::string_view accept);

/// A Table with one row per object; `list_meta` is the JSON of the list's metadata.
std::string table_of(const endpoint& what, const std::vector<object_ptr>& rows,
                     std::string_view list_meta, base::wall_time now);

} // namespace tutti::sim::api_server
