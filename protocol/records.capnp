# What participants and coordinators keep on disk: journal records and decisions.
#
# One `Record` is the payload of one entry of the journal, one `Decision` that of one decision slot;
# persistence/FORMAT.md has the frame around them. The structs of a plan are shared with
# messages.capnp. Rules for changes, so that an older and a newer program can read each other:
#
#   * A field is only ever added, at the end, with a meaning for its default. Numbers are never
#     reused.
#   * Every file and struct has a fixed id; renaming changes no bytes.
#   * A new kind of record is a new member of the union: an older program refuses it ("newer
#     format") instead of guessing. So it does with an enumerant that it does not know.
#   * Enumerants stand in the order of their C++ twins; new ones go to the end of both.
#
# Uids and names are opaque text. A number of the scheduler's own (ordinal, epoch, try, incarnation,
# shard) is unsigned; an amount is signed and in the exact unit of base/resources.hpp.
@0x820adb0f51ddafb2;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tutti::protocol::wire");

# ------------------------------------------------------------------ parts

struct AttemptId @0xd5b5bf6d6c437c3c {
  gang @0 :Text;      # uid of the root
  ordinal @1 :UInt64; # last decided + 1
  epoch @2 :UInt64;   # of the coordinator partition's owner
  tryNo @3 :UInt64;
}

struct ObjectName @0xa8925b91e44dec0a {
  space @0 :Text; # namespace
  name @1 :Text;
}

struct Amount @0xc37b7d56440da04e {
  name @0 :Text; # full name of an extended resource
  amount @1 :Int64;
}

struct Resources @0xa2607a2ac9cab18d {
  cpuMilli @0 :Int64;
  memoryBytes @1 :Int64;
  ephemeralBytes @2 :Int64;
  pods @3 :Int64;
  extended @4 :List(Amount); # ascending by name, no zero amounts
}

struct HostPort @0x90c1c3acb7ff7567 {
  ip @0 :Text;
  protocol @1 :Text;
  port @2 :Int32;
}

struct Footprint @0xaf45b6eaaea8934e {
  amounts @0 :Resources;
  ports @1 :List(HostPort);
}

struct BeforeBindWrite @0xb668bc964f791ea1 {
  method @0 :Text;
  path @1 :Text;
  contentType @2 :Text;
  body @3 :Text;
}

# ------------------------------------------------------------------ plan

struct Seat @0xe0db177f17176c25 {
  pod @0 :Text;
  podName @1 :Text;
  group @2 :UInt32;
  node @3 :Text;
  nodeName @4 :Text;
  takes @5 :Footprint;
  beforeBind @6 :List(BeforeBindWrite);
  ties @7 :UInt32; # place in the table of what the seat is part of, plus one; 0 = none
}

# What ties pods to each other. A record, a decision and an envelope carry each once, in a table.
struct Ties @0xb3d6f0a9c27e5184 {
  id @0 :UInt64;
  blob @1 :Data; # canonical; only api reads it
  hasTerms @2 :Bool;
}

struct Victim @0xb5d45327584d411b {
  pod @0 :Text;
  podName @1 :ObjectName;
  node @2 :Text;
  unit @3 :UInt32;
  priority @4 :Int32;
  graceMs @5 :Int64;
  gang @6 :Text;
  group @7 :Text;
}

struct GuardId @0xca46c87359c6f071 {
  kind @0 :Text;
  space @1 :Text;
  key @2 :Text;
}

struct GuardVersion @0xf493d9f342688fe3 {
  epoch @0 :UInt64;
  counter @1 :UInt64;
}

struct GuardUse @0xfe532b9cb47931c4 {
  id @0 :GuardId;
  isExclusive @1 :Bool;
  seen @2 :GuardVersion;
}

struct NodeQuote @0x9c64aeef4bdde332 {
  node @0 :Text;
  factsHash @1 :UInt64;
}

struct Slice @0xe8e7a29cf53c635c {
  shard @0 :UInt32;
  seats @1 :List(Seat);
  victims @2 :List(Victim);
  guards @3 :List(GuardUse);
  quotes @4 :List(NodeQuote);
  space @5 :Text;
  guardsKnown @6 :GuardVersion;
}

struct Plan @0xc6519685cee0bbb9 {
  slices @0 :List(Slice); # ascending by shard, one per shard
  domains @1 :List(Text);
  viewVersion @2 :UInt64;
  score @3 :Int64;
}

# ------------------------------------------------------------------ decision

enum Verdict @0x93f3671675e73925 {
  committed @0;
  aborted @1;
}

struct GangGroup @0xd450a13a3927092e {
  name @0 :Text;
  uid @1 :Text;
  minCount @2 :UInt32;
  topologyKey @3 :Text;
}

# What stands in a slot. `cancelled`, `adoptedBy` and `isDone` only grow; the rest is written once.
# `bound` is written with DONE, FNV-1a 64, mixed, of the uids of members: those who were given up
# and are bound all the same. Where the plan is dropped (groups, boundAlready, chosen, seatVersions
# and cancelled are empty then), all members that are bound.
struct Decision @0xef9bacfd46d17131 {
  by @0 :AttemptId;
  what @1 :Verdict;
  gangName @2 :ObjectName;
  isLonePod @3 :Bool;
  priority @4 :Int32;
  groups @5 :List(GangGroup);
  boundAlready @6 :List(UInt32);
  chosen @7 :Plan;
  seatVersions @8 :List(Text);
  cancelled @9 :List(Text);
  adoptedBy @10 :UInt64;
  isDone @11 :Bool;
  bound @12 :List(UInt64);
  ties @13 :List(Ties); # that seats of `chosen` name; empty where a message carries the decision
}

# ------------------------------------------------------------------ journal

# Both PREPARED and COMMITTED: the slice is there whole each time.
struct Reservation @0xbd42a26f7c65434c {
  attempt @0 :AttemptId;
  coordinator @1 :UInt32;
  asked @2 :Slice;
}

struct ReleaseRecord @0xb5fbae7f85acb1f0 {
  attempt @0 :AttemptId;
  pods @1 :List(Text); # empty = all of the attempt
}

struct EpochSeen @0xef4780f045db6ef7 {
  partition @0 :UInt32;
  seen @1 :UInt64;
  lowWater @2 :UInt64;
}

struct Life @0xc5060341cd412d75 {
  epoch @0 :UInt64;
  incarnation @1 :UInt64;
}

struct Record @0xdef7df27dbc7313a {
  union {
    prepared @0 :Reservation;
    committed @1 :Reservation;
    released @2 :ReleaseRecord;
    epochSeen @3 :EpochSeen;
    life @4 :Life;
  }
  ties @5 :List(Ties); # that seats name
}
