// Walks JSON with the path of where it stands, for errors that name the place.
#include "api/json_cursor.hpp"

#include <limits>

#include <fmt/core.h>

#include "api/timestamp.hpp"

namespace tutti::api {
namespace {

std::string_view kind_name(boost::json::kind k) {
  switch (k) {
  case boost::json::kind::null:
    return "null";
  case boost::json::kind::bool_:
    return "a boolean";
  case boost::json::kind::int64:
  case boost::json::kind::uint64:
    return "an integer";
  case boost::json::kind::double_:
    return "a number with a fraction";
  case boost::json::kind::string:
    return "a string";
  case boost::json::kind::array:
    return "a list";
  case boost::json::kind::object:
    return "an object";
  }
  return "something else";
}

} // namespace

cursor::cursor(const boost::json::value& root, mistakes& found)
    : value_(root.is_null() ? nullptr : &root), found_(&found) {}

cursor cursor::operator[](std::string_view key) const {
  if (const auto* here = object())
    if (const auto* member = here->if_contains(key); member && !member->is_null())
      return {*this, *member, key, no_index};
  return {*this, key};
}

std::string cursor::text() const {
  if (value_ == nullptr)
    return {};
  if (const auto* s = value_->if_string())
    return {s->data(), s->size()};
  expected("a string");
  return {};
}

bool cursor::flag() const {
  if (value_ == nullptr)
    return false;
  if (const auto* b = value_->if_bool())
    return *b;
  expected("a boolean");
  return false;
}

std::int64_t cursor::integer() const {
  if (value_ == nullptr)
    return 0;
  if (const auto* i = value_->if_int64())
    return *i;
  expected("an integer");
  return 0;
}

std::int32_t cursor::integer32() const {
  auto wide = integer();
  if (wide < std::numeric_limits<std::int32_t>::min()
      || wide > std::numeric_limits<std::int32_t>::max()) {
    mistake(fmt::format("{} does not fit into 32 bits", wide));
    return 0;
  }
  return static_cast<std::int32_t>(wide);
}

std::optional<std::int32_t> cursor::maybe_integer32() const {
  return is_set() ? std::optional{integer32()} : std::nullopt;
}

base::wall_time cursor::time() const {
  if (value_ == nullptr)
    return {};
  auto parsed = parse_timestamp(text());
  if (parsed)
    return *parsed;
  mistake(parsed.error().message());
  return {};
}

quantity cursor::amount() const {
  if (value_ == nullptr)
    return {};
  auto parsed = quantity_of(*value_);
  if (parsed)
    return *parsed;
  mistake(parsed.error().message());
  return {};
}

string_map cursor::texts() const {
  string_map out;
  members([&](std::string_view key, const cursor& x) { out.emplace(key, x.text()); });
  return out;
}

std::size_t cursor::size() const {
  const auto* list = array();
  return list == nullptr ? 0 : list->size();
}

void cursor::mistake(std::string_view message) const {
  if (found_->first)
    return;
  auto where = path();
  found_->first =
      base::error{base::code::bad_input,
                  where.empty() ? std::string{message} : fmt::format("{}: {}", where, message)};
}

std::string cursor::path() const {
  if (parent_ == nullptr)
    return {};
  auto before = parent_->path();
  if (index_ != no_index)
    return fmt::format("{}[{}]", before, index_);
  // Keys that users choose stand in brackets, as servers write them.
  bool is_plain = key_.find_first_of("./-") == std::string_view::npos;
  if (!is_plain)
    return fmt::format("{}[{}]", before, key_);
  return before.empty() ? std::string{key_} : fmt::format("{}.{}", before, key_);
}

const boost::json::object* cursor::object() const {
  if (object_ != nullptr)
    return object_;
  if (value_ == nullptr)
    return nullptr;
  if (const auto* o = value_->if_object())
    return o;
  expected("an object");
  return nullptr;
}

const boost::json::array* cursor::array() const {
  if (value_ == nullptr)
    return nullptr;
  if (const auto* a = value_->if_array())
    return a;
  expected("a list");
  return nullptr;
}

void cursor::expected(std::string_view what) const {
  mistake(fmt::format("expected {}, found {}", what, kind_name(value_->kind())));
}

} // namespace tutti::api
