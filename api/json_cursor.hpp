// Walks a JSON document without a check at every step: the first mistake is kept, with its path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "api/objects.hpp"
#include "api/quantity.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace tutti::api {

/// Decoding an object means reading a hundred fields, each of which may be missing, null or of the
/// wrong type. A cursor stands at one place of a document, which need not exist. Reading a missing
/// place gives the empty value; reading one of the wrong type does so too and keeps the mistake in
/// the `mistakes` of the walk, of which the first is reported at the end:
///
///     cursor::mistakes found;
///     cursor root(object, found);
///     auto name = root["metadata"]["name"].text();
///     if (found.first) return *found.first;
///
/// A cursor refers to its parent: do not keep one longer than that.
class cursor {
public:
  struct mistakes {
    std::optional<base::error> first;
  };

  cursor(const boost::json::object& root, mistakes& found) : object_(&root), found_(&found) {}
  cursor(const boost::json::value& root, mistakes& found);

  /// The member of an object; a mistake if there is something here that is no object.
  cursor operator[](std::string_view key) const;

  /// There is something here, be it empty.
  bool is_set() const { return value_ != nullptr || object_ != nullptr; }
  bool is_text() const { return value_ != nullptr && value_->is_string(); }

  std::string text() const;
  bool flag() const;
  std::int64_t integer() const;
  std::int32_t integer32() const;
  std::optional<std::int32_t> maybe_integer32() const;
  base::wall_time time() const;
  quantity amount() const;
  string_map texts() const; ///< an object of strings

  /// Calls `take(cursor)` for each element of an array, in order.
  template <class Take>
  void each(Take&& take) const {
    if (const auto* list = array()) {
      std::size_t index = 0;
      for (const auto& x : *list)
        take(cursor{*this, x, {}, index++});
    }
  }
  /// Calls `take(key, cursor)` for each member of an object that is not null, in order.
  template <class Take>
  void members(Take&& take) const {
    if (const auto* all = object())
      for (const auto& x : *all)
        if (!x.value().is_null())
          take(std::string_view{x.key()}, cursor{*this, x.value(), x.key(), no_index});
  }
  std::size_t size() const; ///< elements of an array

  /// Keeps "path: message" unless a mistake was made before.
  void mistake(std::string_view message) const;
  /// "spec.containers[0].name"; empty at the root.
  std::string path() const;

private:
  static constexpr std::size_t no_index = ~std::size_t{0};

  cursor(const cursor& parent, const boost::json::value& value, std::string_view key,
         std::size_t index)
      : value_(&value), found_(parent.found_), parent_(&parent), key_(key), index_(index) {}
  cursor(const cursor& parent, std::string_view key)
      : found_(parent.found_), parent_(&parent), key_(key) {}

  const boost::json::object* object() const;
  const boost::json::array* array() const;
  void expected(std::string_view what) const;

  const boost::json::value* value_ = nullptr;   // null = missing (or a root object)
  const boost::json::object* object_ = nullptr; // the root object
  mistakes* found_;
  const cursor* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = no_index;
};

} // namespace tutti::api
