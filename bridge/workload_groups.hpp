// Groups of Kubernetes 1.35, which has none: made of Workloads and of the pods that name them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/objects.hpp"
#include "bridge/facts.hpp"
#include "protocol/effects.hpp"

namespace tutti::bridge {

/// In v1alpha1 a pod names a Workload, an entry of it and a replica key; each such triple is a gang
/// of its own, and no object says that it exists. So a group is there for as long as its Workload
/// is and a pod names it; both may come first. Tells the queue `group_seen` and `group_gone` as if
/// it were an object.
///
/// A part of the mirror: plain state, effects only.
class workload_groups {
public:
  /// Which group a pod names, and in which namespace.
  struct use {
    std::string space;
    api::workload_member_ref ref;
  };
  void add(const use& x, const fact_maker& facts, protocol::effects& out);
  /// The pod of an earlier `add` is gone.
  void remove(const use& x, protocol::effects& out);

  void put(const api::workload& w, const fact_maker& facts, protocol::effects& out);
  /// The Workload is there and cannot be read: its groups are refused in these words.
  void put_refused(const api::object_meta& meta, std::string why, const fact_maker& facts,
                   protocol::effects& out);
  void drop(const protocol::object_name& workload, protocol::effects& out);

  /// Groups that the queue knows of now.
  std::size_t size() const;

private:
  struct entry {
    std::optional<api::workload> known;
    std::string refused;                                      ///< of `known`
    std::map<api::workload_member_ref, std::uint32_t> pods{}; ///< by the group that they name
  };
  static void tell(const entry& e, const api::workload_member_ref& ref, const fact_maker& facts,
                   protocol::effects& out);
  static void tell_gone(const entry& e, const api::workload_member_ref& ref,
                        protocol::effects& out);
  void tell_all(const entry& e, const fact_maker& facts, protocol::effects& out) const;

  std::map<protocol::object_name, entry> workloads_;
};

} // namespace tutti::bridge
