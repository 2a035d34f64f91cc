// Lets the actions of a schedule happen to a world.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "chaos/invariant.hpp"
#include "chaos/schedule.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/world.hpp"

namespace tutti::chaos {

/// Every action happens at its time; one whose target is not there (a pod that was never made, a
/// process that is down) does nothing, so that a schedule stays a schedule when lines are taken out
/// of it. When the time of faults is over everything is healed: processes are up, disks and
/// networks are well.
///
/// It observes the world for what is to happen at a place instead of a time, and for messages that
/// are to be heard again.
class nemesis final : public sim::observer {
public:
  nemesis(sim::world& on, const schedule& what);
  nemesis(const nemesis&) = delete;
  nemesis& operator=(const nemesis&) = delete;

  /// How often each action did something.
  const std::map<std::string, std::uint64_t, std::less<>>& done() const { return done_; }
  /// A promise that an action itself has seen broken.
  const std::optional<violation>& broken() const { return broken_; }
  /// What is said of an action. One that waits for its place (crash_at, kill_at, late, api, link)
  /// comes first, and strikes when that is reached, maybe often, maybe never; a process that dies
  /// at its fault point says so itself.
  enum class moment : std::uint8_t {
    comes,  ///< just before it happens
    strikes ///< it has done something; for one that waits: it is just about to
  };
  void tells(std::function<void(const action&, moment)> x) { tell_ = std::move(x); }

  /// Asked between two steps of the world: actions that wait for a state happen here.
  void turn();

  void stepped(sim::process& who, const protocol::address& where, const protocol::event& e,
               const protocol::effects& wanted) override;
  void arrives(std::string_view, const protocol::http_request&) override {}
  void api_turned() override {}
  void durable(sim::process&, const persistence::batch&) override {}
  void began(sim::process&) override {}
  void ended(sim::process&, std::string_view) override {}

private:
  using deed = bool (nemesis::*)(const action&);
  static deed deed_of(std::string_view what);

  void perform(const action& x);
  void happen(const action& x);
  void strikes(const action& x) const;
  void heal();

  // what users and the cluster do (nemesis_users.cpp)
  bool node(const action& x);
  bool node_gone(const action& x);
  bool cordon(const action& x);
  bool gang(const action& x);
  bool gang_gone(const action& x);
  bool group_gone(const action& x);
  bool group_again(const action& x);
  bool make_group(const action& x);
  bool pod_gone(const action& x);
  bool pod_done(const action& x);
  bool min(const action& x);
  bool foreign(const action& x);
  bool cancel(const action& x);
  bool apply(boost::json::object object);
  bool ask(std::string_view method, const std::string& target, const std::string& body);
  void collect_pods();
  void make_pod(const std::string& name, const std::string& gang);
  std::string class_of(const action& gang);

  // what fails
  bool crash(const action& x);
  bool crash_at(const action& x);
  bool restart(const action& x);
  bool pause(const action& x);
  bool kill_actor(const action& x);
  bool kill_at(const action& x);
  bool late(const action& x);
  bool watch_expired(const action& x);
  bool clock(const action& x);
  bool disk_full(const action& x);
  bool sync_fails(const action& x);
  bool slow_disk(const action& x);
  bool corrupt(const action& x); // nemesis_damage.cpp
  bool alien(const action& x);   // nemesis_damage.cpp
  bool cut_off(const action& x);
  bool link_cut(const action& x);
  bool link(const action& x);
  bool api(const action& x);
  bool api_down(const action& x);
  bool watch_cut(const action& x);
  bool watch_stall(const action& x);
  bool watch_twice(const action& x);

  sim::api_verdict judge(const protocol::http_request& request);
  sim::frame_verdict judge_frame(const std::string& to);
  sim::watch_verdict judge_watch(const std::string& target) const;
  sim::process* process(const action& x) const;
  protocol::address named(std::string_view role) const;
  void hear_again(sim::process& who, const protocol::address& from, const protocol::send& what);

  sim::world& on_;
  const schedule what_;
  std::map<std::string, std::uint64_t, std::less<>> done_;
  std::function<void(const action&, moment)> tell_;

  struct awaited {
    const action* what = nullptr;
    std::uint64_t left = 0; ///< requests of its kind until it hits
    std::uint64_t more = 0; ///< hits that follow the first
  };
  std::vector<awaited> awaited_;
  struct spell {
    base::time_point until{};
    const action* what = nullptr;
  };
  std::map<std::string, spell> down_;    ///< by word of the request
  std::map<std::string, spell> stall_;   ///< by resource
  std::map<std::string, spell> twice_;   ///< by resource
  std::map<std::string, spell> expired_; ///< by resource
  struct aimed {
    const action* what = nullptr;
    bool is_due = false;
  };
  std::vector<aimed> aimed_;                   ///< when=: wait for a state
  std::vector<awaited> places_;                ///< kill_at: passes of a row that are left
  std::vector<awaited> frames_;                ///< link: frames until one is hit
  std::vector<awaited> copies_;                ///< late: messages of its kind until one is copied
  std::map<std::string, const action*> gangs_; ///< as they came
  std::uint64_t last_cancel_ = 0;
  std::optional<violation> broken_;
};

/// It happens when its place is reached, not when it comes.
bool waits_for_its_place(const action& x);

/// How long a process is down after a death that does not say.
inline constexpr auto usual_outage = std::chrono::milliseconds{500};

/// The world that a schedule happens in; it has not begun.
sim::world::options world_of(const schedule& what);

/// The address that `role=` names: "shard(1)", "partition(3)", "queue", "gang(UID)"…; kind admin if
/// it is none.
protocol::address address_of(std::string_view text);

/// The verdict behind `becomes=`: a status, `lost` or `applied_lost`.
sim::api_verdict verdict_of(const action& x);

} // namespace tutti::chaos
