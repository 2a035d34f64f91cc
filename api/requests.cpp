// What a pod takes on a node, over its containers, init containers and overhead.
#include "api/requests.hpp"

#include <algorithm>

#include "base/ensure.hpp"
#include "base/limits.hpp"

namespace tutti::api {
namespace {

using base::resources;

resources larger_of(resources a, const resources& b) {
  a.cpu_milli = std::max(a.cpu_milli, b.cpu_milli);
  a.memory_bytes = std::max(a.memory_bytes, b.memory_bytes);
  a.ephemeral_bytes = std::max(a.ephemeral_bytes, b.ephemeral_bytes);
  a.pods = std::max(a.pods, b.pods);
  for (const auto& x : b.extended)
    a.set(x.name, std::max(a.of(x.name), x.amount));
  return a;
}

void bound(std::int64_t& amount) {
  amount = std::min(amount, base::limits::amount_max);
}

void bound(resources& x) {
  bound(x.cpu_milli);
  bound(x.memory_bytes);
  bound(x.ephemeral_bytes);
  for (auto& e : x.extended)
    bound(e.amount);
}

/// Requests of a long-running container while its pod may be in the middle of a resize.
resources current_requests(const pod& p, const container& c) {
  auto status = std::find_if(p.statuses.begin(), p.statuses.end(),
                             [&](const container_status& x) { return x.name == c.name; });
  if (status == p.statuses.end() || !status->actual)
    return c.requests;
  auto granted = larger_of(*status->actual, status->allocated.value_or(resources{}));
  return p.is_resize_infeasible ? granted : larger_of(granted, c.requests);
}

resources container_requests(const pod& p) {
  resources together;
  for (const auto& c : p.containers)
    together += current_requests(p, c);
  resources sidecars; // those started so far
  resources greediest_init;
  for (const auto& c : p.init_containers) {
    if (c.is_sidecar) {
      auto wanted = current_requests(p, c);
      together += wanted;
      sidecars += wanted;
      greediest_init = larger_of(greediest_init, sidecars);
    } else {
      greediest_init = larger_of(greediest_init, c.requests + sidecars);
    }
  }
  return larger_of(together, greediest_init);
}

/// A pod-level request replaces what the containers add up to, for the resources that may be asked
/// for at this level.
void override_at_pod_level(const pod& p, resources& amounts) {
  if (!p.pod_requests)
    return;
  for (const auto& name : p.pod_request_names) {
    if (name == "cpu")
      amounts.cpu_milli = p.pod_requests->cpu_milli;
    else if (name == "memory")
      amounts.memory_bytes = p.pod_requests->memory_bytes;
    else if (name.starts_with("hugepages-"))
      amounts.set(base::symbol{name}, p.pod_requests->of(base::symbol{name}));
  }
}

base::port_list ports_of(const pod& p) {
  base::port_list out;
  for (const auto& c : p.containers)
    out.insert(out.end(), c.ports.begin(), c.ports.end());
  for (const auto& c : p.init_containers)
    if (c.is_sidecar)
      out.insert(out.end(), c.ports.begin(), c.ports.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

} // namespace

base::footprint footprint_of(const pod& p) {
  auto amounts = container_requests(p);
  override_at_pod_level(p, amounts);
  amounts += p.overhead;
  amounts.pods = 1;
  bound(amounts);
  ensure(amounts.cpu_milli >= 0, amounts.cpu_milli);
  ensure(amounts.memory_bytes >= 0, amounts.memory_bytes);
  return {amounts, ports_of(p)};
}

} // namespace tutti::api
