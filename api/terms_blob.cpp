// The canonical bytes of shapes and classes.
//
//     blob     := kind version body            kind: 'S' shape, 'C' class; version: one byte
//     shape    := pairs flag terms preferred tolerations text
//     class    := pairs taints flag
//     list     := count element*               where order has no meaning: ascending, no duplicates
//     count    := LEB128, at most 64 bits      text := count byte*
//
// A change of any body is a new version. Older ones stay readable.
#include "api/terms.hpp"

#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "base/ensure.hpp"

namespace tutti::api {
namespace {

constexpr char shape_kind = 'S';
constexpr char class_kind = 'C';
constexpr unsigned char format_version = 1;

// ---- writing ----

void put_count(std::string& out, std::uint64_t x) {
  while (x >= 0x80) {
    out += static_cast<char>(0x80 | (x & 0x7f));
    x >>= 7;
  }
  out += static_cast<char>(x);
}

void put_signed(std::string& out, std::int64_t x) {
  put_count(out, (static_cast<std::uint64_t>(x) << 1) ^ static_cast<std::uint64_t>(x >> 63));
}

void put_text(std::string& out, std::string_view text) {
  put_count(out, text.size());
  out += text;
}

void put_flag(std::string& out, bool x) {
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
void put_pairs(std::string& out, const std::vector<std::pair<std::string, std::string>>& list) {
  put_list(out, in_order(list), order::kept, [](std::string& bytes, const auto& x) {
    put_text(bytes, x.first);
    put_text(bytes, x.second);
  });
}

void put_requirement(std::string& out, const label_requirement& x) {
  put_text(out, x.key);
  out += static_cast<char>(x.how);
  put_list(out, in_order(x.values), order::kept, put_text);
}

void put_term(std::string& out, const node_term& x) {
  put_list(out, x.labels, order::sorted_unique, put_requirement);
  put_list(out, x.fields, order::sorted_unique, put_requirement);
}

bool is_empty(const node_term& x) {
  return x.labels.empty() && x.fields.empty();
}

/// Terms that match nothing are left out: they cannot be the one that holds.
void put_required(std::string& out, const node_term& x) {
  if (!is_empty(x))
    put_term(out, x);
}

void put_preferred(std::string& out, const preferred_term& x) {
  if (x.weight == 0 || is_empty(x.term))
    return;
  put_signed(out, x.weight);
  put_term(out, x.term);
}

void put_toleration(std::string& out, const toleration& x) {
  put_text(out, x.key);
  put_flag(out, x.is_exists);
  put_text(out, x.is_exists ? std::string{} : x.value);
  put_flag(out, x.any_effect);
  out += static_cast<char>(x.any_effect ? taint_effect::no_schedule : x.effect);
}

void put_taint(std::string& out, const taint& x) {
  put_text(out, x.key);
  put_text(out, x.value);
  out += static_cast<char>(x.effect);
}

std::string encode(const shape_terms& x) {
  std::string out{shape_kind, static_cast<char>(format_version)};
  put_pairs(out, x.selector);
  put_flag(out, x.has_required);
  put_list(out, x.required, order::sorted_unique, put_required);
  put_list(out, x.preferred, order::sorted, put_preferred); // equal ones add up
  put_list(out, x.tolerations, order::sorted_unique, put_toleration);
  put_text(out, x.node_name);
  return out;
}

std::string encode(const class_terms& x) {
  std::string out{class_kind, static_cast<char>(format_version)};
  put_pairs(out, x.labels);
  put_list(out, x.taints, order::kept, put_taint); // the first one is the one that is reported
  put_flag(out, x.unschedulable);
  return out;
}

std::string encode(const base::footprint& x) {
  std::string out;
  for (auto amount :
       {x.amounts.cpu_milli, x.amounts.memory_bytes, x.amounts.ephemeral_bytes, x.amounts.pods})
    put_signed(out, amount);
  put_list(out, x.amounts.extended, order::kept, [](std::string& bytes, const auto& e) {
    put_text(bytes, e.name.text());
    put_signed(bytes, e.amount);
  });
  put_list(out, x.ports, order::kept, [](std::string& bytes, const base::host_port& p) {
    put_text(bytes, p.ip.text());
    put_text(bytes, p.protocol.text());
    put_signed(bytes, p.port);
  });
  return out;
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

std::pair<std::string, std::string> take_pair(reader& in) {
  auto first = in.text();
  return {std::move(first), in.text()};
}

label_requirement take_requirement(reader& in) {
  label_requirement out;
  out.key = in.text();
  out.how = in.choice<label_requirement::operation>(
      static_cast<unsigned>(label_requirement::operation::lt));
  out.values = in.list([](reader& r) { return r.text(); });
  return out;
}

node_term take_term(reader& in) {
  node_term out;
  out.labels = in.list(take_requirement);
  out.fields = in.list(take_requirement);
  return out;
}

preferred_term take_preferred(reader& in) {
  auto weight = in.weight();
  return {weight, take_term(in)};
}

taint_effect take_effect(reader& in) {
  return in.choice<taint_effect>(static_cast<unsigned>(taint_effect::no_execute));
}

toleration take_toleration(reader& in) {
  toleration out;
  out.key = in.text();
  out.is_exists = in.flag();
  out.value = in.text();
  out.any_effect = in.flag();
  out.effect = take_effect(in);
  return out;
}

taint take_taint(reader& in) {
  taint out;
  out.key = in.text();
  out.value = in.text();
  out.effect = take_effect(in);
  return out;
}

/// The body behind kind and version.
base::result<std::string_view> body_of(std::string_view blob, char kind, std::string_view what) {
  if (blob.size() < 2 || blob[0] != kind || blob[1] == 0)
    return base::error{base::code::corrupt, fmt::format("not the bytes of a {}", what)};
  auto version = static_cast<unsigned char>(blob[1]);
  if (version > format_version)
    return base::error{base::code::newer_format,
                       fmt::format("a {} of format {}; this program reads up to {}", what, version,
                                   format_version)};
  return blob.substr(2);
}

base::error broken(std::string_view what) {
  return {base::code::corrupt, fmt::format("the bytes of a {} are damaged", what)};
}

} // namespace

base::shape_ptr make_shape(const shape_terms& terms, const base::footprint& takes) {
  auto out = std::make_shared<base::shape>();
  out->blob = encode(terms);
  out->takes = takes;
  std::sort(out->takes.ports.begin(), out->takes.ports.end());
  out->id.value = base::hash_combine(base::hash_of(out->blob), base::hash_of(encode(out->takes)));
  ensure_slow(decode_shape(out->blob).has_value());
  return out;
}

base::node_class_ptr make_class(const class_terms& terms) {
  auto out = std::make_shared<base::node_class>();
  out->blob = encode(terms);
  out->id.value = base::hash_of(out->blob);
  ensure_slow(decode_class(out->blob).has_value());
  return out;
}

base::result<shape_terms> decode_shape(std::string_view blob) {
  auto body = body_of(blob, shape_kind, "shape");
  if (!body)
    return body.error();
  reader in(*body);
  shape_terms out;
  out.selector = in.list(take_pair);
  out.has_required = in.flag();
  out.required = in.list(take_term);
  out.preferred = in.list(take_preferred);
  out.tolerations = in.list(take_toleration);
  out.node_name = in.text();
  if (!in.is_done())
    return broken("shape");
  return out;
}

base::result<class_terms> decode_class(std::string_view blob) {
  auto body = body_of(blob, class_kind, "node class");
  if (!body)
    return body.error();
  reader in(*body);
  class_terms out;
  out.labels = in.list(take_pair);
  out.taints = in.list(take_taint);
  out.unschedulable = in.flag();
  if (!in.is_done())
    return broken("node class");
  return out;
}

} // namespace tutti::api
