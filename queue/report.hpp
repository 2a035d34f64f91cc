// What the queue tells its readers, as JSON.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/limits.hpp"
#include "base/time.hpp"
#include "queue/memory.hpp"
#include "queue/options.hpp"
#include "queue/order.hpp"
#include "queue/registry.hpp"

namespace tutti::queue {

/// An attempt whose gang is not in the registry: resumed before the first list, or its object is
/// gone.
struct stray {
  protocol::object_name name;
  attempt_now attempt;
};
/// A view is lost for moments whenever a watch ends; longer than this, and people are told.
inline constexpr auto api_lost_shown_after = base::limits::resend_longest;

using strays = std::map<base::gang_uid, stray>;

/// The reason to show for an attempt under way: its own, else that of its phase. Never `none`.
base::reason_code reason_of(const attempt_now& x);

/// Looks at a queue of this moment; changes nothing.
class reader {
public:
  struct sources {
    const registry& gangs;
    const pools& where;
    const strays& departed;
    const memories& remembered;
    const options& how;
    const std::set<base::partition_id>& here; ///< where there are other replicas
    base::time_point now;
    std::optional<base::time_point> api_lost; ///< no complete and fresh view since then
    bool is_synced = false;
  };
  explicit reader(sources from) : from_(from) {}

  /// `what` is "gangs" (array of rows), "gang" (one object, `name` = "namespace/name"), "status" or
  /// "quiet". Empty if there is no such thing.
  std::string read(std::string_view what, std::string_view name) const;

private:
  boost::json::array gangs() const;
  boost::json::object gang(const gang_entry& g) const;
  boost::json::object status() const;
  boost::json::object quiet() const;
  boost::json::object row(const gang_entry& g) const;
  bool is_shown(const gang_entry& g) const;
  bool is_told_by_its_attempt(const gang_entry& g) const;
  bool is_api_lost() const;
  base::reason_code shown_reason(const gang_entry& g) const;
  boost::json::object with_api_lost(boost::json::object row) const;
  std::int64_t ms_until(base::time_point t) const;

  sources from_;
};

} // namespace tutti::queue
