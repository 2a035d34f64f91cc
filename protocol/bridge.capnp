# What a scheduler and its bridge say to each other, one message per frame of kind exchange: the
# scheduler asks, the bridge answers (protocol/bridge_frames.hpp). The rules for changes are those
# of messages.capnp.
@0xcb5a7c1e90d24f63;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tutti::protocol::wire");

struct BridgeFrame @0x9d1c8b54e0f7a236 {
  id @0 :UInt64; # of the exchange; the scheduler's
  union {
    request @1 :HttpRequest; # from the scheduler
    hangUp @2 :Void; # from the scheduler
    answered @3 :HttpAnswer; # these and all that follow: from the bridge
    unknown @4 :Text; # why
    opened @5 :Void;
    lines @6 :Data; # whole lines, each with its newline
    closed @7 :Text; # why; empty = an orderly end
  }
}

struct HttpRequest @0xe3f0b7d15a9c4286 {
  method @0 :Text;
  target @1 :Text;
  body @2 :Data;
  contentType @3 :Text;
  isStream @4 :Bool;
  isUrgent @5 :Bool;
}

struct HttpAnswer @0xb47e1d92c8035fa1 {
  status @0 :UInt16;
  body @1 :Data;
  retryAfterMs @2 :Int64;
}
