// The decision log as API objects: put-if-absent, amend, forget and list, by compare-and-set.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bridge/decision_objects.hpp"
#include "bridge/exchange_window.hpp"
#include "bridge/limits.hpp"
#include "bridge/verdicts.hpp"
#include "protocol/role.hpp"

namespace tutti::bridge {

/// Several replicas must agree on one winner per slot, and nobody can lock the API server. So each
/// gang has one object that holds its highest slot, and every write names the version that it was
/// made from: of two rivals one is refused, reads, and obeys what it finds. A lost answer is
/// settled by reading and, if nothing is found, by writing again: the write that may still be on
/// its way carries a version (or creates an object) that only one of the two can have. Upholds S2
/// and S7: a slot is written in an object whose slot before is finished, never over another. Who is
/// refused has written nothing, or a later slot stands: then what it wrote is over, whoever ended
/// it.
///
///     decide:  reading ─ taken ─▶ slot_decided (the winner, whoever that is)
///                 │    ─ not its turn ─▶ slot_decided (refused)
///                 └ free ─▶ [making the object ─▶ its chunks ─▶] writing ─ done ─▶ slot_decided
///                 ▲                                                │ 409, 404, unknown
///                 └────────────────────────────────────────────────┘
///     amend:   reading ─ refused or as it is to be ─▶ slot_amended
///                 └ else ─▶ writing ─ done ─▶ slot_amended;  409, 404, unknown ─▶ reading
///     forget:  removing; the finalizer holds an unfinished one
///     list:    once all is answered that was asked before it: page after page of one revision,
///     then the chunks of unfinished ones ─▶ slots_told
///
/// Beside other replicas (`has_others`) an older owner's write may arrive long after its successor
/// has listed, and nobody would roll forward what it decides. So what is unfinished is looked for
/// now and then, and the keeper told of it (`slots_told` with id 0). And what was asked for by
/// somebody who has ended since (`child_died`) is not written any more: it is not said again, and
/// not for the first time.
///
/// Without a plan to the contrary a first slot is written without reading, and an amendment on the
/// version that this role wrote last: two writes per gang. One request per gang is under way at a
/// time; those that finish what is decided go before those that decide. Nothing is ever given up:
/// whoever asks again while it is under way is answered once. Stateless across restarts.
class decisions_role final : public protocol::role {
public:
  struct options {
    root_kind roots;
    std::size_t inline_bytes = limits::decision_bytes_inline; ///< and of a chunk
    bool has_others = false;                                  ///< other replicas write into the log
  };

  explicit decisions_role(options how);

  protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

private:
  enum class kind : std::uint8_t { decide, amend, forget, clear, list };
  enum class step : std::uint8_t {
    reading,  // the object, or a page
    loading,  // the chunk `next`
    making,   // an object with no slot, for chunks to belong to
    chunking, // writes the chunk `next`
    writing,  // the object
    removing  // the object, or the chunk `next`
  };
  /// An object, and the decision in it once its bytes are here; null = no slot yet.
  struct standing {
    decision_object object;
    protocol::decision_ptr what;
  };
  struct request {
    kind what = kind::decide;
    step at = step::reading;
    protocol::address from;
    base::slot_id slot;
    protocol::decision_ptr proposed;
    protocol::amendment change;
    std::uint64_t list_id = 0;
    std::set<std::uint64_t> behind; // list: what was asked before it and is not answered

    std::optional<standing> found;  // as last read or written
    protocol::decision_ptr written; // what the next write says
    protocol::decision_ptr seen;    // amend: as it stood, unfinished, when it was read last
    std::vector<chunk> pieces;      // of `proposed`
    std::vector<std::string> names; // of chunks to load or to remove
    std::string space;              // … and where
    std::size_t next = 0;           // of pieces or names
    std::string bytes;              // loaded so far
    std::string token;              // of the next page
    std::vector<protocol::decision> all;
    std::deque<decision_object> unread; // listed, their chunks not loaded yet
    bool is_place_gone = false;         // its namespace ends: what a read finds now is final
    std::uint32_t tries = 0;
    bool is_open = false;
    bool is_orphan = false; // whoever asked has ended: over with the exchange that is out
    bool is_look = false;   // list: of unfinished ones, unasked
  };
  using request_id = std::uint64_t;

  void hear(const protocol::address& from, const protocol::slot_decide& x, protocol::effects& out);
  void hear(const protocol::address& from, const protocol::slot_amend& x, protocol::effects& out);
  void hear(const protocol::slots_forget& x, protocol::effects& out);
  void hear(const protocol::address& from, const protocol::slots_wanted& x, protocol::effects& out);
  void inspect(const protocol::received& e, protocol::effects& out) const;
  void look(protocol::effects& out);
  void drop_questions_of(const protocol::address& who, protocol::effects& out);
  void add(request r, protocol::effects& out);
  bool is_copy(const request& r) const;
  void begin(request_id id, protocol::effects& out);

  std::optional<protocol::http_request> next_exchange(request_id id);
  protocol::http_request read_request(const request& r) const;
  protocol::http_request write_request(const request& r) const;
  void on_answer(std::uint64_t exchange, int status, const std::string& body,
                 std::int64_t retry_after_ms, protocol::effects& out);
  /// Waiting, refused rights and lost reads are the same for every step; true if it was one.
  bool on_common(request_id id, request& r, verdict v, std::int64_t retry_after_ms,
                 protocol::effects& out);

  // answers, step by step (decisions_answers.cpp)
  void on_read(request_id id, request& r, verdict v, const std::string& body,
               protocol::effects& out);
  void take_nothing(request_id id, request& r, protocol::effects& out);
  void take_object(request_id id, request& r, decision_object x, protocol::effects& out);
  void on_loaded(request_id id, request& r, verdict v, const std::string& body,
                 protocol::effects& out);
  void take_bytes(request_id id, request& r, std::string_view bytes, protocol::effects& out);
  void judge_found(request_id id, request& r, protocol::effects& out);
  void decide_by(request_id id, request& r, protocol::effects& out);
  void tell_what_stands(const protocol::decision_ptr& last, protocol::effects& out) const;
  void write_decision(request_id id, request& r);
  void amend_by(request_id id, request& r, protocol::effects& out);
  void on_chunked(request_id id, request& r, verdict v, const std::string& body,
                  protocol::effects& out);
  void on_written(request_id id, request& r, verdict v, const std::string& body,
                  protocol::effects& out);
  void refused_or_gone(request_id id, request& r, verdict v, protocol::effects& out);
  void was_written(request_id id, request& r, decision_object x, protocol::effects& out);
  void on_removed(request_id id, request& r, verdict v, protocol::effects& out);
  void on_page(request_id id, request& r, const std::string& body, protocol::effects& out);
  void next_listed(request_id id, request& r, protocol::effects& out);

  void tell_decided(request_id id, protocol::decision_ptr winner, std::string refusal,
                    protocol::effects& out);
  void tell_amended(request_id id, bool is_refused, protocol::decision_ptr now,
                    protocol::effects& out);
  void again(request_id id, request& r, step at);
  void retry(request_id id, request& r, step at, base::duration at_least, protocol::effects& out);
  void refuse_to_guess(request_id id, request& r, const base::error& why, protocol::effects& out);
  void finish(request_id id, protocol::effects& out);
  void remember(const standing& x);
  std::string space_of(const request& r) const;

  const options how_;
  exchange_window window_;
  std::map<request_id, request> requests_;
  std::map<base::gang_uid, std::deque<request_id>> lines_; // the first of each is under way
  std::map<base::gang_uid, standing> known_;     // unfinished ones, as this role wrote them last
  std::map<base::gang_uid, std::string> spaces_; // of gangs that have an object, as far as known
  std::set<request_id> lists_;
  request_id last_request_ = 0;
  std::uint64_t seed_ = 0;
  base::time_point now_{};
};

} // namespace tutti::bridge
