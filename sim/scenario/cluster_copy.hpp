// A copy of what a live cluster holds, read again and again: facts look at it as at the objects of
// a simulated world.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "api/release.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "sim/api_server/store.hpp"
#include "sim/scenario/live_door.hpp"
#include "sim/scenario/tally.hpp"

namespace tutti::sim::scenario {

/// What lies between two readings is not seen: an object that came and went is not in it.
class cluster_copy final : public deeds {
public:
  cluster_copy(live_door& door, api::release kubernetes) : door_(door), kinds_(kubernetes) {}

  enum class extent : std::uint8_t {
    core, ///< nodes, pods, groups and claims: what scheduling changes
    all   ///< every kind of the release that the cluster serves
  };
  /// `unavailable` with the kind and what was answered.
  base::result<void> read(extent which);

  const api_server::store& objects() const { return store_; }
  /// When a reading last found a change of the core.
  base::time_point changed_at() const { return changed_at_; }
  /// Hears of each change: "MODIFIED pod default/a on n1".
  void tell(std::function<void(std::string)> who) { told_ = std::move(who); }

  /// Everything counts from here.
  void restart();
  /// Somebody else than the scheduler ends this pod now.
  void note_ending(const std::string& uid) { ended_by_others_.insert(uid); }
  const std::set<std::string>& evicted() const override { return evicted_; }
  std::int64_t reports(const api_server::object& event) const override {
    return reports_since(store_, event, restarted_at_);
  }

private:
  base::result<void> read_kind(api_server::kind_id kind);
  void take_in(api_server::kind_id kind, boost::json::object& item,
               std::set<std::string, std::less<>>& present);
  void remove_others(api_server::kind_id kind, const std::set<std::string, std::less<>>& present);
  void note_change(api_server::kind_id kind, const char* what, const api_server::object& x);
  void judge_end(const api_server::object& last);
  void judge_pod(const api_server::object& now, const api_server::object* before);

  live_door& door_;
  const api_server::catalog kinds_;
  api_server::store store_;
  std::set<api_server::kind_id> absent_; ///< that the cluster does not serve
  /// resourceVersion of each object, as the cluster calls it.
  std::map<std::pair<api_server::kind_id, std::string>, std::string> versions_;
  base::time_point changed_at_{};
  std::function<void(std::string)> told_;
  std::set<std::string> ended_by_others_; ///< uids
  std::set<std::string> evicted_;
  api_server::revision restarted_at_ = 0;
};

/// Where requests about that object, or without a name about its kind, go; a kind of a release.
std::string path_of(const api_server::endpoint& end, const std::string& key);

} // namespace tutti::sim::scenario
