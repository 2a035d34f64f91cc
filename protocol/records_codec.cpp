// Records to bytes and back.
#include "protocol/records_codec.hpp"

#include "base/ensure.hpp"
#include "protocol/codec_fields.hpp"
#include "protocol/codec_parts.hpp"
#include "protocol/records.capnp.h"

namespace tutti::protocol {
namespace codec {

static_assert(static_cast<int>(wire::Verdict::ABORTED) == static_cast<int>(verdict::aborted));

template <class Io, class B, class R>
void describe_reservation(Io& io, B b, R& x) {
  FIELD(Attempt, x.attempt);
  FIELD(Coordinator, x.coordinator);
  FIELD(Asked, x.asked);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, prepared_record> x) {
  describe_reservation(io, b, x);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, committed_record> x) {
  describe_reservation(io, b, x);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, released_record> x) {
  FIELD(Attempt, x.attempt);
  FIELD(Pods, x.pods);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, epoch_record> x) {
  FIELD(Partition, x.partition);
  FIELD(Seen, x.seen);
  FIELD(LowWater, x.low_water);
}

template <class Io, class B>
void describe(Io& io, B b, io_ref<Io, life_record> x) {
  FIELD(Epoch, x.epoch);
  FIELD(Incarnation, x.incarnation);
}

namespace {

struct put_record {
  wire::Record::Builder to;
  writer& io;

  void operator()(const prepared_record& x) { describe(io, to.initPrepared(), x); }
  void operator()(const committed_record& x) { describe(io, to.initCommitted(), x); }
  void operator()(const released_record& x) { describe(io, to.initReleased(), x); }
  void operator()(const epoch_record& x) { describe(io, to.initEpochSeen(), x); }
  void operator()(const life_record& x) { describe(io, to.initLife(), x); }
};

template <class T, class R>
record take(reader& io, R from) {
  T x;
  describe(io, from, x);
  return x;
}

record take_record(wire::Record::Reader from, reader& io) {
  take_ties(from, io);
  switch (from.which()) {
  case wire::Record::PREPARED:
    return take<prepared_record>(io, from.getPrepared());
  case wire::Record::COMMITTED:
    return take<committed_record>(io, from.getCommitted());
  case wire::Record::RELEASED:
    return take<released_record>(io, from.getReleased());
  case wire::Record::EPOCH_SEEN:
    return take<epoch_record>(io, from.getEpochSeen());
  case wire::Record::LIFE:
    return take<life_record>(io, from.getLife());
  }
  io.met_newer = true;
  return {};
}

bool is_whole(const record& x) {
  if (const auto* p = std::get_if<prepared_record>(&x))
    return p->asked != nullptr;
  if (const auto* c = std::get_if<committed_record>(&x))
    return c->asked != nullptr;
  return true;
}

} // namespace
} // namespace codec

std::string encode(const record& x) {
  ensure(codec::is_whole(x), x.index());
  auto bytes = codec::write_bytes<wire::Record>([&](wire::Record::Builder to) {
    codec::writer io;
    std::visit(codec::put_record{to, io}, x);
    codec::put_ties(io, to);
  });
  ensure_slow(decode_record(bytes).value() == x, x.index(), bytes.size());
  return bytes;
}

std::string encode(const decision& x) {
  auto bytes = codec::write_bytes<wire::Decision>([&](wire::Decision::Builder to) {
    codec::writer io;
    codec::describe(io, to, x);
    codec::put_ties(io, to);
  });
  ensure_slow(decode_decision(bytes).value() == x, x.by.gang.value, x.by.ordinal);
  return bytes;
}

base::result<record> decode_record(std::string_view bytes) {
  auto out = codec::read_bytes<wire::Record, record>(bytes, "record", codec::take_record);
  if (out && !codec::is_whole(*out))
    return base::error{base::code::corrupt, "record: a reservation without a slice"};
  return out;
}

base::result<decision> decode_decision(std::string_view bytes) {
  return codec::read_bytes<wire::Decision, decision>(
      bytes, "decision", [](wire::Decision::Reader from, codec::reader& io) {
        decision x;
        codec::take_ties(from, io);
        codec::describe(io, from, x);
        return x;
      });
}

} // namespace tutti::protocol
