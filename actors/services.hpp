// What the shell of a role may use of the process around it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/api_calls.hpp"
#include "actors/metrics_meter.hpp"
#include "actors/recorder.hpp"
#include "actors/router.hpp"
#include "base/fault_point.hpp"
#include "base/time.hpp"
#include "persistence/store.hpp"
#include "protocol/events.hpp"
#include "protocol/role.hpp"

namespace tutti::actors {

/// Carries HTTP exchanges; answers come back as events on any thread. In production the bridge's
/// HTTP client, elsewhere whatever carries the same bytes.
class http_carrier {
public:
  virtual ~http_carrier() = default;
  /// Starts one exchange under `id` (unique in the process). `tell` gets `answered`,
  /// `answer_unknown` or the stream events, all with this id.
  virtual void start(std::uint64_t id, protocol::http_request request,
                     std::function<void(protocol::event)> tell) = 0;
  virtual void hang_up(std::uint64_t id) = 0;
};

/// Everything a shell needs, owned by the scheduler and outliving every actor.
struct services {
  router& routes;
  persistence::store& store;
  http_carrier* http = nullptr; ///< null: no API server (some tests)
  const base::clock& clock;
  recorder& notes;
  /// Makes the role behind an address that another role asked to `host`; null if there is no such
  /// kind.
  std::function<protocol::role_ptr(const protocol::address&)> make_role;
  /// Brings up a hosted role as a child of the life `parent`.
  std::function<void(const protocol::address& where, base::incarnation_no parent)> bring_up;
  /// What this replica owns from here on; null where one replica owns everything.
  std::function<void(protocol::own)> own;
  /// Calls back with all decisions of the log, as they stand after what was asked of it before;
  /// null where the store is the log.
  std::function<void(std::function<void(std::vector<protocol::decision_ptr>)>)> list_log;
  /// The last word of a life; `why` is empty if it was to end.
  std::function<void(base::incarnation_no who, const std::optional<std::string>& why)> ended;
  /// The store or a role is broken beyond repair: the process must end (and recover from disk).
  std::function<void(const base::error&)> fatal;
  /// Passes the fault point of a crash table row.
  std::function<void(std::string_view)> pass_fault = base::pass_fault;
  std::uint64_t seed = 0;
  meter numbers; ///< is shown everything that is sent
  /// Is shown every answer of the API server; those may come when the process is ending already.
  std::shared_ptr<api_calls> calls = std::make_shared<api_calls>();
  /// Ids of HTTP exchanges are unique in the process, because all roles share one carrier.
  std::atomic<std::uint64_t> last_exchange{0};
};

} // namespace tutti::actors
