// Checks an object against the OpenAPI schema, and says which fields nobody knows.
#include "api/schema.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/openapi.hpp"
#include "api/quantity.hpp"
#include "base/ensure.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;

constexpr std::string_view ref_prefix = "#/components/schemas/";
/// More names than this are not read by anyone: only the nearest ones are listed.
constexpr std::size_t names_listed_max = 16;
constexpr std::size_t nearest_listed = 6;
constexpr std::string_view amount_words = "an amount such as 2, \"500m\" or \"1Gi\"";

std::string_view text_of(const json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found && found->is_string() ? std::string_view{found->get_string()} : std::string_view{};
}

const json::object* object_in(const json::object& object, std::string_view key) {
  auto* found = object.if_contains(key);
  return found ? found->if_object() : nullptr;
}

/// One group version, parsed.
struct document {
  json::value root;
  const json::object* schemas = nullptr;
};

/// All documents of one release, and which schema describes which kind.
struct catalog {
  struct entry {
    const json::object* schema;
    std::string_view schema_name;
    const json::object* schemas;
  };
  std::vector<document> documents;
  std::vector<known_kind> kinds;
  std::map<std::pair<std::string_view, std::string_view>, std::pair<const known_kind*, entry>>
      index;
};

struct group_version_kind {
  std::string api_version;
  std::string kind;
  friend auto operator<=>(const group_version_kind&, const group_version_kind&) = default;
};

group_version_kind read_gvk(const json::object& from) {
  auto group = text_of(from, "group");
  auto version = text_of(from, "version");
  return {group.empty() ? std::string{version} : fmt::format("{}/{}", group, version),
          std::string{text_of(from, "kind")}};
}

/// Kinds that a POST to a collection creates.
void add_kinds(const json::object& paths, std::vector<known_kind>& to) {
  for (auto& [key, verbs] : paths) {
    std::string_view path = key;
    if (path.find("{name}") != path.npos || path.find("/watch/") != path.npos)
      continue;
    auto* post = verbs.is_object() ? object_in(verbs.get_object(), "post") : nullptr;
    auto* gvk = post ? object_in(*post, "x-kubernetes-group-version-kind") : nullptr;
    if (!gvk)
      continue;
    auto names = read_gvk(*gvk);
    to.push_back({names.api_version, names.kind, std::string{path.substr(path.rfind('/') + 1)},
                  path.find("{namespace}") != path.npos});
  }
}

std::map<group_version_kind, catalog::entry> schemas_by_kind(const catalog& all) {
  std::map<group_version_kind, catalog::entry> found;
  for (auto& d : all.documents)
    for (auto& [name, schema] : *d.schemas) {
      auto* gvks = schema.get_object().if_contains("x-kubernetes-group-version-kind");
      if (!gvks)
        continue;
      for (auto& gvk : gvks->get_array())
        found.insert({read_gvk(gvk.get_object()), {&schema.get_object(), name, d.schemas}});
    }
  return found;
}

catalog load(release r) {
  catalog all;
  for (auto group_version : group_versions(r)) {
    all.documents.push_back({json::parse(openapi_document(r, group_version)), nullptr});
    add_kinds(all.documents.back().root.at("paths").get_object(), all.kinds);
  }
  for (auto& d : all.documents)
    d.schemas = &d.root.at("schemas").get_object();
  std::sort(all.kinds.begin(), all.kinds.end(), [](auto& a, auto& b) {
    return std::tie(a.kind, a.api_version) < std::tie(b.kind, b.api_version);
  });
  auto schemas = schemas_by_kind(all);
  for (auto& kind : all.kinds) {
    auto found = schemas.find({kind.api_version, kind.kind});
    ensure(found != schemas.end(), kind.api_version, kind.kind);
    all.index[{kind.api_version, kind.kind}] = {&kind, found->second};
  }
  return all;
}

const catalog& catalog_of(release r) {
  switch (r) {
  case release::v1_35: {
    static const auto all = load(release::v1_35);
    return all;
  }
  case release::v1_36: {
    static const auto all = load(release::v1_36);
    return all;
  }
  case release::v1_37: {
    static const auto all = load(release::v1_37);
    return all;
  }
  }
  ensure(false, static_cast<int>(r));
  std::abort();
}

/// Where the walk is; rendered only when there is something to say.
struct place {
  const place* up = nullptr;
  std::string_view field;
  std::optional<std::size_t> index;
  bool is_key = false; ///< `field` is a key of a map
};

void render(const place& at, std::string& to) {
  if (at.up)
    render(*at.up, to);
  if (at.index)
    to += fmt::format("[{}]", *at.index);
  else if (at.is_key)
    to += fmt::format("[{}]", at.field);
  else if (!at.field.empty())
    to += to.empty() ? std::string{at.field} : "." + std::string{at.field};
}

std::string path_of(const place& at) {
  std::string path;
  render(at, path);
  return path;
}

/// "io.k8s.api.scheduling.v1beta1.DisruptionMode": the last one or two words.
std::string_view last_words(std::string_view name, int count) {
  auto cut = name.npos;
  for (int i = 0; i < count; ++i) {
    cut = name.rfind('.', cut == name.npos ? cut : cut - 1);
    if (cut == name.npos)
      return name;
  }
  return name.substr(cut + 1);
}

/// A schema and its name in the document; the name is empty if it has none.
struct target {
  const json::object* schema;
  std::string_view name;

  /// Objects of this type may hold anything.
  bool is_free() const { return name.ends_with(".FieldsV1") || name.ends_with(".RawExtension"); }
};

/// Follows the reference that a property usually is.
target resolve(const json::object& schemas, const json::object& schema) {
  auto ref = text_of(schema, "$ref");
  if (ref.empty())
    if (auto* all = schema.if_contains("allOf"))
      ref = text_of(all->get_array().at(0).get_object(), "$ref");
  if (ref.empty())
    return {&schema, {}};
  ensure(ref.starts_with(ref_prefix), ref);
  ref.remove_prefix(ref_prefix.size());
  auto* found = object_in(schemas, ref);
  ensure(found != nullptr, ref);
  return {found, ref};
}

enum class value_type : std::uint8_t { object, array, string, integer, number, boolean, any };

value_type type_of(const json::object& schema) {
  const auto name = text_of(schema, "type");
  return name == "object"    ? value_type::object
         : name == "array"   ? value_type::array
         : name == "string"  ? value_type::string
         : name == "integer" ? value_type::integer
         : name == "number"  ? value_type::number
         : name == "boolean" ? value_type::boolean
                             : value_type::any;
}

/// What a schema says, looked up once.
struct meaning {
  target as;
  value_type type = value_type::any;
  const json::array* either = nullptr;
  const json::object* properties = nullptr;
  const json::object* values = nullptr; ///< of a map
  const json::object* items = nullptr;
};

/// Schemas are parsed once and stay, so what they mean is remembered by where they are.
const meaning& meaning_of(const json::object& schemas, const json::object& schema) {
  thread_local std::unordered_map<const json::object*, meaning> known;
  const auto [pos, is_new] = known.try_emplace(&schema);
  auto& out = pos->second;
  if (!is_new)
    return out;
  out.as = resolve(schemas, schema);
  const auto& resolved = *out.as.schema;
  out.type = type_of(resolved);
  if (const auto* either = resolved.if_contains("oneOf"))
    out.either = &either->get_array();
  out.properties = object_in(resolved, "properties");
  out.values = object_in(resolved, "additionalProperties");
  out.items = object_in(resolved, "items");
  return out;
}

class walker {
public:
  walker(const json::object& schemas, std::vector<field_error>& errors)
      : schemas_(schemas), errors_(errors) {}

  void check_struct(const json::object& value, const target& as, const place& at) {
    check_struct(value, object_in(*as.schema, "properties"), as, at);
  }

private:
  void check_struct(const json::object& value, const json::object* properties, const target& as,
                    const place& at) {
    for (auto& [key, member] : value) {
      place inside{&at, key, std::nullopt, false};
      auto* property = properties ? object_in(*properties, key) : nullptr;
      if (property)
        check(member, *property, as, inside);
      else
        report_unknown(properties, inside);
    }
  }

  void check(const json::value& value, const json::object& schema, const target& owner,
             const place& at) {
    if (value.is_null())
      return;
    const auto& means = meaning_of(schemas_, schema);
    if (means.either)
      return check_either(value, *means.either, means.as, owner, at);
    switch (means.type) {
    case value_type::object:
      return check_object(value, means, owner, at);
    case value_type::array:
      return check_array(value, means, owner, at);
    case value_type::string:
      return check_string(value, means.as, owner, at);
    case value_type::integer:
      return check_integer(value, means.as, owner, at);
    case value_type::number:
      return value.is_number() ? void() : report_type(value, "a number", "float64", owner, at);
    case value_type::boolean:
      return value.is_bool() ? void() : report_type(value, "true or false", "bool", owner, at);
    case value_type::any:
      return;
    }
  }

  void check_either(const json::value& value, const json::array& choices, const target& as,
                    const target& owner, const place& at) {
    bool is_amount = as.name.ends_with(".Quantity");
    bool takes_fractions = std::any_of(choices.begin(), choices.end(), [](auto& choice) {
      return text_of(choice.get_object(), "type") == "number";
    });
    bool is_whole = value.is_int64() || value.is_uint64();
    if (!value.is_string() && !is_whole && !(takes_fractions && value.is_double()))
      return report_type(value, is_amount ? amount_words : "an integer or a string",
                         last_words(as.name, 2), owner, at);
    if (auto read = is_amount ? quantity_of(value) : quantity{}; !read)
      errors_.push_back({field_error::problem::wrong_type, path_of(at),
                         fmt::format("{} is no amount", json::serialize(value)),
                         std::string{amount_words}, read.error().message()});
  }

  void check_object(const json::value& value, const meaning& means, const target& owner,
                    const place& at) {
    const auto& as = means.as;
    auto* object = value.if_object();
    if (!object) {
      auto go = as.name.empty() ? std::string{"map[string]"} + std::string{go_map_value(as)}
                                : std::string{last_words(as.name, 2)};
      return report_type(value, allowed_object(as), go, owner, at);
    }
    if (means.values) {
      for (auto& [key, member] : *object)
        check(member, *means.values, owner, place{&at, key, std::nullopt, true});
      return;
    }
    if (!as.is_free())
      check_struct(*object, means.properties, as, at);
  }

  void check_array(const json::value& value, const meaning& means, const target& owner,
                   const place& at) {
    auto* items = means.items;
    ensure(items != nullptr, path_of(at));
    auto* array = value.if_array();
    if (!array) {
      auto item = resolve(schemas_, *items);
      auto go = "[]"
                + (item.name.empty() ? std::string{text_of(*items, "type")}
                                     : std::string{last_words(item.name, 2)});
      return report_type(value, "a list", go, owner, at);
    }
    for (std::size_t i = 0; i < array->size(); ++i)
      check((*array)[i], *items, owner, place{&at, {}, i, false});
  }

  void check_string(const json::value& value, const target& as, const target& owner,
                    const place& at) {
    auto* values = as.schema->if_contains("enum");
    if (!value.is_string()) {
      auto go = values ? enum_type(owner, at) : std::string{"string"};
      auto allowed = values ? list_of(values->get_array()) : std::string{"a string"};
      return report_type(value, allowed, go, owner, at);
    }
    if (!values || value.get_string().empty())
      return;
    auto& known = values->get_array();
    if (std::find(known.begin(), known.end(), value) == known.end())
      errors_.push_back(
          {field_error::problem::bad_value,
           path_of(at),
           fmt::format("\"{}\" is not a known value", std::string_view{value.get_string()}),
           list_of(known),
           {}});
  }

  void check_integer(const json::value& value, const target& as, const target& owner,
                     const place& at) {
    bool is_short = text_of(*as.schema, "format") == "int32";
    using narrow = std::numeric_limits<std::int32_t>;
    std::string_view allowed =
        is_short ? "an integer from -2147483648 to 2147483647" : "an integer";
    std::string_view go = is_short ? "int32" : "int64";
    auto* number = value.if_int64();
    if (!number || (is_short && (*number < narrow::min() || *number > narrow::max())))
      report_type(value, allowed, go, owner, at);
  }

  void report_unknown(const json::object* properties, const place& at) {
    std::vector<std::string_view> names;
    if (properties)
      for (auto& [name, schema] : *properties)
        names.push_back(name);
    auto close = nearest(at.field, names);
    auto what = close.empty() ? std::string{"unknown field"}
                              : fmt::format("unknown field, did you mean \"{}\"?", close);
    auto path = path_of(at);
    errors_.push_back({field_error::problem::unknown_field, path, what, names_for(at.field, names),
                       fmt::format("unknown field \"{}\"", path)});
  }

  void report_type(const json::value& value, std::string_view allowed, std::string_view go_type,
                   const target& owner, const place& at) {
    bool into_integer = go_type == "int32" || go_type == "int64";
    // `no` and `1.10` without quotes are the usual way to get here.
    bool lacks_quotes = go_type == "string" && (value.is_bool() || value.is_number());
    errors_.push_back(
        {field_error::problem::wrong_type, path_of(at),
         is_a(value) + (lacks_quotes ? " for lack of quotes" : ""), std::string{allowed},
         fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                     go_name_of(value, into_integer), last_words(owner.name, 1), go_path(at),
                     go_type)});
  }

  static std::string is_a(const json::value& value) {
    switch (value.kind()) {
    case json::kind::object:
      return "is an object";
    case json::kind::array:
      return "is a list";
    case json::kind::string:
      return fmt::format("is the string {}", json::serialize(value));
    case json::kind::bool_:
      return fmt::format("is the boolean {}", value.get_bool());
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return fmt::format("is the number {}", number_text(value));
    case json::kind::null:
      return "is null";
    }
    return "?";
  }

  static std::string number_text(const json::value& value) {
    return value.is_double() ? fmt::format("{}", value.get_double()) : json::serialize(value);
  }

  static std::string go_name_of(const json::value& value, bool into_integer) {
    if (value.is_number())
      return into_integer ? "number " + number_text(value) : "number";
    if (value.is_bool())
      return "bool";
    return value.is_string() ? "string" : value.is_array() ? "array" : "object";
  }

  /// The path as Go's decoder writes it: without indices and keys.
  static std::string go_path(const place& at) {
    auto above = at.up ? go_path(*at.up) : std::string{};
    if (at.index || at.is_key || at.field.empty())
      return above;
    return above.empty() ? std::string{at.field} : above + "." + std::string{at.field};
  }

  /// A typed string of Go is named as its field is, with a capital.
  static std::string enum_type(const target& owner, const place& at) {
    auto words = last_words(owner.name, 2);
    std::string field{at.field};
    if (!field.empty())
      field[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(field[0])));
    return fmt::format("{}.{}", words.substr(0, words.find('.')), field);
  }

  std::string_view go_map_value(const target& as) const {
    auto* values = object_in(*as.schema, "additionalProperties");
    if (!values)
      return "interface {}";
    auto value = resolve(schemas_, *values);
    return value.name.empty() ? text_of(*values, "type") : last_words(value.name, 2);
  }

  static std::string allowed_object(const target& as) {
    auto* properties = object_in(*as.schema, "properties");
    if (!properties)
      return object_in(*as.schema, "additionalProperties") ? "a map" : "{}";
    std::vector<std::string_view> names;
    for (auto& [name, schema] : *properties)
      names.push_back(name);
    return "an object with " + names_for({}, names);
  }

  static std::string list_of(const json::array& values) {
    std::string text;
    for (auto& value : values)
      text += (text.empty() ? "" : ", ") + std::string{value.get_string()};
    return text;
  }

  /// All names, or where there are too many, those that look most like `word`.
  static std::string names_for(std::string_view word, std::vector<std::string_view> names);

  const json::object& schemas_;
  std::vector<field_error>& errors_;
};

void drop_unknown(json::value& value, const json::object& schema, const json::object& schemas) {
  auto as = resolve(schemas, schema);
  if (auto* list = value.if_array()) {
    if (auto* items = object_in(*as.schema, "items"))
      for (auto& item : *list)
        drop_unknown(item, *items, schemas);
    return;
  }
  auto* object = value.if_object();
  if (!object || as.is_free() || text_of(*as.schema, "type") != "object")
    return;
  auto* values = object_in(*as.schema, "additionalProperties");
  auto* properties = object_in(*as.schema, "properties");
  std::vector<std::string> unknown;
  for (auto& [key, member] : *object)
    if (auto* inside = values ? values : properties ? object_in(*properties, key) : nullptr)
      drop_unknown(member, *inside, schemas);
    else
      unknown.emplace_back(key);
  for (auto& key : unknown)
    object->erase(key);
}

/// Edit distance where swapping two neighbours counts once and capitals do not count.
std::size_t distance(std::string_view a, std::string_view b) {
  auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x))
           == std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j)
    d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto change = d[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string walker::names_for(std::string_view word, std::vector<std::string_view> names) {
  if (names.empty())
    return "no fields";
  bool too_many = names.size() > names_listed_max;
  if (too_many) {
    std::stable_sort(names.begin(), names.end(),
                     [&](auto a, auto b) { return distance(word, a) < distance(word, b); });
    names.resize(word.empty() ? names_listed_max : nearest_listed);
    std::sort(names.begin(), names.end());
  }
  return fmt::format("{}{}", fmt::join(names, ", "), too_many ? ", …" : "");
}

} // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& among) {
  /// Longer "words" are no misspelling of anything, and would cost quadratic time.
  constexpr std::size_t longest_word = 100;
  if (word.size() > longest_word)
    return {};
  std::string_view best;
  auto best_distance = 1 + std::max<std::size_t>(1, word.size() / 3);
  for (auto candidate : among)
    if (auto d = distance(word, candidate); d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  return best;
}

const std::vector<known_kind>& known_kinds(release kubernetes) {
  return catalog_of(kubernetes).kinds;
}

const known_kind* find_kind(release kubernetes, std::string_view api_version,
                            std::string_view kind) {
  auto& index = catalog_of(kubernetes).index;
  auto found = index.find({api_version, kind});
  return found == index.end() ? nullptr : found->second.first;
}

std::vector<field_error> check_fields(release kubernetes, const json::object& object) {
  auto& index = catalog_of(kubernetes).index;
  auto found = index.find({text_of(object, "apiVersion"), text_of(object, "kind")});
  std::vector<field_error> errors;
  if (found == index.end()) {
    errors.push_back({field_error::problem::bad_value,
                      "kind",
                      fmt::format("Kubernetes {} knows no {} of {}", name_of(kubernetes),
                                  text_of(object, "kind"), text_of(object, "apiVersion")),
                      {},
                      {}});
    return errors;
  }
  auto& schema = found->second.second;
  walker{*schema.schemas, errors}.check_struct(object, {schema.schema, schema.schema_name}, {});
  return errors;
}

void drop_unknown_fields(release kubernetes, json::object& object) {
  auto& index = catalog_of(kubernetes).index;
  auto found = index.find({text_of(object, "apiVersion"), text_of(object, "kind")});
  if (found == index.end())
    return;
  auto& schema = found->second.second;
  json::value whole(std::move(object)); // braces would make a list
  drop_unknown(whole, *schema.schema, *schema.schemas);
  object = std::move(whole.get_object());
}

} // namespace tutti::api
