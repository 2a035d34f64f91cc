// The parts that stored records and messages share, described once for both codecs.
//
// Only the `*_codec.cpp` files include this; it needs no generated header.
#pragma once

#include "base/resources.hpp"
#include "protocol/codec_fields.hpp"
#include "protocol/decision.hpp"
#include "protocol/facts.hpp"
#include "protocol/plan.hpp"

namespace tutti::protocol::codec {

template <>
inline constexpr int enum_count<verdict> = 2;

} // namespace tutti::protocol::codec

// Found by argument-dependent lookup through the described type or `io`.
namespace tutti::protocol::codec {

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::attempt_id> x) {
  FIELD(Gang, x.gang);
  FIELD(Ordinal, x.ordinal);
  FIELD(Epoch, x.epoch);
  FIELD(TryNo, x.try_no);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, object_name> x) {
  FIELD(Space, x.space);
  FIELD(Name, x.name);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::resources::extended_amount> x) {
  FIELD(Name, x.name);
  FIELD(Amount, x.amount);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::resources> x) {
  FIELD(CpuMilli, x.cpu_milli);
  FIELD(MemoryBytes, x.memory_bytes);
  FIELD(EphemeralBytes, x.ephemeral_bytes);
  FIELD(Pods, x.pods);
  FIELD(Extended, x.extended);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::host_port> x) {
  FIELD(Ip, x.ip);
  FIELD(Protocol, x.protocol);
  FIELD(Port, x.port);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, base::footprint> x) {
  FIELD(Amounts, x.amounts);
  FIELD(Ports, x.ports);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, before_bind_write> x) {
  FIELD(Method, x.method);
  FIELD(Path, x.path);
  FIELD(ContentType, x.content_type);
  FIELD(Body, x.body);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, seat> x) {
  FIELD(Pod, x.pod);
  FIELD(PodName, x.pod_name);
  FIELD(Group, x.group);
  FIELD(Node, x.node);
  FIELD(NodeName, x.node_name);
  FIELD(Takes, x.takes);
  FIELD(BeforeBind, x.before_bind);
  FIELD(Ties, x.ties);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, victim> x) {
  FIELD(Pod, x.pod);
  FIELD(PodName, x.pod_name);
  FIELD(Node, x.node);
  FIELD(Unit, x.unit);
  FIELD(Priority, x.priority);
  FIELD(GraceMs, x.grace_ms);
  FIELD(Gang, x.gang);
  FIELD(Group, x.group);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, guard_id> x) {
  FIELD(Kind, x.kind);
  FIELD(Space, x.space);
  FIELD(Key, x.key);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, guard_version> x) {
  FIELD(Epoch, x.epoch);
  FIELD(Counter, x.counter);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, guard_use> x) {
  FIELD(Id, x.id);
  FIELD(IsExclusive, x.is_exclusive);
  FIELD(Seen, x.seen);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, node_quote> x) {
  FIELD(Node, x.node);
  FIELD(FactsHash, x.facts_hash);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, slice> x) {
  FIELD(Shard, x.shard);
  FIELD(Seats, x.seats);
  FIELD(Victims, x.victims);
  FIELD(Guards, x.guards);
  FIELD(Quotes, x.quotes);
  FIELD(Space, x.space);
  FIELD(GuardsKnown, x.guards_known);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, plan> x) {
  FIELD(Slices, x.slices);
  FIELD(Domains, x.domains);
  FIELD(ViewVersion, x.view_version);
  FIELD(Score, x.score);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, gang_group> x) {
  FIELD(Name, x.name);
  FIELD(Uid, x.uid);
  FIELD(MinCount, x.min_count);
  FIELD(TopologyKey, x.topology_key);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, decision> x) {
  FIELD(By, x.by);
  FIELD(What, x.what);
  FIELD(GangName, x.gang_name);
  FIELD(IsLonePod, x.is_lone_pod);
  FIELD(Priority, x.priority);
  FIELD(Groups, x.groups);
  FIELD(BoundAlready, x.bound_already);
  FIELD(Chosen, x.chosen);
  FIELD(SeatVersions, x.seat_versions);
  FIELD(Cancelled, x.cancelled);
  FIELD(AdoptedBy, x.adopted_by);
  FIELD(IsDone, x.is_done);
  FIELD(Bound, x.bound);
}

} // namespace tutti::protocol::codec
