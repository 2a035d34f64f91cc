// The identity of one user of one cluster, kept up to date: tokens and certificates rotate.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "bridge/cluster_access.hpp"
#include "bridge/exec_credential.hpp"
#include "bridge/identity.hpp"
#include "bridge/machine.hpp"

namespace tutti::bridge {

namespace limits {
/// Files of credentials are read again after this: a kubelet renews a token long before it expires.
inline constexpr auto credentials_last = std::chrono::seconds{60};
/// A program that prints credentials may ask a cloud; longer, and the scheduler is better off
/// without.
inline constexpr auto plugin_patience = std::chrono::seconds{30};
/// Whoever refuses: a program is not run more often than this, nor is what failed tried again.
inline constexpr auto credentials_rest = std::chrono::seconds{2};
} // namespace limits

/// Reads what a `cluster_access` names. What was read is used until it is a minute old, has expired
/// by a plugin's word, or is refused by the server. Over plain HTTP nobody is told who we are, as
/// with kubectl: the way would see it.
class credentials final : public identity_source {
public:
  credentials(cluster_access where, std::shared_ptr<machine> from);

  identity_ptr known() const override;
  /// `bad_input`, with file, field and cure: a file is missing or is not what it should be, a
  /// plugin is missing or prints nonsense. `unavailable`: a plugin failed. While a file cannot be
  /// read, what it said before is used.
  base::result<identity_ptr> fetch(const identity_ptr& refused) override;
  void give_up() noexcept override { is_given_up_ = true; }

private:
  bool is_fresh(base::time_point now) const;
  base::result<identity> look();
  base::result<void> ask_plugin(std::string_view authority);
  base::result<tls_material::text> text_of(const text_source& source) const;
  base::result<std::string> token_of(const text_source& file) const;

  const cluster_access where_;
  const std::shared_ptr<machine> machine_;
  std::atomic<bool> is_given_up_{false};

  std::mutex fetching_; // held while files are read and programs run: one at a time
  std::optional<exec_credential> printed_;

  mutable std::mutex mutex_; // guards what follows, shortly
  identity_ptr current_;
  base::time_point read_at_{};
  std::optional<base::error> failed_; // the last look, since `read_at_`
  std::optional<base::wall_time> expires_;
};

} // namespace tutti::bridge
