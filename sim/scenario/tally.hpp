// Counts what a run costs and remembers its last events: facts and messages ask it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/facts.hpp"
#include "sim/world/world.hpp"

namespace tutti::sim::scenario {

/// What the path of a request to an API server names.
struct asked_path {
  std::string space; ///< empty if the path has none
  std::string resource;
  std::string name;
  std::string subresource;
  bool is_watch = false;
};
asked_path path_of(std::string_view target);

/// What a story's scheduler was seen to do, by whoever watches it.
class deeds {
public:
  virtual ~deeds() = default;
  /// Pods that were deleted or marked by a scheduler, "ns/name".
  virtual const std::set<std::string>& evicted() const = 0;
  /// Reports of this Event object since the count began anew.
  virtual std::int64_t reports(const api_server::object& event) const = 0;
};
/// Reports of an Event object since that revision of its store.
std::int64_t reports_since(const api_server::store& all, const api_server::object& event,
                           api_server::revision from);

class tally final : public observer, public deeds {
public:
  explicit tally(world& w) : world_(w) {}

  /// A request leaves a process; whatever becomes of it.
  void sent(const std::string& client, const protocol::http_request& request);
  /// Everything counts from here.
  void restart();

  // ---- since `restart`
  /// `what`: a resource, or bindings, deletes, status, all. Empty client = of all.
  std::uint64_t writes(const std::string& what, const std::string& client) const;
  std::uint64_t attempts(const protocol::object_name& gang) const;
  const std::set<std::string>& evicted() const override { return evicted_; }
  std::int64_t reports(const api_server::object& event) const override;

  // ---- over the whole run
  /// A decision for this gang is durable.
  bool has_started(const std::string& gang_uid) const { return started_.contains(gang_uid); }
  std::size_t attempts_under_way() const { return under_way_.size(); }
  /// When something happened that was not a repetition of what failed before on the same state.
  base::time_point last_activity() const { return last_activity_; }
  void note_activity() { last_activity_ = world_.time().now(); }
  /// A step, a request, a change: into the list of the last events.
  void note(std::string what);
  std::vector<std::string> last_events() const;
  /// Notes of roles that a human must look at.
  const std::vector<std::string>& alarms() const { return alarms_; }

  void stepped(process& who, const protocol::address& where, const protocol::event& e,
               const protocol::effects& wanted) override;
  void arrives(std::string_view client, const protocol::http_request& request) override;
  void api_turned() override;
  void durable(process&, const persistence::batch&) override {}
  void began(process& who) override;
  void ended(process& who, std::string_view why) override;

private:
  void attempt_ended(const base::gang_uid& gang, bool is_bound);

  world& world_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> writes_; ///< client, what
  std::map<protocol::object_name, std::uint64_t> attempts_;
  std::set<std::string> evicted_;
  api_server::revision restarted_at_ = 0;
  std::set<std::string> started_;
  std::set<std::string> under_way_; ///< gangs
  std::set<std::string> failed_;    ///< gangs that were refused since the last real change
  base::time_point last_activity_{};
  api_server::revision seen_ = 0;
  std::deque<std::string> events_;
  std::vector<std::string> alarms_;
};

} // namespace tutti::sim::scenario
