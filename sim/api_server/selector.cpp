// Selectors read once per request and asked once per object or event.
#include "sim/api_server/selector.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "api/selector.hpp"

namespace tutti::sim::api_server {

namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ')
    s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ')
    s.remove_suffix(1);
  return s;
}

/// Cuts at commas outside of parentheses.
std::vector<std::string_view> cut(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      out.push_back(trim(text.substr(from, i - from)));
      from = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return out;
}

/// Fields that a kind offers besides metadata.name and metadata.namespace.
std::span<const std::string_view> fields_of(kind_id kind) {
  static constexpr std::string_view pods[] = {
      "spec.nodeName", "spec.restartPolicy", "spec.schedulerName",      "spec.serviceAccountName",
      "status.phase",  "status.podIP",       "status.nominatedNodeName"};
  static constexpr std::string_view nodes[] = {"spec.unschedulable"};
  static constexpr std::string_view namespaces[] = {"status.phase"};
  static constexpr std::string_view slices[] = {"spec.nodeName", "spec.driver", "spec.pool.name"};
  static constexpr std::string_view events[] = {"involvedObject.kind",
                                                "involvedObject.namespace",
                                                "involvedObject.name",
                                                "involvedObject.uid",
                                                "involvedObject.apiVersion",
                                                "involvedObject.fieldPath",
                                                "involvedObject.resourceVersion",
                                                "regarding.kind",
                                                "regarding.namespace",
                                                "regarding.name",
                                                "regarding.uid",
                                                "reason",
                                                "reportingComponent",
                                                "reportingController",
                                                "source",
                                                "type"};
  if (kind == kind_id::pods)
    return pods;
  if (kind == kind_id::nodes)
    return nodes;
  if (kind == kind_id::namespaces)
    return namespaces;
  if (kind == kind_id::resource_slices)
    return slices;
  if (kind == kind_id::events)
    return events;
  return {};
}

/// Events are stored in their core form.
std::string_view stored_path(std::string_view path) {
  if (path == "reportingController")
    return "reportingComponent";
  if (path == "source")
    return "source.component";
  return path;
}

} // namespace

outcome<selector> selector::parse(const kind_info& kind, std::string_view labels,
                                  std::string_view fields) {
  selector out;
  out.kind_ = kind.id;
  auto required = api::parse_label_selector(labels);
  if (!required)
    return bad_request(fmt::format("unable to parse requirement: {}", required.error().message()));
  out.labels_ = std::move(required.value().requirements);
  if (trim(fields).empty())
    return out;
  for (auto one : cut(fields)) {
    auto at = one.find('=');
    if (one.empty())
      continue;
    if (at == std::string_view::npos)
      return bad_request(fmt::format("invalid selector: '{}'; can't understand '{}'", fields, one));
    field_term term;
    term.value = one.substr(at + 1);
    if (term.value.starts_with("="))
      term.value.erase(0, 1);
    term.is_equal = at == 0 || one[at - 1] != '!';
    term.path = one.substr(0, term.is_equal ? at : at - 1);
    auto offered = fields_of(kind.id);
    if (term.path != "metadata.name" && term.path != "metadata.namespace"
        && std::ranges::find(offered, term.path) == offered.end())
      return bad_request(fmt::format("field label not supported: {}", term.path));
    if (term.path.starts_with("regarding."))
      term.path = "involvedObject." + term.path.substr(10);
    term.path = std::string{stored_path(term.path)};
    out.fields_.push_back(std::move(term));
  }
  return out;
}

bool selector::holds(const field_term& term, const object& x) const {
  auto compare = [&](std::string_view have) { return (have == term.value) == term.is_equal; };
  if (term.path == "metadata.name")
    return compare(x.name());
  if (term.path == "metadata.namespace")
    return compare(x.ns());
  if (kind_ == kind_id::pods) {
    if (term.path == "spec.nodeName")
      return compare(x.node_name);
    if (term.path == "spec.schedulerName")
      return compare(x.scheduler_name);
    if (term.path == "status.phase")
      return compare(x.phase);
  }
  draft parsed{x.body}; // rare: no hot watch selects by these
  const json::value* found = nullptr;
  const json::object* here = &parsed.doc();
  for (std::string_view rest = term.path; here;) {
    auto dot = rest.find('.');
    found = here->if_contains(rest.substr(0, dot));
    if (dot == std::string_view::npos)
      break;
    here = found ? found->if_object() : nullptr;
    found = nullptr;
    rest = rest.substr(dot + 1);
  }
  if (found && found->is_bool())
    return compare(found->get_bool() ? "true" : "false");
  if (term.path == "spec.unschedulable")
    return compare("false");
  return compare(found && found->is_string() ? std::string_view{found->get_string()}
                                             : std::string_view{});
}

bool selector::matches(const object& x) const {
  auto has_label = [&](const api::label_requirement& wanted) {
    auto it = std::ranges::find_if(x.labels, [&](const auto& l) { return l.first == wanted.key; });
    if (it == x.labels.end())
      return api::holds(wanted, nullptr);
    std::string_view value = it->second;
    return api::holds(wanted, &value);
  };
  return std::ranges::all_of(labels_, has_label)
         && std::ranges::all_of(fields_, [&](const auto& t) { return holds(t, x); });
}

} // namespace tutti::sim::api_server
