// This replica's Lease: claimed, renewed, lost, released.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "bridge/lease_times.hpp"
#include "protocol/http.hpp"

namespace tutti::bridge {

/// The label of the Leases that are replicas'; its value is the replica's name.
inline constexpr const char* replica_label = "tutti.dev/replica";
/// The annotation of a Lease that says where its holder's link listens.
inline constexpr const char* link_annotation = "tutti.dev/link";
/// "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
std::string leases_path();
/// "tutti-" and the replica's name.
std::string lease_name(const std::string& replica);

/// A replica may own shards and partitions only while its Lease says that it lives; and a second
/// process that was given the same name by mistake must not own them too. The Lease is written by
/// compare-and-set only and names the process that holds it (`holder`), not just the replica.
///
///     claiming ─ absent, released, or ours ─────────────────────▶ written ─▶ held
///         │  another process stands there: a former life, or one that lives
///         └─ no change of it for `lease_former_life` ───────────▶ written ─▶ held
///            it changes: the name is in use, and this process waits until it is silent for
///            `lease_duration`
///     held ─ written again and again; another holder in it ─▶ claiming, the name is in use
///
/// A lost answer is settled by reading; the next write shows whether the Lease is still ours.
/// Pure: the role that owns it sends `next`'s requests, at most one at a time.
class own_lease {
public:
  struct options {
    std::string replica;
    std::string holder; ///< never used by another process
    std::string link;   ///< where this replica's link listens; empty where it needs no address
    lease_times times;
  };

  explicit own_lease(options o) : options_(std::move(o)) {}

  /// What is to be asked now; nothing while an exchange is open or when all is done.
  std::optional<protocol::http_request> next(base::time_point now, base::wall_time wall);
  /// The open exchange's answer; status 0 = none came. True if `next` has more to ask at once.
  bool answer(int status, const std::string& body, base::time_point now);
  bool is_open() const { return step_ != step::idle; }

  /// Written by us, and that is less than `given_up` ago.
  bool is_held(base::time_point now) const;
  /// When it will have to be given up; only while held.
  base::time_point held_until() const;
  /// Another process lives under this name.
  bool is_name_in_use() const { return rival_ && rival_->is_alive; }
  /// Why it is not held, in words; empty if nothing is wrong.
  const std::string& problem() const { return problem_; }

  /// From here on it is released instead of renewed.
  void release() { is_ending_ = true; }
  /// Released, or not ours to release.
  bool is_over() const { return is_over_; }

private:
  enum class step : std::uint8_t { idle, reading, creating, writing };
  struct rival {
    std::string version;
    base::time_point since; ///< its last change that was seen
    bool is_alive = false;
  };

  bool read(const std::string& body, base::time_point now);
  void see_rival(std::string holder, std::string version, base::time_point now);
  bool must_wait(base::time_point now) const;
  std::string body(base::wall_time wall) const;

  options options_;
  step step_ = step::idle;
  base::time_point asked_{};
  bool is_known_ = false;  ///< `version_` may be written over
  bool is_absent_ = false; ///< there is no such object
  bool is_ours_ = false;   ///< as last seen
  std::string version_;
  std::string acquired_; ///< as written, while it is ours
  std::int64_t transitions_ = 0;
  std::optional<base::time_point> renewed_; ///< when the last write that went through was sent
  std::optional<rival> rival_;
  std::string problem_;
  int looks_ = 0;                 ///< after refused writes, in a row
  base::time_point not_before_{}; ///< nothing is asked until then
  bool is_ending_ = false;
  bool is_releasing_ = false; ///< the write that is open
  bool is_over_ = false;
};

} // namespace tutti::bridge
