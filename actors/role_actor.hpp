// The one generic shell: an actor that hosts a role and performs its effects. No decision is made
// here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/container/deque.hpp>
#include <caf/event_based_actor.hpp>

#include "actors/log_words.hpp"
#include "actors/mail.hpp"
#include "actors/services.hpp"
#include "protocol/role.hpp"

namespace tutti::actors {

/// A checkpoint is written whole, however little has changed. So one that takes a second of this
/// rate is not followed by another within that second: the state of a hundred thousand waiting
/// gangs must not keep the disk, and the memory that its copies take on the way there, busy for
/// good. The last one of an orderly stop does not wait.
inline constexpr std::size_t checkpoint_bytes_per_second = 1u << 20;

/// Decode, `role.on`, perform. What the shell adds is order: nothing that a role says leaves before
/// what it wrote with `synced` is durable, while the role itself goes on working, so that many
/// attempts share one sync (one watermark per role).
///
///     effects ──▶ [send … | append synced #7 | send … | fault …] ──▶ performed in order;
///                              everything ordered behind #7 waits for append_done{7}
///
/// Also: timers, HTTP exchanges, bringing up children, and checkpoints behind the watermark.
class role_actor final : public caf::event_based_actor {
public:
  struct options {
    protocol::address where;
    base::incarnation_no incarnation; ///< of this life: no other actor of the process has it
    bool keeps_checkpoints = false;
    persistence::journal_index applied = 0; ///< of the checkpoint it was restored from
    std::vector<protocol::event> first;     ///< handled on `begin`: replays, then `started`
    /// False: its next life begins with what others can read, wherever that is; nobody would ever
    /// replay what it appends, so that it counts as done at once.
    bool keeps_journal = true;
  };

  role_actor(caf::actor_config& cfg, services* around, protocol::role_ptr role, options how);

  caf::behavior make_behavior() override;
  const char* name() const override { return "tutti.role"; }
  void on_exit() override;

private:
  void open(const mail& m);
  void handle(letter& x);
  void take(const protocol::event& e);
  bool take_log_answer(const protocol::event& e);
  log_words& log();
  void tell_log(protocol::message what);
  void forget_exchange(const protocol::event& e);
  void perform(protocol::effect& e, std::uint64_t& batch_mark);
  void perform_now(protocol::effect& e);

  void act(protocol::append& x);
  void act(protocol::decide& x);
  void act(protocol::amend& x);
  void act(protocol::forget& x);
  void act(protocol::send& x);
  void act(protocol::arm& x);
  void act(protocol::disarm& x);
  void act(protocol::exchange& x);
  void act(protocol::hang_up& x);
  void act(protocol::host& x);
  void act(protocol::retire& x);
  void act(protocol::rebuild& x);
  void act(protocol::own& x);
  void act(protocol::note& x);
  void act(protocol::fault& x);

  void on(begin&);
  void on(append_done& x);
  void on(decide_done& x);
  void on(amend_done& x);
  void on(timer_due& x);
  void on(checkpoint_due& x);
  void on(checkpoint_done& x);
  void on(log_overdue& x);
  void write_checkpoint();
  void submit_snapshot();
  void fail(const base::error& why);

  services& around_;
  protocol::role_ptr role_;
  options how_;
  bool is_over_ = false; ///< retired, dying, or the store is broken: nothing is heard any more
  std::optional<std::string> death_{"exit signal"}; ///< told when it ends; none = it was to end
  bool has_begun_ = false;
  std::vector<mail> early_; ///< came before `begin`: others begin earlier than we do

  // order
  struct waiting {
    std::uint64_t behind = 0; ///< performed once this append is durable
    protocol::effect what;
  };
  boost::container::deque<waiting> queue_; // takes no memory while empty: there is one per node
  std::uint64_t appends_ = 0;              ///< submitted so far
  std::uint64_t appends_done_ = 0;
  std::uint64_t last_synced_ = 0; ///< the newest append that was submitted with `synced`

  // timers and exchanges
  std::map<protocol::timer_id, std::uint64_t> armed_;
  std::uint64_t armings_ = 0;
  std::map<std::uint64_t, std::uint64_t> exchanges_; ///< role's id → process's id

  std::unique_ptr<log_words> log_; ///< what the decision log owes, where it is API objects
  bool log_timer_runs_ = false;

  // checkpoints
  persistence::journal_index applied_ = 0;
  std::uint64_t since_checkpoint_ = 0; ///< letters since the last one, but for mere questions
  base::time_point next_checkpoint_{}; ///< not before
  bool checkpoint_wanted_ = false;
  bool is_writing_checkpoint_ = false;
  struct snapshot {
    std::uint64_t behind = 0; ///< the append that is the last one it includes
    std::string bytes;
  };
  std::optional<snapshot> snapshot_; ///< taken, and waiting for what it includes to be durable
  bool is_stopping_ = false;
};

} // namespace tutti::actors
