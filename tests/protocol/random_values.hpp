// Fills any plain struct of the protocol with random values, and compares two of them to the
// bottom.
//
// Both walk the struct's own fields, so a field that a codec forgot is found without naming it
// here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <boost/pfr.hpp>

#include "base/explanation.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/symbol.hpp"
#include "protocol/messages.hpp"

namespace tutti::protocol::testing {

template <class T>
concept any_list = requires(T x) {
  x.emplace_back();
  x.begin();
}
&&!std::same_as<T, std::string>;

template <class T>
inline constexpr bool is_pointer = false;
template <class T>
inline constexpr bool is_pointer<std::shared_ptr<const T>> = true;

/// How many values an enumeration has; a specialisation per enumeration that occurs.
template <class E>
inline constexpr int values_of = -1;
template <>
inline constexpr int values_of<verdict> = 2;
template <>
inline constexpr int values_of<attempt_outcome> = 6;
template <>
inline constexpr int values_of<phase> = phase_count;
template <>
inline constexpr int values_of<bind_verdict> = 8;
template <>
inline constexpr int values_of<pod_state> = 5;
template <>
inline constexpr int values_of<role_kind> = role_kind_count;
template <>
inline constexpr int
    values_of<base::reason_code> = static_cast<int>(base::reason_code::scheduler_error) + 1;

class random_filler {
public:
  explicit random_filler(std::uint64_t seed) : random_(seed) {}

  template <class T>
  void operator()(T& x) {
    if constexpr (std::same_as<T, std::string>) {
      for (auto n = random_.below(12); n > 0; --n)
        x.push_back(static_cast<char>('a' + random_.below(26)));
    } else if constexpr (std::same_as<T, base::symbol>) {
      x = base::symbol{
          std::string(1 + random_.below(3), static_cast<char>('a' + random_.below(4)))};
    } else if constexpr (std::same_as<T, bool>) {
      x = random_.chance(1, 2);
    } else if constexpr (std::is_enum_v<T>) {
      static_assert(values_of<T> > 0);
      x = static_cast<T>(random_.below(values_of<T>));
    } else if constexpr (std::integral<T>) {
      x = static_cast<T>(random_.next() >> random_.below(64));
    } else if constexpr (is_pointer<T>) {
      auto made = std::make_shared<std::remove_const_t<typename T::element_type>>();
      (*this)(*made);
      x = std::move(made);
    } else if constexpr (any_list<T>) {
      for (auto n = random_.below(4); n > 0; --n)
        (*this)(x.emplace_back());
    } else {
      boost::pfr::for_each_field(x, [&](auto& field) { (*this)(field); });
    }
  }

private:
  base::random_stream random_;
};

/// Equal in every field, behind pointers too.
template <class T>
bool deep_equal(const T& a, const T& b) {
  if constexpr (is_pointer<T>) {
    return (a == nullptr) == (b == nullptr) && (a == nullptr || deep_equal(*a, *b));
  } else if constexpr (
      std::same_as<
          T,
          std::string> || std::same_as<T, base::symbol> || std::is_enum_v<T> || std::integral<T>) {
    return a == b;
  } else if constexpr (any_list<T>) {
    if (a.size() != b.size())
      return false;
    auto other = b.begin();
    for (const auto& x : a)
      if (!deep_equal(x, *other++))
        return false;
    return true;
  } else {
    bool equal = true;
    boost::pfr::for_each_field(a, [&](const auto& field, auto at) {
      equal = equal && deep_equal(field, boost::pfr::get<at>(b));
    });
    return equal;
  }
}

} // namespace tutti::protocol::testing
