// Reads fields of JSON that may be missing or of another type.
#include "bridge/json_read.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace tutti::bridge {

parsed_json::parsed_json(std::string_view text) : memory_(first_, sizeof first_), value_(&memory_) {
  boost::json::error_code failed;
  value_ = boost::json::parse({text.data(), text.size()}, failed, &memory_);
  is_read_ = !failed;
}

const boost::json::object* object_at(const boost::json::object& in, std::string_view key) {
  const auto* found = in.if_contains(key);
  return found ? found->if_object() : nullptr;
}

const boost::json::array* array_at(const boost::json::object& in, std::string_view key) {
  const auto* found = in.if_contains(key);
  return found ? found->if_array() : nullptr;
}

std::string_view text_at(const boost::json::object& in, std::string_view key) {
  const auto* found = in.if_contains(key);
  const auto* text = found ? found->if_string() : nullptr;
  return text ? std::string_view{text->data(), text->size()} : std::string_view{};
}

std::string status_message(const std::string& body) {
  const parsed_json said{body};
  return said.object() ? std::string{text_at(*said.object(), "message")} : std::string{};
}

std::string key_of(const boost::json::object& metadata) {
  const auto space = text_at(metadata, "namespace");
  const auto name = text_at(metadata, "name");
  return space.empty() ? std::string{name} : std::string{space} + "/" + std::string{name};
}

} // namespace tutti::bridge
