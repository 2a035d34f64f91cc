// What the API server does to objects, without HTTP: create, update, patch, delete, bind, evict,
// with the rules that Kubernetes keeps for each.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "sim/api_server/patch.hpp"
#include "sim/api_server/rules.hpp"
#include "sim/api_server/store.hpp"

namespace tutti::sim::api_server {

/// How a write is meant.
struct write_options {
  bool is_dry_run = false;
  std::string_view field_validation; ///< Strict, Warn (also if empty) or Ignore
};

enum class patch_type : std::uint8_t { merge, strategic, json };
enum class part : std::uint8_t { whole, status };

struct delete_options {
  std::optional<std::int64_t> grace_s;
  std::string uid;      ///< precondition; empty = none
  std::string revision; ///< precondition; empty = none
  bool is_dry_run = false;
};

struct written {
  object_ptr now;
  bool is_gone = false; ///< `now` is the last state of an object that no longer exists
  std::string warning;
};

class registry {
public:
  struct options {
    std::uint64_t seed = 1; ///< of uids and generated names
  };
  registry(options o, const catalog& kinds, store& objects, const rules& law,
           const base::clock& time)
      : options_(o), kinds_(kinds), store_(objects), rules_(law), clock_(time) {}

  /// From here on uids are drawn until one is `wished`; null: the first is taken. For simulated
  /// worlds, in which it matters where a gang's coordinator lives.
  void wish_uids(std::function<bool(const std::string&)> wished) { wished_ = std::move(wished); }
  outcome<written> create(const endpoint& what, std::string_view ns, json::object& doc,
                          const write_options& how);
  /// PUT: `doc` replaces the object, or its status.
  outcome<written> update(const endpoint& what, std::string_view key, part which, json::object& doc,
                          const write_options& how);
  outcome<written> patch(const endpoint& what, std::string_view key, part which, patch_type type,
                         const json::value& changes, const write_options& how);
  outcome<written> remove(const endpoint& what, std::string_view key, const delete_options& how);
  /// POST pods/NAME/binding.
  outcome<written> bind(std::string_view key, const json::object& binding,
                        const write_options& how);
  /// POST pods/NAME/eviction.
  outcome<written> evict(std::string_view key, const delete_options& how);

  /// Replaces the status of a pod or node as its kubelet would; nothing if there is a newer version
  /// or it is gone.
  void write_status(kind_id kind, const object& x, json::object& doc);
  /// Removes a terminating object now, whatever its grace.
  void finish_deletion(kind_id kind, const object_ptr& x);
  /// Takes a finalizer off a terminating object; without any left the object is gone.
  void drop_finalizer(kind_id kind, const object_ptr& x, std::string_view finalizer);

private:
  struct edit;
  subject about(const endpoint& what, std::string_view key) const;
  std::optional<refusal> check_identity(const endpoint& what, std::string_view ns,
                                        json::object& doc) const;
  std::optional<refusal> check_namespace(const endpoint& what, std::string_view ns) const;
  void stamp(const endpoint& what, json::object& doc);
  outcome<written> replace(const endpoint& what, const object_ptr& old, json::object& before,
                           json::object& now, part which, const write_options& how);
  outcome<written> remove_pod(const endpoint& what, const object_ptr& old,
                              const delete_options& how);
  outcome<written> mark_deleted(const endpoint& what, const object_ptr& old, std::int64_t grace_s,
                                bool is_dry_run);
  std::string make_uid() const;

  options options_;
  const catalog& kinds_;
  store& store_;
  const rules& rules_;
  const base::clock& clock_;
  std::function<bool(const std::string&)> wished_;
};

/// Events are kept in their core form; these rename the fields of events.k8s.io and back.
void to_core_event(json::object& doc);
void to_new_event(json::object& doc);

} // namespace tutti::sim::api_server
