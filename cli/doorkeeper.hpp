// Lets the scheduler speak to an API server only once it is known whose cluster that is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "actors/services.hpp"
#include "api/dialect.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/http_client.hpp"

namespace tutti::cli {

/// What tells one cluster from another, and how its API is to be spoken.
struct cluster_facts {
  std::string uid{};      ///< of the namespace kube-system: it lives as long as the cluster
  std::string kubernetes; ///< "1.37"
  /// In which it speaks of groups of pods.
  std::vector<api::dialect> served{};

  bool serves(api::dialect d) const {
    return std::find(served.begin(), served.end(), d) != served.end();
  }
  /// The newest of the cluster's own, else that of our kind; nothing if it serves none.
  std::optional<api::dialect> spoken() const;
};

/// A store that is opened against another cluster than its own would undo and post there what was
/// decided elsewhere. So the first words to a server are questions, and nothing else leaves before
/// the answers are approved:
///
///     ask() ──▶ approved ─▶ open(): all exchanges pass
///       └─ nobody answers ─▶ open_when(approve): exchanges wait; the first of them asks again.
///                            approved ─▶ they pass; refused ─▶ nothing ever passes
class doorkeeper final : public actors::http_carrier {
public:
  /// The server in messages.
  struct words {
    std::string name;
    std::string if_silent; ///< the hint where it does not answer in time
  };
  /// Once the door is open, what a human must mend (certificates, credentials) is warned of on
  /// stderr, once each; again only after the server has answered, and not twice within a minute.
  /// `time` outlives it.
  doorkeeper(bridge::connector_ptr where, bridge::http_client::options how, words called,
             const base::clock& time);
  /// The same with any client; `make` gets what is to hear of failures.
  using failure_ear = std::function<void(const base::error& e, bool needs_human)>;
  using client_maker =
      std::function<base::result<std::unique_ptr<bridge::api_client>>(failure_ear)>;
  /// Errors of `make`.
  static base::result<std::unique_ptr<doorkeeper>> open_with(const client_maker& make, words called,
                                                             const base::clock& time);
  ~doorkeeper() override;

  /// Asks once and waits. `unavailable` if nobody answers within `patience`, `forbidden` without
  /// the right to read the namespace or if we are not known, `bad_input` if it is no API server
  /// that can be spoken to: a certificate that is not good, another program, a release that is not
  /// known.
  base::result<cluster_facts> ask(base::duration patience);
  /// The same without waiting; one at a time.
  std::future<base::result<cluster_facts>> begin_asking();
  bool is_open();

  using approver = std::function<base::result<void>(const cluster_facts&)>;
  using refusal = std::function<void(const base::error&)>;
  /// Call one of the two before the first exchange. `approve` is called on a thread of its own,
  /// once a server has answered; `refused` at most once, with what `approve` or `ask` (except
  /// `unavailable`) said.
  void open();
  void open_when(approver approve, refusal refused);

  void start(std::uint64_t id, protocol::http_request request,
             std::function<void(protocol::event)> tell) override;
  void hang_up(std::uint64_t id) override;

private:
  doorkeeper(words called, const base::clock& time) : called_(std::move(called)), clock_(time) {}
  using teller = std::function<void(protocol::event)>;
  struct held {
    protocol::http_request request;
    teller tell;
  };
  enum class state { closed, asking, open, refused };

  using heard_facts = std::function<void(base::result<cluster_facts>)>;
  std::uint64_t fresh_id();
  void ask_then(heard_facts heard);
  void ask_dialect(cluster_facts so_far, heard_facts heard);
  void ask_own(cluster_facts so_far, heard_facts heard);
  void ask_space(cluster_facts so_far, heard_facts heard);
  void judge(base::result<cluster_facts> said);
  void forward(std::uint64_t id, held x);
  void on_failed(const base::error& e, bool needs_human);
  void on_answer(const bridge::http_event& heard);
  base::result<boost::json::object> answer_of(const bridge::http_event& heard, const char* what);

  const words called_;
  std::atomic<std::uint64_t> last_id_{UINT64_MAX};
  const base::clock& clock_;
  approver approve_;
  refusal refused_;
  std::mutex mutex_; // guards what follows
  state state_ = state::closed;
  std::map<std::uint64_t, held> held_;
  base::error last_failure_;                   // of a connection
  std::set<std::string> warned_;               // what was said since the server answered last
  base::time_point warned_since_{};            // of the first of them
  std::unique_ptr<bridge::api_client> client_; // last: its thread ends before the rest
};

} // namespace tutti::cli
