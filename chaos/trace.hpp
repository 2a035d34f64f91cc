// What happened, one line a step, for people; and what of the protocol each fault has met.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "chaos/action.hpp"
#include "protocol/phases.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/world.hpp"

namespace tutti::chaos {

class tracer final : public sim::observer {
public:
  /// Keeps the last `lines` lines, or all.
  tracer(sim::world& on, std::size_t lines, bool keeps_all)
      : on_(on), lines_(lines), keeps_all_(keeps_all) {}

  void happens(const action& x);
  std::uint64_t deliveries() const { return deliveries_; }
  std::deque<std::string> take();
  const std::map<std::pair<std::string, std::string>, std::uint64_t>& coverage() const {
    return coverage_;
  }

  void stepped(sim::process& who, const protocol::address& where, const protocol::event& e,
               const protocol::effects& wanted) override;
  void arrives(std::string_view client, const protocol::http_request& request) override;
  void api_turned() override {}
  void durable(sim::process&, const persistence::batch&) override {}
  void began(sim::process& who) override;
  void ended(sim::process& who, std::string_view why) override;

private:
  void add(std::string line);
  bool is_kept() const { return keeps_all_ || lines_ > 0; }

  sim::world& on_;
  const std::size_t lines_;
  const bool keeps_all_;
  std::uint64_t deliveries_ = 0;
  std::deque<std::string> kept_;
  std::map<std::string, protocol::phase> phases_; ///< of live attempts, by gang
  std::map<std::pair<std::string, std::string>, std::uint64_t> coverage_;
};

} // namespace tutti::chaos
