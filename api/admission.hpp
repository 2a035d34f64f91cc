// What an API server decides about a new object with a look at other objects: its priority, its
// finalizers, and whether what it refers to exists.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <boost/json/object.hpp>

#include "api/defaults.hpp"
#include "api/objects.hpp"
#include "api/refusal.hpp"
#include "api/validate.hpp"

namespace tutti::api {

/// The other objects. A function that is not set knows nothing.
struct cluster_lookup {
  /// The PriorityClass of that name. The two system classes are known without it.
  std::function<std::optional<priority_class>(std::string_view name)> class_named;
  /// The PriorityClass that is the global default; of several, the one with the lowest value.
  std::function<std::optional<priority_class>()> default_class;
  /// The Workload of that namespace and name; null if there is none. Asked for in 1.36 only.
  std::function<const boost::json::object*(std::string_view ns, std::string_view name)> workload;
};

/// Resolves the priority of a new Pod, PodGroup or CompositePodGroup: fills in `priority`,
/// `priorityClassName` (of the global default) and a Pod's `preemptionPolicy`, after defaults. 403
/// if the class does not exist or if the object contradicts it. Other kinds are left alone. Groups
/// have no priority in 1.35.
std::optional<refusal> admit_priority(boost::json::object& object, release kubernetes,
                                      const cluster_lookup& cluster);

/// Puts the finalizer on a new PodGroup that keeps it while it has Pods. CompositePodGroups get
/// none.
void add_finalizers(boost::json::object& object);

/// 1.36 refuses (403) a PodGroup whose Workload or template does not exist; later releases do not
/// look.
std::optional<refusal> refuse_references(const boost::json::object& object, release kubernetes,
                                         const cluster_lookup& cluster);

/// All that happens to a new object before it is stored, in a server's order: status dropped,
/// defaults, priority and finalizers, validation, references. `object` is what to store, unless it
/// is refused. uid, creationTimestamp and the like are the store's.
std::optional<refusal> admit_new(boost::json::object& object, const default_options& options,
                                 const cluster_lookup& cluster);

/// The same for `now`, which is to replace `old`: defaults, the other part taken over from `old`,
/// validation.
std::optional<refusal> admit_update(const boost::json::object& old, boost::json::object& now,
                                    object_part part, const default_options& options);

} // namespace tutti::api
