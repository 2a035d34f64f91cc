# What is known of nodes, pods and groups, and why something could not be placed: the parts of
# messages.capnp that are no message of their own. The rules for changes are said there.
@0xb547f0bf92c9ef88;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tutti::protocol::wire");

using import "records.capnp".GangGroup;
using import "records.capnp".ObjectName;
using import "records.capnp".Resources;

enum ReasonCode @0xf2080cddb75942c9 {
  none @0;
  waitingForMembers @1;
  gated @2;
  queuedBehind @3;
  quotaExceeded @4;
  insufficientResources @5;
  topologyTooFragmented @6;
  nodeConstraintsUnmet @7;
  neverFits @8;
  reserving @9;
  reservationConflict @10;
  shardUnavailable @11;
  viewStale @12;
  waitingForVictims @13;
  preemptionNotAllowed @14;
  preemptionWouldNotHelp @15;
  backingOff @16;
  binding @17;
  bindRefused @18;
  degraded @19;
  apiUnavailable @20;
  apiForbidden @21;
  undecided @22;
  paused @23;
  schedulerError @24;
}

struct Shortage @0xf9b564c3966ab4a9 {
  name @0 :Text;
  need @1 :Int64;
  room @2 :Int64;
}

struct NodeCount @0x9886012f193e590c {
  cause @0 :Text;
  nodes @1 :Int64;
}

struct DomainFit @0xc513325b73fa6076 {
  level @0 :Text;
  domain @1 :Text;
  wanted @2 :Int64;
  placed @3 :Int64;
}

struct Explanation @0xd8578749b2bccc59 {
  primary @0 :ReasonCode;
  others @1 :List(ReasonCode);
  nodesSeen @2 :Int64;
  nodesFit @3 :Int64;
  rejected @4 :List(NodeCount);
  closest @5 :List(DomainFit);
  wanted @6 :Int64;
  placed @7 :Int64;
  dimension @8 :Text;
  shortBy @9 :Int64;
  detail @10 :Text;
  viewVersion @11 :UInt64;
}

struct NodeFacts @0xb6ff905fc3716db5 {
  uid @0 :Text;
  name @1 :Text;
  kind @2 :UInt32; # place in `classes`, 0 = none
  allocatable @3 :Resources;
  hostName @4 :Text;
  domains @5 :List(Text);
  factsHash @6 :UInt64;
}

struct PodFacts @0xd9dd9c16fad7e135 {
  uid @0 :Text;
  name @1 :ObjectName;
  group @2 :Text;
  scheduler @3 :Text;
  priority @4 :Int32;
  neverPreempts @5 :Bool;
  isGated @6 :Bool;
  isTerminal @7 :Bool;
  isDeleting @8 :Bool;
  node @9 :Text;
  resourceVersion @10 :Text;
  createdMs @11 :Int64;
  kind @12 :UInt32; # place in `shapes`, 0 = none
  refused @13 :Text;
  ties @14 :UInt32; # place in `ties`, 0 = none
}

struct GroupFacts @0xd7d857c7d9923b2c {
  uid @0 :Text;
  name @1 :ObjectName;
  isBasic @2 :Bool;
  minCount @3 :UInt32;
  topologyKey @4 :Text;
  priority @5 :Int32;
  neverPreempts @6 :Bool;
  evictsWhole @7 :Bool;
  isDeleting @8 :Bool;
  hasStarted @9 :Bool;
  createdMs @10 :Int64;
  refused @11 :Text;
  isDegraded @12 :Bool;
}

struct Member @0xbd1a0a149c561372 {
  uid @0 :Text;
  name @1 :Text;
  group @2 :UInt32;
  kind @3 :UInt32; # place in `shapes`, 0 = none
  node @4 :Text;
  resourceVersion @5 :Text;
  ties @6 :UInt32; # place in `ties`, 0 = none
}

struct Gang @0xe2310d11519a14b6 {
  uid @0 :Text;
  name @1 :ObjectName;
  isLonePod @2 :Bool;
  priority @3 :Int32;
  hasStarted @4 :Bool;
  groups @5 :List(GangGroup);
  members @6 :List(Member);
  neverPreempts @7 :Bool;
}
