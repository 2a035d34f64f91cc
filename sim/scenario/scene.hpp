// What facts look at: a world or a live cluster at one moment, in the words of a story.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "sim/scenario/names.hpp"
#include "sim/scenario/story.hpp"
#include "sim/scenario/tally.hpp"
#include "sim/world/world.hpp"

namespace tutti::sim::scenario {

/// What `tutti plan` would say of one gang, "ns/name", on the objects of this moment; nothing if it
/// does not know the gang. The program gives it: planning belongs to the command line.
struct planned {
  bool fits = false;
  std::string reason;
};
using planner =
    std::function<std::optional<planned>(api_server::control_plane& api, const std::string& key)>;

class scene {
public:
  scene(world& w, tally& counts, api::release kubernetes, planner plans)
      : objects_(w.api().plane().objects()), done_(counts), world_(&w), counts_(&counts),
        kubernetes_(kubernetes), plans_(std::move(plans)) {}
  /// Of a live cluster: a copy of its objects, and what its scheduler was seen to do. Facts that
  /// need the scheduler's mind are not asked of it.
  scene(const api_server::store& objects, const deeds& done, api::release kubernetes)
      : objects_(objects), done_(done), kubernetes_(kubernetes) {}

  const api_server::store& objects() const { return objects_; }
  const deeds& done() const { return done_; }
  /// The scheduler's memory can be looked into; `where`, `counts`, `ask` and processes need it.
  bool has_mind() const { return world_ != nullptr; }
  world& where() const;
  tally& counts() const;
  api::release kubernetes() const { return kubernetes_; }

  // ---- names
  /// `winner` and `loser` are names of groups; every other is itself.
  std::string group_named(const std::string& word) const;
  /// A group of that name is there (1.35: a Workload), and no pod of it is meant.
  bool is_group(const std::string& word) const;
  void remember_outcome(std::string winner, std::string loser);
  /// `scheduler-0`, `leader`, `standby`; null if there is none.
  process* process_named(const std::string& word);

  // ---- several replicas
  bool has_others() const { return has_mind() && world_->processes() > 1; }
  /// Every unit is run by the process that is to own it among those that are up: nothing moves any
  /// more. Always, where there is one process.
  bool is_shared_out();
  /// By the partition map: the process that owns a shard or partition; null if nobody does.
  process* owner_of(const protocol::address& unit);

  // ---- objects
  api_server::object_ptr pod(const std::string& name) const;
  api_server::object_ptr group(const std::string& name) const;
  /// All pods of a group, finished ones too, by name.
  std::vector<api_server::object_ptr> members(const std::string& group_word) const;
  /// Members that are bound, not finished and not being deleted.
  std::vector<api_server::object_ptr> bound_members(const std::string& group_word) const;
  static boost::json::value body_of(const api_server::object& x);
  /// The objects that a target means; empty if it is not there.
  std::vector<api_server::object_ptr> find(const target& whom) const;
  static std::optional<api_server::kind_id> kind_named(const std::string& plural);

  // ---- the scheduler's mind
  /// The answer of a role to `inspect`: of the process that owns it, or for whom every process has
  /// one, of the leading process, or another one while that is down. Null if nobody answers.
  boost::json::value ask(const protocol::address& whom, const std::string& what,
                         const std::string& name = {});
  /// What the queue says of a gang or a lone pod; null if it does not know it, or nobody can look.
  boost::json::value queue_row(const std::string& word);
  /// Metrics by name and labels, as the leading process would export them.
  std::map<std::string, double> metrics();

  const planner& plans() const { return plans_; }

  // ---- marks and holds
  struct mark {
    std::size_t memory_bytes = 0;
    std::size_t series = 0;
  };
  /// Measuring takes some ten milliseconds: only if a fact of the story asks for it.
  void set_mark(const std::string& name, bool measures_memory);
  const mark* find_mark(const std::string& name) const;

  void set_held(const std::string& gang, bool is_held);
  bool is_held(const std::string& gang) const { return held_.contains(gang); }
  std::size_t violations = 0; ///< of the checker, for the metric

private:
  boost::json::value ask(const process* who, const protocol::address& whom, const std::string& what,
                         const std::string& name) const;
  std::string owner_in_map(const protocol::address& unit);

  const api_server::store& objects_;
  const deeds& done_;
  world* const world_ = nullptr;  ///< null of a live cluster
  tally* const counts_ = nullptr; ///< likewise
  const api::release kubernetes_;
  const planner plans_;
  std::string winner_, loser_;
  std::string leader_, standby_;
  std::map<protocol::address, std::string> owners_; ///< of the map's version `owners_at_`
  api_server::revision owners_at_ = 0;
  std::map<std::string, mark> marks_;
  std::set<std::string> held_; ///< names as in the file
};

} // namespace tutti::sim::scenario
