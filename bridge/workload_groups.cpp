// Counts the pods of each group of a Workload, and tells the group while there are any.
#include "bridge/workload_groups.hpp"

#include <utility>

#include "base/ensure.hpp"

namespace tutti::bridge {

using protocol::effects;
using protocol::role_kind;
using protocol::to;

void workload_groups::tell(const entry& e, const api::workload_member_ref& ref,
                           const fact_maker& facts, effects& out) {
  auto group = facts.group(api::synthesise_group(*e.known, ref));
  if (!e.refused.empty())
    group.refused = e.refused;
  out.tell(to(role_kind::queue), protocol::group_seen{std::move(group)});
}

void workload_groups::tell_gone(const entry& e, const api::workload_member_ref& ref, effects& out) {
  const auto group = api::synthesise_group(*e.known, ref);
  out.tell(to(role_kind::queue),
           protocol::group_gone{group.meta.uid, {group.meta.space, group.meta.name}});
}

void workload_groups::tell_all(const entry& e, const fact_maker& facts, effects& out) const {
  for (const auto& [ref, pods] : e.pods)
    tell(e, ref, facts, out);
}

void workload_groups::add(const use& x, const fact_maker& facts, effects& out) {
  auto& e = workloads_[{x.space, x.ref.workload}];
  if (++e.pods[x.ref] == 1 && e.known)
    tell(e, x.ref, facts, out);
}

void workload_groups::remove(const use& x, effects& out) {
  const auto pos = workloads_.find({x.space, x.ref.workload});
  ensure(pos != workloads_.end(), x.ref.workload);
  auto& e = pos->second;
  const auto count = e.pods.find(x.ref);
  ensure(count != e.pods.end(), x.ref.workload, x.ref.pod_group);
  if (--count->second > 0)
    return;
  e.pods.erase(count);
  if (e.known)
    tell_gone(e, x.ref, out);
  else if (e.pods.empty())
    workloads_.erase(pos);
}

void workload_groups::put(const api::workload& w, const fact_maker& facts, effects& out) {
  auto& e = workloads_[{w.meta.space, w.meta.name}];
  e.known = w;
  e.refused.clear();
  tell_all(e, facts, out);
}

void workload_groups::put_refused(const api::object_meta& meta, std::string why,
                                  const fact_maker& facts, effects& out) {
  auto& e = workloads_[{meta.space, meta.name}];
  e.known.emplace();
  e.known->meta = meta;
  e.refused = std::move(why);
  tell_all(e, facts, out);
}

void workload_groups::drop(const protocol::object_name& workload, effects& out) {
  const auto pos = workloads_.find(workload);
  if (pos == workloads_.end() || !pos->second.known)
    return;
  for (const auto& [ref, pods] : pos->second.pods)
    tell_gone(pos->second, ref, out);
  pos->second.known.reset();
  if (pos->second.pods.empty())
    workloads_.erase(pos);
}

std::size_t workload_groups::size() const {
  std::size_t n = 0;
  for (const auto& [name, e] : workloads_)
    n += e.known ? e.pods.size() : 0;
  return n;
}

} // namespace tutti::bridge
