// A genuine control plane on loopback, for one test alone.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/commands/api_client.hpp"
#include "tests/commands/manifests.hpp"
#include "tests/commands/tutti.hpp"

namespace tutti::live {

using commands::api_client;
using commands::arguments;
using commands::daemon;

/// Why no control plane can be started here, in one line; empty if one can.
const std::string& why_none();

/// etcd and kube-apiserver, started by `scripts/control_plane.sh` and stopped by the destructor.
/// One that does not come up fails the test.
class control_plane {
public:
  explicit control_plane(const arguments& more = {});
  control_plane(const control_plane&) = delete;
  control_plane& operator=(const control_plane&) = delete;
  ~control_plane();

  /// As the administrator.
  const api_client& api() const { return api_; }
  /// Of the administrator, or of "scheduler" (kube-scheduler) or "plain" (no rights).
  std::string kubeconfig(const std::string& who = {}) const;
  std::string audit_log() const { return home_.sub("plane/audit.log"); }
  std::uint16_t etcd_port() const { return etcd_port_; }

  /// Ends a part ("kube-apiserver") as kill -9 does.
  void kill(const std::string& part) const;
  /// Starts it again as it was, and waits until it is ready.
  void start_again(const std::string& part) const;

  /// Creates the objects of a manifest, in its order; one that is refused fails the test.
  void create(const std::string& manifest) const;

private:
  void control(arguments what) const;

  commands::temp_dir home_;
  api_client api_;
  std::uint16_t etcd_port_ = 0;
};

/// The text of a file of this repository.
std::string file_in_source(const std::string& path);

/// Gives the user `plain-user` that ClusterRole; with a namespace, that Role there.
std::string given_to_plain_user(const std::string& role, const std::string& space = {});

/// Members that are ours: on a genuine cluster those without a word belong to kube-scheduler.
commands::gang_text our_gang(std::string name, int members, int cpu, std::string more = {});

/// Fails the test if the gang is not bound in time.
void expect_bound(const daemon& scheduler, const std::string& gang);

/// A test with a control plane and schedulers on it; skipped, with the reason, where there is none.
class Live : public testing::Test {
protected:
  void SetUp() override {
    if (!why_none().empty())
      GTEST_SKIP() << why_none();
  }
  /// A scheduler of its own store, which is the same for the same name.
  daemon start_scheduler(const control_plane& on, std::map<std::string, std::string> env = {},
                         const std::string& who = {}) const;

  commands::temp_dir home_;
};

} // namespace tutti::live
