// What the validation of one kind shares with that of another. Private to api/validate*.cpp.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "api/release.hpp"
#include "api/validate.hpp"
#include "api/validate_errors.hpp"

namespace tutti::api::detail {

/// One object (or part of one) under check. On an update `old` is what it replaces; null on create
/// and for a part that is new.
struct subject {
  release kubernetes;
  bool is_update;
  field_errors& errors;
  std::string path; ///< "spec.podGroupTemplates[0]"
  const boost::json::object* old;
  const boost::json::object& now;

  std::string at(std::string_view field) const;
  /// The same subject one level down. A missing object is an empty one.
  subject inside(std::string_view field) const;
};

/// Equal where null, missing and an empty list are the same.
bool is_same(const boost::json::value* a, const boost::json::value* b);

/// True if the field has not changed on an update: servers do not apply its rules again.
bool is_unchanged(const subject& s, std::string_view field);

/// True if the rules of an immutable field are to be applied. On an update they are not, and a
/// change is an error.
bool is_open(const subject& s, std::string_view field);

/// Exactly one of `members` must be there (a list: not empty).
void check_union(const subject& s, std::initializer_list<std::string_view> members);

using problem_of = std::string (*)(std::string_view);
/// Text that must be there and well formed.
void check_required_name(const subject& s, std::string_view field, problem_of problem);
/// Text that may be missing.
void check_optional_name(const subject& s, std::string_view field, problem_of problem);
/// An integer of at least one; zero counts as missing.
void check_positive(const subject& s, std::string_view field);

/// `basic` or `gang`; the variant is fixed for good, the count (`minCount`, `minGroupCount`) is
/// not.
void check_policy(const subject& s, std::string_view field, std::string_view count);
/// Fields that groups and templates have in common, from schedulingConstraints on.
void check_placement(const subject& s, bool has_claims);

void check_metadata(field_errors& errors, const boost::json::object& object,
                    problem_of name_problem);
void check_metadata_update(field_errors& errors, const boost::json::object& old,
                           const boost::json::object& now);

// One per kind; `s` is the whole object.
void check_pod_group(const subject& s);
void check_composite_pod_group(const subject& s);
void check_group_status(const subject& s);
void check_workload(const subject& s);
void check_pod(const subject& s);
void check_pod_status(const subject& s);
void check_node(const subject& s);
/// The rules of one amount of a resource (`ValidateResourceQuantityValue`): not negative, and whole
/// where pieces are counted: pods and extended resources.
void check_amount(field_errors& errors, const std::string& path, std::string_view resource,
                  const boost::json::value& amount);
void check_priority_class(const subject& s);
void check_lease(const subject& s);
/// GangDecisionChunk: what the rule in its CRD says.
void check_chunk(const subject& s);

} // namespace tutti::api::detail
