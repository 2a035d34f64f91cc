// The server's side of the rules in `api`: it knows the other objects, and what to do with fields
// that do not exist.
#include "sim/api_server/rules.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "api/admission.hpp"
#include "api/decode.hpp"
#include "api/schema.hpp"
#include "api/validate.hpp"
#include "sim/api_server/run_for.hpp"

namespace tutti::sim::api_server {

namespace {

subject about(const endpoint& what, const json::object& doc) {
  return {what.group, what.what->plural, text_at(doc, {"metadata", "name"})};
}

/// Removes the field at a path like "spec.containers[0].colour".
void drop_field(json::object& doc, std::string_view path) {
  auto* here = &doc;
  for (;;) {
    auto end = path.find_first_of(".[");
    auto name = path.substr(0, end);
    if (end == std::string_view::npos) {
      here->stable_erase(name);
      return;
    }
    auto* next = here->if_contains(name);
    path.remove_prefix(end);
    while (next && path.starts_with("[")) {
      std::size_t i = 0;
      auto close = path.find(']');
      auto* list = next->if_array();
      if (close == std::string_view::npos || !list
          || std::from_chars(path.data() + 1, path.data() + close, i).ec != std::errc{}
          || i >= list->size())
        return;
      next = &(*list)[i];
      path.remove_prefix(close + 1);
    }
    here = next ? next->if_object() : nullptr;
    if (!here || !path.starts_with("."))
      return;
    path.remove_prefix(1);
  }
}

std::optional<api::priority_class> class_of(const object& x) {
  draft parsed{x.body};
  auto read = api::decode_priority_class(parsed.doc());
  return read ? std::optional{std::move(read.value())} : std::nullopt;
}

} // namespace

std::optional<refusal> rules::check_fields(const endpoint& what, json::object& doc,
                                           std::string_view field_validation,
                                           std::string& warning) const {
  auto is_strict = field_validation == "Strict";
  if (auto refused = api::refuse_decode(options_.kubernetes, doc, is_strict))
    return refused_by_rules(std::move(*refused), what.what->kind, about(what, doc));
  if (is_strict)
    return std::nullopt;
  for (const auto& wrong : api::check_fields(options_.kubernetes, doc)) {
    if (wrong.why != api::field_error::problem::unknown_field)
      continue;
    drop_field(doc, wrong.path);
    if (field_validation != "Ignore")
      warning += (warning.empty() ? "" : ", ") + fmt::format("unknown field \"{}\"", wrong.path);
  }
  return std::nullopt;
}

std::optional<refusal> rules::admit(const endpoint& what, json::object& doc) const {
  api::cluster_lookup cluster;
  cluster.class_named = [&](std::string_view name) {
    auto found = store_.find(kind_id::priority_classes, name);
    return found ? class_of(*found) : std::nullopt;
  };
  cluster.default_class = [&] {
    std::optional<api::priority_class> lowest;
    for (const auto& [name, x] : store_.all(kind_id::priority_classes)) {
      if (x->body.find(R"("globalDefault":true)") == std::string::npos)
        continue;
      auto one = class_of(*x);
      if (one && one->is_global_default && (!lowest || one->value < lowest->value))
        lowest = std::move(one);
    }
    return lowest;
  };
  std::unique_ptr<draft> workload;
  cluster.workload = [&](std::string_view ns, std::string_view name) -> const json::object* {
    auto found = store_.find(kind_id::workloads, key_of(ns, name));
    if (!found)
      return nullptr;
    workload = std::make_unique<draft>(found->body);
    return &workload->doc();
  };
  auto refused = api::admit_new(doc, {options_.kubernetes, options_.default_scheduler}, cluster);
  if (!refused)
    return what.what->kind == "Pod" ? refuse_run_for(nullptr, doc, about(what, doc)) : std::nullopt;
  return refused_by_rules(std::move(*refused), what.what->kind, about(what, doc));
}

std::optional<refusal> rules::admit_update(const endpoint& what, json::object& before,
                                           json::object& now, bool is_status) const {
  auto name = [&](json::object& doc) {
    doc["apiVersion"] = what.api_version;
    doc["kind"] = what.what->kind;
  };
  auto unname = [](json::object& doc) {
    doc.stable_erase("apiVersion");
    doc.stable_erase("kind");
  };
  name(before);
  name(now);
  auto refused =
      api::admit_update(before, now, is_status ? api::object_part::status : api::object_part::main,
                        {options_.kubernetes, options_.default_scheduler});
  unname(before);
  unname(now);
  if (!refused)
    return what.what->kind == "Pod" ? refuse_run_for(&before, now, about(what, now)) : std::nullopt;
  return refused_by_rules(std::move(*refused), what.what->kind, about(what, now));
}

} // namespace tutti::sim::api_server
