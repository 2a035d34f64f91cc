# What roles say to each other when the two ends are different processes: one Envelope per message.
#
# On the wire and in the simulator an envelope is one Cap'n Proto message (flat, unpacked); whatever
# carries it knows its length. The receiver reads the envelope with a traversal limit made from that
# length. Rules for changes, so that two versions can talk during a rolling upgrade:
#
#   * A field is only ever added, at the end, with a meaning for its default; unknown fields are
#     ignored. Numbers are never reused. Every file and struct has a fixed id.
#   * A new message is a new member of `Message`. A receiver that does not know it refuses it
#     ("newer format"), and so it does with an unknown enumerant. It does not drop the connection.
#   * Enumerants stand in the order of their C++ twins (protocol/*.hpp); new ones go to the end.
#
# What the messages mean is said once, in protocol/messages.hpp; fields have the same names here.
#
# Shapes, classes and ties are few and their blobs are long, so an envelope carries each once, in a
# table, and a field that names one holds its place in the table plus one; 0 = none.
@0xa8f384bf578d24e4;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tutti::protocol::wire");

using import "facts.capnp".Explanation;
using import "facts.capnp".Gang;
using import "facts.capnp".GroupFacts;
using import "facts.capnp".NodeFacts;
using import "facts.capnp".PodFacts;
using import "facts.capnp".ReasonCode;
using import "facts.capnp".Shortage;
using import "records.capnp".AttemptId;
using import "records.capnp".Decision;
using import "records.capnp".Footprint;
using import "records.capnp".GuardId;
using import "records.capnp".GuardVersion;
using import "records.capnp".BeforeBindWrite;
using import "records.capnp".HostPort;
using import "records.capnp".ObjectName;
using import "records.capnp".Plan;
using import "records.capnp".Resources;
using import "records.capnp".Seat;
using import "records.capnp".Slice;
using import "records.capnp".Ties;
using import "records.capnp".Victim;

# ------------------------------------------------------------------ envelope

struct Envelope @0x85380d220a1aaa2a {
  sender @0 :Address;
  receiver @1 :Address;
  shapes @2 :List(Shape);
  classes @3 :List(NodeClass);
  message @4 :Message;
  ties @5 :List(Ties);
}

struct Address @0xad4856cc2a4ec082 {
  kind @0 :RoleKind;
  index @1 :UInt32;
  key @2 :Text;
}

struct Shape @0x9504b8b69d288ced {
  id @0 :UInt64;
  blob @1 :Data; # canonical; only api reads it
  takes @2 :Footprint;
}

struct NodeClass @0xce3eeb99c88fa417 {
  id @0 :UInt64;
  blob @1 :Data;
}

struct Message @0xd2b5bb9e280f4ffa {
  union {
    tryGang @0 :TryGang;
    beginAttempt @1 :BeginAttempt;
    resumeDecision @2 :ResumeDecision;
    attemptOver @3 :AttemptOver;
    gangProgress @4 :GangProgress;
    lastLook @5 :LastLook;
    lastLookAnswer @6 :LastLookAnswer;
    planRequest @7 :PlanRequest;
    planAnswer @8 :PlanAnswer;
    planDropped @9 :PlanDropped;
    viewGrew @10 :ViewGrew;
    prepare @11 :Prepare;
    vote @12 :Vote;
    commit @13 :Commit;
    ack @14 :Ack;
    abortAttempt @15 :AbortAttempt;
    release @16 :Release;
    released @17 :Released;
    finish @18 :Finish;
    inquiry @19 :Inquiry;
    inquiryAnswer @20 :InquiryAnswer;
    pressure @21 :Pressure;
    newEpoch @22 :NewEpoch;
    hold @23 :Hold;
    held @24 :Held;
    letGo @25 :LetGo;
    nodeBegin @26 :NodeBegin;
    nodeChanged @27 :NodeChanged;
    podArrived @28 :PodArrived;
    podLeft @29 :PodLeft;
    room @30 :Room;
    mayBind @31 :MayBind;
    mayBindAnswer @32 :MayBindAnswer;
    viewDelta @33 :ViewDelta;
    viewWanted @34 :ViewWanted;
    nodeSeen @35 :NodeSeen;
    nodeGone @36 :NodeGone;
    viewTrust @37 :ViewTrust;
    podSeen @38 :PodSeen;
    podGone @39 :PodGone;
    groupSeen @40 :GroupSeen;
    groupGone @41 :GroupGone;
    factsSynced @42 :FactsSynced;
    bind @43 :Bind;
    bindAnswer @44 :BindAnswer;
    readPod @45 :ReadPod;
    touch @46 :Touch;
    podRead @47 :PodRead;
    evict @48 :Evict;
    victimGone @49 :VictimGone;
    stopEvicting @50 :StopEvicting;
    evictionStopped @51 :EvictionStopped;
    setCondition @52 :SetCondition;
    emitEvent @53 :EmitEvent;
    victimsWanted @54 :VictimsWanted;
    victimsAnswer @55 :VictimsAnswer;
    inspect @56 :Inspect;
    inspected @57 :Inspected;
    gangDeleted @58 :GangDeleted;
    gangsKept @59 :GangsKept;
    fenceFound @60 :FenceFound;
    nodeLeaves @61 :NodeLeaves;
    nodeIdle @62 :NodeIdle;
    nodesHeld @63 :NodesHeld;
    planOrder @64 :PlanOrder;
    slotDecide @65 :SlotDecide;
    slotDecided @66 :SlotDecided;
    slotAmend @67 :SlotAmend;
    slotAmended @68 :SlotAmended;
    slotsForget @69 :SlotsForget;
    slotsWanted @70 :SlotsWanted;
    slotsTold @71 :SlotsTold;
    mapWanted @72 :MapWanted;
    mapTold @73 :MapTold;
    evictDegraded @74 :EvictDegraded;
    cancelGang @75 :CancelGang;
    gangCancelled @76 :GangCancelled;
    podsAwaited @77 :PodsAwaited;
    guardsSeen @78 :GuardsSeen;
    offersWanted @79 :OffersWanted;
    offers @80 :Offers;
    namedWanted @81 :NamedWanted;
    namedTold @82 :NamedTold;
  }
}

# ------------------------------------------------------------------ enumerations

enum AttemptOutcome @0xf560eaf0516d2ca4 {
  bound @0;
  refused @1;
  conflict @2;
  withdrawn @3;
  degraded @4;
  stopped @5;
}

enum BindVerdict @0xc1f56915443a5a1c {
  bound @0;
  moved @1;
  elsewhere @2;
  gone @3;
  replaced @4;
  gated @5;
  forbidden @6;
  refused @7;
}

enum PodState @0xbc1861753fbeb6a9 {
  pending @0;
  bound @1;
  gone @2;
  replaced @3;
  terminal @4;
}

enum Phase @0xbb5332d5437ab948 {
  gated @0;
  queued @1;
  backingOff @2;
  planning @3;
  preparing @4;
  decided @5;
  evicting @6;
  binding @7;
  bound @8;
  withdrawing @9;
  degraded @10;
}

enum RoleKind @0x8ad2d666d8857b4f {
  node @0;
  shard @1;
  partition @2;
  gang @3;
  topology @4;
  planner @5;
  queue @6;
  preemption @7;
  mirror @8;
  binder @9;
  evictor @10;
  status @11;
  admin @12;
  keeper @13;
  decisions @14;
}

# ------------------------------------------------------------------ messages

struct TryGang @0xbbcba87d318f0067 {
  who @0 :Gang;
  tries @1 :UInt32;
}

struct BeginAttempt @0xe1d63ff3a2aac0f3 {
  attempt @0 :AttemptId;
  lowWater @1 :UInt64;
  partition @2 :UInt32;
  who @3 :Gang;
  tries @4 :UInt32;
}

struct ResumeDecision @0xa2253ec4fad35421 {
  what @0 :Decision;
  owner @1 :UInt64;
  partition @2 :UInt32;
  lowWater @3 :UInt64;
}

struct AttemptOver @0x94fa45ed7fde6426 {
  attempt @0 :AttemptId;
  outcome @1 :AttemptOutcome;
  why @2 :Explanation;
  membersBound @3 :List(Text);
  bound @4 :UInt32;
}

struct GangDeleted @0xae53dc5ad8ff64fe { gang @0 :Text; }

struct GangsKept @0x963cfe2feedbf211 { gangs @0 :List(Text); }

struct GangProgress @0xae1fe19d24d4aa97 {
  attempt @0 :AttemptId;
  name @1 :ObjectName;
  at @2 :Phase;
  reason @3 :ReasonCode;
  members @4 :UInt32;
  bound @5 :UInt32;
}

struct LastLook @0xf30742747b4d9b4c { attempt @0 :AttemptId; }

struct LastLookAnswer @0xf43c18cd78dc5501 {
  attempt @0 :AttemptId;
  now @1 :Gang;
}

struct PlanOrder @0xb1d70c3f5a92e86d { gangs @0 :List(Text); }

struct PlanRequest @0xcb12a6f22fe14518 {
  attempt @0 :AttemptId;
  who @1 :Gang;
}

struct PlanAnswer @0xdfd708cab38948f6 {
  attempt @0 :AttemptId;
  placement @1 :Plan;
  whyNot @2 :Explanation;
}

struct PlanDropped @0xed242c5a3dfd7ff4 { attempt @0 :AttemptId; }

struct ViewGrew @0x99df6f3ae481c5c6 {
  viewVersion @0 :UInt64;
  grown @1 :UInt32;
  mostFree @2 :Resources;
}

struct Prepare @0xefd5c949cb4ac51e {
  attempt @0 :AttemptId;
  lowWater @1 :UInt64;
  coordinator @2 :UInt32;
  asked @3 :Slice;
  fast @4 :Bool;
  priority @5 :Int32;
}

struct Vote @0xbb28283d86ae3cc1 {
  attempt @0 :AttemptId;
  shard @1 :UInt32;
  shardEpoch @2 :UInt64;
  incarnation @3 :UInt64;
  yes @4 :Bool;
  whyNot @5 :Explanation;
  holders @6 :List(AttemptId);
}

struct Commit @0xfafbaa0631a02437 {
  attempt @0 :AttemptId;
  lowWater @1 :UInt64;
  coordinator @2 :UInt32;
  asked @3 :Slice;
}

struct Ack @0xb41a4e5d8bff68d0 {
  attempt @0 :AttemptId;
  shard @1 :UInt32;
  shardEpoch @2 :UInt64;
  refused @3 :Bool;
  why @4 :Explanation;
}

struct AbortAttempt @0xc72a0983be5aca1f {
  attempt @0 :AttemptId;
  lowWater @1 :UInt64;
}

struct Release @0x8e81b89cb7c8df34 {
  attempt @0 :AttemptId;
  pods @1 :List(Text);
}

struct Released @0xfcd8da3349443b65 {
  attempt @0 :AttemptId;
  shard @1 :UInt32;
  pods @2 :List(Text);
}

struct Finish @0x811a08ae7624f6ed { attempt @0 :AttemptId; }

struct Inquiry @0xf8391126053264a4 {
  attempt @0 :AttemptId;
  shard @1 :UInt32;
}

struct InquiryAnswer @0xdd5e3d149a196772 {
  attempt @0 :AttemptId;
  done @1 :Bool;
}

struct Pressure @0xc88c6bcac838b7d0 {
  attempt @0 :AttemptId;
  shard @1 :UInt32;
  node @2 :Text;
}

struct NewEpoch @0xb44023ea4971d437 {
  partition @0 :UInt32;
  epoch @1 :UInt64;
  lowWater @2 :UInt64;
}

struct Hold @0xd886c0b79d7f71eb {
  attempt @0 :AttemptId;
  seats @1 :List(Seat);
  victims @2 :List(Victim);
  factsHash @3 :UInt64;
}

struct Held @0xb35e76411c7ecac2 {
  attempt @0 :AttemptId;
  node @1 :Text;
  yes @2 :Bool;
  moved @3 :Bool;
  shortPod @4 :Text;
  lacking @5 :Shortage;
  holders @6 :List(AttemptId);
  free @7 :Footprint;
}

struct LetGo @0x91fe96123c986641 {
  attempt @0 :AttemptId;
  pods @1 :List(Text);
}

struct Resident @0xf7de454dd63bbf58 {
  pod @0 :Text;
  takes @1 :Footprint;
}

struct NodeBegin @0x930a55e917ab2ef8 {
  facts @0 :NodeFacts;
  residents @1 :List(Resident);
  reservations @2 :List(Hold);
}

struct NodeChanged @0xa2d4b42b332c898b { facts @0 :NodeFacts; }

struct PodArrived @0xbd6c54373ca465a4 {
  node @0 :Text;
  pod @1 :Text;
  takes @2 :Footprint;
  ties @3 :UInt32; # place in `ties`, 0 = none
  priority @4 :Int32;
}

struct PodLeft @0xe490d39c997e4d09 {
  node @0 :Text;
  pod @1 :Text;
}

struct Room @0xededff882dfef4f7 {
  node @0 :Text;
  free @1 :Footprint;
}

struct MayBind @0xbf45e53a7969ca10 {
  attempt @0 :AttemptId;
  node @1 :Text;
  pods @2 :List(Text);
}

struct MayBindAnswer @0x8c5a8c1a433a4155 {
  attempt @0 :AttemptId;
  node @1 :Text;
  allowed @2 :List(Text);
  refused @3 :List(Text);
  isGone @4 :Bool;
}

struct TiedPods @0xe91f4c83a0d7b625 {
  kind @0 :UInt32; # place in `ties`
  count @1 :UInt32;
}

struct NodeView @0xb8d7de2a0c3ddef8 {
  uid @0 :Text;
  facts @1 :NodeFacts;
  free @2 :Resources;
  portsTaken @3 :List(HostPort);
  isGone @4 :Bool;
  tied @5 :List(TiedPods);
}

struct ViewDelta @0xaa97e19be5e83447 {
  shard @0 :UInt32;
  incarnation @1 :UInt64;
  version @2 :UInt64;
  isWhole @3 :Bool;
  nodes @4 :List(NodeView);
  settled @5 :List(AttemptId);
  guards @6 :List(GuardView);
  guardsFrom @7 :UInt64;
  guardsKnown @8 :GuardVersion;
}

struct GuardView @0xb1f7c2a94e60d38b {
  id @0 :GuardId;
  any @1 :GuardVersion;
  exclusive @2 :GuardVersion;
}

struct ViewWanted @0xcb55a745ec312449 { afterAList @0 :Bool; }

struct NodeSeen @0xb534dc99360a872f { facts @0 :NodeFacts; }

struct NodeGone @0xdd3986c59f4f0566 { uid @0 :Text; }

struct NodeLeaves @0x9c3f60b7a2d1e845 {
  facts @0 :NodeFacts;
  move @1 :UInt64;
}

struct NodeIdle @0xe07a4d19c85b3f62 {
  node @0 :Text;
  move @1 :UInt64;
}

struct NodesHeld @0xd64b8e2f0197ca35 {
  shard @0 :UInt32;
  nodes @1 :List(Text);
}

struct PodsAwaited @0xd3f1a0b7c65e2948 {
  shard @0 :UInt32;
  pods @1 :List(PodLeft);
}

struct GuardsSeen @0xc5a8e27f1b60d394 { guards @0 :List(GuardId); }

struct ViewTrust @0xa7ec6843720ed1b7 {
  fresh @0 :Bool;
  isAnew @1 :Bool;
}

struct PodSeen @0x8fc0e3a62094062c { pod @0 :PodFacts; }

struct PodGone @0xe4a8d2c95ccc2599 { uid @0 :Text; }

struct GroupSeen @0xc0143f753d05a1cd { group @0 :GroupFacts; }

struct GroupGone @0xd18b98bb6a851758 {
  uid @0 :Text;
  name @1 :ObjectName;
}

struct FactsSynced @0xa18617d8f11428e3 {}

struct FenceFound @0xdfa4d6a264c115a9 { highest @0 :UInt64; }

struct Bind @0xd4b1fb269fbef63d {
  attempt @0 :AttemptId;
  pod @1 :ObjectName;
  uid @2 :Text;
  resourceVersion @3 :Text;
  node @4 :Text;
  partition @5 :UInt32;
  fence @6 :UInt64;
  before @7 :List(BeforeBindWrite);
}

struct BindAnswer @0xdeb21e43893538c8 {
  attempt @0 :AttemptId;
  uid @1 :Text;
  verdict @2 :BindVerdict;
  resourceVersion @3 :Text;
  node @4 :Text;
}

struct ReadPod @0xb96afaa5eb060ba6 {
  attempt @0 :AttemptId;
  pod @1 :ObjectName;
  uid @2 :Text;
}

struct Touch @0x91446d661c26777c {
  attempt @0 :AttemptId;
  pod @1 :ObjectName;
  uid @2 :Text;
  partition @3 :UInt32;
  fence @4 :UInt64;
}

struct PodRead @0xea97b65e11fd6a19 {
  attempt @0 :AttemptId;
  uid @1 :Text;
  state @2 :PodState;
  touched @3 :Bool;
  resourceVersion @4 :Text;
  node @5 :Text;
}

struct Evict @0xa330816611bfa926 {
  attempt @0 :AttemptId;
  gang @1 :ObjectName;
  who @2 :Victim;
  fence @3 :UInt64;
  why @4 :Text;
  event @5 :Text;
  isForPod @6 :Bool;
}

struct VictimGone @0x9730ed8108773b33 {
  attempt @0 :AttemptId;
  pod @1 :Text;
}

struct StopEvicting @0xb406a74f758b1839 {
  attempt @0 :AttemptId;
  who @1 :List(Victim);
  fence @2 :UInt64;
}

struct EvictionStopped @0xe5695d4bb3fbec40 { attempt @0 :AttemptId; }

struct SetCondition @0xb9b91876a220b8bf {
  name @0 :ObjectName;
  isPod @1 :Bool;
  uid @2 :Text;
  type @3 :Text;
  status @4 :Bool;
  reason @5 :Text;
  message @6 :Text;
}

struct EmitEvent @0x952028216c6036e0 {
  about @0 :ObjectName;
  isPod @1 :Bool;
  uid @2 :Text;
  isWarning @3 :Bool;
  reason @4 :Text;
  action @5 :Text;
  text @6 :Text;
}

struct EvictDegraded @0x8de1785dac845f7c {
  gang @0 :Text;
  name @1 :ObjectName;
  members @2 :List(Victim);
  why @3 :Text;
}

struct CancelGang @0xb3786f6a4a856891 {
  id @0 :UInt64;
  gang @1 :Text;
  name @2 :ObjectName;
  isLonePod @3 :Bool;
  pods @4 :List(Text);
  reason @5 :Text;
}

struct GangCancelled @0x95dd54573c35bed9 {
  id @0 :UInt64;
  gang @1 :Text;
  isDone @2 :Bool;
  text @3 :Text;
}

struct VictimsWanted @0xcfe889287a51cb5e {
  attempt @0 :AttemptId;
  who @1 :Gang;
  whyNot @2 :Explanation;
}

struct VictimsAnswer @0xd22b7ce46c2ef40c {
  attempt @0 :AttemptId;
  placement @1 :Plan;
  refusal @2 :ReasonCode;
  why @3 :Explanation;
}

struct OffersWanted @0xd0b64a1c93e7f215 {
  attempt @0 :AttemptId;
  below @1 :Int32;
}

struct Evictable @0x9b27c5e10fa3d648 {
  pod @0 :Text;
  name @1 :ObjectName;
  node @2 :Text;
  takes @3 :Footprint;
  ties @4 :UInt32; # place in `ties`, 0 = none
  startedMs @5 :Int64;
  graceMs @6 :Int64;
  budgets @7 :List(UInt32);
}

struct OfferUnit @0xf4c8170d6be2935a {
  name @0 :ObjectName;
  isGroup @1 :Bool;
  isLeaving @2 :Bool;
  isExempt @3 :Bool;
  priority @4 :Int32;
  gang @5 :Text;
  pods @6 :List(Evictable);
}

struct OfferBudget @0xa61d3f9852c0be74 {
  name @0 :ObjectName;
  allowed @1 :Int64;
}

struct Offers @0xc97e2054b18d6fa3 {
  attempt @0 :AttemptId;
  piece @1 :UInt32;
  pieces @2 :UInt32;
  isComplete @3 :Bool;
  units @4 :List(OfferUnit);
  budgets @5 :List(OfferBudget);
}

struct NamedWanted @0xe28b5d7f04c1a936 { attempt @0 :AttemptId; }

struct NamedTold @0x8d40f6b2a9e3175c {
  attempt @0 :AttemptId;
  shard @1 :UInt32;
  pods @2 :List(Text);
}

struct Inspect @0xf97a3823e7ef81a8 {
  id @0 :UInt64;
  what @1 :Text;
  name @2 :Text;
}

struct Inspected @0x908cc3cda7d6063b {
  id @0 :UInt64;
  json @1 :Text;
}

# ------------------------------------------------------------------ several replicas

struct SlotDecide @0xb16ef5bbea4653ee {
  gang @0 :Text;
  ordinal @1 :UInt64;
  what @2 :Decision;
}

struct SlotDecided @0x917a8ed3e5c97f2f {
  gang @0 :Text;
  ordinal @1 :UInt64;
  winner @2 :Decision;
  refusal @3 :Text;
}

struct Amendment @0xb7fde65d56ce9414 {
  by @0 :UInt64;
  cancel @1 :List(Text);
  adopt @2 :Bool;
  finish @3 :Bool;
  bound @4 :List(Text);
}

struct SlotAmend @0x97e388a75d084f44 {
  gang @0 :Text;
  ordinal @1 :UInt64;
  what @2 :Amendment;
}

struct SlotAmended @0xf44fff834c671b8a {
  gang @0 :Text;
  ordinal @1 :UInt64;
  isRefused @2 :Bool;
  now @3 :Decision;
}

struct SlotsForget @0xecb1cf8f8e7c2d74 { gang @0 :Text; }

struct SlotsWanted @0xd40c6cbc2d744dc3 { id @0 :UInt64; }

struct SlotsTold @0xf2f9ce9bbc957760 {
  id @0 :UInt64;
  all @1 :List(Decision);
}

struct MapWanted @0xd5f6b965c8731e9c { attempt @0 :AttemptId; }

struct MapTold @0xd50e224422b9f206 {
  attempt @0 :AttemptId;
  shardEpochs @1 :List(UInt64);
}
