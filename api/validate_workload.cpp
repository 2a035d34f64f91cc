// The rules of Workload in its four versions. Its templates form a tree in 1.37.
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/json_edit.hpp"
#include "api/validate_parts.hpp"

namespace tutti::api::detail {
namespace {

namespace json = boost::json;

constexpr std::size_t templates_max = 8;
/// Levels of a template tree, the leaf counted.
constexpr std::size_t tree_depth_max = 4;

using check_item = void (*)(const subject&);

/// A template as Go prints it: its fields in the order of the Go type.
json::object in_go_order(const json::object& item, bool is_composite) {
  json::object ordered;
  for (auto* key : {"name", "schedulingPolicy", "schedulingConstraints", "resourceClaims",
                    "disruptionMode", "priorityClassName", "priority", "preemptionPolicy",
                    "podGroupTemplates", "compositePodGroupTemplates"}) {
    if (auto* value = member(item, key))
      ordered[key] = *value;
    else if (!is_composite && std::string_view{key} == "schedulingConstraints")
      ordered[key] = nullptr;
  }
  return ordered;
}

const json::object* item_named(const json::array& list, std::string_view name) {
  for (auto& item : list)
    if (auto* object = item.if_object(); object && text_at(*object, "name") == name)
      return object;
  return nullptr;
}

/// Items are known by name; on an update none may come or go.
void check_items(const subject& s, std::string_view field, bool is_composite, check_item check) {
  static const json::array empty;
  if (is_unchanged(s, field))
    return;
  auto* now = list_at(s.now, field);
  auto* old = s.old ? list_at(*s.old, field) : nullptr;
  auto& items = now ? *now : empty;
  auto& before = old ? *old : empty;
  if (items.size() > templates_max)
    return s.errors.too_many(s.at(field), items.size(), templates_max);
  for (auto& item : before)
    if (s.old && item.is_object() && !item_named(items, text_at(item.get_object(), "name")))
      return s.errors.forbidden(s.at(field), "item may not be removed", unchanged_words);
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto* item = items[i].if_object();
    if (!item)
      continue;
    auto name = text_at(*item, "name");
    auto path = fmt::format("{}[{}]", s.at(field), i);
    if (item_named(items, name) != item) {
      s.errors.duplicate(path, json::serialize(in_go_order(*item, is_composite)));
      continue;
    }
    auto* was = s.old ? item_named(before, name) : nullptr;
    if (s.old && !was)
      s.errors.forbidden(path, "item may not be added", unchanged_words);
    else
      check({s.kubernetes, s.is_update, s.errors, path, was, *item});
  }
}

void check_template(const subject& s) {
  check_required_name(s, "name", label_problem);
  check_policy(s, "schedulingPolicy", "minCount");
  check_placement(s, true);
}

void check_composite_template(const subject& s) {
  check_required_name(s, "name", label_problem);
  check_policy(s, "schedulingPolicy", "minGroupCount");
  check_placement(s, false);
  check_items(s, "podGroupTemplates", false, check_template);
  check_items(s, "compositePodGroupTemplates", true, check_composite_template);
}

/// 1.35: an entry of `podGroups`.
void check_old_entry(const subject& s) {
  check_required_name(s, "name", label_problem);
  check_policy(s, "policy", "minCount");
}

void check_controller(const subject& spec) {
  bool may_set_once =
      spec.kubernetes == release::v1_35 && spec.old && !member(*spec.old, "controllerRef");
  if (!may_set_once && !is_open(spec, "controllerRef"))
    return;
  if (!member(spec.now, "controllerRef"))
    return;
  auto ref = spec.inside("controllerRef");
  check_optional_name(ref, "apiGroup", subdomain_problem);
  check_required_name(ref, "kind", path_segment_problem);
  check_required_name(ref, "name", path_segment_problem);
}

/// Rules over a whole tree of templates.
class tree_rules {
public:
  explicit tree_rules(const subject& spec) : spec_(spec) {}

  void check() {
    auto* flat = list_at(spec_.now, "podGroupTemplates");
    auto* roots = list_at(spec_.now, "compositePodGroupTemplates");
    bool is_composite = roots && !roots->empty();
    if (flat && !is_composite)
      for (auto& item : *flat)
        if (auto* one = item.if_object())
          note_priority(*one);
    if (is_composite)
      for (std::size_t i = 0; i < roots->size(); ++i)
        if (auto* root = (*roots)[i].if_object())
          check_root(*root, fmt::format("{}[{}]", spec_.at("compositePodGroupTemplates"), i));
    if (priorities_.size() > 1)
      spec_.errors.invalid(spec_.path, "null",
                           is_composite ? "all priority and priorityClassName values must be "
                                          "identical, detected multiple values"
                                        : "detected multiple priority configurations",
                           "the same priority and priorityClassName in all templates");
  }

private:
  void check_root(const json::object& root, const std::string& path) {
    auto too_deep = first_too_deep(root, 1);
    if (too_deep)
      spec_.errors.invalid(path, json::serialize(*list_at(root, "compositePodGroupTemplates")),
                           fmt::format("maximum template hierarchy depth is {}", tree_depth_max));
    else
      visit(root, path);
  }

  bool first_too_deep(const json::object& item, std::size_t level) const {
    auto children = [&](std::string_view key) {
      auto* list = list_at(item, key);
      return list && !list->empty() ? list : nullptr;
    };
    if (level >= tree_depth_max
        && (children("podGroupTemplates") || children("compositePodGroupTemplates")))
      return true;
    if (auto* below = children("compositePodGroupTemplates"))
      for (auto& child : *below)
        if (child.is_object() && first_too_deep(child.get_object(), level + 1))
          return true;
    return false;
  }

  void visit(const json::object& item, const std::string& path) {
    note_name(item, path);
    note_priority(item);
    bool has_child = false;
    for (auto* key : {"podGroupTemplates", "compositePodGroupTemplates"}) {
      auto* list = list_at(item, key);
      for (std::size_t i = 0; list && i < list->size(); ++i)
        if (auto* child = (*list)[i].if_object()) {
          has_child = true;
          visit_child(*child, fmt::format("{}.{}[{}]", path, key, i),
                      std::string_view{key} == "compositePodGroupTemplates");
        }
    }
    if (!has_child)
      spec_.errors.invalid(path, quoted(text_at(item, "name")),
                           "must have at least one child PodGroupTemplate or "
                           "CompositePodGroupTemplate");
  }

  void visit_child(const json::object& child, const std::string& path, bool is_composite) {
    if (is_composite)
      return visit(child, path);
    note_name(child, path);
    note_priority(child);
  }

  void note_name(const json::object& item, const std::string& path) {
    auto name = text_at(item, "name");
    if (!names_.insert(name).second)
      spec_.errors.duplicate(path + ".name", quoted(name));
  }

  void note_priority(const json::object& item) {
    priorities_.insert({text_at(item, "priorityClassName"), integer_at(item, "priority")});
  }

  const subject& spec_;
  std::set<std::string_view> names_;
  std::set<std::pair<std::string_view, std::optional<std::int64_t>>> priorities_;
};

/// Before 1.37 the list is fixed as a whole and may not be empty.
void check_fixed_list(const subject& spec, std::string_view field, check_item check) {
  bool is_checked = is_open(spec, field);
  auto* list = list_at(spec.now, field);
  if (!is_unchanged(spec, field) && (!list || list->empty()))
    spec.errors.required(spec.at(field), fmt::format("1 to {} entries", templates_max));
  else if (is_checked)
    check_items(spec, field, false, check);
}

} // namespace

void check_workload(const subject& s) {
  auto spec = s.inside("spec");
  if (s.kubernetes == release::v1_37 && !is_unchanged(s, "spec"))
    check_union(spec, {"podGroupTemplates", "compositePodGroupTemplates"});
  check_controller(spec);
  switch (s.kubernetes) {
  case release::v1_35:
    return check_fixed_list(spec, "podGroups", check_old_entry);
  case release::v1_36:
    return check_fixed_list(spec, "podGroupTemplates", check_template);
  case release::v1_37:
    check_items(spec, "podGroupTemplates", false, check_template);
    check_items(spec, "compositePodGroupTemplates", true, check_composite_template);
    // A list with a name twice is refused for that alone.
    if (!spec.old && spec.errors.empty())
      tree_rules{spec}.check();
    return;
  }
}

} // namespace tutti::api::detail
