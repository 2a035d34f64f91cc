// Merging of patches into the parsed object.
#include "sim/api_server/patch.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace tutti::sim::api_server {

namespace {

constexpr std::string_view delete_from = "$deleteFromPrimitiveList/";
constexpr std::string_view element_order = "$setElementOrder/";

struct list_rule {
  std::string_view merge_key; ///< empty: a list of plain values that is merged as a set
};

/// By the name of the member and of the one it stands in, as the served schemas say.
std::optional<list_rule> rule_of(kind_id kind, std::string_view parent, std::string_view name) {
  if (parent == "metadata") {
    if (name == "ownerReferences")
      return list_rule{"uid"};
    if (name == "finalizers")
      return list_rule{""};
    return std::nullopt;
  }
  if (parent == "status" && name == "conditions" && kind != kind_id::resource_claims)
    return list_rule{"type"};
  struct row {
    kind_id kind;
    std::string_view parent; ///< empty = any
    std::string_view name;
    std::string_view key;
  };
  using enum kind_id;
  static constexpr row rows[] = {
      {pods, "spec", "containers", "name"},
      {pods, "spec", "initContainers", "name"},
      {pods, "spec", "ephemeralContainers", "name"},
      {pods, "spec", "volumes", "name"},
      {pods, "spec", "imagePullSecrets", "name"},
      {pods, "spec", "schedulingGates", "name"},
      {pods, "spec", "resourceClaims", "name"},
      {pods, "spec", "evictionResponders", "name"},
      {pods, "spec", "hostAliases", "ip"},
      {pods, "spec", "topologySpreadConstraints", "topologyKey"},
      {pods, "status", "hostIPs", "ip"},
      {pods, "status", "podIPs", "ip"},
      {pods, "status", "resourceClaimStatuses", "name"},
      {pods, "", "env", "name"},
      {pods, "", "ports", "containerPort"},
      {pods, "", "volumeMounts", "mountPath"},
      {pods, "", "volumeDevices", "devicePath"},
      {nodes, "status", "addresses", "type"},
      {nodes, "spec", "podCIDRs", ""},
      {pod_groups, "spec", "resourceClaims", "name"},
      {pod_groups, "status", "resourceClaimStatuses", "name"},
      {workloads, "podGroupTemplates", "resourceClaims", "name"},
  };
  for (const auto& r : rows)
    if (r.kind == kind && r.name == name && (r.parent.empty() || r.parent == parent))
      return list_rule{r.key};
  return std::nullopt;
}

class strategic {
public:
  explicit strategic(kind_id kind) : kind_(kind) {}

  bool merge(json::object& into, const json::object& patch, std::string_view parent);
  const std::string& why() const { return why_; }

private:
  bool merge_member(json::object& into, std::string_view key, const json::value& v,
                    std::string_view parent);
  bool merge_list(json::value& into, const json::array& patch, std::string_view merge_key,
                  std::string_view name);
  static void sort_entries(json::array& list, const json::array& patch, std::string_view merge_key,
                           std::size_t old_size);
  void add_plain(json::value& into, const json::array& patch);
  static void remove_plain(json::object& into, std::string_view key, const json::value& values);
  static json::value without_directives(const json::value& v, const json::storage_ptr& sp);

  kind_id kind_;
  std::string why_;
};

bool same_key(const json::value& entry, std::string_view merge_key, const json::value& wanted) {
  auto* o = entry.if_object();
  auto* v = o ? o->if_contains(merge_key) : nullptr;
  return v && *v == wanted;
}

std::string_view directive_of(const json::object& patch) {
  auto* d = patch.if_contains("$patch");
  return d && d->is_string() ? std::string_view{d->get_string()} : std::string_view{};
}

json::value strategic::without_directives(const json::value& v, const json::storage_ptr& sp) {
  if (auto* o = v.if_object()) {
    json::object out(sp);
    for (const auto& [k, x] : *o)
      if (!x.is_null() && !k.starts_with("$"))
        out.emplace(k, without_directives(x, sp));
    return json::value(std::move(out), sp);
  }
  if (auto* a = v.if_array()) {
    json::array out(sp);
    for (const auto& x : *a)
      if (!x.is_object() || directive_of(x.get_object()) != "delete")
        out.push_back(without_directives(x, sp));
    return json::value(std::move(out), sp);
  }
  return json::value(v, sp);
}

void strategic::remove_plain(json::object& into, std::string_view key, const json::value& values) {
  auto* list = into.if_contains(key);
  if (!list || !list->is_array() || !values.is_array())
    return;
  json::array kept(into.storage());
  for (auto& x : list->get_array())
    if (std::ranges::find(values.get_array(), x) == values.get_array().end())
      kept.push_back(std::move(x));
  *list = std::move(kept);
}

void strategic::add_plain(json::value& into, const json::array& patch) {
  if (!into.is_array())
    into = json::array(into.storage());
  auto& list = into.get_array();
  for (const auto& x : patch)
    if (std::ranges::find(list, x) == list.end())
      list.push_back(x);
}

/// The order in which a real server leaves a merged list: entries of the patch in the patch's
/// order, and each other entry before the first of them that stood behind it. So new ones come
/// first.
void strategic::sort_entries(json::array& list, const json::array& patch,
                             std::string_view merge_key, std::size_t old_size) {
  auto of_patch = [&](const json::value& key) {
    return std::ranges::find_if(list, [&](const auto& v) { return same_key(v, merge_key, key); });
  };
  std::vector<std::size_t> order; // indices into `list`, where old ones are below old_size
  for (const auto& x : patch)
    if (auto* key = x.is_object() ? x.get_object().if_contains(merge_key) : nullptr)
      if (auto it = of_patch(*key); it != list.end())
        if (auto i = static_cast<std::size_t>(it - list.begin());
            std::ranges::find(order, i) == order.end())
          order.push_back(i);
  std::size_t from = 0;
  for (std::size_t i = 0; i < old_size; ++i) {
    if (std::ranges::find(order, i) != order.end())
      continue;
    while (from < order.size() && !(order[from] < old_size && order[from] > i))
      ++from;
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(from), i);
    ++from;
  }
  json::array sorted(list.storage());
  for (auto i : order)
    sorted.push_back(std::move(list[i]));
  list = std::move(sorted);
}

bool strategic::merge_list(json::value& into, const json::array& patch, std::string_view merge_key,
                           std::string_view name) {
  auto replaces = std::ranges::any_of(patch, [](const json::value& x) {
    return x.is_object() && directive_of(x.get_object()) == "replace" && x.get_object().size() == 1;
  });
  if (!into.is_array() || replaces)
    into = json::array(into.storage());
  auto& list = into.get_array();
  auto old_size = list.size();
  for (const auto& x : patch) {
    auto* entry = x.if_object();
    if (!entry) {
      why_ = fmt::format("list {} holds something that is not an object", name);
      return false;
    }
    auto directive = directive_of(*entry);
    if (directive == "replace" && entry->size() == 1)
      continue;
    auto* wanted = entry->if_contains(merge_key);
    if (!wanted) {
      why_ = fmt::format("map: {} does not contain declared merge key: {}", json::serialize(*entry),
                         merge_key);
      return false;
    }
    auto it =
        std::ranges::find_if(list, [&](const auto& v) { return same_key(v, merge_key, *wanted); });
    if (directive == "delete") {
      if (it != list.end() && static_cast<std::size_t>(it - list.begin()) < old_size)
        --old_size;
      if (it != list.end())
        list.erase(it);
    } else if (it == list.end()) {
      list.push_back(without_directives(x, list.storage()));
    } else if (directive == "replace") {
      *it = without_directives(x, list.storage());
    } else if (!merge(it->get_object(), *entry, name)) {
      return false;
    }
  }
  sort_entries(list, patch, merge_key, old_size);
  return true;
}

bool strategic::merge_member(json::object& into, std::string_view key, const json::value& v,
                             std::string_view parent) {
  if (v.is_null()) {
    into.stable_erase(key);
    return true;
  }
  if (auto* patch = v.if_object()) {
    auto* old = into.if_contains(key);
    if (old && old->is_object())
      return merge(old->get_object(), *patch, key);
    if (directive_of(*patch) == "delete")
      into.stable_erase(key);
    else
      into[key] = without_directives(v, into.storage());
    return true;
  }
  if (auto* list = v.if_array()) {
    if (auto rule = rule_of(kind_, parent, key)) {
      auto& old = into[key];
      if (rule->merge_key.empty()) {
        add_plain(old, *list);
        return true;
      }
      return merge_list(old, *list, rule->merge_key, key);
    }
  }
  into[key] = v;
  return true;
}

bool strategic::merge(json::object& into, const json::object& patch, std::string_view parent) {
  auto directive = directive_of(patch);
  if (directive == "delete" || directive == "replace") {
    into.clear();
    if (directive == "delete")
      return true;
  }
  if (auto* keep = patch.if_contains("$retainKeys"); keep && keep->is_array()) {
    std::vector<std::string> gone;
    for (const auto& [k, v] : into)
      if (std::ranges::find(keep->get_array(), json::value(k)) == keep->get_array().end())
        gone.emplace_back(k);
    for (const auto& k : gone)
      into.stable_erase(k);
  }
  for (const auto& [k, v] : patch) {
    std::string_view key{k.data(), k.size()};
    if (key.starts_with(delete_from))
      remove_plain(into, key.substr(delete_from.size()), v);
    if (key.starts_with("$"))
      continue;
    if (!merge_member(into, key, v, parent))
      return false;
  }
  return true;
}

// --- JSON patch -------------------------------------------------------------------------------

std::string unescape(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'))
      out += token[++i] == '0' ? '~' : '/';
    else
      out += token[i];
  }
  return out;
}

/// The container that holds the last token of a pointer, and that token.
struct place {
  json::value* parent = nullptr;
  std::string last;
};

place find_place(json::value& doc, std::string_view pointer) {
  place out{&doc, ""};
  if (!pointer.starts_with("/"))
    return {};
  pointer.remove_prefix(1);
  for (;;) {
    auto slash = pointer.find('/');
    out.last = unescape(pointer.substr(0, slash));
    if (slash == std::string_view::npos)
      return out;
    pointer.remove_prefix(slash + 1);
    if (auto* o = out.parent->if_object()) {
      out.parent = o->if_contains(out.last);
    } else if (auto* a = out.parent->if_array()) {
      std::size_t i = 0;
      auto [end, ec] = std::from_chars(out.last.data(), out.last.data() + out.last.size(), i);
      out.parent = ec == std::errc{} && i < a->size() ? &(*a)[i] : nullptr;
    } else {
      out.parent = nullptr;
    }
    if (!out.parent)
      return {};
  }
}

std::optional<std::size_t> index_of(const json::array& a, std::string_view token, bool may_append) {
  if (token == "-" && may_append)
    return a.size();
  std::size_t i = 0;
  auto [end, ec] = std::from_chars(token.data(), token.data() + token.size(), i);
  if (ec != std::errc{} || end != token.data() + token.size()
      || i >= a.size() + (may_append ? 1 : 0))
    return std::nullopt;
  return i;
}

json::value* get_at(const place& p) {
  if (!p.parent)
    return nullptr;
  if (auto* o = p.parent->if_object())
    return o->if_contains(p.last);
  if (auto* a = p.parent->if_array())
    if (auto i = index_of(*a, p.last, false))
      return &(*a)[*i];
  return nullptr;
}

bool add_at(const place& p, json::value v) {
  if (!p.parent)
    return false;
  if (auto* o = p.parent->if_object()) {
    (*o)[p.last] = std::move(v);
    return true;
  }
  auto* a = p.parent->if_array();
  auto i = a ? index_of(*a, p.last, true) : std::nullopt;
  if (!i)
    return false;
  a->insert(a->begin() + static_cast<std::ptrdiff_t>(*i), std::move(v));
  return true;
}

bool remove_at(const place& p) {
  if (!get_at(p))
    return false;
  if (auto* o = p.parent->if_object())
    o->stable_erase(p.last);
  else
    p.parent->get_array().erase(
        p.parent->get_array().begin()
        + static_cast<std::ptrdiff_t>(*index_of(p.parent->get_array(), p.last, false)));
  return true;
}

std::optional<refusal> apply_one(json::value& into, const json::object& step) {
  auto op = text_at(step, {"op"});
  auto path = text_at(step, {"path"});
  auto* value = step.if_contains("value");
  auto malformed = bad_request(fmt::format("json patch: cannot {} at {}", op, path));
  auto at = find_place(into, path);
  if (op == "test") {
    auto* have = get_at(at);
    if (have && value && *have == *value)
      return std::nullopt;
    auto failed = bad_request(fmt::format("json patch: testing value {} failed", path));
    failed.code = 422;
    failed.reason = "Invalid";
    return failed;
  }
  if (op == "remove")
    return remove_at(at) ? std::nullopt : std::optional{malformed};
  if (op == "add")
    return value && add_at(at, *value) ? std::nullopt : std::optional{malformed};
  if (op == "replace") {
    auto* have = get_at(at);
    if (!have || !value)
      return malformed;
    *have = *value;
    return std::nullopt;
  }
  if (op == "move" || op == "copy") {
    auto from = find_place(into, text_at(step, {"from"}));
    auto* have = get_at(from);
    if (!have)
      return malformed;
    json::value moved(*have, into.storage());
    if (op == "move")
      remove_at(from);
    return add_at(find_place(into, path), std::move(moved)) ? std::nullopt
                                                            : std::optional{malformed};
  }
  return malformed;
}

} // namespace

void merge_patch(json::value& into, const json::value& patch) {
  if (!patch.is_object()) {
    into = patch;
    return;
  }
  if (!into.is_object())
    into = json::object(into.storage());
  auto& o = into.get_object();
  for (const auto& [k, v] : patch.get_object()) {
    if (v.is_null())
      o.stable_erase(k);
    else
      merge_patch(o[k], v);
  }
}

std::optional<refusal> strategic_merge_patch(kind_id kind, json::value& into,
                                             const json::value& patch) {
  if (!patch.is_object() || !into.is_object())
    return bad_request("the body of a strategic merge patch must be an object");
  strategic how{kind};
  if (how.merge(into.get_object(), patch.get_object(), ""))
    return std::nullopt;
  return bad_request(how.why());
}

std::optional<refusal> json_patch(json::value& into, const json::value& patch) {
  if (!patch.is_array())
    return bad_request("the body of a JSON patch must be a list of operations");
  for (const auto& step : patch.get_array()) {
    if (!step.is_object())
      return bad_request("json patch: an operation is not an object");
    if (auto refused = apply_one(into, step.get_object()))
      return refused;
  }
  return std::nullopt;
}

} // namespace tutti::sim::api_server
