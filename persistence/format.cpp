// Each value is framed by its checksum and its key, so that none can stand in for another.
#include "persistence/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <boost/crc.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::persistence {
namespace {

using base::code;
using base::error;
using crc32c = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

constexpr std::string_view format_text = "tutti store, format ";

// Frame header; FORMAT.md has the table.
constexpr std::string_view magic = "TuFr";
constexpr std::size_t at_checksum = 4;
constexpr std::size_t at_version = 8;
constexpr std::size_t at_family = 9;
constexpr std::size_t at_flags = 10;
constexpr std::size_t at_number = 12;
constexpr std::size_t at_length = 20;
constexpr std::size_t at_writer_length = 24;
constexpr std::size_t header_size = 26;

constexpr std::size_t tail_payload_size = 7 * 8;
/// Later versions may add to the tail, but a tail stays small.
constexpr std::size_t tail_payload_max = 1024;

template <class Int>
void put_little(std::string& to, Int x) {
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    to.push_back(static_cast<char>((static_cast<std::uint64_t>(x) >> (8 * i)) & 0xff));
}

template <class Int>
Int take_little(std::string_view from, std::size_t at) {
  ensure(at + sizeof(Int) <= from.size(), at, from.size());
  std::uint64_t x = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    x |= std::uint64_t{static_cast<unsigned char>(from[at + i])} << (8 * i);
  return static_cast<Int>(x);
}

template <class Int>
void put_big(std::string& to, Int x) {
  for (std::size_t i = sizeof(Int); i-- > 0;)
    to.push_back(static_cast<char>((static_cast<std::uint64_t>(x) >> (8 * i)) & 0xff));
}

template <class Int>
Int take_big(std::string_view from) {
  std::uint64_t x = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    x = x << 8 | static_cast<unsigned char>(from[i]);
  return static_cast<Int>(x);
}

/// Over key, then everything of the value behind the checksum.
std::uint32_t checksum_of(std::string_view key, std::string_view behind) {
  crc32c sum;
  sum.process_bytes(key.data(), key.size());
  sum.process_bytes(behind.data(), behind.size());
  return sum.checksum();
}

error corrupt(family where, std::string_view key, std::string_view what) {
  return {code::corrupt,
          fmt::format("column family {}: {}: {}", name_of(where), describe_key(where, key), what),
          "restore the volume, or move the directory away: the scheduler then rebuilds its state "
          "from the API server"};
}

error corrupt_meta(std::string_view key, std::string_view what) {
  return corrupt(family::meta, key, what);
}

} // namespace

std::string_view name_of(family x) {
  static constexpr std::array<std::string_view, family_count> names{"meta", "journal", "decisions",
                                                                    "checkpoint"};
  return names.at(static_cast<std::size_t>(x));
}

std::string journal_key(journal_index x) {
  std::string key;
  put_big(key, x);
  return key;
}

std::string decision_key(const base::slot_id& x) {
  std::string key = x.gang.value;
  put_big(key, x.ordinal);
  return key;
}

std::string checkpoint_key(const protocol::address& x) {
  std::string key;
  key.push_back(static_cast<char>(x.kind));
  put_big(key, x.index);
  return key + x.key;
}

base::result<journal_index> read_journal_key(std::string_view key) {
  if (key.size() != sizeof(journal_index))
    return error{code::corrupt, fmt::format("a journal key of {} bytes", key.size())};
  return take_big<journal_index>(key);
}

base::result<base::slot_id> read_decision_key(std::string_view key) {
  if (key.size() < 8)
    return error{code::corrupt, fmt::format("a decision key of {} bytes", key.size())};
  const auto split = key.size() - 8;
  return base::slot_id{{std::string{key.substr(0, split)}},
                       take_big<std::uint64_t>(key.substr(split))};
}

base::result<protocol::address> read_checkpoint_key(std::string_view key) {
  if (key.size() < 5)
    return error{code::corrupt, fmt::format("the name of a role in {} bytes", key.size())};
  const auto kind = static_cast<unsigned char>(key[0]);
  if (kind >= protocol::role_kind_count)
    return error{code::newer_format, fmt::format("role of unknown kind {}", kind)};
  return protocol::address{static_cast<protocol::role_kind>(kind),
                           take_big<std::uint32_t>(key.substr(1)), std::string{key.substr(5)}};
}

std::string make_frame(family where, std::string_view key, const frame& x) {
  ensure(x.payload.size() <= std::numeric_limits<std::uint32_t>::max(), x.payload.size());
  ensure(x.writer.size() <= std::numeric_limits<std::uint16_t>::max(), x.writer.size());
  std::string out{magic};
  out.reserve(header_size + x.writer.size() + x.payload.size());
  put_little(out, std::uint32_t{0});
  put_little(out, format_version);
  put_little(out, static_cast<std::uint8_t>(where));
  put_little(out, x.flags);
  put_little(out, x.number);
  put_little(out, static_cast<std::uint32_t>(x.payload.size()));
  put_little(out, static_cast<std::uint16_t>(x.writer.size()));
  ensure(out.size() == header_size, out.size());
  out += x.writer;
  out += x.payload;
  std::string sum;
  put_little(sum, checksum_of(key, std::string_view{out}.substr(at_version)));
  out.replace(at_checksum, sum.size(), sum);
  return out;
}

base::result<frame> open_frame(family where, std::string_view key, std::string_view value) {
  if (value.size() < header_size || value.substr(0, magic.size()) != magic)
    return corrupt(where, key, "no frame");
  if (take_little<std::uint32_t>(value, at_checksum) != checksum_of(key, value.substr(at_version))
      && !base::is_planted(base::mutant::believe_a_damaged_record))
    return corrupt(where, key, "checksum does not hold");
  // The header up to here is the same in all versions: a sound frame says truly who wrote it.
  if (const auto version = static_cast<unsigned char>(value[at_version]); version > format_version)
    return error{code::newer_format,
                 fmt::format("{}: format {}, this version reads up to {}", describe_key(where, key),
                             version, format_version),
                 "start the version of tutti that wrote it, or a later one"};
  if (static_cast<unsigned char>(value[at_family]) != static_cast<unsigned char>(where))
    return corrupt(where, key, "belongs to another column family");
  const auto length = take_little<std::uint32_t>(value, at_length);
  const auto writer_length = take_little<std::uint16_t>(value, at_writer_length);
  if (value.size() != header_size + std::size_t{writer_length} + std::size_t{length})
    return corrupt(where, key, "lengths do not add up");
  return frame{take_little<std::uint64_t>(value, at_number),
               std::string{value.substr(header_size, writer_length)},
               take_little<std::uint16_t>(value, at_flags),
               value.substr(header_size + writer_length)};
}

std::string make_tail(const tail& x) {
  ensure(x.synced_batch <= x.batch, x.synced_batch, x.batch);
  ensure(x.first <= x.last + 1, x.first, x.last);
  std::string payload;
  for (auto n :
       {x.batch, x.synced_batch, x.first, x.last, x.decisions, x.checkpoints, x.incarnation.value})
    put_little(payload, n);
  return make_frame(family::meta, meta_key::tail, {x.batch, {}, 0, payload});
}

base::result<tail> read_tail(std::string_view value) {
  auto f = open_frame(family::meta, meta_key::tail, value);
  if (!f)
    return f.error();
  if (f->payload.size() < tail_payload_size)
    return corrupt_meta(meta_key::tail, "too short");
  auto nth = [&](std::size_t i) { return take_little<std::uint64_t>(f->payload, 8 * i); };
  return tail{nth(0), nth(1), nth(2), nth(3), nth(4), nth(5), {nth(6)}};
}

std::uint64_t find_synced_batch(std::string_view bytes) {
  std::uint64_t found = 0;
  for (auto at = bytes.find(magic); at != std::string_view::npos; at = bytes.find(magic, at + 1)) {
    const auto rest = bytes.substr(at);
    if (rest.size() < header_size)
      break;
    const auto length = take_little<std::uint32_t>(rest, at_length);
    if (length < tail_payload_size || length > tail_payload_max)
      continue; // another value, and not worth a checksum
    if (auto t = read_tail(rest.substr(0, header_size + length)); t)
      found = std::max(found, t->synced_batch);
  }
  return found;
}

std::string make_identity(const identity& x) {
  return make_frame(family::meta, meta_key::identity, {x.shards, {}, 0, x.cluster_uid});
}

base::result<identity> read_identity(std::string_view value) {
  auto f = open_frame(family::meta, meta_key::identity, value);
  if (!f)
    return f.error();
  if (f->number == 0 || f->number > std::numeric_limits<std::uint32_t>::max())
    return corrupt_meta(meta_key::identity, fmt::format("{} shards", f->number));
  return identity{std::string{f->payload}, static_cast<std::uint32_t>(f->number)};
}

std::string make_epochs(const epoch_map& x) {
  std::string payload;
  for (const auto& [partition, epoch] : x) {
    put_little(payload, partition);
    put_little(payload, epoch.value);
  }
  return make_frame(family::meta, meta_key::epochs, {x.size(), {}, 0, payload});
}

base::result<epoch_map> read_epochs(std::string_view value) {
  constexpr std::size_t entry = 4 + 8;
  auto f = open_frame(family::meta, meta_key::epochs, value);
  if (!f)
    return f.error();
  if (f->payload.size() != f->number * entry)
    return corrupt_meta(meta_key::epochs, "lengths do not add up");
  epoch_map out;
  for (std::size_t at = 0; at < f->payload.size(); at += entry)
    out[take_little<std::uint32_t>(f->payload, at)] = {
        take_little<std::uint64_t>(f->payload, at + 4)};
  return out;
}

std::string make_format() {
  return fmt::format("{}{}", format_text, format_version);
}

base::result<void> check_format(std::string_view value) {
  if (!value.starts_with(format_text))
    return corrupt_meta(meta_key::format, "not the words of a tutti store");
  const auto digits = value.substr(format_text.size());
  unsigned version = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (ec != std::errc{} || end != digits.data() + digits.size() || version == 0)
    return corrupt_meta(meta_key::format, "no version");
  if (version > format_version)
    return error{code::newer_format,
                 fmt::format("the store has format {}, this version of tutti reads up to {}",
                             version, format_version),
                 "start the version of tutti that wrote it, or a later one"};
  return {};
}

std::string describe_key(family where, std::string_view key) {
  switch (where) {
  case family::meta:
    return std::string{key};
  case family::journal:
    if (auto index = read_journal_key(key))
      return fmt::format("record {}", *index);
    break;
  case family::decisions:
    if (auto slot = read_decision_key(key))
      return fmt::format("decision {} of gang {}", slot->ordinal, slot->gang.value);
    break;
  case family::checkpoint:
    if (auto role = read_checkpoint_key(key))
      return fmt::format("checkpoint of {}", protocol::to_text(*role));
    break;
  }
  return fmt::format("a key of {} bytes", key.size());
}

} // namespace tutti::persistence
