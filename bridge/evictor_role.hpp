// Removes victims: says why, deletes exactly what was judged, and waits until it is really gone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "bridge/exchange_window.hpp"
#include "bridge/pod_view.hpp"
#include "bridge/verdicts.hpp"
#include "protocol/role.hpp"

namespace tutti::bridge {

/// A victim may be replaced under the same name, changed by its kubelet at any moment, or reprieved
/// by a withdrawal while our DELETE is on its way. So the DELETE carries the uid and the version
/// that the DisruptionTarget patch returned; if the version has moved, the pod is read, and only if
/// nobody has touched or fenced it since, it is marked and deleted again. A question may come long
/// after its attempt was stopped, even to another life of this role: so the touch that stops an
/// attempt names it.
///
///     marking ─▶ deleting ─▶ waiting (polls) ─ 404 or another uid ─▶ victim_gone
///        ▲           │ 409, unknown (B3)
///        └─ reading ◀┘ alive, same touch, no higher fence
///              └─ deleting already ─▶ waiting        touched or fenced since ─▶ dropped
///
///     stop_evicting: what is not deleted yet is touched (rule 7b); then `eviction_stopped`
///
/// Members of a degraded gang go the same way, named by their partition instead of a plan, but for
/// one thing: what fails is not tried again here. Whoever still has grounds asks again.
///
/// Stateless across restarts: gangs and partitions repeat what they were not answered.
class evictor_role final : public protocol::role {
public:
  struct options {
    std::string scheduler_name = "tutti"; ///< in the victim's condition
    base::wall_time wall_at_zero;         ///< wall time at the zero of the monotonic time line
  };

  explicit evictor_role(options o);

  protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

private:
  enum class step : std::uint8_t { marking, deleting, reading, waiting, touching };

  struct request {
    step at = step::marking;
    base::attempt_id attempt;
    protocol::object_name gang;
    protocol::victim who;
    std::string why;   // empty: it makes room for the gang
    std::string event; // told once the removal is accepted; empty = none, or told already
    bool is_for_pod = false;
    base::epoch_no fence;
    std::string resource_version; // that the mark returned
    std::string touch;            // that stood on the pod then
    bool was_marked = false;
    bool is_unmarkable = false; // the server refuses the mark: it goes without
    std::uint64_t touch_no = 0;
    std::uint32_t tries = 0;
    std::uint32_t polls = 0;
    bool is_open = false;    // an exchange is out
    bool is_stopped = false; // touch it instead
  };
  using request_id = std::uint64_t;
  using request_key = std::pair<base::attempt_id, base::pod_uid>;

  void hear(const protocol::evict& x);
  void hear(const protocol::stop_evicting& x);
  void add(request r);
  void stop(request_id id);

  std::optional<protocol::http_request> next_exchange(request_id id);
  void on_answer(std::uint64_t exchange, int status, const std::string& body,
                 std::int64_t retry_after_ms, protocol::effects& out);
  void on_mark(request_id id, request& r, verdict v, const std::string& body,
               protocol::effects& out);
  void on_delete(request_id id, request& r, verdict v, protocol::effects& out);
  void on_read(request_id id, request& r, verdict v, const std::string& body,
               protocol::effects& out);
  void on_touch(request_id id, request& r, verdict v, protocol::effects& out);
  bool on_common(request_id id, request& r, verdict v, std::int64_t retry_after_ms,
                 protocol::effects& out);

  void go(request_id id, request& r, step to);
  void poll(request_id id, request& r, protocol::effects& out);
  void retry(request_id id, request& r, base::duration at_least, protocol::effects& out);
  void tell_people(request& r, protocol::effects& out);
  void gone(request_id id, protocol::effects& out);
  void drop(request_id id, protocol::effects& out);
  void finish(request_id id);
  void report_stops(protocol::effects& out);
  bool is_reprieved(const request& r, const pod_view& pod) const;
  fence fence_of_request(const request& r) const;
  base::wall_time wall_now() const;

  options options_;
  exchange_window window_;
  std::map<request_id, request> requests_;
  std::map<request_key, request_id> by_key_;
  std::set<base::attempt_id> stopping_; // answered when none of their requests is left to touch
  request_id last_request_ = 0;
  std::uint64_t last_touch_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t incarnation_ = 0;
  base::time_point now_{};
};

} // namespace tutti::bridge
