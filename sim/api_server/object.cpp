// Objects from JSON and back, with as few copies as the rules allow.
#include "sim/api_server/object.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::sim::api_server {

namespace {

constexpr std::string_view revision_mark = R"("resourceVersion":")";

void take_labels(object& out, const json::object& meta) {
  auto* labels = meta.if_contains("labels");
  if (!labels || !labels->is_object())
    return;
  for (const auto& [k, v] : labels->get_object())
    if (v.is_string())
      out.labels.emplace_back(std::string{k}, std::string{v.get_string()});
}

void take_pod_fields(object& out, const json::object& doc) {
  out.node_name = text_at(doc, {"spec", "nodeName"});
  out.scheduler_name = text_at(doc, {"spec", "schedulerName"});
  out.group = text_at(doc, {"spec", "schedulingGroup", "podGroupName"});
  out.phase = text_at(doc, {"status", "phase"});
  auto* gates = look(doc, {"spec", "schedulingGates"});
  out.is_gated = gates && gates->is_array() && !gates->get_array().empty();
}

} // namespace

std::string_view object::ns() const {
  auto slash = key.find('/');
  return slash == std::string::npos ? std::string_view{} : std::string_view{key}.substr(0, slash);
}

std::string_view object::name() const {
  auto slash = key.find('/');
  return slash == std::string::npos ? std::string_view{key}
                                    : std::string_view{key}.substr(slash + 1);
}

std::string key_of(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 1);
  if (!ns.empty())
    key.append(ns).append("/");
  return key.append(name);
}

draft::draft(std::string_view body) : value_(storage()) {
  boost::system::error_code failed;
  value_ = json::parse(body, failed, &memory_);
  ensure(!failed && value_.is_object(), body.substr(0, 200)); // stored bodies are our own
}

object_ptr make_object(kind_id kind, json::object& doc, revision rev) {
  doc.stable_erase("kind");
  doc.stable_erase("apiVersion");
  auto& meta = child(doc, "metadata");
  std::array<char, 24> digits{};
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), rev).ptr;
  std::string_view number{digits.data(), static_cast<std::size_t>(end - digits.data())};
  if (auto* old = meta.if_contains("resourceVersion"))
    *old = number;
  else {
    meta["resourceVersion"] = number;
    order_metadata(doc);
  }
  auto out = std::make_shared<object>();
  out->key = key_of(text_at(doc, {"metadata", "namespace"}), text_at(doc, {"metadata", "name"}));
  out->uid = text_at(doc, {"metadata", "uid"});
  out->rev = rev;
  out->is_deleting = meta.contains("deletionTimestamp");
  if (auto* owners = meta.if_contains("ownerReferences"))
    out->is_owned = owners->is_array() && !owners->get_array().empty();
  take_labels(*out, meta);
  if (kind == kind_id::pods)
    take_pod_fields(*out, doc);
  out->body = json::serialize(doc);
  ensure(!out->key.empty() && !out->uid.empty(), out->body);
  return out;
}

object_ptr with_revision(const object& x, revision rev) {
  auto out = std::make_shared<object>(x);
  out->rev = rev;
  // The first occurrence is metadata's own: only name, namespace and uid stand before it.
  auto at = x.body.find(revision_mark);
  ensure(at != std::string::npos, x.key);
  at += revision_mark.size();
  auto end = x.body.find('"', at);
  out->body.replace(at, end - at, fmt::format("{}", rev));
  return out;
}

void order_metadata(json::object& doc) {
  static constexpr std::string_view order[] = {"name",
                                               "namespace",
                                               "uid",
                                               "resourceVersion",
                                               "generateName",
                                               "generation",
                                               "creationTimestamp",
                                               "deletionTimestamp",
                                               "deletionGracePeriodSeconds",
                                               "labels",
                                               "annotations",
                                               "ownerReferences",
                                               "finalizers"};
  auto& meta = child(doc, "metadata");
  json::object sorted(meta.storage());
  for (auto key : order)
    if (auto* v = meta.if_contains(key))
      sorted.emplace(key, std::move(*v));
  for (auto& [key, v] : meta)
    if (!sorted.contains(key) && key != "managedFields" && key != "selfLink")
      sorted.emplace(key, std::move(v));
  meta = std::move(sorted);
  if (doc.begin()->key() == "metadata")
    return;
  json::object whole(doc.storage());
  whole.emplace("metadata", std::move(meta));
  for (auto& [key, v] : doc)
    if (key != "metadata")
      whole.emplace(key, std::move(v));
  doc = std::move(whole);
}

const json::value* look(const json::object& doc, std::initializer_list<std::string_view> path) {
  const json::object* here = &doc;
  const json::value* found = nullptr;
  for (auto step : path) {
    if (!here)
      return nullptr;
    found = here->if_contains(step);
    if (!found)
      return nullptr;
    here = found->if_object();
  }
  return found;
}

std::string_view text_at(const json::object& doc, std::initializer_list<std::string_view> path) {
  auto* v = look(doc, path);
  if (!v || !v->is_string())
    return {};
  const auto& s = v->get_string();
  return {s.data(), s.size()};
}

json::object& child(json::object& doc, std::string_view key) {
  auto& v = doc[key];
  if (!v.is_object())
    v = json::object(doc.storage());
  return v.get_object();
}

} // namespace tutti::sim::api_server
