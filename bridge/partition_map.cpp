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

/// Entry `index` of the list `field`; its place is put into words only for a complaint.
base::result<protocol::owner> read_owner(const boost::json::value& from, const std::string& field,
                                         std::size_t index) {
  const auto refuse = [&](std::string_view member, std::string_view what) {
    return bad(fmt::format("{}[{}]{}", field, index, member), what);
  };
  const auto* object = from.if_object();
  if (!object)
    return refuse("", "is no object");
  const auto* replica = object->if_contains("replica");
  const auto* epoch = object->if_contains("epoch");
  if (!replica || !replica->is_string())
    return refuse(".replica", "is no text");
  if (!epoch || !(epoch->is_int64() || epoch->is_uint64()))
    return refuse(".epoch", "is no number");
  if (epoch->is_int64() && epoch->get_int64() < 0)
    return refuse(".epoch", "is negative");
  protocol::owner out{std::string{replica->get_string()}, {epoch->to_number<std::uint64_t>()}};
  if (out.epoch.value > highest_sane_epoch)
    return refuse(".epoch", "is too high");
  if (!out.replica.empty() && out.epoch.value == 0)
    return refuse(".epoch", "is 0 although somebody owns it");
  for (const auto& [key, value] : *object)
    if (key != "replica" && key != "epoch")
      return refuse("." + std::string{key}, "is not known");
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
  out.reserve(count);
  for (const auto& item : *list) {
    auto read = read_owner(item, field, out.size());
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

/// A replica that lives, and the hash of its name, which is taken once for all units.
struct candidate {
  const std::string* name = nullptr;
  std::uint64_t hash = 0;
};

std::vector<candidate> candidates_of(const std::set<std::string>& live) {
  std::vector<candidate> out;
  for (const auto& name : live)
    out.push_back({&name, base::hash_of(name)});
  return out;
}

/// The one of the highest weight (rendezvous); of equal weights the last by name.
const std::string& chosen_of(const address& unit, const std::vector<candidate>& by_name) {
  ensure(!by_name.empty(), to_text(unit));
  const auto what = base::hash_combine(static_cast<std::uint64_t>(unit.kind), unit.index);
  const candidate* best = nullptr;
  std::uint64_t highest = 0;
  for (const auto& x : by_name) {
    const auto weight = base::hash_combine(x.hash, what);
    if (best == nullptr || weight >= highest) {
      best = &x;
      highest = weight;
    }
  }
  return *best->name;
}

} // namespace

const protocol::owner& partition_map::at(const address& unit) const {
  ensure(unit.kind == role_kind::shard || unit.kind == role_kind::partition, to_text(unit));
  return unit.kind == role_kind::shard ? shards.at(unit.index) : partitions.at(unit.index);
}

protocol::owner& partition_map::at(const address& unit) {
  return const_cast<protocol::owner&>(std::as_const(*this).at(unit));
}

unit_range partition_map::units() const {
  return {shards.size(), partitions.size()};
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
  return chosen_of(unit, candidates_of(live));
}

namespace {

enum class next_step : std::uint8_t { stays, give, renew, take };

next_step step_of(const protocol::owner& o, const std::string& self, bool is_chosen,
                  const std::set<std::string>& live, const base::epoch_no* at_least) {
  if (o.replica == self && !is_chosen)
    return next_step::give;
  if (o.replica == self)
    return at_least && o.epoch < *at_least ? next_step::renew : next_step::stays;
  return is_chosen && !live.contains(o.replica) ? next_step::take : next_step::stays;
}

void apply(next_step what, protocol::owner& o, const std::string& self,
           const base::epoch_no* at_least) {
  if (what == next_step::give) {
    o.replica.clear();
    return;
  }
  if (what == next_step::take)
    ++o.epoch.value;
  o.replica = self;
  if (at_least)
    o.epoch = std::max(o.epoch, *at_least);
}

/// Calls `f(unit, step, at_least)` for each unit that is to be changed, until it returns false.
template <class F>
void each_step(const partition_map& now, const std::string& self, const std::set<std::string>& live,
               const units_anew& anew, F f) {
  ensure(live.contains(self), self);
  const auto by_name = candidates_of(live);
  for (const auto& unit : now.units()) {
    const auto again = anew.find(unit);
    const auto* at_least = again == anew.end() ? nullptr : &again->second;
    const bool is_chosen = chosen_of(unit, by_name) == self;
    const auto step = step_of(now.at(unit), self, is_chosen, live, at_least);
    if (step != next_step::stays && !f(unit, step, at_least))
      return;
  }
}

} // namespace

map_change next_map(const partition_map& now, const std::string& self,
                    const std::set<std::string>& live, const units_anew& anew) {
  map_change out{now, {}, {}};
  each_step(now, self, live, anew, [&](const auto& unit, auto step, const auto* at_least) {
    auto& o = out.next.at(unit);
    apply(step, o, self, at_least);
    (step == next_step::give ? out.given : out.taken).push_back(unit);
    ensure(o.epoch >= now.at(unit).epoch, to_text(unit)); // upholds S8
    return true;
  });
  return out;
}

bool is_settled(const partition_map& now, const std::string& self,
                const std::set<std::string>& live, const units_anew& anew) {
  bool out = true;
  each_step(now, self, live, anew, [&](const auto&, auto, const auto*) { return out = false; });
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
