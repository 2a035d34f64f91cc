// Create, update and patch: the part of the rules that is the same for all kinds.
#include "sim/api_server/registry.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api/timestamp.hpp"
#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::sim::api_server {

namespace {

/// Kinds of which Kubernetes counts generations, and the part that counts.
bool has_generation(kind_id kind) {
  return kind == kind_id::pods || kind == kind_id::pod_disruption_budgets;
}

/// Kinds that cannot be replaced without saying which version is meant.
bool needs_version(kind_id kind) {
  using enum kind_id;
  return kind == leases || kind == pod_disruption_budgets || kind == gang_decisions
         || kind == gang_decision_chunks || kind == partition_maps;
}

/// Random-looking letters as the server appends them to generateName.
std::string name_suffix(std::uint64_t x) {
  static constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (int i = 0; i < 5; ++i, x /= letters.size())
    out += letters[x % letters.size()];
  return out;
}

/// The fields of metadata that a client cannot change; copied from what is there.
void keep_system_fields(const json::object& before, json::object& now) {
  const auto* old = look(before, {"metadata"});
  ensure(old && old->is_object(), "stored without metadata");
  auto& meta = child(now, "metadata");
  for (auto key : {"name", "namespace", "uid", "generateName", "generation", "creationTimestamp",
                   "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    if (auto* v = old->get_object().if_contains(key))
      meta[key] = *v;
    else
      meta.stable_erase(key);
  }
}

void set_or_erase(json::object& into, std::string_view key, const json::value* v) {
  if (v)
    into[key] = *v;
  else
    into.stable_erase(key);
}

/// The status that a new object begins with.
void begin_status(kind_id kind, json::object& doc) {
  using enum kind_id;
  if (kind == pods) {
    auto qos = std::string{text_at(doc, {"status", "qosClass"})};
    auto& status = doc["status"] = json::object(doc.storage());
    status.get_object()["phase"] = "Pending";
    if (!qos.empty())
      status.get_object()["qosClass"] = qos;
  } else if (kind == namespaces) {
    doc["status"] = json::object({{"phase", "Active"}}, doc.storage());
  } else if (kind != nodes) { // nodes come with theirs
    doc["status"] = json::object(doc.storage());
  }
}

} // namespace

subject registry::about(const endpoint& what, std::string_view key) const {
  auto slash = key.find('/');
  return {what.group, what.what->plural,
          slash == std::string_view::npos ? key : key.substr(slash + 1)};
}

std::string registry::make_uid() const {
  constexpr std::uint64_t draws_most = 1'000'000;
  for (std::uint64_t n = 0; n < draws_most; ++n) {
    auto a = base::hash_combine(options_.seed, store_.next());
    if (n > 0)
      a = base::hash_combine(a, n);
    const auto b = base::hash_combine(a, 0x7457);
    auto uid = fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff,
                           a & 0xfff, 0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
    if (!wished_ || wished_(uid))
      return uid;
  }
  ensure(false, draws_most); // a wish that hardly any uid fulfils is a mistake of whoever has it
  return {};
}

std::optional<refusal> registry::check_identity(const endpoint& what, std::string_view ns,
                                                json::object& doc) const {
  auto version = text_at(doc, {"apiVersion"});
  if (!version.empty() && version != what.api_version)
    return bad_request(fmt::format("the API version in the data ({}) does not match the expected "
                                   "API version ({})",
                                   version, what.api_version));
  auto kind = text_at(doc, {"kind"});
  if (!kind.empty() && kind != what.what->kind)
    return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: converting "
                                   "(v1.{}) to (core.{}): unknown conversion",
                                   kind, what.version, what.what->kind, kind, what.what->kind));
  auto& meta = child(doc, "metadata");
  auto own = text_at(doc, {"metadata", "namespace"});
  if (!what.what->is_namespaced)
    meta.stable_erase("namespace");
  else if (own.empty())
    meta["namespace"] = ns;
  else if (own != ns)
    return bad_request("the namespace of the provided object does not match the namespace sent on "
                       "the request");
  return std::nullopt;
}

std::optional<refusal> registry::check_namespace(const endpoint& what, std::string_view ns) const {
  if (!what.what->is_namespaced)
    return std::nullopt;
  auto found = store_.find(kind_id::namespaces, ns);
  if (!found)
    return not_found({"", "namespaces", ns});
  if (!found->is_deleting)
    return std::nullopt;
  auto r = forbidden({what.group, what.what->plural, ""},
                     fmt::format("unable to create new content in namespace {} because it is being "
                                 "terminated",
                                 ns));
  r.causes.push_back({"NamespaceTerminating", fmt::format("namespace {} is being terminated", ns),
                      "metadata.namespace"});
  return r;
}

void registry::stamp(const endpoint& what, json::object& doc) {
  auto kind = what.what->id;
  auto& meta = child(doc, "metadata");
  for (auto key : {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds",
                   "generation", "selfLink"})
    meta.stable_erase(key);
  meta["uid"] = make_uid();
  meta["creationTimestamp"] = api::timestamp_text(clock_.wall_now());
  if (has_generation(kind) || kind == kind_id::priority_classes)
    meta["generation"] = 1;
  if (what.what->has_status)
    begin_status(kind, doc);
  order_metadata(doc);
}

outcome<written> registry::create(const endpoint& what, std::string_view ns, json::object& doc,
                                  const write_options& how) {
  if (auto refused = check_identity(what, ns, doc))
    return *refused;
  if (auto refused = check_namespace(what, ns))
    return *refused;
  written out;
  doc["apiVersion"] = what.api_version;
  doc["kind"] = what.what->kind;
  if (auto refused = rules_.check_fields(what, doc, how.field_validation, out.warning))
    return *refused;
  auto& meta = child(doc, "metadata");
  if (auto base = text_at(doc, {"metadata", "generateName"});
      text_at(doc, {"metadata", "name"}).empty() && !base.empty())
    meta["name"] =
        std::string{base} + name_suffix(base::hash_combine(options_.seed ^ 0x6e61, store_.next()));
  if (auto refused = rules_.admit(what, doc))
    return *refused;
  if (what.group == "events.k8s.io")
    to_core_event(doc);
  auto name = text_at(doc, {"metadata", "name"});
  auto key = key_of(what.what->is_namespaced ? ns : "", name);
  if (store_.find(what.what->id, key))
    return already_exists(about(what, key));
  stamp(what, doc);
  out.now = make_object(what.what->id, doc, store_.next());
  ensure(out.now->key == key, out.now->key, key);
  if (!how.is_dry_run)
    store_.put(what.what->id, out.now);
  return out;
}

outcome<written> registry::update(const endpoint& what, std::string_view key, part which,
                                  json::object& doc, const write_options& how) {
  auto slash = key.find('/');
  auto ns = slash == std::string_view::npos ? std::string_view{} : key.substr(0, slash);
  if (auto refused = check_identity(what, ns, doc))
    return *refused;
  auto who = about(what, key);
  auto name = text_at(doc, {"metadata", "name"});
  if (name != who.name)
    return bad_request(fmt::format("the name of the object ({}) does not match the name on the URL "
                                   "({})",
                                   name, who.name));
  auto old = store_.find(what.what->id, key);
  auto asked = text_at(doc, {"metadata", "resourceVersion"});
  if (!old && what.what->id == kind_id::leases && asked.empty() && which == part::whole)
    return create(what, ns, doc, how);
  if (!old)
    return not_found(who);
  std::string warning;
  doc["apiVersion"] = what.api_version;
  doc["kind"] = what.what->kind;
  if (auto refused = rules_.check_fields(what, doc, how.field_validation, warning))
    return *refused;
  if (what.group == "events.k8s.io")
    to_core_event(doc);
  if (asked.empty() && needs_version(what.what->id))
    return invalid(what.what->kind, who,
                   {{"FieldValueInvalid", "Invalid value: 0: must be specified for an update",
                     "metadata.resourceVersion"}});
  auto uid = text_at(doc, {"metadata", "uid"});
  if (!uid.empty() && uid != old->uid)
    return conflict(who, fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                     "meta: {}",
                                     uid, old->uid));
  draft before{old->body};
  auto done = replace(what, old, before.doc(), doc, which, how);
  if (auto* w = std::get_if<written>(&done))
    w->warning = warning;
  return done;
}

outcome<written> registry::patch(const endpoint& what, std::string_view key, part which,
                                 patch_type type, const json::value& changes,
                                 const write_options& how) {
  auto who = about(what, key);
  auto old = store_.find(what.what->id, key);
  if (!old)
    return not_found(who);
  draft before{old->body};
  json::value now(before.doc(), before.storage());
  auto& doc = now.get_object();
  if (what.group == "events.k8s.io")
    to_new_event(doc);
  std::optional<refusal> refused;
  switch (type) {
  case patch_type::merge:
    merge_patch(now, changes);
    break;
  case patch_type::strategic:
    refused = strategic_merge_patch(what.what->id, now, changes);
    break;
  case patch_type::json:
    refused = json_patch(now, changes);
    break;
  }
  if (refused)
    return *refused;
  if (!now.is_object())
    return bad_request("the patched object is no object");
  auto uid = text_at(doc, {"metadata", "uid"});
  if (uid != old->uid)
    return invalid(
        what.what->kind, who,
        {{"FieldValueInvalid", fmt::format("Invalid value: \"{}\": field is immutable", uid),
          "metadata.uid"}});
  if (text_at(doc, {"metadata", "name"}) != old->name())
    return bad_request(fmt::format("the name of the object ({}) does not match the name on the URL "
                                   "({})",
                                   text_at(doc, {"metadata", "name"}), old->name()));
  std::string warning;
  if (!how.field_validation.empty()) {
    doc["apiVersion"] = what.api_version;
    doc["kind"] = what.what->kind;
    if (auto wrong = rules_.check_fields(what, doc, how.field_validation, warning))
      return *wrong;
  }
  if (what.group == "events.k8s.io")
    to_core_event(doc);
  auto done = replace(what, old, before.doc(), doc, which, how);
  if (auto* w = std::get_if<written>(&done))
    w->warning = warning;
  return done;
}

outcome<written> registry::replace(const endpoint& what, const object_ptr& old,
                                   json::object& before, json::object& now, part which,
                                   const write_options& how) {
  auto kind = what.what->id;
  auto who = about(what, old->key);
  now.stable_erase("kind");
  now.stable_erase("apiVersion");
  auto asked = text_at(now, {"metadata", "resourceVersion"});
  if (!asked.empty() && asked != fmt::format("{}", old->rev))
    return stale(who);
  if (which == part::status) {
    // What stands beside the status is not for this door; a pod's labels and annotations are.
    json::object merged(before, now.storage());
    set_or_erase(merged, "status", now.if_contains("status"));
    if (kind == kind_id::pods || kind == kind_id::nodes)
      for (auto key : {"labels", "annotations"})
        set_or_erase(child(merged, "metadata"), key, look(now, {"metadata", key}));
    now = std::move(merged);
  } else if (what.what->has_status) {
    set_or_erase(now, "status", before.if_contains("status"));
  }
  keep_system_fields(before, now);
  child(now, "metadata")["resourceVersion"] = fmt::format("{}", old->rev);
  if (auto refused = rules_.admit_update(what, before, now, which == part::status))
    return *refused;
  if (now == before)
    return written{old, false, {}}; // nothing changed: no write, no new revision
  if (has_generation(kind) && which == part::whole) {
    auto* a = before.if_contains("spec");
    auto* b = now.if_contains("spec");
    if (a && b && *a != *b)
      child(now, "metadata")["generation"] =
          look(before, {"metadata", "generation"})
              ? look(before, {"metadata", "generation"})->to_number<std::int64_t>() + 1
              : 1;
  }
  if (which == part::whole)
    order_metadata(now);
  written out{make_object(kind, now, store_.next()), false, {}};
  auto* finalizers = look(now, {"metadata", "finalizers"});
  auto is_held = finalizers && finalizers->is_array() && !finalizers->get_array().empty();
  out.is_gone =
      out.now->is_deleting && !is_held && kind != kind_id::pods && kind != kind_id::namespaces;
  if (how.is_dry_run)
    return out;
  if (out.is_gone)
    store_.erase(kind, out.now);
  else
    store_.put(kind, out.now);
  return out;
}

} // namespace tutti::sim::api_server
