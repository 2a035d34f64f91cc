// Writers of one decision log on the embedded API server, a network that loses answers, and the
// history of every object: what was written in which order, and by what rules.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bridge/decisions_role.hpp"
#include "sim/api_server/control_plane.hpp"
#include "tests/bridge/exchange_fixture.hpp"

namespace tutti::sim::decisions {

class still_clock final : public base::clock {
public:
  base::time_point now() const override { return base::time_point{passed}; }
  base::wall_time wall_now() const override {
    return {std::chrono::duration_cast<std::chrono::milliseconds>(passed).count()};
  }
  base::duration passed{0};
};

/// Every version of every GangDecision. `broken` says the first rule of S2 or S7 that one of them
/// breaks.
class history {
public:
  void follow(const api_server::store& objects);

  /// Who has won a slot, ever, as text; empty = nobody.
  std::string winner(const base::slot_id& slot) const;
  /// The proposal stood in its slot at some time.
  bool was_written(const base::attempt_id& by) const;
  /// The gang's object as it is now; nothing if there is none.
  std::optional<bridge::decision_object> now(const base::gang_uid& gang) const;
  const std::string& broken() const { return broken_; }

private:
  void take(const api_server::event& e);
  void compare(const bridge::decision_object& was, const bridge::decision_object& now);
  void say(std::string what) {
    if (broken_.empty())
      broken_ = std::move(what);
  }

  std::size_t seen_ = 0;
  std::map<std::string, bridge::decision_object> latest_;                ///< by name
  std::map<std::pair<std::string, std::uint64_t>, std::string> winners_; ///< by name and slot
  std::string broken_;
};

/// What becomes of one request.
enum class fate : std::uint8_t {
  served,
  lost,         ///< never arrives
  applied_lost, ///< arrives, and its answer does not
  late          ///< nobody waits for it any more; it arrives when the world says so
};

struct writer {
  explicit writer(bridge::decisions_role::options how) : role(std::move(how)) {}
  bridge::decisions_role role;
  bridge::effect_log log;
};

class log_world {
public:
  explicit log_world(std::size_t inline_bytes = bridge::limits::decision_bytes_inline,
                     std::size_t writers = 1, bool has_others = false);

  writer& one(std::size_t n = 0) { return *writers_.at(n); }
  std::size_t writers() const { return writers_.size(); }
  /// Its process has died: a new one begins at the same place, and what it had sent may come late.
  void restart(std::size_t n);

  void decide(std::size_t n, const protocol::decision& what);
  void amend(std::size_t n, const base::slot_id& slot, protocol::amendment what);
  void forget(std::size_t n, const base::gang_uid& gang);
  void list(std::size_t n, std::uint64_t id);
  /// Whoever asks for this gang has ended.
  void asker_ends(std::size_t n, const base::gang_uid& gang);

  /// The oldest open exchange of a writer, or the `k`-th.
  void answer(std::size_t n, fate what, std::size_t k = 0);
  /// The same with an answer of this status; nothing is done.
  void refuse(std::size_t n, int status, std::string body = "{}", std::int64_t retry_after_ms = 0,
              std::size_t k = 0);
  /// One of the requests that nobody waits for arrives.
  void arrive_late();
  std::size_t late() const { return late_.size(); }
  /// Every armed timer of a writer fires.
  void wait(std::size_t n);
  /// Everything is served, until nobody asks any more.
  void settle();

  api_server::response ask(const protocol::http_request& what);
  void make_group(std::string_view name);
  std::string uid_of_group(std::string_view name);
  void controllers_act();
  /// Status of the gang's object.
  int status_of(const base::gang_uid& gang);
  std::size_t chunks();
  const history& past() const { return past_; }
  std::vector<protocol::slot_decided> decided(std::size_t n) const {
    return writers_.at(n)->log.all<protocol::slot_decided>();
  }
  std::vector<protocol::slot_amended> amended(std::size_t n) const {
    return writers_.at(n)->log.all<protocol::slot_amended>();
  }
  std::vector<protocol::slots_told> told(std::size_t n) const {
    return writers_.at(n)->log.all<protocol::slots_told>();
  }

private:
  void hear(std::size_t n, const protocol::event& e);
  template <class M>
  void tell(std::size_t n, const base::gang_uid& from, M what) {
    hear(n, protocol::received{protocol::to_gang(from), std::move(what)});
  }

  still_clock clock_;
  std::unique_ptr<api_server::control_plane> plane_;
  bridge::decisions_role::options how_;
  std::vector<std::unique_ptr<writer>> writers_;
  std::deque<protocol::http_request> late_;
  history past_;
};

/// A decision of gang "default/`gang`", whose root has the uid `gang` too.
struct proposal {
  std::string gang = "g";
  std::uint64_t ordinal = 1;
  std::uint64_t epoch = 1;
  std::uint64_t try_no = 1;
  std::size_t members = 2;
  protocol::verdict what = protocol::verdict::committed;
  std::string space = "default";

  protocol::decision make() const;
  base::slot_id slot() const { return {{gang}, ordinal}; }
};

} // namespace tutti::sim::decisions
