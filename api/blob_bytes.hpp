// The bytes of canonical blobs: how numbers, texts and lists are put and taken.
//
//     list     := count element*               where order has no meaning: ascending, no duplicates
//     count    := LEB128, at most 64 bits      text := count byte*
//
// For the writers of blobs only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "api/terms.hpp"
#include "base/result.hpp"

namespace tutti::api::blob {

// ---- writing ----

inline void put_count(std::string& out, std::uint64_t x) {
  while (x >= 0x80) {
    out += static_cast<char>(0x80 | (x & 0x7f));
    x >>= 7;
  }
  out += static_cast<char>(x);
}

inline void put_signed(std::string& out, std::int64_t x) {
  put_count(out, (static_cast<std::uint64_t>(x) << 1) ^ static_cast<std::uint64_t>(x >> 63));
}

inline void put_text(std::string& out, std::string_view text) {
  put_count(out, text.size());
  out += text;
}

inline void put_flag(std::string& out, bool x) {
  out += static_cast<char>(x ? 1 : 0);
}

enum class order : std::uint8_t { kept, sorted, sorted_unique };

/// Elements are put in the order of their own bytes where theirs has no meaning.
template <class List, class Put>
void put_list(std::string& out, const List& list, order how, Put put) {
  std::vector<std::string> elements;
  elements.reserve(list.size());
  for (const auto& x : list) {
    std::string bytes;
    put(bytes, x);
    if (!bytes.empty())
      elements.push_back(std::move(bytes));
  }
  if (how != order::kept)
    std::sort(elements.begin(), elements.end());
  if (how == order::sorted_unique)
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  put_count(out, elements.size());
  for (const auto& x : elements)
    out += x;
}

template <class List>
List in_order(List list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

/// Ascending by key, for readers look keys up by bisection.
inline void put_pairs(std::string& out,
                      const std::vector<std::pair<std::string, std::string>>& list) {
  put_list(out, in_order(list), order::kept, [](std::string& bytes, const auto& x) {
    put_text(bytes, x.first);
    put_text(bytes, x.second);
  });
}

inline void put_requirement(std::string& out, const label_requirement& x) {
  put_text(out, x.key);
  out += static_cast<char>(x.how);
  put_list(out, in_order(x.values), order::kept, put_text);
}

// ---- reading ----

/// Takes values from the front; after the first failure everything is empty.
class reader {
public:
  explicit reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t count() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto byte = take_byte();
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      bool is_lossy = shift == 63 && byte > 1;
      if (is_lossy)
        break;
      if (byte < 0x80)
        return out;
    }
    fail();
    return 0;
  }
  std::int64_t signed_number() {
    auto x = count();
    return static_cast<std::int64_t>(x >> 1) ^ -static_cast<std::int64_t>(x & 1);
  }
  std::int32_t weight() {
    auto x = signed_number();
    auto out = static_cast<std::int32_t>(x);
    if (out != x)
      fail();
    return out;
  }
  std::string text() {
    auto size = count();
    if (size > rest_.size()) {
      fail();
      return {};
    }
    std::string out{rest_.substr(0, size)};
    rest_.remove_prefix(size);
    return out;
  }
  bool flag() { return choice<bool>(1); }
  template <class Enum>
  Enum choice(unsigned last) {
    auto byte = take_byte();
    if (byte > last)
      fail();
    return static_cast<Enum>(ok_ ? byte : 0);
  }
  template <class Take>
  auto list(Take take) {
    std::vector<decltype(take(*this))> out;
    auto size = count();
    if (size > rest_.size()) // every element has at least one byte
      fail();
    for (std::uint64_t i = 0; ok_ && i < size; ++i)
      out.push_back(take(*this));
    return out;
  }
  bool is_done() const { return ok_ && rest_.empty(); }

private:
  unsigned char take_byte() {
    if (rest_.empty()) {
      fail();
      return 0;
    }
    auto out = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return out;
  }
  void fail() {
    ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

inline std::pair<std::string, std::string> take_pair(reader& in) {
  auto first = in.text();
  return {std::move(first), in.text()};
}

inline label_requirement take_requirement(reader& in) {
  label_requirement out;
  out.key = in.text();
  out.how = in.choice<label_requirement::operation>(
      static_cast<unsigned>(label_requirement::operation::lt));
  out.values = in.list([](reader& r) { return r.text(); });
  return out;
}

struct blob_form {
  char kind;
  unsigned char version; ///< the newest that can be read
  std::string_view what; ///< for errors
};
/// The body behind kind and version.
inline base::result<std::string_view> body_of(std::string_view blob, const blob_form& form) {
  if (blob.size() < 2 || blob[0] != form.kind || blob[1] == 0)
    return base::error{base::code::corrupt, fmt::format("not the bytes of a {}", form.what)};
  auto version = static_cast<unsigned char>(blob[1]);
  if (version > form.version)
    return base::error{base::code::newer_format,
                       fmt::format("a {} of format {}; this program reads up to {}", form.what,
                                   version, form.version)};
  return blob.substr(2);
}

inline base::error broken(std::string_view what) {
  return {base::code::corrupt, fmt::format("the bytes of a {} are damaged", what)};
}

} // namespace tutti::api::blob
