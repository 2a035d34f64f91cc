// The lives of all gangs of a run, read from the API server's objects as they change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/workload/cluster_shape.hpp"
#include "sim/workload/node_room.hpp"
#include "sim/workload/workload.hpp"
#include "sim/world/world.hpp"

namespace tutti::sim::workload {

///     coming ──all members created──▶ waiting ──all bound──▶ running ──all have ended──▶ over
enum class gang_state : std::uint8_t { coming, waiting, running, over };
std::string_view name_of(gang_state x);

struct gang_life {
  arrival what;
  std::uint32_t created = 0; ///< members that the API server has seen
  std::uint32_t bound = 0;
  std::uint32_t ended = 0;
  std::optional<base::time_point> bound_at; ///< of the last member
  std::optional<base::time_point> ended_at;

  gang_state state() const;
};

/// "g000123"; its members are "g000123-0", … .
std::string gang_name(std::size_t gang);

/// Observes a world from the moment in which it is added to it. Counts what is there: room comes
/// and goes with pods, whoever binds or deletes them.
class gang_book final : public observer {
public:
  gang_book(world& where, const cluster_shape& shape, std::vector<arrival> arrivals);

  const std::vector<gang_life>& gangs() const { return gangs_; }
  const node_room& room() const { return room_; }
  /// How many gangs, and how many of their members, are in this state.
  struct tally {
    std::size_t gangs = 0;
    std::uint64_t members = 0;
  };
  tally in(gang_state x) const { return tallies_[static_cast<std::size_t>(x)]; }
  /// Called when the last member of a gang has ended.
  void on_over(std::function<void(std::size_t gang)> x) { on_over_ = std::move(x); }

  void stepped(process&, const protocol::address&, const protocol::event&,
               const protocol::effects&) override {}
  void arrives(std::string_view, const protocol::http_request&) override {}
  void api_turned() override;
  void durable(process&, const persistence::batch&) override {}
  void began(process&) override {}
  void ended(process&, std::string_view) override {}

private:
  void take(const api_server::event& e);
  void move(gang_life& x, gang_state from);

  world& where_;
  node_room room_;
  std::vector<gang_life> gangs_;
  std::array<tally, 4> tallies_{};
  std::size_t seen_ = 0; ///< events of pods
  std::function<void(std::size_t)> on_over_;
};

} // namespace tutti::sim::workload
