// Performs one story in one simulated world with one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/faults.hpp"
#include "sim/scenario/safety.hpp"
#include "sim/scenario/scene.hpp"
#include "sim/scenario/story.hpp"

namespace tutti::sim::scenario {

/// Why a story has failed: which step, which fact, what was found.
struct failure {
  int line = 0;
  std::string step;
  std::string what; ///< a fact, an invariant, or what could not be done
  std::string found;
  std::vector<std::string> last_events;
};

class stage {
public:
  stage(const story& what, std::uint64_t seed, planner plans);
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// The whole story; nothing if it holds.
  std::optional<failure> play();
  world& where() { return *world_; }

private:
  struct stopped {}; ///< thrown to the top once `failure_` is there

  // ---- steps: stage.cpp
  void play_all(const std::vector<step>& steps, bool is_batch);
  void play_one(const step& x);
  void pause_between_steps();
  [[noreturn]] void give_up(std::string what, std::string found);
  void perform(const settle_step& x);
  void perform(const advance_step& x);
  void perform(const until_step& x);
  void perform(const mark_step& x);
  void perform(const expect_step& x);
  void perform(const eventually_step& x);
  void perform(const always_step& x);
  void perform(const batch_step& x);
  void perform(const repeat_step& x);

  // ---- running: stage_run.cpp
  /// Runs until `is_enough` or `deadline`; safety and `always` are looked at after every event.
  bool run_until(base::time_point deadline, const std::function<bool()>& is_enough);
  bool is_settled();
  bool is_running();
  bool is_quiet(process& who);
  base::duration rest_needed() const;
  void check_always();
  void check_safety();
  base::time_point now() { return world_->time().now(); }

  // ---- objects: stage_objects.cpp
  using refusal = std::optional<std::string>;
  void apply_checked(const std::function<refusal()>& input);
  refusal create(const wanted_objects& all);
  refusal apply_objects(const std::vector<boost::json::object>& objects,
                        const std::vector<std::string>& places);
  /// A request of somebody outside; what an error says if it is refused.
  refusal ask(const std::string& method, const std::string& target, const boost::json::value& body,
              const std::string& content_type = "application/json");
  std::string url_of(const target& whom) const;
  std::vector<std::string> keys_of(const chosen_pods& pods);
  void replace_deleted();
  void perform(const create_step& x);
  void perform(const apply_step& x);
  void perform(const patch_step& x);
  void perform(const delete_step& x);
  void perform(const finish_step& x);
  void perform(const evict_step& x);
  void perform(const bind_step& x);

  // ---- faults: stage_faults.cpp
  process& need_process(const std::string& word);
  void disks_lose(const std::string& process);
  void heal_network();
  void perform(const hold_step& x);
  void perform(const release_step& x);
  void perform(const api_step& x);
  void perform(const watch_step& x);
  void perform(const crash_step& x);
  void perform(const start_step& x);
  void perform(const pause_step& x);
  void perform(const network_step& x);
  void perform(const clock_step& x);
  bool stops_here(process& who, const protocol::address& where, const protocol::event& e);
  std::string uid_of_gang(const std::string& word) const;
  void let_go(const std::string& gang);

  struct live_hold {
    std::string gang;
    stop_point at = stop_point::planning;
    std::optional<base::duration> how_long;
    process* who = nullptr; ///< set once it stands
    protocol::address where;
  };
  struct live_always {
    facts what;
    int line = 0;
    std::string text;
    std::optional<base::time_point> until;
  };
  struct recreated {
    boost::json::object object;
    std::string base; ///< name of the first one
    int generation = 0;
    std::string uid;
  };

  const story& story_;
  std::unique_ptr<world> world_;
  std::unique_ptr<tally> counts_;
  std::unique_ptr<faults> faults_;
  std::unique_ptr<checker> safety_;
  std::unique_ptr<scene> scene_;
  class disk_loser;
  std::unique_ptr<disk_loser> disks_;
  std::vector<live_hold> holds_;
  std::vector<live_always> always_;
  std::map<std::string, recreated> recreated_; ///< by "ns/name"
  api_server::revision recreate_seen_ = 0;
  const step* current_ = nullptr;
  std::size_t paused_ = 0; ///< processes that stand still for a time
  api_server::revision looked_at_ = 0;
  std::optional<failure> failure_;
};

} // namespace tutti::sim::scenario
