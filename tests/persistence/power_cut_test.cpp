// Thousands of short lives of the real store on a disk that forgets, tears, fails and fills up.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

#include "tests/persistence/crash_disk.hpp"
#include "tests/persistence/expected_store.hpp"
#include "tests/persistence/store_fixture.hpp"

namespace tutti::persistence::testing {
namespace {

/// A life takes about 5 ms of CPU. TUTTI_DISK_LIVES asks for more, TUTTI_SEED for others.
constexpr std::uint64_t lives_by_default = 2500;
constexpr std::uint64_t lives_per_disk_max = 8;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::stoull(given);
}

/// What befalls a life.
enum class trouble : std::uint8_t { end, power, sync, space };

std::string_view name_of(trouble x) {
  static constexpr std::array<std::string_view, 4> names{"no trouble", "power", "sync", "space"};
  return names.at(static_cast<std::size_t>(x));
}

/// What was seen over all disks: a test that never meets a fault shows nothing.
struct tally {
  std::uint64_t lives = 0;
  std::uint64_t failed_opens = 0;
  std::uint64_t broken = 0; ///< lives whose store took no writes at the end
  std::uint64_t torn = 0;   ///< the opening said that it cut a tail
  std::uint64_t damaged = 0;
  std::uint64_t found_out = 0; ///< of `damaged`: the store was refused
  std::uint64_t given_up = 0;  ///< disks with a spoiled MANIFEST
};

/// One disk from its first life to its last.
class history {
public:
  history(std::uint64_t seed, tally& sum) : dice_{seed, "power cuts"}, sum_(sum) {}

  void run() {
    for (auto lives = dice_.between(1, lives_per_disk_max); lives > 0 && !failed() && !is_given_up_;
         --lives)
      live();
  }
  static bool failed() { return ::testing::Test::HasFailure(); }

private:
  void live() {
    ++sum_.lives;
    const auto what = static_cast<trouble>(dice_.below(4));
    const bool is_early = dice_.chance(1, 4);
    diary_ += fmt::format("life {}: {}{}\n", sum_.lives, is_early ? "early " : "", name_of(what));
    if (is_early)
      befall(what);
    if (!open()) {
      ++sum_.failed_opens;
      note_refusal();
      if (is_given_up_)
        return;
      ASSERT_TRUE(is_early && what != trouble::end) << said_ << "\n" << diary_;
      ASSERT_EQ(refused_as_, code::io) << said_ << "\n" << diary_;
      recover_from(what);
      const bool opens = open();
      if (!opens)
        note_refusal();
      if (is_given_up_)
        return;
      ASSERT_TRUE(opens) << said_ << "\n" << diary_;
    }
    if (failed())
      return;
    if (!is_early)
      befall(what);
    work();
    die(what);
  }

  /// The store opens and holds what it must.
  bool open() {
    said_.clear();
    refused_as_ = code::ok;
    auto ok = bench_.open();
    if (!ok) {
      refused_as_ = ok.error().what();
      said_ = std::string{name_of(refused_as_)} + ": " + ok.error().message();
      return false;
    }
    env_.disk().forget_spoiled();
    for (const auto& x : std::exchange(bench_.warnings, {})) {
      ++sum_.torn;
      diary_ += "  " + x + "\n";
    }
    const auto found = bench_.use().take_remains();
    const auto story = lasting_story_of(found);
    EXPECT_TRUE(expected_.accepts(found)) << diary_ << "found\n"
                                          << story << "expected one of\n"
                                          << expected_.story();
    last_ = expected_.last_index();
    return true;
  }

  /// RocksDB does not open by a MANIFEST with a spoiled end, though it was never synced (FORMAT.md,
  /// "What cannot be told"). It must say so, and nothing else may be the reason.
  void note_refusal() {
    diary_ += "  refused: " + said_ + "\n";
    if (refused_as_ == code::corrupt && said_.find("MANIFEST") != std::string::npos
        && env_.disk().has_spoiled_one_of(said_)) {
      is_given_up_ = true;
      ++sum_.given_up;
    }
  }

  void befall(trouble what) {
    switch (what) {
    case trouble::end:
      return;
    case trouble::power:
      return env_.disk().cut_power_after(dice_.below(50) + 1, dice_.chance(1, 2));
    case trouble::sync:
      return env_.disk().fail_sync_after(dice_.below(8) + 1);
    case trouble::space:
      return env_.disk().leave_free(dice_.below(12'000));
    }
  }

  void work() {
    for (auto groups = dice_.below(7); groups > 0; --groups) {
      std::vector<request> asked;
      for (auto n = dice_.between(1, 5); n > 0; --n)
        asked.push_back(draw_request());
      expected_.asks(asked);
      const auto answers = bench_.ask_all(asked);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        if (!answers[i] && answers[i].error().what() == code::io) {
          diary_ += "  broken: " + answers[i].error().message() + "\n";
          ++sum_.broken;
          expected_.is_acknowledged(asked.size() - i);
          return;
        }
        if (answers[i])
          note_last(*answers[i]);
      }
      expected_.is_acknowledged();
    }
  }

  void die(trouble what) {
    const bool loses_power = what == trouble::power || dice_.chance(1, 2);
    diary_ += loses_power ? "  power cut\n" : "  ended\n";
    if (loses_power)
      env_.disk().cut_power();
    bench_.close();
    const auto target = loses_power ? place_to_damage() : std::nullopt;
    if (loses_power)
      env_.disk().restart(dice_);
    env_.disk().leave_all_free();
    env_.disk().fail_sync_after(0);
    if (target)
      open_damaged(*target);
  }

  void recover_from(trouble what) {
    if (what == trouble::power || dice_.chance(1, 2)) {
      env_.disk().cut_power();
      env_.disk().restart(dice_);
    }
    env_.disk().leave_all_free();
    env_.disk().fail_sync_after(0);
  }

  struct place {
    std::string file;
    std::size_t at = 0;
  };
  /// A byte of a log that was synced, with two more syncs behind it: their tails say that it was
  /// durable (FORMAT.md, "What cannot be told").
  std::optional<place> place_to_damage() {
    if (!dice_.chance(1, 2))
      return std::nullopt;
    for (const auto& name : env_.disk().names(".log")) {
      const auto x = env_.disk().file(name);
      if (x.marks.size() >= 3 && x.lost_from.empty())
        return place{name, static_cast<std::size_t>(dice_.below(x.marks[x.marks.size() - 3]))};
    }
    return std::nullopt;
  }

  /// F12: damage of what was synced is refused, the disk left as it is; or it has hit nothing.
  void open_damaged(const place& x) {
    const auto all = env_.disk().names(".log");
    if (std::find(all.begin(), all.end(), x.file) == all.end())
      return;
    ++sum_.damaged;
    diary_ += fmt::format("  byte {} of {} damaged\n", x.at, x.file);
    env_.disk().flip_byte(x.file, x.at);
    if (open()) {
      bench_.close();
      return;
    }
    note_refusal();
    if (is_given_up_)
      return;
    ++sum_.found_out;
    EXPECT_EQ(refused_as_, code::corrupt) << said_;
    EXPECT_NE(said_.find("record"), std::string::npos) << said_;
    env_.disk().flip_byte(x.file, x.at);
  }

  // ---- requests

  void note_last(const outcome& x) {
    if (const auto* a = std::get_if<appended>(&x))
      last_ = std::max(last_, a->index);
  }

  request draw_request() {
    const auto gang = std::string(1, static_cast<char>('a' + dice_.below(4)));
    const auto ordinal = dice_.between(1, 4);
    const auto a = attempt(gang, static_cast<std::uint64_t>(ordinal));
    const auto where = static_cast<unsigned>(dice_.below(3));
    switch (dice_.below(10)) {
    case 0:
    case 1:
    case 2:
      return append(shard(where), prepared(a), dice_.chance(1, 3));
    case 3:
      ++life_;
      return append(partition(where), protocol::life_record{{life_}, {life_}}, true, life_);
    case 4:
      return decide(committed(a), {rider(a, 0), rider(a, 1)});
    case 5:
      return decide(aborted(a));
    case 6:
      return amend(gang, a.ordinal, finish(1));
    case 7:
      return amend(gang, a.ordinal, cancel(1, dice_.chance(1, 2) ? "p" : "q"));
    case 8:
      return forget_request{{gang}};
    default:
      return snapshot(shard(where), last_ == 0 ? 0 : dice_.below(last_ + 1),
                      std::string(dice_.below(dice_.chance(1, 8) ? 60'000 : 500), 's'));
    }
  }

  base::random_stream dice_;
  tally& sum_;
  crash_env env_;
  rocks_bench bench_{&env_, 0}; // it does not look for space: it meets the end of it
  expected_store expected_;
  journal_index last_ = 0; ///< that is there for sure
  std::uint64_t life_ = 0; ///< of partitions: grows over all lives
  std::string diary_;      ///< for a person: what has befallen this disk
  std::string said_;       ///< of the last opening
  code refused_as_ = code::ok;
  bool is_given_up_ = false;
};

/// The lives in parts, so that none of them takes long on a busy machine.
class PowerCut : public ::testing::TestWithParam<std::uint64_t> {};
constexpr std::uint64_t parts = 5;

TEST_P(PowerCut, keeps_what_was_acknowledged_in_order_and_nothing_that_was_never_written) {
  constexpr std::uint64_t disks_per_part_max = 1'000'000;
  const auto first = from_environment("TUTTI_SEED", 1 + GetParam() * disks_per_part_max);
  const auto lives = from_environment("TUTTI_DISK_LIVES", lives_by_default) / parts;
  tally sum;
  for (auto seed = first; sum.lives <= lives && !history::failed(); ++seed) {
    SCOPED_TRACE(fmt::format("repeat with TUTTI_SEED={} TUTTI_DISK_LIVES=1", seed));
    history{seed, sum}.run();
  }
  const auto seen = fmt::format(
      "{} lives, {} opens failed, {} broke, {} tails cut, {} damaged, {} found out, "
      "{} given up",
      sum.lives, sum.failed_opens, sum.broken, sum.torn, sum.damaged, sum.found_out, sum.given_up);
  RecordProperty("seen", seen);
  if (lives < lives_by_default / parts)
    return;
  EXPECT_GT(sum.failed_opens, lives / 50) << seen;
  EXPECT_GT(sum.broken, lives / 20) << seen;
  EXPECT_GT(sum.torn, lives / 50) << seen;
  EXPECT_GT(sum.found_out, lives / 50) << seen;
  EXPECT_LT(sum.given_up, lives / 20) << seen;
}

INSTANTIATE_TEST_SUITE_P(Part, PowerCut, ::testing::Range<std::uint64_t>(0, parts));

} // namespace
} // namespace tutti::persistence::testing
