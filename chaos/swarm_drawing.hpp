// How one world is drawn: what swarm.cpp, swarm_faults.cpp and swarm_aimed.cpp share. Private to
// them.
//
// Each part draws from a stream of its own, so that what is added later moves nothing that was
// drawn before: a seed stays the world that it was.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/random.hpp"
#include "chaos/swarm.hpp"
#include "sim/world/dice.hpp"

namespace tutti::chaos {

template <std::size_t N>
std::string_view one_of(base::random_stream& from, const std::array<std::string_view, N>& all) {
  return all[static_cast<std::size_t>(from.below(N))];
}

/// One world, from nothing but its seed.
class drawing {
public:
  using random_stream = base::random_stream;
  using pairs = std::map<std::string, std::string>;

  drawing(std::uint64_t seed, const swarm_options& how)
      : how_(how), shape_(seed, "shape"), users_(seed, "users"), faults_(seed, "faults") {
    out_.seed = seed;
  }

  schedule draw();

private:
  void add(base::duration at, std::string_view what, std::string target, pairs with = {}) {
    out_.actions.push_back({at, std::string{what}, std::move(target), std::move(with)});
  }
  base::duration some_time(random_stream& from) {
    return sim::draw(from, std::chrono::milliseconds{1}, how_.faults_for) / 1000 * 1000;
  }
  std::string node(random_stream& from) { return fmt::format("n{}", from.below(nodes_)); }
  std::string gang(random_stream& from) { return fmt::format("g{}", from.below(gangs_)); }
  std::string pod(random_stream& from) {
    const auto g = from.below(gangs_);
    return fmt::format("g{}-{}", g, from.below(members_[static_cast<std::size_t>(g)]));
  }
  base::duration began(std::uint64_t g) const {
    return out_.actions[static_cast<std::size_t>(nodes_ + g)].at;
  }
  bool is_wanted(std::string_view kind) const {
    return how_.faults.empty() || how_.faults.contains(std::string{kind});
  }
  /// One alone with its decisions in objects has its epochs in its store, and nowhere else.
  bool has_epochs_alone() const { return out_.log_is_objects && how_.replicas == 1; }
  /// One alone draws nothing: its runs stay what they were.
  std::string process(random_stream& own) {
    return fmt::format("scheduler-{}", how_.replicas > 1 ? own.below(how_.replicas) : 0);
  }
  static std::string span(random_stream& own, base::duration least, base::duration most) {
    return duration_text(sim::draw(own, least, most) / 1'000'000 * 1'000'000);
  }

  // the cluster, and what users do (swarm.cpp)
  base::duration users_time();
  void draw_world();
  void draw_gangs();
  void draw_terms();
  void draw_priorities();
  void draw_users();
  void draw_squeeze();
  void draw_operator();
  void draw_decay();
  void draw_orphans();

  // what fails, some time (swarm_faults.cpp)
  base::duration fault_time(random_stream& own);
  void draw_faults();
  void draw_fault(std::string_view what, random_stream& own);
  void draw_disk(base::duration at, std::string_view what, const std::string& who,
                 random_stream& own);
  void draw_crash(base::duration at, const std::string& who, random_stream& own);
  void draw_link(base::duration at, std::string_view what, const std::string& who,
                 random_stream& own);
  void draw_answer(base::duration at, std::string word, std::string becomes, random_stream& own);
  void draw_outage(base::duration at, std::string word, std::string answer, random_stream& own);
  void draw_expiry(base::duration at, random_stream& own);
  std::string role(random_stream& own);

  // what waits for a state of the protocol (swarm_aimed.cpp)
  void draw_aimed();
  static int times_aimed(std::string_view kind);
  void draw_aimed_of(const action_kind& kind, std::string_view state, random_stream own);
  void draw_late_in_a_pause(base::duration at, std::string_view state, random_stream& own);
  static void aim_at_evictor(action& x, std::string_view state);
  std::string_view some_state(random_stream& own) const;
  void draw_doing(std::string_view what, std::uint64_t g, base::duration at, random_stream& own);

  const swarm_options& how_;
  random_stream shape_;
  random_stream users_;
  random_stream faults_;
  schedule out_;
  std::size_t users_actions_ = 0; ///< in `out_`, before faults are added
  std::uint64_t nodes_ = 0;
  std::uint64_t racks_ = 0;
  std::uint64_t gangs_ = 0;
  std::vector<std::uint64_t> members_;
  base::duration squeezed_at_{};
  base::duration squeezed_for_{}; ///< 0 = nobody is squeezed
  base::duration sync_takes_{};   ///< meanwhile
  /// Members go a minute and a half after what they go for: faults last until all of them have.
  static constexpr base::duration faults_longer_for_evictions_ = std::chrono::minutes{2};
};

} // namespace tutti::chaos
