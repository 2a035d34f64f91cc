// Messages to bytes and back: one list of kinds, two visitors.
#include "protocol/messages_codec.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "protocol/codec_messages.hpp"
#include "protocol/messages.capnp.h"

/// Every message: its struct, its name in the generated code, its place in the union.
#define TUTTI_MESSAGES(X)                                                                          \
  X(try_gang, TryGang, TRY_GANG)                                                                   \
  X(begin_attempt, BeginAttempt, BEGIN_ATTEMPT)                                                    \
  X(resume_decision, ResumeDecision, RESUME_DECISION)                                              \
  X(attempt_over, AttemptOver, ATTEMPT_OVER)                                                       \
  X(gang_progress, GangProgress, GANG_PROGRESS)                                                    \
  X(last_look, LastLook, LAST_LOOK)                                                                \
  X(last_look_answer, LastLookAnswer, LAST_LOOK_ANSWER)                                            \
  X(plan_request, PlanRequest, PLAN_REQUEST)                                                       \
  X(plan_answer, PlanAnswer, PLAN_ANSWER)                                                          \
  X(plan_dropped, PlanDropped, PLAN_DROPPED)                                                       \
  X(view_grew, ViewGrew, VIEW_GREW)                                                                \
  X(prepare, Prepare, PREPARE)                                                                     \
  X(vote, Vote, VOTE)                                                                              \
  X(commit, Commit, COMMIT)                                                                        \
  X(ack, Ack, ACK)                                                                                 \
  X(abort_attempt, AbortAttempt, ABORT_ATTEMPT)                                                    \
  X(release, Release, RELEASE)                                                                     \
  X(released, Released, RELEASED)                                                                  \
  X(finish, Finish, FINISH)                                                                        \
  X(inquiry, Inquiry, INQUIRY)                                                                     \
  X(inquiry_answer, InquiryAnswer, INQUIRY_ANSWER)                                                 \
  X(pressure, Pressure, PRESSURE)                                                                  \
  X(new_epoch, NewEpoch, NEW_EPOCH)                                                                \
  X(hold, Hold, HOLD)                                                                              \
  X(held, Held, HELD)                                                                              \
  X(let_go, LetGo, LET_GO)                                                                         \
  X(node_begin, NodeBegin, NODE_BEGIN)                                                             \
  X(node_changed, NodeChanged, NODE_CHANGED)                                                       \
  X(pod_arrived, PodArrived, POD_ARRIVED)                                                          \
  X(pod_left, PodLeft, POD_LEFT)                                                                   \
  X(room, Room, ROOM)                                                                              \
  X(may_bind, MayBind, MAY_BIND)                                                                   \
  X(may_bind_answer, MayBindAnswer, MAY_BIND_ANSWER)                                               \
  X(view_delta, ViewDelta, VIEW_DELTA)                                                             \
  X(view_wanted, ViewWanted, VIEW_WANTED)                                                          \
  X(node_seen, NodeSeen, NODE_SEEN)                                                                \
  X(node_gone, NodeGone, NODE_GONE)                                                                \
  X(view_trust, ViewTrust, VIEW_TRUST)                                                             \
  X(pod_seen, PodSeen, POD_SEEN)                                                                   \
  X(pod_gone, PodGone, POD_GONE)                                                                   \
  X(group_seen, GroupSeen, GROUP_SEEN)                                                             \
  X(group_gone, GroupGone, GROUP_GONE)                                                             \
  X(facts_synced, FactsSynced, FACTS_SYNCED)                                                       \
  X(bind, Bind, BIND)                                                                              \
  X(bind_answer, BindAnswer, BIND_ANSWER)                                                          \
  X(read_pod, ReadPod, READ_POD)                                                                   \
  X(touch, Touch, TOUCH)                                                                           \
  X(pod_read, PodRead, POD_READ)                                                                   \
  X(evict, Evict, EVICT)                                                                           \
  X(victim_gone, VictimGone, VICTIM_GONE)                                                          \
  X(stop_evicting, StopEvicting, STOP_EVICTING)                                                    \
  X(eviction_stopped, EvictionStopped, EVICTION_STOPPED)                                           \
  X(set_condition, SetCondition, SET_CONDITION)                                                    \
  X(emit_event, EmitEvent, EMIT_EVENT)                                                             \
  X(victims_wanted, VictimsWanted, VICTIMS_WANTED)                                                 \
  X(victims_answer, VictimsAnswer, VICTIMS_ANSWER)                                                 \
  X(inspect, Inspect, INSPECT)                                                                     \
  X(inspected, Inspected, INSPECTED)                                                               \
  X(gang_deleted, GangDeleted, GANG_DELETED)                                                       \
  X(gangs_kept, GangsKept, GANGS_KEPT)                                                             \
  X(fence_found, FenceFound, FENCE_FOUND)                                                          \
  X(node_leaves, NodeLeaves, NODE_LEAVES)                                                          \
  X(node_idle, NodeIdle, NODE_IDLE)                                                                \
  X(nodes_held, NodesHeld, NODES_HELD)                                                             \
  X(plan_order, PlanOrder, PLAN_ORDER)                                                             \
  X(slot_decide, SlotDecide, SLOT_DECIDE)                                                          \
  X(slot_decided, SlotDecided, SLOT_DECIDED)                                                       \
  X(slot_amend, SlotAmend, SLOT_AMEND)                                                             \
  X(slot_amended, SlotAmended, SLOT_AMENDED)                                                       \
  X(slots_forget, SlotsForget, SLOTS_FORGET)                                                       \
  X(slots_wanted, SlotsWanted, SLOTS_WANTED)                                                       \
  X(slots_told, SlotsTold, SLOTS_TOLD)                                                             \
  X(map_wanted, MapWanted, MAP_WANTED)                                                             \
  X(map_told, MapTold, MAP_TOLD)                                                                   \
  X(evict_degraded, EvictDegraded, EVICT_DEGRADED)                                                 \
  X(cancel_gang, CancelGang, CANCEL_GANG)                                                          \
  X(gang_cancelled, GangCancelled, GANG_CANCELLED)                                                 \
  X(pods_awaited, PodsAwaited, PODS_AWAITED)                                                       \
  X(guards_seen, GuardsSeen, GUARDS_SEEN)                                                          \
  X(offers_wanted, OffersWanted, OFFERS_WANTED)                                                    \
  X(offers, Offers, OFFERS)                                                                        \
  X(named_wanted, NamedWanted, NAMED_WANTED)                                                       \
  X(named_told, NamedTold, NAMED_TOLD)

namespace tutti::protocol {
namespace codec {
namespace {

static_assert(static_cast<int>(wire::RoleKind::DECISIONS)
              == static_cast<int>(role_kind::decisions));
static_assert(static_cast<int>(wire::Phase::DEGRADED) == static_cast<int>(phase::degraded));
static_assert(static_cast<int>(wire::ReasonCode::SCHEDULER_ERROR)
              == static_cast<int>(base::reason_code::scheduler_error));
static_assert(static_cast<int>(wire::AttemptOutcome::STOPPED)
              == static_cast<int>(attempt_outcome::stopped));
static_assert(static_cast<int>(wire::BindVerdict::REFUSED)
              == static_cast<int>(bind_verdict::refused));
static_assert(static_cast<int>(wire::PodState::TERMINAL) == static_cast<int>(pod_state::terminal));

struct put_message {
  writer& io;
  wire::Message::Builder to;

#define TUTTI_PUT(type, Name, NAME)                                                                \
  void operator()(const type& x) {                                                                 \
    describe(io, to.init##Name(), x);                                                              \
  }
  TUTTI_MESSAGES(TUTTI_PUT)
#undef TUTTI_PUT
};

template <class T, class R>
message take(reader& io, R from) {
  T x;
  describe(io, from, x);
  return x;
}

message take_message(wire::Message::Reader from, reader& io) {
  switch (from.which()) {
#define TUTTI_TAKE(type, Name, NAME)                                                               \
  case wire::Message::NAME:                                                                        \
    return take<type>(io, from.get##Name());
    TUTTI_MESSAGES(TUTTI_TAKE)
#undef TUTTI_TAKE
  }
  io.met_newer = true;
  return view_wanted{};
}

capnp::Data::Reader data_of(const std::string& x) {
  return {reinterpret_cast<const kj::byte*>(x.data()), x.size()};
}

std::string text_of(capnp::Data::Reader x) {
  return {reinterpret_cast<const char*>(x.begin()), x.size()};
}

void put_tables(writer& io, wire::Envelope::Builder to) {
  if (!io.shapes.all().empty()) {
    auto list = to.initShapes(static_cast<unsigned>(io.shapes.all().size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      const auto& x = *io.shapes.all()[i];
      list[i].setId(x.id.value);
      list[i].setBlob(data_of(x.blob));
      describe(io, list[i].initTakes(), x.takes);
    }
  }
  if (!io.classes.all().empty()) {
    auto list = to.initClasses(static_cast<unsigned>(io.classes.all().size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setId(io.classes.all()[i]->id.value);
      list[i].setBlob(data_of(io.classes.all()[i]->blob));
    }
  }
  put_ties(io, to);
}

void take_tables(wire::Envelope::Reader from, reader& io) {
  for (auto x : from.getShapes()) {
    auto made = std::make_shared<shape>();
    made->id = {x.getId()};
    made->blob = text_of(x.getBlob());
    describe(io, x.getTakes(), made->takes);
    io.shapes.push_back(std::move(made));
  }
  for (auto x : from.getClasses())
    io.classes.push_back(
        std::make_shared<node_class>(node_class{{x.getId()}, text_of(x.getBlob())}));
  take_ties(from, io);
}

} // namespace
} // namespace codec

std::string encode(const envelope& x) {
  auto bytes = codec::write_bytes<wire::Envelope>([&](wire::Envelope::Builder to) {
    codec::writer io;
    codec::describe(io, to.initSender(), x.from);
    codec::describe(io, to.initReceiver(), x.to);
    std::visit(codec::put_message{io, to.initMessage()}, x.what);
    codec::put_tables(io, to);
  });
  ensure(bytes.size() <= base::limits::frame_bytes_max, bytes.size(), name_of(x.what));
  return bytes;
}

base::result<envelope> decode_envelope(std::string_view bytes) {
  if (bytes.size() > base::limits::frame_bytes_max)
    return base::error{base::code::out_of_range,
                       fmt::format("envelope of {} bytes, at most {} are taken", bytes.size(),
                                   base::limits::frame_bytes_max)};
  return codec::read_bytes<wire::Envelope, envelope>(
      bytes, "envelope", [](wire::Envelope::Reader from, codec::reader& io) {
        envelope x;
        codec::take_tables(from, io);
        codec::describe(io, from.getSender(), x.from);
        codec::describe(io, from.getReceiver(), x.to);
        x.what = codec::take_message(from.getMessage(), io);
        return x;
      });
}

} // namespace tutti::protocol
