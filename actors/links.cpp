// Who is where, by the partition map, and frames that can be answered.
#include "actors/links.hpp"

#include <utility>

#include "protocol/sharding.hpp"

namespace tutti::actors {

using protocol::address;
using protocol::role_kind;

namespace {

way to_owner(const protocol::ownership& whose, const std::vector<protocol::owner>& all,
             std::size_t n) {
  if (n >= all.size() || all[n].replica.empty())
    return {}; // nobody has it now: the sender asks again
  if (all[n].replica == whose.self)
    return {.is_here = true, .is_for_all_others = false, .replica = {}};
  return {.is_here = false, .is_for_all_others = false, .replica = all[n].replica};
}

/// Every replica's mirror sees the same cluster: it tells its own.
way only_here(const protocol::ownership& whose, const address& to) {
  const auto& all = to.kind == role_kind::shard ? whose.shards : whose.partitions;
  const auto where = to_owner(whose, all, to.index);
  return where.is_here ? where : way{};
}

} // namespace

bool is_replicas_own(role_kind kind) {
  switch (kind) {
  case role_kind::node:
  case role_kind::shard:
  case role_kind::partition:
  case role_kind::gang:
    return false;
  case role_kind::topology:
  case role_kind::planner:
  case role_kind::queue:
  case role_kind::preemption:
  case role_kind::mirror:
  case role_kind::binder:
  case role_kind::evictor:
  case role_kind::status:
  case role_kind::admin:
  case role_kind::keeper:
  case role_kind::decisions:
    return true;
  }
  return true;
}

way way_of(const protocol::ownership& whose, const address& from, const address& to) {
  if (from.kind == role_kind::mirror && from.key.empty()
      && (to.kind == role_kind::shard || to.kind == role_kind::partition))
    return only_here(whose, to);
  switch (to.kind) {
  case role_kind::shard:
    return to_owner(whose, whose.shards, to.index);
  case role_kind::partition:
    return to_owner(whose, whose.partitions, to.index);
  case role_kind::gang:
    return to_owner(whose, whose.partitions, protocol::partition_of({to.key}).value);
  case role_kind::topology:
    if (from.kind == role_kind::shard && to.key.empty())
      return {.is_here = true, .is_for_all_others = true, .replica = {}};
    break;
  default:
    break;
  }
  if (is_replicas_own(to.kind) && !to.key.empty() && to.key != whose.self)
    return {.is_here = false, .is_for_all_others = false, .replica = to.key};
  return {.is_here = true, .is_for_all_others = false, .replica = {}};
}

std::string make_frame(const protocol::ownership& whose, protocol::envelope x) {
  if (is_replicas_own(x.from.kind))
    x.from.key = whose.self;
  if (is_replicas_own(x.to.kind))
    x.to.key.clear(); // there it is at home
  return encode(x);
}

base::result<protocol::envelope> open_frame(const std::string& from, std::string_view frame) {
  auto x = protocol::decode_envelope(frame);
  if (!x)
    return x;
  const auto is_spoken_to = x->to.kind == role_kind::topology || x->to.kind == role_kind::mirror
                            || x->to.kind == role_kind::shard || x->to.kind == role_kind::partition
                            || x->to.kind == role_kind::gang || x->to.kind == role_kind::preemption;
  if (!is_spoken_to)
    return base::error{base::code::foreign, "a frame from " + from + " is for "
                                                + protocol::to_text(x->to)
                                                + ", which no other replica speaks to"};
  if (is_replicas_own(x->from.kind))
    x->from.key = from; // whatever it says of itself
  return x;
}

} // namespace tutti::actors
