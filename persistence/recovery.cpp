// Every count of the tail must be met: what was synced and is not there is damage, never the end.
#include "persistence/recovery.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/records_codec.hpp"
#include "protocol/sharding.hpp"

namespace tutti::persistence {

using base::code;
using base::error;

namespace {

error corrupt(std::string text) {
  return {code::corrupt, std::move(text),
          "restore the volume, or move the directory away: the scheduler then rebuilds its state "
          "from the API server"};
}

/// A payload that does not decode although its frame is sound: say where.
error at(const error& e, family where, std::string_view key) {
  return e.in(fmt::format("column family {}: {}", name_of(where), describe_key(where, key)));
}

} // namespace

base::result<void> recovery::take(family where, std::string_view key, std::string_view value) {
  has_values_ = true;
  switch (where) {
  case family::meta:
    return take_meta(key, value);
  case family::decisions:
    return take_decision(key, value);
  case family::checkpoint:
    return take_checkpoint(key, value);
  case family::journal:
    return take_record(key, value);
  }
  return {};
}

// Keys that we do not know are a later version's additions to our format: ignored.
base::result<void> recovery::take_meta(std::string_view key, std::string_view value) {
  if (key == meta_key::format) {
    has_format_ = true;
    return check_format(value);
  }
  if (key == meta_key::identity) {
    auto who = read_identity(value);
    if (!who)
      return who.error();
    has_identity_ = true;
    out_.all.who = std::move(*who);
  } else if (key == meta_key::tail) {
    auto t = read_tail(value);
    if (!t)
      return t.error();
    has_tail_ = true;
    out_.all.ends = *t;
  } else if (key == meta_key::epochs) {
    auto epochs = read_epochs(value);
    if (!epochs)
      return epochs.error();
    out_.all.epochs = std::move(*epochs);
  }
  return {};
}

base::result<void> recovery::take_decision(std::string_view key, std::string_view value) {
  auto slot = read_decision_key(key);
  if (!slot)
    return slot.error().in(name_of(family::decisions));
  auto f = open_frame(family::decisions, key, value);
  if (!f)
    return f.error();
  auto what = protocol::decode_decision(f->payload);
  if (!what)
    return at(what.error(), family::decisions, key);
  if (base::slot_of(what->by) != *slot || f->number != slot->ordinal)
    return corrupt(fmt::format("column family decisions: {} stands in the slot of another",
                               describe_key(family::decisions, key)));
  ++decisions_;
  const bool forget = (f->flags & flag_forget_when_done) != 0;
  auto& epoch = out_.all.epochs[protocol::partition_of(slot->gang).value];
  epoch = std::max({epoch, what->by.epoch, what->adopted_by});
  out_.all.decisions[*slot] = {std::make_shared<protocol::decision>(std::move(*what)), forget};
  return {};
}

base::result<void> recovery::take_checkpoint(std::string_view key, std::string_view value) {
  auto who = read_checkpoint_key(key);
  if (!who)
    return who.error().in(name_of(family::checkpoint));
  auto f = open_frame(family::checkpoint, key, value);
  if (!f)
    return f.error();
  ++checkpoints_;
  auto& role = out_.all.roles[*who];
  role.has_checkpoint = true;
  role.applied = f->number;
  auto& left = out_.left.roles[*who];
  left.checkpoint = f->payload;
  left.applied = f->number;
  return {};
}

base::result<void> recovery::take_record(std::string_view key, std::string_view value) {
  auto index = read_journal_key(key);
  if (!index)
    return index.error().in(name_of(family::journal));
  const auto expected = next_ == 0 ? out_.all.ends.first : next_;
  if (*index != expected)
    return corrupt(fmt::format("column family journal: record {} is missing, record {} is there",
                               expected, *index));
  auto f = open_frame(family::journal, key, value);
  if (!f)
    return f.error();
  if (f->number != *index)
    return corrupt(
        fmt::format("column family journal: record {} calls itself {}", *index, f->number));
  next_ = *index + 1;
  auto writer = read_checkpoint_key(f->writer);
  if (!writer)
    return at(writer.error(), family::journal, key);
  auto what = protocol::decode_record(f->payload);
  if (!what)
    return at(what.error(), family::journal, key);

  auto& role = out_.all.roles[*writer];
  if (*index <= role.applied)
    return {};
  if (holds_journal(*writer, *what))
    role.unapplied.push_back(*index);
  out_.left.roles[*writer].records.emplace_back(*index, std::move(*what));
  return {};
}

base::result<recovered> recovery::finish() {
  if (!has_values_) {
    out_.is_new = true;
    return std::move(out_);
  }
  if (!has_format_)
    return error{code::bad_input, "the directory holds a database, but none of tutti's scheduler",
                 "name another directory"};
  if (!has_identity_ || !has_tail_)
    return corrupt("column family meta: identity or tail is missing");
  const auto& ends = out_.all.ends;
  if (const auto there = next_ == 0 ? ends.first : next_; there != ends.last + 1)
    return corrupt(fmt::format("column family journal: record {} is missing, the last is {}", there,
                               ends.last));
  if (decisions_ != ends.decisions)
    return corrupt(fmt::format("column family decisions: {} are there, {} were written", decisions_,
                               ends.decisions));
  if (checkpoints_ != ends.checkpoints)
    return corrupt(fmt::format("column family checkpoint: {} are there, {} were written",
                               checkpoints_, ends.checkpoints));
  if (auto ok = check_decisions(); !ok)
    return ok.error();

  for (const auto& [slot, kept] : out_.all.decisions)
    out_.left.decisions.push_back(kept.what);
  out_.left.last_incarnation = ends.incarnation;
  out_.left.partition_epochs = out_.all.epochs;
  return std::move(out_);
}

// S7, checked again where it is read: only the last ordinal of a gang may be unfinished.
base::result<void> recovery::check_decisions() const {
  const auto& all = out_.all.decisions;
  for (auto pos = all.begin(); pos != all.end(); ++pos) {
    const auto next = std::next(pos);
    if (next != all.end() && next->first.gang == pos->first.gang
        && !protocol::is_finished(*pos->second.what))
      return corrupt(fmt::format("column family decisions: decision {} of gang {} is unfinished, "
                                 "and {} is there",
                                 pos->first.ordinal, pos->first.gang.value, next->first.ordinal));
  }
  return {};
}

namespace {

base::result<std::string> fetch_framed(const fetch_value& fetch, family where,
                                       const std::string& key) {
  auto value = fetch(where, key);
  if (!value)
    return value.error();
  if (!*value)
    return corrupt(
        fmt::format("column family {}: {} is missing", name_of(where), describe_key(where, key)));
  return std::move(**value);
}

base::result<protocol::record> fetch_record(const fetch_value& fetch, journal_index index) {
  const auto key = journal_key(index);
  const auto value = fetch_framed(fetch, family::journal, key);
  if (!value)
    return value.error();
  auto f = open_frame(family::journal, key, *value);
  if (!f)
    return f.error();
  auto what = protocol::decode_record(f->payload);
  if (!what)
    return at(what.error(), family::journal, key);
  return what;
}

} // namespace

base::result<recovered_role> recover_role(const contents& all, const protocol::address& writer,
                                          const fetch_value& fetch) {
  recovered_role out;
  if (const auto pos = all.roles.find(writer); pos != all.roles.end()) {
    if (pos->second.has_checkpoint) {
      const auto key = checkpoint_key(writer);
      const auto value = fetch_framed(fetch, family::checkpoint, key);
      if (!value)
        return value.error();
      auto f = open_frame(family::checkpoint, key, *value);
      if (!f)
        return f.error();
      out.left.checkpoint = f->payload;
      out.left.applied = f->number;
    }
    for (const auto index : pos->second.unapplied) {
      auto what = fetch_record(fetch, index);
      if (!what)
        return what.error();
      out.left.records.emplace_back(index, std::move(*what));
    }
  }
  if (writer.kind != protocol::role_kind::partition)
    return out;
  for (const auto& [slot, kept] : all.decisions)
    if (protocol::partition_of(slot.gang).value == writer.index)
      out.decisions.push_back(kept.what);
  if (const auto pos = all.epochs.find(writer.index); pos != all.epochs.end())
    out.epoch = pos->second;
  return out;
}

} // namespace tutti::persistence
