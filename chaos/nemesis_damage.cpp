// What no process makes by itself: a damaged record, and frames of a version that is not here yet.
#include "chaos/nemesis.hpp"

#include <fmt/format.h>

#include "actors/replica.hpp"
#include "base/ensure.hpp"
#include "protocol/messages_codec.hpp"

namespace tutti::chaos {

namespace {

using persistence::family;

/// Flips a byte in the middle of the nth record, from the first again after the last. The
/// checkpoints, decisions and journal count; what is not of the store's own form does not. False if
/// there is none.
bool damage(persistence::disk& on, std::uint64_t nth) {
  std::vector<std::string*> all;
  for (const auto where : {family::journal, family::decisions, family::checkpoint})
    for (auto& [key, value] : on.of(where))
      all.push_back(&value);
  if (all.empty())
    return false;
  auto& bytes = *all[nth % all.size()];
  ensure(!bytes.empty(), all.size());
  auto& hit = bytes[bytes.size() / 2];
  hit = static_cast<char>(hit ^ 0x5a);
  return true;
}

/// The frame with the first of its aligned 16-bit fields that is `from` made `to`: the tag of a
/// union, if nothing before it has that value.
std::string with_tag(std::string frame, std::size_t from, char to) {
  const std::string tag{static_cast<char>(from), '\0'};
  for (std::size_t at = 8; at + 1 < frame.size(); at += 2) // behind the header
    if (frame.compare(at, 2, tag) == 0) {
      frame[at] = to;
      return frame;
    }
  ensure(false, from);
  return frame;
}

/// As a later version might say it: of a kind that is not known here, or from such a role.
std::string alien_frame(bool is_role) {
  using namespace protocol;
  constexpr char unknown_kind = 120;
  if (is_role)
    return with_tag(encode(envelope{to(role_kind::admin), to_shard({0}), try_gang{}}),
                    static_cast<std::size_t>(role_kind::admin), unknown_kind);
  const message last{inspected{}};
  return with_tag(encode(envelope{to(role_kind::node), to(role_kind::node), last}), last.index(),
                  unknown_kind);
}

} // namespace

/// F12: whoever finds a damaged record serves nothing. What an operator does then: an empty disk.
/// On a full one nothing is read (F9).
bool nemesis::corrupt(const action& x) {
  auto* p = process(x);
  if (p == nullptr || !p->is_up() || p->is_stopping())
    return false;
  p->disarm();
  p->crash(0);
  const bool is_damaged = damage(p->disk(), static_cast<std::uint64_t>(number(x, "nth")));
  if (is_damaged) {
    const auto began = p->start();
    const bool is_full = p->free_bytes() != UINT64_MAX;
    if (began)
      broken_ = {"S11", on_.time().now(), x.target + " begins on a damaged record"};
    else if (began.error().what() != (is_full ? base::code::io : base::code::corrupt))
      broken_ = {"S11", on_.time().now(),
                 x.target + " does not call its record damaged: " + began.error().message()};
    if (began)
      return false;
    p->lose_disk();
  }
  const auto down = time_of(x, "down");
  on_.start_again(*p, down > base::duration{0} ? down : usual_outage);
  return is_damaged;
}

/// F26: refused, noted, and nothing else.
bool nemesis::alien(const action& x) {
  auto* p = process(x);
  if (p == nullptr || !p->is_up() || on_.processes() == 1)
    return false;
  const auto& from = on_.at(p == &on_.at(0) ? 1 : 0).name();
  for (const bool is_role : {false, true})
    p->replica()->hear(from, alien_frame(is_role));
  return true;
}

} // namespace tutti::chaos
