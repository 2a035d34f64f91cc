// The greeting of a link to bytes and back.
#include "protocol/codec_fields.hpp"
#include "protocol/link_frames.hpp"
#include "protocol/links.capnp.h"

namespace tutti::protocol {

std::string encode(const link_hello& x) {
  return codec::write_bytes<wire::LinkHello>([&](wire::LinkHello::Builder to) {
    to.setVersion(x.version);
    to.setOldest(x.oldest);
    to.setCluster(x.cluster);
    to.setReplica(x.replica);
    to.setPurpose(static_cast<std::uint8_t>(x.purpose));
  });
}

base::result<link_hello> decode_link_hello(std::string_view bytes) {
  auto x = codec::read_bytes<wire::LinkHello, link_hello>(
      bytes, "hello", [](wire::LinkHello::Reader from, codec::reader&) {
        return link_hello{from.getVersion(), from.getOldest(), from.getCluster().cStr(),
                          from.getReplica().cStr(), static_cast<link_purpose>(from.getPurpose())};
      });
  if (x && !is_replica_name(x->replica))
    return base::error{base::code::bad_input, "a hello with a name that no replica has"};
  return x;
}

} // namespace tutti::protocol
