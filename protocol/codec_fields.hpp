// Describes a struct once and gets both directions of its codec: writing and reading cannot differ.
//
// Only the `*_codec.cpp` files include this. A struct is described by one function template
//
//     template <class Io, class B> void describe(Io& io, B b, io_ref<Io, seat> x) {
//       FIELD(Pod, x.pod);
//       FIELD(Takes, x.takes);
//     }
//
// where `b` is the generated Builder or Reader and `Pod` the field's name as the generated setters
// spell it. Lists, nested structs and `shared_ptr<const T>` (absent = null) follow from the type.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/debug.h>
#include <kj/exception.h>

#include "base/ids.hpp"
#include "base/kinds.hpp"
#include "base/result.hpp"
#include "base/symbol.hpp"
#include "base/ties_table.hpp"

namespace tutti::protocol::codec {

/// A struct as a description sees it: constant while writing, to be filled while reading.
template <class Io, class T>
using io_ref = std::conditional_t<Io::writes, const T&, T&>;

/// Values of an enumeration that we know; a specialisation per enumeration that travels.
template <class E>
inline constexpr int enum_count = -1;

template <class T>
inline constexpr bool is_id = false;
template <class Tag, class Rep>
inline constexpr bool is_id<base::id<Tag, Rep>> = true;

template <class T>
inline constexpr bool is_shared = false;
template <class T>
inline constexpr bool is_shared<std::shared_ptr<const T>> = true;

template <class T>
concept list_like = requires(T x) {
  x.emplace_back();
  x.reserve(1u);
}
&&!std::same_as<T, std::string>;

template <class T>
concept number = std::integral<T>;

/// How one field is reached: five small lambdas made by FIELD.
template <class Set, class Init, class Get, class Has>
struct field_access {
  Set set;
  Init init;
  Get get;
  Has has;
};
template <class Set, class Init, class Get, class Has>
field_access(Set, Init, Get, Has) -> field_access<Set, Init, Get, Has>;

/// Values that many fields of one message name, carried once each: equal ones have one place.
template <class T>
class table {
public:
  /// Place of `x` plus one; 0 for null.
  std::uint32_t place_of(const std::shared_ptr<const T>& x) {
    if (!x)
      return 0;
    for (auto [pos, end] = by_id_.equal_range(x->id.value); pos != end; ++pos)
      if (all_[pos->second - 1] == x || *all_[pos->second - 1] == *x)
        return pos->second;
    all_.push_back(x);
    const auto place = static_cast<std::uint32_t>(all_.size());
    by_id_.emplace(x->id.value, place);
    return place;
  }
  const std::vector<std::shared_ptr<const T>>& all() const { return all_; }

private:
  std::multimap<std::uint64_t, std::uint32_t> by_id_;
  std::vector<std::shared_ptr<const T>> all_;
};

/// Writes fields into builders.
class writer {
public:
  static constexpr bool writes = true;

  table<base::shape> shapes;
  table<base::node_class> classes;
  table<base::ties> ties;

  template <class B, class T, class A>
  void field(B b, const T& x, const A& at) {
    if constexpr (std::same_as<T, std::string>) {
      if (!x.empty())
        at.set(b, text_of(x));
    } else if constexpr (std::same_as<T, base::symbol>) {
      if (!x.empty())
        at.set(b, text_of(x.text()));
    } else if constexpr (is_id<T>) {
      field(b, x.value, at);
    } else if constexpr (std::is_enum_v<T>) {
      at.set(b, static_cast<decltype(at.get(b))>(static_cast<std::uint16_t>(x)));
    } else if constexpr (number<T>) {
      at.set(b, x);
    } else if constexpr (std::same_as<T, base::shape_ptr>) {
      at.set(b, shapes.place_of(x));
    } else if constexpr (std::same_as<T, base::node_class_ptr>) {
      at.set(b, classes.place_of(x));
    } else if constexpr (std::same_as<T, base::ties_ptr>) {
      at.set(b, ties.place_of(x));
    } else if constexpr (is_shared<T>) {
      if (x)
        describe(*this, at.init(b), *x);
    } else if constexpr (list_like<T>) {
      if (!x.empty())
        list(at.init(b, static_cast<unsigned>(x.size())), x);
    } else {
      describe(*this, at.init(b), x);
    }
  }

private:
  static capnp::Text::Reader text_of(const std::string& x) { return {x.c_str(), x.size()}; }

  template <class L, class T>
  void list(L to, const T& from) {
    unsigned i = 0;
    for (const auto& x : from) {
      using element = std::remove_cvref_t<decltype(x)>;
      if constexpr (std::same_as<element, std::string>)
        to.set(i, text_of(x));
      else if constexpr (is_id<element>)
        to.set(i, text_of(x.value));
      else if constexpr (std::is_enum_v<element>)
        to.set(i, static_cast<std::remove_cvref_t<decltype(to[i])>>(static_cast<std::uint16_t>(x)));
      else if constexpr (number<element>)
        to.set(i, x);
      else
        describe(*this, to[i], x);
      ++i;
    }
  }
};

/// Reads fields from readers. Throws `kj::Exception` on malformed bytes; `read_guarded` catches it.
class reader {
public:
  static constexpr bool writes = false;

  /// Set when a value stands there that only a later version can have written.
  bool met_newer = false;

  std::vector<base::shape_ptr> shapes;       ///< of the message, by place
  std::vector<base::node_class_ptr> classes; ///< likewise
  std::vector<base::ties_ptr> ties;          ///< likewise

  template <class R, class T, class A>
  void field(R r, T& x, const A& at) {
    if constexpr (std::same_as<T, std::string>) {
      x = text_of(at.get(r));
    } else if constexpr (std::same_as<T, base::symbol>) {
      x = base::symbol{text_of(at.get(r))};
    } else if constexpr (is_id<T>) {
      field(r, x.value, at);
    } else if constexpr (std::is_enum_v<T>) {
      x = known<T>(static_cast<std::uint16_t>(at.get(r)));
    } else if constexpr (number<T>) {
      x = at.get(r);
    } else if constexpr (std::same_as<T, base::shape_ptr>) {
      x = at_place(shapes, at.get(r));
    } else if constexpr (std::same_as<T, base::node_class_ptr>) {
      x = at_place(classes, at.get(r));
    } else if constexpr (std::same_as<T, base::ties_ptr>) {
      x = at_place(ties, at.get(r));
    } else if constexpr (is_shared<T>) {
      if (at.has(r)) {
        auto made = std::make_shared<std::remove_const_t<typename T::element_type>>();
        describe(*this, at.get(r), *made);
        x = std::move(made);
      }
    } else if constexpr (list_like<T>) {
      list(at.get(r), x);
    } else {
      describe(*this, at.get(r), x);
    }
  }

private:
  static std::string_view text_of(capnp::Text::Reader x) { return {x.begin(), x.size()}; }

  template <class T>
  static T at_place(const std::vector<T>& all, std::uint32_t place) {
    KJ_REQUIRE(place <= all.size(), "names what the tables do not hold", place, all.size());
    return place == 0 ? nullptr : all[place - 1];
  }

  template <class E>
  E known(std::uint16_t value) {
    static_assert(enum_count<E> > 0, "an enumeration that travels needs its count");
    if (value >= enum_count<E>) {
      met_newer = true;
      return E{};
    }
    return static_cast<E>(value);
  }

  template <class L, class T>
  void list(L from, T& to) {
    using element = typename T::value_type;
    to.clear();
    to.reserve(from.size());
    for (auto x : from) {
      if constexpr (std::same_as<element, std::string>)
        to.emplace_back(text_of(x));
      else if constexpr (is_id<element>)
        to.emplace_back(element{std::string{text_of(x)}});
      else if constexpr (std::is_enum_v<element>)
        to.emplace_back(known<element>(static_cast<std::uint16_t>(x)));
      else if constexpr (number<element>)
        to.emplace_back(x);
      else
        describe(*this, x, to.emplace_back());
    }
  }
};

/// NOLINTNEXTLINE: a macro, because the generated setters are names.
#define FIELD(Name, member)                                                                        \
  io.field(b, member,                                                                              \
           ::tutti::protocol::codec::field_access{                                                 \
               [](auto to, auto v) { to.set##Name(v); },                                           \
               [](auto to, auto... n) { return to.init##Name(n...); },                             \
               [](auto from) { return from.get##Name(); },                                         \
               [](auto from) { return from.has##Name(); }})

/// The table of ties of a record, a decision or an envelope: written after all that names them,
/// read before it.
template <class B>
void put_ties(const writer& io, B to) {
  if (io.ties.all().empty())
    return;
  auto list = to.initTies(static_cast<unsigned>(io.ties.all().size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    const auto& x = *io.ties.all()[i];
    list[i].setId(x.id.value);
    list[i].setBlob({reinterpret_cast<const kj::byte*>(x.blob.data()), x.blob.size()});
    list[i].setHasTerms(x.has_terms);
  }
}

template <class R>
void take_ties(R from, reader& io) {
  for (auto x : from.getTies()) {
    const auto blob = x.getBlob();
    io.ties.push_back(
        base::shared({{x.getId()},
                      std::string{reinterpret_cast<const char*>(blob.begin()), blob.size()},
                      x.getHasTerms()}));
  }
}

/// Deepest nesting that our schemas reach, with room to grow.
inline constexpr int nesting_max = 32;

/// The first segment of the message that is being written: a fresh one of 8 KiB for each, filled
/// with zeros, costs more than most messages do.
class scratch {
public:
  /// Of this thread, if no other message is being written there.
  scratch() : is_ours_(!std::exchange(is_taken_, true)) {}
  ~scratch() {
    if (is_ours_)
      is_taken_ = false;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  /// All zeros, and to be left so. Empty if it is in use.
  kj::ArrayPtr<capnp::word> words() const {
    return is_ours_ ? kj::ArrayPtr<capnp::word>{words_.data(), words_.size()} : nullptr;
  }

private:
  static inline thread_local std::array<capnp::word, capnp::SUGGESTED_FIRST_SEGMENT_WORDS> words_{};
  static inline thread_local bool is_taken_ = false;
  const bool is_ours_;
};

/// The bytes of what `fill(root)` wrote into a fresh message with this root.
template <class Root, class Fill>
std::string write_bytes(Fill fill) {
  const auto write = [&fill](capnp::MallocMessageBuilder& message) {
    fill(message.initRoot<Root>());
    const auto words = capnp::messageToFlatArray(message);
    const auto bytes = words.asChars();
    return std::string{bytes.begin(), bytes.size()};
  };
  const scratch first;
  if (first.words() == nullptr) {
    capnp::MallocMessageBuilder message;
    return write(message);
  }
  capnp::MallocMessageBuilder message{first.words()}; // leaves zeros behind
  return write(message);
}

/// What `take(root, io)` makes of the bytes. Errors: `corrupt` if they are no such message,
/// `newer_format` if they hold a kind or an enumerant that we do not know.
template <class Root, class T, class Take>
base::result<T> read_bytes(std::string_view bytes, const char* what, Take take) {
  if (bytes.empty() || bytes.size() % sizeof(capnp::word) != 0)
    return base::error{base::code::corrupt, std::string{what} + ": " + std::to_string(bytes.size())
                                                + " bytes are no whole words"};
  kj::Array<capnp::word> copy;
  kj::ArrayPtr<const capnp::word> words{reinterpret_cast<const capnp::word*>(bytes.data()),
                                        bytes.size() / sizeof(capnp::word)};
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(capnp::word) != 0) {
    copy = kj::heapArray<capnp::word>(words.size());
    std::copy(bytes.begin(), bytes.end(), copy.asChars().begin());
    words = copy;
  }
  capnp::ReaderOptions limits;
  limits.traversalLimitInWords = 4 * words.size() + 1024;
  limits.nestingLimit = nesting_max;
  try {
    capnp::FlatArrayMessageReader message{words, limits};
    reader io;
    auto value = take(message.getRoot<Root>(), io);
    if (io.met_newer)
      return base::error{base::code::newer_format, std::string{what} + " of a later version",
                         "start the version of tutti that wrote it, or a later one"};
    return value;
  } catch (const kj::Exception& e) {
    return base::error{base::code::corrupt, std::string{what} + ": " + e.getDescription().cStr()};
  }
}

} // namespace tutti::protocol::codec
