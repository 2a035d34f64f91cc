// Selectors in the text form of queries, which is read back.
#include "api/term_guards.hpp"

#include <algorithm>
#include <optional>

namespace tutti::api {
namespace {

using operation = label_requirement::operation;

std::string text_of(const label_requirement& x) {
  if (x.how == operation::exists)
    return x.key;
  if (x.how == operation::does_not_exist)
    return '!' + x.key;
  auto values = x.values;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const bool is_in = x.how == operation::in;
  if (values.size() == 1)
    return x.key + (is_in ? "=" : "!=") + values.front();
  std::string list;
  for (const auto& value : values)
    list += (list.empty() ? "" : ",") + value;
  return x.key + (is_in ? " in (" : " notin (") + list + ')';
}

/// Nothing where the selector selects nothing; empty where it selects everything.
std::optional<std::string> text_of(const label_selector& x) {
  if (x.requirements.empty() && !x.selects_all)
    return std::nullopt;
  std::vector<std::string> parts;
  for (const auto& requirement : x.requirements)
    parts.push_back(text_of(requirement));
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::string out;
  for (const auto& part : parts)
    out += (out.empty() ? "" : ",") + part;
  return out;
}

void add(std::vector<term_guard>& to, const char* kind, const pod_term& term) {
  const auto selector = text_of(term.pods);
  if (!selector)
    return;
  const auto key = term.topology_key + ' ' + *selector;
  if (term.space_labels) { // which namespaces those are may change
    to.push_back({kind, "*", key});
    return;
  }
  for (const auto& space : term.spaces)
    to.push_back({kind, space, key});
}

} // namespace

std::vector<term_guard> guards_of_terms(const pod_ties& x) {
  std::vector<term_guard> out;
  for (const auto& term : x.affinity)
    add(out, "affinity", term);
  for (const auto& term : x.anti_affinity)
    add(out, "anti-affinity", term);
  for (const auto& term : x.spread) {
    const auto selector = text_of(term.pods);
    if (term.is_required && selector)
      out.push_back({"spread", x.space, term.topology_key + ' ' + *selector});
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool may_mean(const term_guard& guard, const pod_ties& other) {
  if (guard.space != "*" && guard.space != other.space)
    return false;
  const auto cut = guard.key.find(' ');
  if (cut == std::string::npos)
    return false;
  const auto text = std::string_view{guard.key}.substr(cut + 1);
  if (text.empty())
    return true;
  const auto selector = parse_label_selector(text);
  return selector && matches_list(*selector, other.labels);
}

std::string_view topology_key_of(const term_guard& guard) {
  return std::string_view{guard.key}.substr(0, guard.key.find(' '));
}

} // namespace tutti::api
