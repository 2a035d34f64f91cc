// Gangs that take each other's room away before either is decided (L3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace tutti::chaos {

/// A shard that votes no names who holds the room. If that is an attempt which is not decided
/// either, one of two rivals has lost a round; if both go on losing to each other, nobody starts.
///
/// A round is lost by two: the loser counts for as many as its rival has lost itself since anybody
/// was decided. Whoever waits for a rival that stands still loses alone, and counts for nothing.
class rivalry {
public:
  /// So many rounds may pass without a decision: more than rivals are, of whom each should be
  /// decided in its turn. Measured: worlds stay far below.
  static constexpr std::uint64_t rounds_most = 8;

  /// `loser` was refused because of an undecided attempt of `holder`. The rounds that both have
  /// lost now without a decision between.
  std::uint64_t lost(const std::string& loser, const std::string& holder) {
    const auto mine = ++lost_[loser];
    const auto theirs = lost_.find(holder);
    return theirs == lost_.end() ? 0 : std::min(mine, theirs->second);
  }
  /// Somebody was decided.
  void decided() { lost_.clear(); }
  /// Gangs that have lost since then.
  std::size_t rivals() const { return lost_.size(); }
  bool is_endless(std::uint64_t rounds) const { return rounds > rounds_most + rivals(); }

private:
  std::map<std::string, std::uint64_t> lost_; ///< gang → rounds
};

} // namespace tutti::chaos
