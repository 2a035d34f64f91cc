// Binds pods, reads them, and fences them: the only writer of Bindings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/limits.hpp"
#include "bridge/exchange_window.hpp"
#include "bridge/pod_view.hpp"
#include "bridge/verdicts.hpp"
#include "protocol/role.hpp"

namespace tutti::bridge {

/// A Binding cannot be taken back, its answer can be lost, and an older owner of the gang may still
/// be writing. So every Binding carries uid and resourceVersion as the gang last read them; an
/// unknown answer is settled by reading the pod, never by guessing (B1); and a Binding that came to
/// nothing is *not* repeated here, neither with a newer version, for which the gang must first look
/// at its record (rule 7), nor with the same, for which it needs leave of the node once more (S1b):
/// it is answered `moved`. So is one that has waited here for longer than leave lasts. If the
/// server could not serve it (5xx), people hear of that by an event of the pod.
///
///     bind:   writing ─▶ checking ─ each write is there ─▶ posting ─ 201 ─▶ bound
///                ▲           │ not there                    │ 409, unknown
///                └───────────┘                              ▼
///             bound, elsewhere, gone, replaced, gated, moved ◀─ reading
///     read:   reading ─▶ pod_read
///     touch:  touching ─▶ pod_read (touched); refused or unknown: touching again
///
/// A touch ends a Binding of the same pod that is not posted yet. A pod that carries a higher fence
/// of the gang's partition stops Bindings and is not answered: its writer has been superseded.
/// Stateless across restarts: gangs repeat what they were not answered, (attempt, pod, kind) is the
/// key under which a second copy is ignored. A `bind` that says something else than the one before
/// replaces it, unless its fence is lower.
class binder_role final : public protocol::role {
public:
  /// So many exchanges are out at once, at least 1; what is asked besides waits its turn.
  explicit binder_role(std::size_t in_flight = base::limits::bindings_in_flight);

  protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

private:
  enum class request_kind : std::uint8_t { bind, read, touch };
  enum class step : std::uint8_t {
    writing,  // the before_bind write `next_write`
    checking, // reads it back
    posting,
    reading,
    touching
  };

  struct request {
    request_kind kind = request_kind::bind;
    step at = step::posting;
    protocol::bind what;      // read and touch use its attempt, pod, uid, partition, fence
    base::time_point asked{}; // bind: when the gang said so, with leave of the node
    std::size_t next_write = 0;
    std::uint64_t touch_no = 0;
    std::uint32_t tries = 0;    // failures in a row
    bool is_open = false;       // an exchange is out
    bool is_stopped = false;    // touched meanwhile: report, do not post again
    bool is_superseded = false; // the open exchange is of words that were replaced
    bool was_refused = false;   // the write being checked was refused, not lost
    std::string failure;        // what the server said of the Binding, if it could not serve it
  };
  using request_key = std::tuple<base::attempt_id, base::pod_uid, request_kind>;
  using request_id = std::uint64_t;

  void add(request r, protocol::effects& out);
  static step first_step(const protocol::bind& x);
  void replace(request_id id, const protocol::bind& x);
  void hear(const protocol::bind& x, protocol::effects& out);
  void hear(const protocol::read_pod& x, protocol::effects& out);
  void hear(const protocol::touch& x, protocol::effects& out);
  void inspect(const protocol::received& e, protocol::effects& out) const;

  std::optional<protocol::http_request> next_exchange(request_id id, protocol::effects& out);
  void on_answer(std::uint64_t exchange, int status, const std::string& body,
                 std::int64_t retry_after_ms, protocol::effects& out);
  void on_write(request_id id, request& r, verdict v);
  void on_check(request_id id, request& r, verdict v, const std::string& body,
                protocol::effects& out);
  void on_post(request_id id, request& r, verdict v, protocol::effects& out);
  void on_read(request_id id, request& r, verdict v, const std::string& body,
               protocol::effects& out);
  void on_touch(request_id id, request& r, verdict v, const std::string& body,
                protocol::effects& out);
  /// Waiting, refused rights and lost reads are the same for every step; true if it was one.
  bool on_common(request_id id, request& r, verdict v, std::int64_t retry_after_ms,
                 protocol::effects& out);

  bool is_leave_old(const request& r) const;
  void bind_by_view(request_id id, request& r, const pod_view& pod, protocol::effects& out);
  static void tell_failure(const request& r, protocol::effects& out);
  void answer_bind(request_id id, protocol::bind_verdict v, const pod_view& pod,
                   protocol::effects& out);
  void answer_read(request_id id, protocol::pod_state state, const pod_view& pod,
                   protocol::effects& out);
  void again(request_id id, request& r, step at);
  void retry(request_id id, request& r, base::duration at_least, protocol::effects& out);
  void finish(request_id id);
  void learn(const request& r, const pod_view& pod);
  bool is_fenced(const request& r) const;
  void drop_fenced(request_id id, protocol::effects& out);

  exchange_window window_;
  std::map<request_id, request> requests_;
  std::map<request_key, request_id> by_key_;
  std::map<base::partition_id, base::epoch_no> fences_; // highest seen, per partition
  request_id last_request_ = 0;
  std::uint64_t last_touch_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t incarnation_ = 0;
  std::uint64_t bound_ = 0;
  std::uint64_t unknown_ = 0;
  base::time_point now_{};
};

} // namespace tutti::bridge
