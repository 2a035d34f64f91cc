// Binding, eviction and deletion: what is special about pods, and what ends objects.
#include <algorithm>

#include <fmt/format.h>

#include "api/timestamp.hpp"
#include "base/ensure.hpp"
#include "sim/api_server/registry.hpp"

namespace tutti::sim::api_server {

namespace {

/// What pods get where their manifest names no grace.
constexpr std::int64_t default_grace_s = 30;

refusal failed_precondition(const subject& who, std::string_view field, std::string_view wanted,
                            std::string_view have) {
  auto key = fmt::format("/registry/{}/{}", who.plural, who.name);
  return conflict(who, fmt::format("StorageError: invalid object, Code: 4, Key: {}, "
                                   "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
                                   "{} in precondition: {}, {} in object meta: {}",
                                   key, field, wanted, field, have));
}

std::optional<refusal> check_bindable(const object& pod, const json::object& binding) {
  subject who{"", "pods", pod.name()};
  if (auto uid = text_at(binding, {"metadata", "uid"}); !uid.empty() && uid != pod.uid)
    return failed_precondition(who, "UID", uid, pod.uid);
  if (auto rev = text_at(binding, {"metadata", "resourceVersion"});
      !rev.empty() && rev != fmt::format("{}", pod.rev))
    return failed_precondition(who, "ResourceVersion", rev, fmt::format("{}", pod.rev));
  who.plural = "pods/binding";
  if (pod.is_deleting)
    return conflict(
        who, fmt::format("pod {} is being deleted, cannot be assigned to a host", pod.name()));
  if (!pod.node_name.empty())
    return conflict(
        who, fmt::format("pod {} is already assigned to node \"{}\"", pod.name(), pod.node_name));
  if (pod.is_gated)
    return conflict(who, fmt::format("pod {} has non-empty .spec.schedulingGates", pod.name()));
  return std::nullopt;
}

void merge_strings(json::object& meta, std::string_view key, const json::object& binding) {
  auto* from = look(binding, {"metadata", key});
  if (!from || !from->is_object() || from->get_object().empty())
    return;
  auto& into = child(meta, key);
  for (const auto& [k, v] : from->get_object())
    into[k] = v;
}

/// Sets a pod's condition to True without touching its siblings.
void set_scheduled(json::object& status, const std::string& now) {
  auto& list = status["conditions"];
  if (!list.is_array())
    list = json::array(status.storage());
  auto& conditions = list.get_array();
  auto it = std::ranges::find_if(conditions, [](const json::value& c) {
    return c.is_object() && text_at(c.get_object(), {"type"}) == "PodScheduled";
  });
  if (it == conditions.end()) {
    conditions.emplace_back(json::object(status.storage()));
    it = conditions.end() - 1;
  }
  auto& c = it->get_object();
  auto since =
      text_at(c, {"status"}) == "True" ? std::string{text_at(c, {"lastTransitionTime"})} : now;
  c.clear();
  c["type"] = "PodScheduled";
  c["status"] = "True";
  c["lastProbeTime"] = nullptr;
  c["lastTransitionTime"] = since.empty() ? now : since;
}

} // namespace

outcome<written> registry::bind(std::string_view key, const json::object& binding,
                                const write_options& how) {
  auto slash = key.find('/');
  auto name = key.substr(slash + 1);
  if (text_at(binding, {"metadata", "name"}) != name)
    return bad_request("name in URL does not match name in Binding object");
  auto own = text_at(binding, {"metadata", "namespace"});
  if (!own.empty() && own != key.substr(0, slash))
    return bad_request("the namespace of the provided object does not match the namespace sent on "
                       "the request");
  auto target_kind = text_at(binding, {"target", "kind"});
  if (!target_kind.empty() && target_kind != "Node")
    return internal_error(fmt::format("target.kind: Unsupported value: \"{}\": supported values: "
                                      "\"Node\", \"<empty>\"",
                                      target_kind));
  auto node = text_at(binding, {"target", "name"});
  if (node.empty())
    return internal_error("target.name: Required value");
  auto pod = store_.find(kind_id::pods, key);
  if (!pod)
    return not_found({"", "pods", name});
  if (auto refused = check_bindable(*pod, binding))
    return *refused;
  draft edited{pod->body};
  auto& doc = edited.doc();
  auto& meta = child(doc, "metadata");
  merge_strings(meta, "labels", binding);
  merge_strings(meta, "annotations", binding);
  child(doc, "spec")["nodeName"] = node;
  auto& status = child(doc, "status");
  status.stable_erase("nominatedNodeName");
  set_scheduled(status, api::timestamp_text(clock_.wall_now()));
  written out{make_object(kind_id::pods, doc, store_.next()), false, {}};
  if (!how.is_dry_run)
    store_.put(kind_id::pods, out.now);
  return out;
}

outcome<written> registry::evict(std::string_view key, const delete_options& how) {
  auto pod = store_.find(kind_id::pods, key);
  auto* pods = kinds_.preferred(kind_id::pods);
  if (!pod)
    return not_found(about(*pods, key));
  for (const auto& [name, budget] : store_.all(kind_id::pod_disruption_budgets)) {
    if (pod->is_finished() || pod->is_deleting || budget->ns() != pod->ns())
      break;
    draft parsed{budget->body};
    auto* chosen = look(parsed.doc(), {"spec", "selector", "matchLabels"});
    if (!chosen || !chosen->is_object())
      continue;
    auto covers = std::ranges::all_of(chosen->get_object(), [&](const auto& want) {
      return std::ranges::any_of(pod->labels, [&](const auto& have) {
        return have.first == std::string_view{want.key()} && want.value().is_string()
               && have.second == std::string_view{want.value().get_string()};
      });
    });
    auto* allowed = look(parsed.doc(), {"status", "disruptionsAllowed"});
    if (!covers || (allowed && allowed->is_int64() && allowed->get_int64() > 0))
      continue;
    refusal r;
    r.code = 429;
    r.reason = "TooManyRequests";
    r.message = "Cannot evict pod as it would violate the pod's disruption budget.";
    r.causes.push_back(
        {"DisruptionBudget",
         fmt::format("The disruption budget {} does not allow it now.", budget->name()), ""});
    return r;
  }
  return remove(*pods, key, how);
}

outcome<written> registry::remove(const endpoint& what, std::string_view key,
                                  const delete_options& how) {
  auto old = store_.find(what.what->id, key);
  auto who = about(what, key);
  if (!old)
    return not_found(who);
  auto in_words = subject{what.group, what.what->kind, who.name};
  if (!how.uid.empty() && how.uid != old->uid)
    return conflict(in_words, fmt::format("the UID in the precondition ({}) does not match the UID "
                                          "in record ({}). The object might have been deleted and "
                                          "then recreated",
                                          how.uid, old->uid));
  if (!how.revision.empty() && how.revision != fmt::format("{}", old->rev))
    return conflict(in_words,
                    fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                                "ResourceVersion in record ({}). The object might have been "
                                "modified",
                                how.revision, old->rev));
  if (what.what->id == kind_id::pods)
    return remove_pod(what, old, how);
  draft parsed{old->body};
  auto* finalizers = look(parsed.doc(), {"metadata", "finalizers"});
  auto is_held = finalizers && finalizers->is_array() && !finalizers->get_array().empty();
  if (is_held || what.what->id == kind_id::namespaces) // a namespace goes when it is empty
    return old->is_deleting ? written{old, false, {}} : mark_deleted(what, old, 0, how.is_dry_run);
  written out{with_revision(*old, store_.next()), true, {}};
  if (!how.is_dry_run)
    store_.erase(what.what->id, out.now);
  return out;
}

outcome<written> registry::remove_pod(const endpoint& what, const object_ptr& old,
                                      const delete_options& how) {
  draft parsed{old->body};
  auto& doc = parsed.doc();
  std::int64_t grace = default_grace_s;
  if (auto* own = look(doc, {"spec", "terminationGracePeriodSeconds"}); own && own->is_int64())
    grace = own->get_int64();
  if (how.grace_s)
    grace = *how.grace_s;
  if (old->node_name.empty() || old->is_finished() || grace < 0)
    grace = 0;
  if (auto* left = look(doc, {"metadata", "deletionGracePeriodSeconds"});
      old->is_deleting && left && left->is_int64()) {
    if (grace >= left->get_int64() && left->get_int64() > 0)
      return written{old, false, {}}; // already on its way, and not sooner by this
  }
  auto marked = mark_deleted(what, old, grace, how.is_dry_run || grace == 0);
  auto* out = std::get_if<written>(&marked);
  ensure(out, "marking a pod cannot be refused");
  auto* finalizers = look(doc, {"metadata", "finalizers"});
  auto is_held = finalizers && finalizers->is_array() && !finalizers->get_array().empty();
  if (grace > 0)
    return marked;
  out->is_gone = !is_held;
  if (how.is_dry_run)
    return marked;
  if (is_held)
    store_.put(kind_id::pods, out->now);
  else
    store_.erase(kind_id::pods, out->now);
  return marked;
}

outcome<written> registry::mark_deleted(const endpoint& what, const object_ptr& old,
                                        std::int64_t grace_s, bool is_dry_run) {
  draft parsed{old->body};
  auto& doc = parsed.doc();
  auto& meta = child(doc, "metadata");
  auto now = clock_.wall_now();
  auto& since = meta["deletionTimestamp"];
  since = api::timestamp_text({now.unix_ms + grace_s * 1000});
  meta["deletionGracePeriodSeconds"] = grace_s;
  if (auto* generation = meta.if_contains("generation"); generation && !old->is_deleting)
    *generation = generation->to_number<std::int64_t>() + 1;
  if (what.what->id == kind_id::namespaces)
    child(doc, "status")["phase"] = "Terminating";
  order_metadata(doc);
  written out{make_object(what.what->id, doc, store_.next()), false, {}};
  if (!is_dry_run)
    store_.put(what.what->id, out.now);
  return out;
}

void registry::write_status(kind_id kind, const object& x, json::object& doc) {
  auto current = store_.find(kind, x.key);
  if (!current || current->rev != x.rev)
    return; // the caller looks again at the newer version
  store_.put(kind, make_object(kind, doc, store_.next()));
}

void registry::finish_deletion(kind_id kind, const object_ptr& x) {
  auto current = store_.find(kind, x->key);
  if (current && current->uid == x->uid)
    store_.erase(kind, with_revision(*current, store_.next()));
}

void registry::drop_finalizer(kind_id kind, const object_ptr& x, std::string_view finalizer) {
  draft parsed{x->body};
  auto& meta = child(parsed.doc(), "metadata");
  auto* list = meta.if_contains("finalizers");
  if (!list || !list->is_array())
    return;
  json::array kept(meta.storage());
  for (auto& f : list->get_array())
    if (!f.is_string() || std::string_view{f.get_string()} != finalizer)
      kept.push_back(std::move(f));
  auto is_held = !kept.empty();
  if (is_held)
    *list = std::move(kept);
  else
    meta.stable_erase("finalizers");
  auto now = make_object(kind, parsed.doc(), store_.next());
  if (is_held)
    store_.put(kind, now);
  else
    store_.erase(kind, now);
}

} // namespace tutti::sim::api_server
