// Lets stories ask a live API server, one question after the other.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/api_access.hpp"
#include "cli/doorkeeper.hpp"
#include "sim/scenario/live_door.hpp"

namespace tutti::cli {

class cluster_door final : public sim::scenario::live_door {
public:
  /// Opens it: `bad_input`, `forbidden` or `unavailable` with a hint. `clock` outlives it.
  static base::result<std::unique_ptr<cluster_door>> open(const api_flags& flags,
                                                          const base::clock& clock);

  const cluster_facts& facts() const { return facts_; }
  /// Of the server, in messages.
  const std::string& name() const { return name_; }

  sim::scenario::live_answer ask(const protocol::http_request& what) override;
  base::time_point now() const override { return clock_.now(); }
  void pause(base::duration how_long) override;

private:
  cluster_door(const api_access& access, const base::clock& clock);

  const std::string name_;
  const base::clock& clock_;
  doorkeeper door_;
  cluster_facts facts_;
  std::uint64_t last_id_ = 0;
};

} // namespace tutti::cli
