// The judge of a run: watches every step, every durable write and every object, and says which
// promise was broken first.
//
// It believes only what is durable and what the API server holds; what roles say of themselves is
// asked at the end alone, to be compared with that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/invariant.hpp"
#include "chaos/truth.hpp"
#include "protocol/decision.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/world.hpp"

namespace tutti::chaos {

class checker final : public sim::observer {
public:
  struct options {
    std::string scheduler = "tutti";
    bool errors_are_explained = true; ///< faults are injected: roles may report them
  };
  checker(sim::world& on, options how);

  /// The first promise that did not hold; nothing is checked after it.
  const std::optional<violation>& broken() const { return broken_; }
  /// After faults have stopped and everything had its time: what must have come right.
  void audit();
  /// How often each promise was looked at.
  const std::map<std::string, std::uint64_t, std::less<>>& looks() const { return looks_; }

  const truth& real() const { return truth_; }
  /// A decision for this gang is durable, or its condition says that it has started.
  bool has_started(const group_truth& group) const;

  void stepped(sim::process& who, const protocol::address& where, const protocol::event& e,
               const protocol::effects& wanted) override;
  void arrives(std::string_view client, const protocol::http_request& request) override;
  void api_turned() override;
  void durable(sim::process& who, const persistence::batch& written) override;
  void began(sim::process& who) override;
  void ended(sim::process& who, std::string_view why) override;

private:
  struct known_decision {
    protocol::decision first;  ///< with the whole plan
    protocol::decision latest; ///< as it stands
    bool is_lost = false;      ///< its disk was lost
    bool is_live() const {
      return !is_lost && first.what == protocol::verdict::committed && !latest.is_done;
    }
  };

  void say(std::string_view id, std::string what);
  bool look(std::string_view id);

  // what is durable (checker_store.cpp)
  void take_decision(const std::string& key, const std::string& value);
  void check_new(const base::slot_id& slot, const protocol::decision& x);
  void check_change(const base::slot_id& slot, const known_decision& before,
                    const protocol::decision& now);
  void check_minimum(const protocol::decision& x);
  void check_room(const protocol::decision& x);
  bool may_come(const std::string& pod, const std::string& node) const;
  bool is_cancelled(const known_decision& x, const base::pod_uid& pod) const;

  // what the API server sees (checker_api.cpp)
  void check_binding(const protocol::http_request& request);
  void check_eviction(const protocol::http_request& request);
  void pod_changed(const pod_truth* before, const pod_truth* now);
  void check_node(const pod_truth& newly_bound);

  // what roles do (checker_roles.cpp)
  void check_shard(sim::process& who, std::uint32_t shard, const protocol::event& e,
                   const protocol::effects& wanted);

  // what must have come right (audit.cpp)
  void audit_members();
  void audit_gangs();
  void audit_queue(sim::process& who);
  void audit_shards(sim::process& who);
  void audit_nodes(sim::process& who);
  bool fits(const group_truth& group, const std::vector<const pod_truth*>& pending,
            std::size_t need, const std::string& domain) const;

  sim::world& on_;
  const options how_;
  truth truth_;
  std::optional<violation> broken_;
  std::map<std::string, std::uint64_t, std::less<>> looks_;

  std::map<base::slot_id, known_decision> decisions_;
  std::set<std::pair<std::string, std::string>> decided_;    ///< (pod uid, node name), ever
  std::map<base::slot_id, std::set<base::pod_uid>> cancels_; ///< asked for, ever
  std::set<std::string> victims_;                            ///< pod uids, ever
  std::set<std::string> started_; ///< gang uids with a committed decision

  /// Per process and shard.
  struct shard_word {
    bool is_fresh = false;
    std::set<base::attempt_id> voted;              ///< yes, in this life
    std::map<std::uint32_t, std::uint64_t> epochs; ///< highest obeyed, by partition
  };
  std::map<std::pair<std::string, std::uint32_t>, shard_word> shards_;
};

} // namespace tutti::chaos
