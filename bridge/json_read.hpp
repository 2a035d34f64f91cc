// Short ways to look into JSON that a server sent: what is missing or of another type is empty.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>

namespace tutti::bridge {

/// JSON that a server sent, parsed into memory of its own that goes with it.
class parsed_json {
public:
  explicit parsed_json(std::string_view text);
  parsed_json(const parsed_json&) = delete;
  parsed_json& operator=(const parsed_json&) = delete;

  /// Null if the text is no JSON.
  const boost::json::value* value() const { return is_read_ ? &value_ : nullptr; }
  /// Null if it is no object either.
  const boost::json::object* object() const { return is_read_ ? value_.if_object() : nullptr; }

private:
  /// What one object usually is once it is parsed; only larger ones ask the allocator.
  static constexpr std::size_t bytes_usual = 8192;

  unsigned char first_[bytes_usual];
  boost::json::monotonic_resource memory_;
  boost::json::value value_;
  bool is_read_ = false;
};

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
