// How frames stand one behind another on a connection between two replicas, or of a scheduler at
// its bridge: lengths, kinds, and the greeting. Pure: bytes in, frames out; `actors/tcp_links.hpp`
// has the sockets.
//
//     frame  = size  kind  three zero bytes  body
//     size   = u32, little endian: the bytes of the body
//     kind   = u8: 1 hello (links.capnp), 2 heartbeat (no body), 3 envelope (messages.capnp),
//              4 exchange (bridge.capnp)
//
// The first frame of each side is its hello. Kinds that a reader does not know are passed over, so
// that a later version may say more; a byte that must be zero and is not, is of a version that had
// to be agreed upon in the greeting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.hpp"
#include "base/result.hpp"

namespace tutti::protocol {

enum class frame_kind : std::uint8_t { hello = 1, heartbeat = 2, envelope = 3, exchange = 4 };

/// What a connection is for: both sides must mean the same.
enum class link_purpose : std::uint8_t { replicas = 0, bridge = 1 };

/// The version of frames that this program speaks, and the oldest that it still understands.
inline constexpr std::uint16_t link_version = 1;
inline constexpr std::uint16_t link_version_oldest = 1;
/// A greeting is short: whoever has not greeted makes nobody keep more than this.
inline constexpr std::size_t hello_bytes_max = 4096;

/// Lower case letters, digits and "-", which is neither first nor last; at most so many. With
/// "tutti-" in front it is the name of a Lease and the value of a label.
inline constexpr std::size_t replica_name_bytes_max = 57;
bool is_replica_name(std::string_view text);

/// Who is at one end of a connection.
struct link_hello {
  std::uint16_t version = link_version;
  std::uint16_t oldest = link_version_oldest;
  std::string cluster; ///< empty: not known yet
  std::string replica;
  link_purpose purpose = link_purpose::replicas;
  friend bool operator==(const link_hello&, const link_hello&) = default;
};

/// The body of a hello.
std::string encode(const link_hello& x);
/// Errors as `decode_envelope`; `bad_input` if it says a name that no replica can have.
base::result<link_hello> decode_link_hello(std::string_view bytes);
/// Whether the two can talk. `newer_format`: one of them is too old for the other; `foreign`: they
/// serve two clusters; `bad_input`: one of them is a bridge, or calls one, and the other does not;
/// `already_exists`: two replicas have the same name.
base::result<void> check_hello(const link_hello& ours, const link_hello& theirs);

/// A whole frame.
std::string frame_of(frame_kind kind, std::string_view body = {});

struct link_frame {
  frame_kind kind{};
  std::string body;
};

/// Cuts what a connection delivers, in pieces of any size, into frames. Keeps no more than one
/// frame and one piece, whatever a length claims.
class frame_reader {
public:
  explicit frame_reader(std::size_t body_most) : body_most_(body_most) {}

  /// From the next frame on.
  void allow(std::size_t body_most) { body_most_ = body_most; }
  void take(std::string_view bytes);
  /// The next whole frame; nothing if bytes are missing. `out_of_range` for a body above what is
  /// allowed, `newer_format` for a head that is of no known version: the connection is of no use
  /// any more, and every later call says the same.
  base::result<std::optional<link_frame>> next();
  /// Frames of unknown kinds that were passed over.
  std::size_t passed_over() const { return passed_over_; }

private:
  std::size_t body_most_;
  std::string bytes_;
  std::size_t used_ = 0; ///< of `bytes_`
  std::size_t passed_over_ = 0;
};

} // namespace tutti::protocol
