// Text of the map, rendezvous, and the one step that a replica may take.
#include "bridge/partition_map.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::bridge {

using protocol::address;
using protocol::role_kind;

namespace {

/// Nobody takes over so often. An epoch above it could not be told from damage, nor grow.
constexpr std::uint64_t highest_sane_epoch = std::uint64_t{1} << 48;

base::error bad(const std::string& field, std::string_view what) {
  return {base::code::bad_input, fmt::format("{} {}", field, what),
          "restore the PartitionMap from a backup, or stop all replicas and delete it"};
}

base::result<protocol::owner> read_owner(const boost::json::value& from, const std::string& field) {
  const auto* object = from.if_object();
  if (!object)
    return bad(field, "is no object");
  const auto* replica = object->if_contains("replica");
  const auto* epoch = object->if_contains("epoch");
  if (!replica || !replica->is_string())
    return bad(field + ".replica", "is no text");
  if (!epoch || !(epoch->is_int64() || epoch->is_uint64()))
    return bad(field + ".epoch", "is no number");
  if (epoch->is_int64() && epoch->get_int64() < 0)
    return bad(field + ".epoch", "is negative");
  protocol::owner out{std::string{replica->get_string()}, {epoch->to_number<std::uint64_t>()}};
  if (out.epoch.value > highest_sane_epoch)
    return bad(field + ".epoch", "is too high");
  if (!out.replica.empty() && out.epoch.value == 0)
    return bad(field + ".epoch", "is 0 although somebody owns it");
  for (const auto& [key, value] : *object)
    if (key != "replica" && key != "epoch")
      return bad(field + "." + std::string{key}, "is not known");
  return out;
}

base::result<std::vector<protocol::owner>> read_owners(const boost::json::object& spec,
                                                       const std::string& key, std::size_t count) {
  const auto field = "spec." + key;
  const auto* found = spec.if_contains(key);
  const auto* list = found ? found->if_array() : nullptr;
  if (!list)
    return bad(field, "is no list");
  if (list->size() != count)
    return bad(field, fmt::format("has {} entries where {} were expected", list->size(), count));
  std::vector<protocol::owner> out;
  for (const auto& item : *list) {
    auto read = read_owner(item, fmt::format("{}[{}]", field, out.size()));
    if (!read)
      return read.error();
    out.push_back(std::move(*read));
  }
  return out;
}

boost::json::array list_of(const std::vector<protocol::owner>& owners) {
  boost::json::array out;
  for (const auto& o : owners)
    out.push_back({{"replica", o.replica}, {"epoch", o.epoch.value}});
  return out;
}

std::uint64_t weight(const address& unit, const std::string& replica) {
  const auto what = base::hash_combine(static_cast<std::uint64_t>(unit.kind), unit.index);
  return base::hash_combine(base::hash_of(replica), what);
}

} // namespace

const protocol::owner& partition_map::at(const address& unit) const {
  ensure(unit.kind == role_kind::shard || unit.kind == role_kind::partition, to_text(unit));
  return unit.kind == role_kind::shard ? shards.at(unit.index) : partitions.at(unit.index);
}

protocol::owner& partition_map::at(const address& unit) {
  return const_cast<protocol::owner&>(std::as_const(*this).at(unit));
}

std::vector<address> partition_map::units() const {
  std::vector<address> out;
  for (std::uint32_t i = 0; i < shards.size(); ++i)
    out.push_back(protocol::to_shard({i}));
  for (std::uint32_t i = 0; i < partitions.size(); ++i)
    out.push_back(protocol::to_partition({i}));
  return out;
}

partition_map empty_map(std::size_t shards, std::size_t partitions) {
  return {std::vector<protocol::owner>(shards), std::vector<protocol::owner>(partitions)};
}

boost::json::object spec_of(const partition_map& map) {
  return {{"shards", list_of(map.shards)}, {"partitions", list_of(map.partitions)}};
}

base::result<partition_map> read_spec(const boost::json::object& spec, const partition_map& like) {
  auto shards = read_owners(spec, "shards", like.shards.size());
  if (!shards)
    return shards.error();
  auto partitions = read_owners(spec, "partitions", like.partitions.size());
  if (!partitions)
    return partitions.error();
  for (const auto& [key, value] : spec)
    if (key != "shards" && key != "partitions")
      return bad("spec." + std::string{key}, "is not known");
  return partition_map{std::move(*shards), std::move(*partitions)};
}

const std::string& chosen_for(const address& unit, const std::set<std::string>& live) {
  ensure(!live.empty(), to_text(unit));
  return *std::max_element(live.begin(), live.end(), [&](const auto& a, const auto& b) {
    const auto left = weight(unit, a);
    const auto right = weight(unit, b);
    return left != right ? left < right : a < b;
  });
}

map_change next_map(const partition_map& now, const std::string& self,
                    const std::set<std::string>& live, const units_anew& anew) {
  ensure(live.contains(self), self);
  map_change out{now, {}, {}};
  for (const auto& unit : now.units()) {
    auto& o = out.next.at(unit);
    const bool is_chosen = chosen_for(unit, live) == self;
    const auto again = anew.find(unit);
    if (o.replica == self && !is_chosen) {
      o.replica.clear();
      out.given.push_back(unit);
    } else if (o.replica == self && again != anew.end() && o.epoch < again->second) {
      o.epoch = again->second;
      out.taken.push_back(unit);
    } else if (o.replica != self && is_chosen && !live.contains(o.replica)) {
      o.replica = self;
      ++o.epoch.value;
      if (again != anew.end())
        o.epoch = std::max(o.epoch, again->second);
      out.taken.push_back(unit);
    }
    ensure(o.epoch >= now.at(unit).epoch, to_text(unit)); // upholds S8
  }
  return out;
}

map_change map_without(const partition_map& now, const std::string& self) {
  map_change out{now, {}, {}};
  for (const auto& unit : now.units())
    if (auto& o = out.next.at(unit); o.replica == self) {
      o.replica.clear();
      out.given.push_back(unit);
    }
  return out;
}

} // namespace tutti::bridge
