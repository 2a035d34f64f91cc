// The order in which gangs that are tried at the same moment are planned.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/limits.hpp"
#include "protocol/address.hpp"
#include "protocol/facts.hpp"

namespace tutti::placement {

/// The queue names the gangs of one batch in order, but each gang's own question comes to the
/// topology by way of its partition and its actor, and may be overtaken there. Whoever is planned
/// first gets the room. So a question waits until all that are named before it have come:
///
///     awaited ─ keep ─▶ asked ─ next ─▶ planned ─▶ over, at once or when its long search has ended
///        └──── give_up ───────────────────────────▲
///
/// While a planner searches for a gang, those of lower priority behind it wait too; its equals do
/// not, or one hard gang would hold up all of them. Batches know nothing of each other. Not
/// thread-safe: a part of the topology role.
class planning_turns {
public:
  /// One lost question is asked again within this; a partition that is made anew takes longer, and
  /// the others do not wait for it.
  static constexpr auto patience = 2 * base::limits::resend_first;

  struct request {
    base::attempt_id attempt;
    protocol::address asker;
    protocol::gang_ptr who;
  };
  using batch_no = std::uint64_t;

  /// A batch in the order in which its gangs are to be planned. A gang that is still awaited in an
  /// older batch is awaited there no more.
  batch_no open(const std::vector<base::gang_uid>& gangs);
  /// Keeps the question if its gang has a turn that it has not had; a newer attempt replaces an
  /// older one. False: it need not wait for anybody.
  bool keep(request x);
  /// This attempt does not want to be planned any more.
  void drop(const base::attempt_id& attempt);
  /// Whoever of the batch has not asked yet is not waited for any longer.
  void give_up(batch_no which);
  /// The next question that nobody stands in the way of; nothing if there is none. It counts as
  /// planned from here on.
  using search_test = std::function<bool(const base::attempt_id&)>;
  std::optional<request> next(const search_test& is_searched);
  /// All questions that are kept, in order; their turns are over.
  std::vector<request> take_all();
  /// Batches that are over since the last call.
  std::vector<batch_no> take_over();

  bool has_kept() const;
  std::uint64_t hash() const;

private:
  enum class state : std::uint8_t { awaited, asked, planned, over };
  struct turn {
    base::gang_uid gang;
    state at = state::awaited;
    request asked; // from `asked` on
  };
  struct batch {
    std::vector<turn> turns;
    std::size_t first = 0; // that is not over
  };
  turn* find(const base::gang_uid& gang);
  void end(turn& x);
  std::optional<request> next_of(batch& b, const search_test& is_searched);

  std::map<batch_no, batch> batches_;
  std::map<base::gang_uid, batch_no> where_; // of turns that are awaited or asked
  std::vector<batch_no> over_;
  batch_no last_ = 0;
};

} // namespace tutti::placement
