// Which rules an object must obey, by its kind.
#include "api/validate.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/json_edit.hpp"
#include "api/schema.hpp"
#include "api/validate_parts.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;

/// What there is to check in a kind.
struct rules {
  std::string_view kind;
  std::string_view group;
  void (*main)(const detail::subject&);
  void (*status)(const detail::subject&);
  detail::problem_of name;
};

constexpr std::string_view scheduling = "scheduling.k8s.io";
constexpr rules known_rules[] = {
    {"Pod", "", detail::check_pod, detail::check_pod_status, subdomain_problem},
    {"PodGroup", scheduling, detail::check_pod_group, detail::check_group_status,
     subdomain_problem},
    {"CompositePodGroup", scheduling, detail::check_composite_pod_group, detail::check_group_status,
     subdomain_problem},
    {"Workload", scheduling, detail::check_workload, nullptr, subdomain_problem},
    {"PriorityClass", scheduling, detail::check_priority_class, nullptr, subdomain_problem},
    {"Node", "", detail::check_node, nullptr, subdomain_problem},
    {"Namespace", "", nullptr, nullptr, label_problem},
    {"Lease", "coordination.k8s.io", detail::check_lease, nullptr, subdomain_problem},
    {"GangDecisionChunk", "tutti.dev", detail::check_chunk, nullptr, subdomain_problem},
};

rules rules_of(const json::object& object) {
  auto api_version = text_at(object, "apiVersion"), kind = text_at(object, "kind");
  auto slash = api_version.find('/');
  auto group = slash == api_version.npos ? std::string_view{} : api_version.substr(0, slash);
  for (auto& one : known_rules)
    if (one.kind == kind && one.group == group)
      return one;
  return {kind, group, nullptr, nullptr, subdomain_problem};
}

} // namespace

std::optional<refusal> refuse_decode(release kubernetes, const json::object& object,
                                     bool is_strict) {
  auto api_version = text_at(object, "apiVersion"), kind = text_at(object, "kind");
  auto version = api_version.substr(api_version.rfind('/') + 1); // npos + 1 is 0
  auto answer = [&](std::string_view words) {
    return refusal{400,
                   "BadRequest",
                   fmt::format("{} in version {} cannot be handled as a {}: {}", kind,
                               quoted(version), kind, words),
                   {}};
  };
  std::string unknown;
  for (auto& error : check_fields(kubernetes, object)) {
    if (error.why == field_error::problem::wrong_type)
      return answer(error.server_text);
    if (error.why == field_error::problem::unknown_field)
      unknown += (unknown.empty() ? "" : ", ") + error.server_text;
  }
  if (is_strict && !unknown.empty())
    return answer("strict decoding error: " + unknown);
  return std::nullopt;
}

std::optional<refusal> refuse_create(release kubernetes, const json::object& object) {
  field_errors errors;
  auto what = rules_of(object);
  detail::check_metadata(errors, object, what.name);
  if (what.main)
    what.main({kubernetes, false, errors, {}, nullptr, object});
  return errors.refuse(object);
}

std::optional<refusal> refuse_update(release kubernetes, const json::object& old,
                                     const json::object& now, object_part part) {
  field_errors errors;
  auto what = rules_of(now);
  detail::check_metadata_update(errors, old, now);
  detail::subject whole{kubernetes, true, errors, {}, &old, now};
  auto* check = part == object_part::main ? what.main : what.status;
  if (check)
    check(whole);
  return errors.refuse(now);
}

} // namespace tutti::api
