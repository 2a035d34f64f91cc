# What is said on a connection between two processes outside of any envelope. The rules for changes
# are those of messages.capnp.
@0xd1f9b7f6a2c3e581;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tutti::protocol::wire");

# The greeting of each side of a connection between two replicas (protocol/link_frames.hpp), outside
# of any envelope. Whoever speaks `version` understands every version from `oldest` on.
struct LinkHello @0xf9ea0a758dda308a {
  version @0 :UInt16;
  oldest @1 :UInt16;
  cluster @2 :Text; # uid of the namespace kube-system; empty: not known yet
  replica @3 :Text;
  purpose @4 :UInt8; # what the connection is for: 0 = between replicas, 1 = a scheduler at a bridge
}
