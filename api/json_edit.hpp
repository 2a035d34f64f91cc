// Reads and fills JSON objects the way an API server does: null, missing and empty are the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace tutti::api {

/// The member, or null if it is missing or the JSON null.
inline const boost::json::value* member(const boost::json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found && !found->is_null() ? found : nullptr;
}
inline boost::json::value* member(boost::json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found && !found->is_null() ? found : nullptr;
}

/// The member if it is an object (a list); null if it is missing or something else.
inline const boost::json::object* object_at(const boost::json::object& object,
                                            std::string_view key) {
  auto* found = object.if_contains(key);
  return found ? found->if_object() : nullptr;
}
inline boost::json::object* object_at(boost::json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found ? found->if_object() : nullptr;
}
inline const boost::json::array* list_at(const boost::json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found ? found->if_array() : nullptr;
}
inline boost::json::array* list_at(boost::json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found ? found->if_array() : nullptr;
}

/// The text, or "" if it is missing or no text.
inline std::string_view text_at(const boost::json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found && found->is_string() ? std::string_view{found->get_string()} : std::string_view{};
}
inline std::optional<std::int64_t> integer_at(const boost::json::object& object,
                                              std::string_view key) {
  auto* found = object.if_contains(key);
  return found && found->is_int64() ? std::optional{found->get_int64()} : std::nullopt;
}
inline bool is_true_at(const boost::json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found && found->is_bool() && found->get_bool();
}

/// Sets a member that is missing or null.
inline void set_if_absent(boost::json::object& object, std::string_view key,
                          boost::json::value value) {
  auto& place = object[key];
  if (place.is_null())
    place = std::move(value);
}
/// The same, where servers take the empty text for absent too.
inline void set_if_empty(boost::json::object& object, std::string_view key,
                         std::string_view value) {
  auto& place = object[key];
  if (place.is_null() || (place.is_string() && place.get_string().empty()))
    place = value;
}
/// The object in there; made if it is missing. Null if something else stands there.
inline boost::json::object* ensure_object(boost::json::object& object, std::string_view key) {
  set_if_absent(object, key, boost::json::object{});
  return object[key].if_object();
}

} // namespace tutti::api
