// What the halves of the handler share: the route of a request, and objects written as answers.
#pragma once

#include <string>

#include "sim/api_server/handler.hpp"
#include "sim/api_server/table.hpp"

namespace tutti::sim::api_server {

/// What a path names.
struct handler::route {
  const endpoint* what = nullptr;
  std::string_view ns;
  std::string_view name;
  std::string_view sub;

  std::string key() const { return key_of(ns, name); }
  part which() const { return sub == "status" ? part::status : part::whole; }
};

/// An answer with a body of JSON.
response plain(int status, std::string body);

/// Appends the object as this endpoint shows it.
void write_object(const endpoint& what, const object& x, std::string& out);

/// A table with this one row.
std::string one_table(const endpoint& what, const object& x, base::wall_time now,
                      row_object carries);

} // namespace tutti::sim::api_server
