// Performs one story on a live cluster, in real time and through its API alone. The scheduler is
// somebody else's process.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/live_hands.hpp"
#include "sim/scenario/live_kubelet.hpp"
#include "sim/scenario/live_safety.hpp"
#include "sim/scenario/scene.hpp"
#include "sim/scenario/stage.hpp"
#include "sim/scenario/story.hpp"

namespace tutti::sim::scenario {

struct live_times {
  base::duration rest{};     ///< a cluster in which nothing is written for so long has settled
  base::duration patience{}; ///< the longest that a story waits for one thing
  /// The scheduler says that it has nothing left to do; empty: nobody can ask it.
  std::function<bool()> is_idle;
};

class live_stage {
public:
  live_stage(const story& what, live_door& door, const live_times& times);
  live_stage(const live_stage&) = delete;
  live_stage& operator=(const live_stage&) = delete;

  /// The whole story, on a cluster that has been swept; nothing if it holds. What it has made stays
  /// there.
  std::optional<failure> play();

private:
  struct stopped {}; ///< thrown to the top once `failure_` is there

  // ---- time and facts: live_stage.cpp
  void play_all(const std::vector<step>& steps);
  void play_one(const step& x);
  [[noreturn]] void give_up(std::string what, std::string found);
  void note(std::string what);
  /// Looks at the cluster again and again until `is_enough` or `deadline`; without a condition
  /// until the deadline.
  bool run_until(base::time_point deadline, const std::function<bool()>& is_enough);
  void look(cluster_copy::extent which);
  void check_always();
  bool is_settled();
  base::time_point now() const { return door_.now(); }
  base::time_point at_most(base::duration within) const;
  void perform(const settle_step& x);
  void perform(const advance_step& x);
  void perform(const until_step& x);
  void perform(const mark_step& x);
  void perform(const expect_step& x);
  void perform(const eventually_step& x);
  void perform(const always_step& x);
  void perform(const batch_step& x);
  void perform(const repeat_step& x);

  // ---- objects: live_steps.cpp
  void apply_checked(const std::function<refusal()>& input);
  refusal apply_all(const std::vector<boost::json::object>& objects);
  std::vector<std::string> keys_of(const chosen_pods& pods);
  void replace_deleted();
  void note_ending(const std::string& key);
  void perform(const create_step& x);
  void perform(const apply_step& x);
  void perform(const patch_step& x);
  void perform(const delete_step& x);
  void perform(const finish_step& x);
  void perform(const evict_step& x);
  void perform(const bind_step& x);

  /// Steps that only a simulated world can do: no story that has one is played here.
  template <class Step>
  void perform(const Step& x);

  struct live_always {
    facts what;
    int line = 0;
    std::optional<base::time_point> until;
  };
  struct recreated {
    boost::json::object object;
    std::string base; ///< name of the first one
    int generation = 0;
    std::string uid;
  };

  const story& story_;
  live_door& door_;
  const live_times times_;
  live_hands hands_;
  cluster_copy copy_;
  live_kubelet kubelet_;
  live_safety safety_;
  scene scene_;
  const base::time_point began_;
  std::vector<live_always> always_;
  std::map<std::string, recreated> recreated_; ///< by "ns/name"
  const step* current_ = nullptr;
  base::time_point acted_at_{};
  std::deque<std::string> notes_;
  std::optional<failure> failure_;
};

} // namespace tutti::sim::scenario
