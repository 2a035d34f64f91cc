#include "protocol/link_frames.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.hpp"

namespace tutti::protocol {

using base::code;
using base::error;

namespace {

constexpr std::size_t head_bytes = 8;
/// What is used of the buffer is cut off when it is worth the copy.
constexpr std::size_t cut_from = 64u << 10;

std::uint32_t size_in(std::string_view head) {
  std::uint32_t out = 0;
  for (int i = 3; i >= 0; --i)
    out = out << 8 | static_cast<unsigned char>(head[static_cast<std::size_t>(i)]);
  return out;
}

bool is_known(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(frame_kind::hello)
         && kind <= static_cast<std::uint8_t>(frame_kind::exchange);
}

} // namespace

bool is_replica_name(std::string_view text) {
  const auto is_inner = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && text.size() <= replica_name_bytes_max && text.front() != '-'
         && text.back() != '-' && std::all_of(text.begin(), text.end(), is_inner);
}

base::result<void> check_hello(const link_hello& ours, const link_hello& theirs) {
  if (theirs.oldest > ours.version || theirs.version < ours.oldest)
    return error{code::newer_format,
                 fmt::format("replica {} speaks versions {} to {} of links, this one {} to {}",
                             theirs.replica, theirs.oldest, theirs.version, ours.oldest,
                             ours.version),
                 "upgrade one version after the other: neighbours understand each other"};
  if (!ours.cluster.empty() && !theirs.cluster.empty() && ours.cluster != theirs.cluster)
    return error{code::foreign, fmt::format("replica {} serves another cluster", theirs.replica),
                 "look at the addresses in the Leases of the replicas"};
  if (ours.purpose != theirs.purpose)
    return error{code::bad_input,
                 ours.purpose == link_purpose::bridge
                     ? fmt::format("{} speaks as one of several replicas does", theirs.replica)
                     : fmt::format("{} speaks as a bridge and its schedulers do", theirs.replica),
                 "--bridge wants the address of --listen of `tutti bridge`, replicas find each "
                 "other's --link by themselves"};
  if (ours.purpose == link_purpose::replicas && ours.replica == theirs.replica)
    return error{code::already_exists,
                 fmt::format("the other side is called {}, too", theirs.replica),
                 "give every replica a name of its own"};
  return {};
}

std::string frame_of(frame_kind kind, std::string_view body) {
  ensure(body.size() <= base::limits::frame_bytes_max, body.size());
  std::string out(head_bytes, '\0');
  for (std::size_t i = 0; i < 4; ++i)
    out[i] = static_cast<char>(body.size() >> (8 * i));
  out[4] = static_cast<char>(kind);
  out.append(body);
  return out;
}

void frame_reader::take(std::string_view bytes) {
  if (used_ == bytes_.size()) {
    bytes_.clear();
    used_ = 0;
  } else if (used_ >= cut_from) {
    bytes_.erase(0, used_);
    used_ = 0;
  }
  bytes_.append(bytes);
}

base::result<std::optional<link_frame>> frame_reader::next() {
  for (;;) {
    const auto rest = std::string_view{bytes_}.substr(used_);
    if (rest.size() < head_bytes)
      return std::optional<link_frame>{};
    const std::size_t size = size_in(rest);
    const auto kind = static_cast<std::uint8_t>(rest[4]);
    if (rest[5] != 0 || rest[6] != 0 || rest[7] != 0)
      return error{code::newer_format, "a frame whose head is of no known version"};
    if (size > body_most_)
      return error{code::out_of_range,
                   fmt::format("a frame of {} bytes, at most {} are taken", size, body_most_)};
    if (rest.size() - head_bytes < size)
      return std::optional<link_frame>{};
    used_ += head_bytes + size;
    if (is_known(kind))
      return std::optional{
          link_frame{static_cast<frame_kind>(kind), std::string{rest.substr(head_bytes, size)}}};
    ++passed_over_;
  }
}

} // namespace tutti::protocol
