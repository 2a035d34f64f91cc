// What happened, one line a step, for people; and what of the protocol each fault has met.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/action.hpp"
#include "chaos/coverage.hpp"
#include "chaos/nemesis.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/world.hpp"

namespace tutti::chaos {

class tracer final : public sim::observer {
public:
  /// Keeps the last `lines` lines, or all. What lasts is over by `healed` at the latest.
  tracer(sim::world& on, std::size_t lines, bool keeps_all, base::time_point healed)
      : on_(on), lines_(lines), keeps_all_(keeps_all), healed_(healed) {}

  void happens(const action& x, nemesis::moment when);
  std::uint64_t deliveries() const { return deliveries_; }
  std::deque<std::string> take();
  const coverage_matrix& coverage() const { return coverage_; }

  void stepped(sim::process& who, const protocol::address& where, const protocol::event& e,
               const protocol::effects& wanted) override;
  void arrives(std::string_view client, const protocol::http_request& request) override;
  void api_turned() override {}
  void durable(sim::process&, const persistence::batch&) override {}
  void began(sim::process& who) override;
  void ended(sim::process& who, std::string_view why) override;

private:
  /// Who is in which state, of those that are covered.
  using states = std::set<std::string_view>;

  void add(std::string line);
  states states_now() const;
  void count(const std::string& fault, const states& met);
  void follow_states(sim::process& who, const protocol::address& where, const protocol::event& e,
                     const protocol::effects& wanted);
  void remember_states();
  void enters(const std::string& who, std::string_view state);
  bool is_kept() const { return keeps_all_ || lines_ > 0; }

  sim::world& on_;
  const std::size_t lines_;
  const bool keeps_all_;
  std::uint64_t deliveries_ = 0;
  std::deque<std::string> kept_;
  const base::time_point healed_;

  coverage_matrix coverage_;
  states met_; ///< when the last action came
  /// Faults that last meet whoever enters a state meanwhile, too.
  struct spell {
    std::string what;
    std::string target; ///< a process, or empty: it concerns all
    base::time_point until{};
  };
  std::vector<spell> spells_;
  using place = std::pair<std::string, protocol::address>;          ///< process, role
  std::map<place, states> known_;                                   ///< of roles, while spells last
  std::map<std::pair<place, std::uint64_t>, std::string_view> out_; ///< steps, by exchange
  /// What a process met at the fault point that it is to die of.
  std::map<std::string, states> at_fault_;
};

} // namespace tutti::chaos
