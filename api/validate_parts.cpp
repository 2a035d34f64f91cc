// Rules that several kinds share: unions, fields that stay, topology, claims.
#include "api/validate_parts.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/json_edit.hpp"

namespace tutti::api::detail {
namespace {

namespace json = boost::json;

/// Highest priority that users may give (what is above belongs to the system).
constexpr std::int64_t user_priority_max = 1'000'000'000;
constexpr std::size_t topology_keys_max = 1;
constexpr std::size_t claims_max = 4;

const json::object nothing;

bool is_there(const json::value* value) {
  return value && !value->is_null() && !(value->is_array() && value->get_array().empty());
}

/// A claim as Go prints it.
std::string claim_text(const json::object& claim) {
  json::object ordered;
  for (auto* key : {"name", "resourceClaimName", "resourceClaimTemplateName"})
    if (auto* value = member(claim, key))
      ordered[key] = *value;
  return json::serialize(ordered);
}

void check_topology(const subject& s) {
  auto* keys = list_at(s.now, "topology");
  if (!keys)
    return;
  if (keys->size() > topology_keys_max)
    return s.errors.too_many(s.at("topology"), keys->size(), topology_keys_max);
  for (std::size_t i = 0; i < keys->size(); ++i)
    if (auto* item = (*keys)[i].if_object())
      check_required_name({s.kubernetes, s.is_update, s.errors,
                           fmt::format("{}[{}]", s.at("topology"), i), nullptr, *item},
                          "key", label_key_problem);
}

void check_claims(const subject& s) {
  auto* claims = list_at(s.now, "resourceClaims");
  if (!claims)
    return;
  if (claims->size() > claims_max)
    return s.errors.too_many(s.at("resourceClaims"), claims->size(), claims_max);
  for (std::size_t i = 0; i < claims->size(); ++i) {
    auto* claim = (*claims)[i].if_object();
    if (!claim)
      continue;
    subject one{s.kubernetes, s.is_update,
                s.errors,     fmt::format("{}[{}]", s.at("resourceClaims"), i),
                nullptr,      *claim};
    for (std::size_t k = 0; k < i; ++k)
      if (auto* other = (*claims)[k].if_object();
          other && text_at(*other, "name") == text_at(*claim, "name")) {
        s.errors.duplicate(one.path, claim_text(*claim));
        break;
      }
    check_union(one, {"resourceClaimName", "resourceClaimTemplateName"});
    check_required_name(one, "name", label_problem);
    check_optional_name(one, "resourceClaimName", subdomain_problem);
    check_optional_name(one, "resourceClaimTemplateName", subdomain_problem);
  }
}

void check_disruption_mode(const subject& s) {
  auto* mode = member(s.now, "disruptionMode");
  if (!mode)
    return;
  if (s.kubernetes == release::v1_36) {
    auto name = text_at(s.now, "disruptionMode");
    if (name != "Pod" && name != "PodGroup")
      s.errors.not_supported(s.at("disruptionMode"), name, {"Pod", "PodGroup"});
  } else {
    check_union(s.inside("disruptionMode"), {"single", "all"});
  }
}

} // namespace

std::string subject::at(std::string_view field) const {
  return path.empty() ? std::string{field} : fmt::format("{}.{}", path, field);
}

subject subject::inside(std::string_view field) const {
  auto* below = object_at(now, field);
  return {kubernetes,
          is_update,
          errors,
          at(field),
          old ? object_at(*old, field) : nullptr,
          below ? *below : nothing};
}

bool is_same(const json::value* a, const json::value* b) {
  if (!is_there(a) || !is_there(b))
    return is_there(a) == is_there(b);
  if (a->is_object() && b->is_object()) {
    auto covers = [](const json::object& x, const json::object& y) {
      return std::all_of(x.begin(), x.end(), [&](auto& item) {
        return is_same(&item.value(), y.if_contains(item.key()));
      });
    };
    return covers(a->get_object(), b->get_object()) && covers(b->get_object(), a->get_object());
  }
  if (a->is_array() && b->is_array()) {
    auto &x = a->get_array(), &y = b->get_array();
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](auto& i, auto& k) { return is_same(&i, &k); });
  }
  return *a == *b;
}

bool is_unchanged(const subject& s, std::string_view field) {
  return s.old && is_same(s.old->if_contains(field), s.now.if_contains(field));
}

bool is_open(const subject& s, std::string_view field) {
  if (!s.old)
    return true;
  if (!is_unchanged(s, field))
    s.errors.immutable(s.at(field));
  return false;
}

void check_union(const subject& s, std::initializer_list<std::string_view> members) {
  std::string found, all;
  int count = 0;
  for (auto name : members) {
    all += fmt::format("{}`{}`", all.empty() ? "" : ", ", name);
    if (!is_there(s.now.if_contains(name)))
      continue;
    found += fmt::format("{}{}", found.empty() ? "" : ", ", name);
    ++count;
  }
  if (count == 0)
    s.errors.invalid(s.path, "\"\"", "must specify one of: " + all);
  else if (count > 1)
    s.errors.invalid(s.path, quoted("{" + found + "}"), "must specify exactly one of: " + all);
}

void check_required_name(const subject& s, std::string_view field, problem_of problem) {
  auto name = text_at(s.now, field);
  if (name.empty())
    s.errors.required(s.at(field), allowed_by(problem));
  else if (auto text = problem(name); !text.empty())
    s.errors.invalid(s.at(field), quoted(name), text);
}

void check_optional_name(const subject& s, std::string_view field, problem_of problem) {
  auto name = text_at(s.now, field);
  if (name.empty())
    return;
  if (auto text = problem(name); !text.empty())
    s.errors.invalid(s.at(field), quoted(name), text);
}

void check_positive(const subject& s, std::string_view field) {
  auto value = integer_at(s.now, field).value_or(0);
  if (value == 0)
    s.errors.required(s.at(field), "1 or more");
  else if (value < 1)
    s.errors.invalid(s.at(field), std::to_string(value), "must be greater than or equal to 1");
}

void check_policy(const subject& s, std::string_view field, std::string_view count) {
  if (is_unchanged(s, field))
    return;
  auto policy = s.inside(field);
  check_union(policy, {"basic", "gang"});
  if (s.old) {
    const auto& before = policy.old ? *policy.old : nothing;
    bool had_basic = member(before, "basic"), has_basic = member(policy.now, "basic");
    bool had_gang = member(before, "gang"), has_gang = member(policy.now, "gang");
    if (had_basic != has_basic)
      s.errors.immutable(policy.at("basic"));
    if (had_gang != has_gang)
      return s.errors.invalid(policy.at("gang"), "null",
                              has_gang ? "field cannot be set once created"
                                       : "field cannot be cleared once set",
                              unchanged_words);
  }
  if (member(policy.now, "gang"))
    check_positive(policy.inside("gang"), count);
}

void check_placement(const subject& s, bool has_claims) {
  if (is_open(s, "schedulingConstraints") && member(s.now, "schedulingConstraints"))
    check_topology(s.inside("schedulingConstraints"));
  if (has_claims && is_open(s, "resourceClaims"))
    check_claims(s);
  if (is_open(s, "disruptionMode"))
    check_disruption_mode(s);
  if (is_open(s, "priorityClassName"))
    check_optional_name(s, "priorityClassName", subdomain_problem);
  if (is_open(s, "priority"))
    if (auto priority = integer_at(s.now, "priority"); priority && *priority > user_priority_max)
      s.errors.invalid(s.at("priority"), std::to_string(*priority),
                       fmt::format("must be less than or equal to {}", user_priority_max));
  if (s.kubernetes < release::v1_37 || !is_open(s, "preemptionPolicy"))
    return;
  if (auto* policy = member(s.now, "preemptionPolicy");
      policy && *policy != "Never" && *policy != "PreemptLowerPriority")
    s.errors.not_supported(s.at("preemptionPolicy"), text_at(s.now, "preemptionPolicy"),
                           {"Never", "PreemptLowerPriority"});
}

} // namespace tutti::api::detail
