// Reads protobuf's wire format by tables of field numbers, which Kubernetes never changes.
#include "sim/api_server/protobuf.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace tutti::sim::api_server {

namespace {

namespace json = boost::json;

enum class shape : std::uint8_t { text, integer, boolean, message, text_map, text_list };

struct field {
  std::uint32_t number;
  std::string_view name;
  shape what;
  std::span<const field> inner = {};
};

constexpr std::array metadata{field{1, "name", shape::text},
                              field{2, "generateName", shape::text},
                              field{3, "namespace", shape::text},
                              field{5, "uid", shape::text},
                              field{6, "resourceVersion", shape::text},
                              field{11, "labels", shape::text_map},
                              field{12, "annotations", shape::text_map},
                              field{14, "finalizers", shape::text_list}};
constexpr std::array preconditions{field{1, "uid", shape::text},
                                   field{2, "resourceVersion", shape::text}};
constexpr std::array delete_options{field{1, "gracePeriodSeconds", shape::integer},
                                    field{2, "preconditions", shape::message, preconditions},
                                    field{4, "propagationPolicy", shape::text},
                                    field{5, "dryRun", shape::text_list}};
constexpr std::array eviction{field{1, "metadata", shape::message, metadata},
                              field{2, "deleteOptions", shape::message, delete_options}};
constexpr std::array namespace_spec{field{1, "finalizers", shape::text_list}};
constexpr std::array namespace_{field{1, "metadata", shape::message, metadata},
                                field{2, "spec", shape::message, namespace_spec}};
constexpr std::array priority_class{
    field{1, "metadata", shape::message, metadata}, field{2, "value", shape::integer},
    field{3, "globalDefault", shape::boolean}, field{4, "description", shape::text},
    field{5, "preemptionPolicy", shape::text}};
constexpr std::array config_map{field{1, "metadata", shape::message, metadata},
                                field{2, "data", shape::text_map}};
constexpr std::array resource_attributes{
    field{1, "namespace", shape::text}, field{2, "verb", shape::text},
    field{3, "group", shape::text},     field{4, "version", shape::text},
    field{5, "resource", shape::text},  field{6, "subresource", shape::text},
    field{7, "name", shape::text}};
constexpr std::array path_attributes{field{1, "path", shape::text}, field{2, "verb", shape::text}};
constexpr std::array review_spec{
    field{1, "resourceAttributes", shape::message, resource_attributes},
    field{2, "nonResourceAttributes", shape::message, path_attributes}};
constexpr std::array access_review{field{1, "metadata", shape::message, metadata},
                                   field{2, "spec", shape::message, review_spec}};
constexpr std::array type_meta{field{1, "apiVersion", shape::text}, field{2, "kind", shape::text}};
constexpr std::array unknown{field{1, "typeMeta", shape::message, type_meta},
                             field{2, "raw", shape::text}};
constexpr std::array map_entry{field{1, "key", shape::text}, field{2, "value", shape::text}};

struct known {
  std::string_view kind;
  std::span<const field> fields;
};
constexpr std::array kinds{
    known{"Namespace", namespace_},         known{"PriorityClass", priority_class},
    known{"ConfigMap", config_map},         known{"Eviction", eviction},
    known{"DeleteOptions", delete_options}, known{"SelfSubjectAccessReview", access_review}};

std::optional<std::uint64_t> take_varint(std::string_view& in) {
  std::uint64_t out = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    out |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80)
      return out;
  }
  return std::nullopt;
}

std::optional<json::object> decode(std::string_view in, std::span<const field> fields);

bool take_bytes(std::string_view bytes, const field& f, json::object& into) {
  switch (f.what) {
  case shape::text:
    if (!bytes.empty()) // Go writes empty fields, too
      into[f.name] = bytes;
    return true;
  case shape::message: {
    auto inner = decode(bytes, f.inner);
    if (inner)
      into[f.name] = std::move(*inner);
    return inner.has_value();
  }
  case shape::text_map: {
    auto entry = decode(bytes, map_entry);
    if (!entry)
      return false;
    auto& map = into[f.name];
    if (!map.is_object())
      map = json::object{};
    auto* key = entry->if_contains("key");
    auto* value = entry->if_contains("value");
    map.get_object()[key ? key->get_string() : json::string{}] = value ? *value : json::value("");
    return true;
  }
  case shape::text_list: {
    auto& list = into[f.name];
    if (!list.is_array())
      list = json::array{};
    list.get_array().push_back(json::value(bytes));
    return true;
  }
  case shape::integer:
  case shape::boolean:
    return false;
  }
  return false;
}

std::optional<json::object> decode(std::string_view in, std::span<const field> fields) {
  enum : std::uint64_t { varint = 0, eight_bytes = 1, length = 2, four_bytes = 5 };
  json::object out;
  while (!in.empty()) {
    auto tag = take_varint(in);
    if (!tag)
      return std::nullopt;
    auto f = std::ranges::find(fields, *tag >> 3, &field::number);
    auto is_known = f != fields.end();
    auto wire = *tag & 7;
    if (wire == varint) {
      auto v = take_varint(in);
      if (!v)
        return std::nullopt;
      if (is_known && f->what == shape::boolean)
        out[f->name] = *v != 0;
      else if (is_known && f->what == shape::integer)
        out[f->name] = static_cast<std::int64_t>(*v);
      continue;
    }
    auto size = wire == eight_bytes  ? std::optional<std::uint64_t>{8}
                : wire == four_bytes ? std::optional<std::uint64_t>{4}
                : wire == length     ? take_varint(in)
                                     : std::nullopt;
    if (!size || *size > in.size())
      return std::nullopt;
    auto bytes = in.substr(0, *size);
    in.remove_prefix(*size);
    if (wire == length && is_known && !take_bytes(bytes, *f, out))
      return std::nullopt;
  }
  return out;
}

std::string_view text(const json::object& o, std::string_view key) {
  auto* v = o.if_contains(key);
  return v && v->is_string() ? std::string_view{v->get_string()} : std::string_view{};
}

} // namespace

std::optional<boost::json::object> decode_protobuf(std::string_view bytes) {
  constexpr std::string_view magic{"k8s\0", 4};
  if (!bytes.starts_with(magic))
    return std::nullopt;
  auto envelope = decode(bytes.substr(magic.size()), unknown);
  auto* type = envelope ? envelope->if_contains("typeMeta") : nullptr;
  if (!type)
    return std::nullopt;
  auto kind = text(type->get_object(), "kind");
  auto k = std::ranges::find(kinds, kind, &known::kind);
  if (k == kinds.end())
    return std::nullopt;
  auto out = decode(text(*envelope, "raw"), k->fields);
  if (out) {
    (*out)["apiVersion"] = text(type->get_object(), "apiVersion");
    (*out)["kind"] = kind;
  }
  return out;
}

} // namespace tutti::sim::api_server
