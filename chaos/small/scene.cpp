#include "chaos/small/scene.hpp"

#include <memory>
#include <string>

#include "base/ensure.hpp"
#include "protocol/sharding.hpp"

namespace tutti::chaos::small {

namespace {

const base::gang_uid first_gang{"gang-uid"};

base::footprint all_of_a_node() {
  base::footprint out;
  out.amounts.cpu_milli = 1000;
  out.amounts.pods = 1;
  return out;
}

/// The first rack name whose hash falls on the shard.
std::string rack_of(std::uint32_t shard) {
  protocol::node_facts f;
  for (int n = 0;; ++n) {
    f.domains = {"rack-" + std::to_string(n)};
    if (protocol::shard_of(f, shards).value == shard)
      return f.domains.front();
  }
}

/// The first uid that falls on the same partition as the first gang's.
base::gang_uid second_gang() {
  for (int n = 2;; ++n)
    if (base::gang_uid uid{"gang-uid-" + std::to_string(n)};
        protocol::partition_of(uid) == protocol::partition_of(first_gang))
      return uid;
}

scene make_scene() {
  scene out;
  out.gangs = {first_gang, second_gang()};
  out.partition = protocol::partition_of(first_gang);
  out.shape = std::make_shared<base::shape>(base::shape{{1}, "shape", all_of_a_node()});
  for (std::uint32_t n = 0; n < shards; ++n) {
    protocol::node_facts f;
    f.name = {"n" + std::to_string(n)};
    f.uid = {f.name.value + "-uid"};
    f.kind = std::make_shared<base::node_class>(base::node_class{{1}, "class"});
    f.allocatable = all_of_a_node().amounts;
    f.domains = {rack_of(n)};
    f.facts_hash = 1 + n;
    out.nodes[n] = std::make_shared<const protocol::node_facts>(std::move(f));
  }
  return out;
}

} // namespace

const scene& the_scene() {
  static const scene it = make_scene();
  return it;
}

const base::gang_uid& the_gang(std::size_t n) {
  return the_scene().gangs.at(n);
}

std::size_t gang_number(const base::gang_uid& uid) {
  const auto& all = the_scene().gangs;
  ensure(uid == all[0] || uid == all[1], uid.value);
  return uid == all[0] ? 0 : 1;
}

std::size_t pod_number(const base::pod_uid& uid) {
  for (std::size_t n = 0; n < pods_most; ++n)
    if (uid.value == api_truth::uid_of(n))
      return n;
  ensure(false, uid.value);
  return 0;
}

std::uint32_t node_number(std::string_view name) {
  ensure(name.starts_with("n0") || name.starts_with("n1"), name);
  return name[1] == '0' ? 0 : 1;
}

} // namespace tutti::chaos::small
