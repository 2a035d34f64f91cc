// Short ways to look into JSON that a server sent: what is missing or of another type is empty.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

namespace tutti::bridge {

/// The object at `key`; null if there is none.
const boost::json::object* object_at(const boost::json::object& in, std::string_view key);
/// The array at `key`; null if there is none.
const boost::json::array* array_at(const boost::json::object& in, std::string_view key);
/// The text at `key`; empty if there is none. Lives as long as `in`.
std::string_view text_at(const boost::json::object& in, std::string_view key);

/// The words of the Status that a server sends with a refusal; empty if `body` is none.
std::string status_message(const std::string& body);

/// "namespace/name", or "name" for what has no namespace.
std::string key_of(const boost::json::object& metadata);

} // namespace tutti::bridge
