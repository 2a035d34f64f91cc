// One version of one object: its JSON as it goes out, and the few fields that rules and selectors
// ask for. Never changed once made; the store, the history and the watches share it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "sim/api_server/catalog.hpp"

namespace tutti::sim::api_server {

namespace json = boost::json;

/// The number that Kubernetes calls resourceVersion. One counter for everything.
using revision = std::uint64_t;

struct object {
  std::string body; ///< without kind and apiVersion, as items of a list are
  std::string key;  ///< "namespace/name", or "name"
  std::string uid;
  revision rev = 0;
  std::vector<std::pair<std::string, std::string>> labels;
  bool is_deleting = false;
  bool is_owned = false; ///< has ownerReferences
  // Of pods only.
  bool is_gated = false;
  std::string node_name;
  std::string phase;
  std::string scheduler_name;
  std::string group; ///< spec.schedulingGroup.podGroupName

  std::string_view ns() const;
  std::string_view name() const;
  /// Succeeded or Failed.
  bool is_finished() const { return phase == "Succeeded" || phase == "Failed"; }
};
using object_ptr = std::shared_ptr<const object>;

std::string key_of(std::string_view ns, std::string_view name);

/// The object's JSON, parsed into memory that lives as long as the draft: 4 us for 3 KB.
class draft {
public:
  explicit draft(std::string_view body);
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;

  json::object& doc() { return value_.get_object(); }
  json::storage_ptr storage() { return &memory_; }

private:
  unsigned char first_[8192];
  json::monotonic_resource memory_{first_, sizeof first_};
  json::value value_;
};

/// Makes the version `rev` of an object from its JSON. Writes metadata.resourceVersion, leaves out
/// kind and apiVersion. `doc` has a metadata with name and uid.
object_ptr make_object(kind_id kind, json::object& doc, revision rev);

/// The same object as of `rev`: what the last event of a deleted object shows.
object_ptr with_revision(const object& x, revision rev);

/// Puts metadata's fields into the order in which they go out: name, namespace, uid and
/// resourceVersion first, which `with_revision` relies on.
void order_metadata(json::object& doc);

/// Follows a path of member names; null where it ends early.
const json::value* look(const json::object& doc, std::initializer_list<std::string_view> path);
/// The string at the path; empty if there is none.
std::string_view text_at(const json::object& doc, std::initializer_list<std::string_view> path);
/// The object under `key`, made if absent or null.
json::object& child(json::object& doc, std::string_view key);

} // namespace tutti::sim::api_server
