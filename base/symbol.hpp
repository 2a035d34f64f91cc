// Strings of which there are few, held by many: resource names, label keys. One pointer instead of
// a copy.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace tutti::base {

/// An interned string. Equality is one comparison of pointers; order is that of the text, so that
/// nothing depends on the order in which symbols were made. Symbols live as long as the process:
/// never intern what a user can make without bound (pod names, uids). Thread-safe.
class symbol {
public:
  symbol();
  explicit symbol(std::string_view text);

  const std::string& text() const { return *text_; }
  bool empty() const { return text_->empty(); }

  friend bool operator==(symbol a, symbol b) { return a.text_ == b.text_; }
  friend std::strong_ordering operator<=>(symbol a, symbol b) {
    return a == b ? std::strong_ordering::equal : a.text() <=> b.text();
  }

private:
  const std::string* text_; // never null, never freed
};

} // namespace tutti::base
