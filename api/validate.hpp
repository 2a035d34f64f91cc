// The rules of an API server for new and changed objects, with its codes and its words.
//
// The declared rules of Workload, PodGroup and CompositePodGroup are complete for the dialects of
// 1.36 and 1.37 (compared case by case with recordings of real servers), those of v1alpha1 follow
// its published tags. Of Pod, Node, PriorityClass, Lease and Namespace only those rules are here
// that a scheduler's work can meet. Other kinds have their metadata checked.
#pragma once

#include <optional>

#include <boost/json/fwd.hpp>

#include "api/refusal.hpp"
#include "api/release.hpp"

namespace tutti::api {

/// Which part of an object a request may change.
enum class object_part { main, status };

/// Why the body of a request cannot be read (400): a field of the wrong type; with `is_strict` an
/// unknown field too. 404 words are not given here: an unknown kind is `bad_value` and passes.
std::optional<refusal> refuse_decode(release kubernetes, const boost::json::object& object,
                                     bool is_strict);

/// Why a new object is refused (422). `object` has been through `apply_defaults`.
std::optional<refusal> refuse_create(release kubernetes, const boost::json::object& object);

/// Why `now` may not replace `old` (422). Rules of fields that have not changed are not applied
/// again. Both have been through `apply_defaults`.
std::optional<refusal> refuse_update(release kubernetes, const boost::json::object& old,
                                     const boost::json::object& now,
                                     object_part part = object_part::main);

} // namespace tutti::api
