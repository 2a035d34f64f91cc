// The bytes of the store: keys, the frame around every value, and the tail that counts them.
//
// FORMAT.md is the specification; both stores write these bytes, so both are read by one recovery.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "persistence/store.hpp"
#include "protocol/address.hpp"

namespace tutti::persistence {

/// Written into `meta/format` and every frame. A store of a higher number is refused.
inline constexpr std::uint8_t format_version = 1;

/// The four places where values live; each is a column family of RocksDB.
enum class family : std::uint8_t { meta, journal, decisions, checkpoint };
inline constexpr int family_count = 4;
std::string_view name_of(family x);

/// Keys of `meta`.
namespace meta_key {
inline constexpr std::string_view format = "format";
inline constexpr std::string_view identity = "identity";
inline constexpr std::string_view tail = "tail";
inline constexpr std::string_view epochs = "epochs";
} // namespace meta_key

/// Keys sort as what they name, because numbers are big-endian.
std::string journal_key(journal_index x);
std::string decision_key(const base::slot_id& x);
std::string checkpoint_key(const protocol::address& x);

/// Read a key back. `corrupt` if it is none, `newer_format` for an unknown kind of role.
base::result<journal_index> read_journal_key(std::string_view key);
base::result<base::slot_id> read_decision_key(std::string_view key);
base::result<protocol::address> read_checkpoint_key(std::string_view key);

/// What stands around a payload: who wrote it, and its number (a record's own index, a checkpoint's
/// `applied`, a decision's ordinal).
struct frame {
  std::uint64_t number = 0;
  std::string writer; ///< `checkpoint_key` of the role; empty where there is none
  std::uint16_t flags = 0;
  std::string_view payload;
};

/// Set on a decision whose gang is gone: it is dropped as soon as it is finished.
inline constexpr std::uint16_t flag_forget_when_done = 1;

/// The value for `key`: header, writer, payload; the checksum covers the key as well, so that a
/// value cannot be taken for another one's.
std::string make_frame(family where, std::string_view key, const frame& x);

/// Takes a value apart; the payload points into `value`. `corrupt` if the checksum does not hold,
/// `newer_format` if it does and the version is above ours. Both name family and key.
base::result<frame> open_frame(family where, std::string_view key, std::string_view value);

/// Stands in `meta/tail` and is written anew with every batch: what the store must then hold.
/// Recovery compares, so that neither a record nor a whole batch can be missing unnoticed.
struct tail {
  std::uint64_t batch = 0;        ///< number of the batch that wrote this
  std::uint64_t synced_batch = 0; ///< highest batch known to be durable when this was written
  journal_index first = 1;        ///< first record that is kept
  journal_index last = 0;         ///< last record; first - 1 = none
  std::uint64_t decisions = 0;
  std::uint64_t checkpoints = 0;
  base::incarnation_no incarnation; ///< highest that any life of this process ever had

  friend bool operator==(const tail&, const tail&) = default;
};
std::string make_tail(const tail& x);
base::result<tail> read_tail(std::string_view value);

/// The highest `synced_batch` of all tails that are found whole anywhere in `bytes` (a write-ahead
/// log that RocksDB refuses to read); 0 if there is none.
std::uint64_t find_synced_batch(std::string_view bytes);

std::string make_identity(const identity& x);
base::result<identity> read_identity(std::string_view value);

using epoch_map = std::map<std::uint32_t, base::epoch_no>;
std::string make_epochs(const epoch_map& x);
base::result<epoch_map> read_epochs(std::string_view value);

/// "tutti store, format 1": the one value without a frame, for every version and for people.
std::string make_format();
/// Success if this version can read the store.
base::result<void> check_format(std::string_view value);

/// A key for people: "record 17", "decision 3 of gang 5f1c…", "checkpoint of shard(2)", "tail".
std::string describe_key(family where, std::string_view key);

} // namespace tutti::persistence
