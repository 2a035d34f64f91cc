// What a role asks of its shell. The shell performs effects in order; roles perform nothing
// themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "protocol/address.hpp"
#include "protocol/decision.hpp"
#include "protocol/http.hpp"
#include "protocol/messages.hpp"
#include "protocol/ownership.hpp"
#include "protocol/records.hpp"

namespace tutti::protocol {

/// Into the journal, under the role's own address. No later `send`, `decide`, `amend`, `exchange`
/// or `fault` of this role overtakes a `synced` record, whether from this call or an earlier one;
/// the role itself goes on.
struct append {
  enum class durability : std::uint8_t {
    lazy,  ///< on disk some time; may be lost with everything behind it
    synced ///< durable before anything that follows leaves
  };
  record what;
  durability how = durability::lazy;
};

/// Fast path: a PREPARED record and its shard's incarnation, written in the same batch as the
/// decision.
struct rider {
  base::shard_id shard;
  base::incarnation_no incarnation;
  prepared_record prepared;
};

/// Put-if-absent into the decision log, synced. Comes back as `decided`, `decide_refused` or
/// `decide_unknown`.
struct decide {
  base::slot_id slot;
  decision what;
  std::vector<rider> riders;
};

/// CANCEL, adopt or DONE on a decision that is there. Comes back as `amended` or `amend_refused`.
struct amend {
  base::slot_id slot;
  amendment what;
};

/// All finished decisions of this gang may leave the store, an unfinished one once it is done.
/// Nothing comes back; it may be lost, and is then asked for again at the next start.
struct forget {
  base::gang_uid gang;
};

struct send {
  address to;
  message what;
  bool unordered = false; ///< does not wait for synced records (view deltas)
};

/// Timers are named by the role; arming an armed one moves it. Comes back as `timer_fired`.
struct timer_id {
  std::uint32_t kind = 0;
  std::uint64_t key = 0;

  friend auto operator<=>(const timer_id&, const timer_id&) = default;
};
struct arm {
  timer_id timer;
  base::duration after{};
};
struct disarm {
  timer_id timer;
};

/// Bridge roles only: one HTTP exchange. Comes back as `answered` or `answer_unknown`; a streaming
/// one as `stream_opened` (or `answered` if the status is not 200), `stream_line`s and
/// `stream_closed`.
struct exchange {
  std::uint64_t id = 0;
  http_request request;
};
/// Ends a stream or gives up an exchange; nothing more is heard of `id`.
struct hang_up {
  std::uint64_t id = 0;
};

/// Bring up the role at `where` as a child of this one; what is sent there afterwards finds it. If
/// it dies, the parent hears `child_died`. Hosting an address again replaces the role there: the
/// former one hears nothing more, and the new one begins when it has ended.
struct host {
  address where;
};

/// This role ends after the effects before this one.
struct retire {};

/// What this role knows may be wrong: it dies here, at once, and is made anew from what is durable.
/// Nothing that still waits for the disk is performed.
struct rebuild {
  std::string why;
};

/// What this replica owns from here on, as the partition map says: it brings up, hands over and
/// ends shards and partitions accordingly, and sends what is for the others' to their replicas.
/// `open` are the decisions that were listed after the map was changed: whoever is brought up
/// begins with those that concern it.
struct own {
  ownership_ptr what;
  std::vector<decision_ptr> open;
};

/// One structured fact for the flight recorder, log, metrics and `tutti trace`. Does not wait.
struct note {
  using value = std::variant<std::int64_t, std::string>;
  std::string_view what; ///< a literal: "gang.decided", "shard.refused"
  std::vector<std::pair<std::string_view, value>> fields;
  bool is_error = false; ///< a human must look; fails a simulated run
};

/// Passes the fault point of a crash table row at this place in the order of effects.
struct fault {
  std::string_view id;
};

using effect = std::variant<append, decide, amend, forget, send, arm, disarm, exchange, hang_up,
                            host, retire, rebuild, own, note, fault>;

/// Effects in the order in which they are to be performed.
class effects {
public:
  template <class E>
  effects& add(E e) {
    list_.emplace_back(std::move(e));
    return *this;
  }
  template <class M>
  effects& tell(address to, M what) {
    return add(send{std::move(to), message{std::move(what)}, false});
  }
  effects& add_all(effects more) {
    for (auto& e : more.list_)
      list_.push_back(std::move(e));
    return *this;
  }

  std::vector<effect>& list() { return list_; }
  const std::vector<effect>& list() const { return list_; }
  bool empty() const { return list_.empty(); }

private:
  std::vector<effect> list_;
};

} // namespace tutti::protocol
