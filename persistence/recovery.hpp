// Reads a store back: proves that nothing is damaged or missing, and sorts what each role left.
//
// S11: recovery is a function of the durable state. Both stores feed their keys and values through
// here; nothing else ever interprets them.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "persistence/book.hpp"
#include "persistence/format.hpp"
#include "persistence/store.hpp"

namespace tutti::persistence {

/// What recovery makes of the disk.
struct recovered {
  contents all;
  remains left;
  bool is_new = false; ///< there was nothing at all
};

/// Takes every key and value of the store once, family by family in `reading_order`, each family by
/// ascending key; then says what there was.
class recovery {
public:
  static constexpr std::array<family, family_count> reading_order{
      family::meta, family::decisions, family::checkpoint, family::journal};

  /// `corrupt` if the value is damaged or a record before it is missing; `newer_format` if a later
  /// version wrote it. The error names column family and record; go no further then.
  base::result<void> take(family where, std::string_view key, std::string_view value);

  /// After the last value. `corrupt` if less is there than the tail says.
  base::result<recovered> finish();

private:
  base::result<void> take_meta(std::string_view key, std::string_view value);
  base::result<void> take_decision(std::string_view key, std::string_view value);
  base::result<void> take_checkpoint(std::string_view key, std::string_view value);
  base::result<void> take_record(std::string_view key, std::string_view value);
  base::result<void> check_decisions() const;

  recovered out_;
  bool has_format_ = false;
  bool has_identity_ = false;
  bool has_tail_ = false;
  bool has_values_ = false;
  std::uint64_t decisions_ = 0;
  std::uint64_t checkpoints_ = 0;
  journal_index next_ = 0; // 0 = no record yet
};

/// Reads one value of the store; none if it is not there.
using fetch_value =
    std::function<base::result<std::optional<std::string>>(family where, const std::string& key)>;

/// Answers a `recover_request` from what is written so far, `all` being the book of it. `corrupt`
/// if a value is damaged or missing; the error names column family and record.
base::result<recovered_role> recover_role(const contents& all, const protocol::address& writer,
                                          const fetch_value& fetch);

} // namespace tutti::persistence
