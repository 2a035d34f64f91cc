// Facts about objects as the API serves them: fields, numbers, claims and devices.
#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sim/scenario/scene.hpp"

namespace tutti::sim::scenario {

namespace {

namespace json = boost::json;

/// Where `found` lacks something of `wanted`; empty if it has all of it. A list has to hold each
/// wanted entry, in any order.
std::string difference(const json::value& wanted, const json::value* found,
                       const std::string& path) {
  const auto at = path.empty() ? std::string{"the object"} : path;
  if (!found)
    return wanted.is_null() ? std::string{} : fmt::format("{} is not there", at);
  if (const auto* fields = wanted.if_object()) {
    if (!found->is_object())
      return fmt::format("{} is {}", at, json::serialize(*found));
    for (const auto& [name, value] : *fields) {
      const std::string key{name};
      auto inner = difference(value, found->get_object().if_contains(name),
                              path.empty() ? key : path + "." + key);
      if (!inner.empty())
        return inner;
    }
    return {};
  }
  if (const auto* items = wanted.if_array()) {
    if (!found->is_array())
      return fmt::format("{} is {}", at, json::serialize(*found));
    for (const auto& item : *items) {
      const auto& there = found->get_array();
      const bool is_there = std::any_of(there.begin(), there.end(), [&](const json::value& x) {
        return difference(item, &x, "entry").empty();
      });
      if (!is_there)
        return fmt::format("{} lacks {}: {}", at, json::serialize(item), json::serialize(*found));
    }
    return {};
  }
  if (wanted == *found)
    return {};
  return fmt::format("{} is {}", at, json::serialize(*found));
}

void read_object(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    for (const auto& name : expand(f.name, where)) {
      const auto whom = read_target(name, where);
      add_fact(out, where, fmt::format("object: {{{}: {}}}", name, to_text(f.value)),
               [whom, wanted = to_json(f.value)](scene& at) -> finding {
                 const auto found = at.find(whom);
                 if (found.empty())
                   return wanted.is_null() ? finding{} : finding{"no such object"};
                 for (const auto& x : found) {
                   const auto body = scene::body_of(*x);
                   if (auto wrong = difference(wanted, &body, {}); !wrong.empty())
                     return fmt::format("{}: {}", x->key, wrong);
                 }
                 return std::nullopt;
               });
    }
  }
}

void read_count(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    const auto plural = read_target(f.name + "/*", where).plural;
    add_fact(out, where, fmt::format("count: {{{}: {}}}", f.name, to_text(f.value)),
             [plural, wanted = read_bounds(f.value)](scene& at) -> finding {
               const auto n = at.find({plural, "*", {}}).size();
               if (wanted.hold(static_cast<double>(n)))
                 return std::nullopt;
               return fmt::format("{}", n);
             });
  }
}

const json::array* list_at(const json::value& body, std::string_view inner,
                           std::string_view deeper = {}) {
  const auto* found = deeper.empty()
                          ? api_server::look(body.as_object(), {"status", inner})
                          : api_server::look(body.as_object(), {"status", inner, deeper});
  return found ? found->if_array() : nullptr;
}

void read_claims_fact(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    mapping fields{f.value, "fact about a claim"};
    const auto* allocated = fields.take("allocated");
    const auto* users = fields.take("reserved_for");
    fields.end();
    const auto is_wanted = allocated ? std::optional{flag_of(*allocated)} : std::nullopt;
    const auto wanted_users = users ? std::optional{read_bounds(*users)} : std::nullopt;
    for (const auto& name : expand(f.name, where))
      add_fact(out, where, fmt::format("claims: {{{}: {}}}", name, to_text(f.value)),
               [key = split_name(name).key(), is_wanted, wanted_users](scene& at) -> finding {
                 const auto found = at.objects().find(api_server::kind_id::resource_claims, key);
                 const auto body = found ? scene::body_of(*found) : json::value(json::object{});
                 const bool is_there =
                     api_server::look(body.as_object(), {"status", "allocation"}) != nullptr;
                 if (is_wanted && *is_wanted != is_there)
                   return is_there ? "allocated" : found ? "not allocated" : "no such claim";
                 const auto* list = list_at(body, "reservedFor");
                 const auto n = list ? list->size() : 0;
                 if (wanted_users && !wanted_users->hold(static_cast<double>(n)))
                   return fmt::format("reserved for {}", n);
                 return std::nullopt;
               });
  }
}

/// Devices of this pool in all allocations.
std::size_t devices_used(scene& at, const std::string& pool) {
  std::size_t n = 0;
  for (const auto& [key, claim] : at.objects().all(api_server::kind_id::resource_claims)) {
    const auto body = scene::body_of(*claim);
    const auto* results =
        api_server::look(body.as_object(), {"status", "allocation", "devices", "results"});
    if (results && results->is_array())
      for (const auto& r : results->get_array())
        if (r.is_object() && api_server::text_at(r.get_object(), {"pool"}) == pool)
          ++n;
  }
  return n;
}

void read_devices_fact(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    mapping fields{f.value, "fact about a pool of devices"};
    const auto wanted = read_bounds(fields.need("used"));
    fields.end();
    for (const auto& name : expand(f.name, where))
      add_fact(out, where, fmt::format("devices: {{{}: {}}}", name, to_text(f.value)),
               [pool = full_name{"", name}.api_name(), wanted](scene& at) -> finding {
                 const auto n = devices_used(at, pool);
                 if (wanted.hold(static_cast<double>(n)))
                   return std::nullopt;
                 return fmt::format("{} used", n);
               });
  }
}

} // namespace

const std::vector<fact_word>& facts_about_objects() {
  static const std::vector<fact_word> words{{"object", read_object},
                                            {"count", read_count},
                                            {"claims", read_claims_fact},
                                            {"devices", read_devices_fact}};
  return words;
}

} // namespace tutti::sim::scenario
