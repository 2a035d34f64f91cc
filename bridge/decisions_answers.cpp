// What the decision log does with each answer.
#include <algorithm>

#include <boost/json/array.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "bridge/decisions_role.hpp"
#include "bridge/json_read.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/records_codec.hpp"
#include "protocol/sharding.hpp"

namespace tutti::bridge {

namespace {

using base::code;
using base::error;

base::result<decision_object> parse_decision_object(const std::string& body) {
  const parsed_json read{body};
  if (!read.object())
    return error{code::corrupt, "the answer is no JSON object"};
  return read_decision_object(*read.object());
}

} // namespace

// ---------------------------------------------------------------- reading

void decisions_role::on_read(request_id id, request& r, verdict v, const std::string& body,
                             protocol::effects& out) {
  if (r.what == kind::list) {
    if (v == verdict::done) {
      on_page(id, r, body, out);
      return;
    }
    r.all.clear(); // the pages that are here are of a revision that the server has forgotten
    r.unread.clear();
    r.token.clear();
    retry(id, r, step::reading, {}, out);
    return;
  }
  if (v == verdict::gone) {
    take_nothing(id, r, out);
    return;
  }
  if (v != verdict::done) {
    retry(id, r, step::reading, {}, out);
    return;
  }
  const parsed_json read{body};
  const auto* whole = read.object();
  if (whole == nullptr) {
    retry(id, r, step::reading, {}, out);
    return;
  }
  const auto* object = whole;
  if (const auto* items = array_at(*whole, "items")) { // it was looked for in all namespaces
    object = items->empty() ? nullptr : items->front().if_object();
    if (object == nullptr) {
      take_nothing(id, r, out);
      return;
    }
  }
  auto x = read_decision_object(*object);
  if (!x)
    refuse_to_guess(id, r, x.error(), out);
  else
    take_object(id, r, std::move(*x), out);
}

void decisions_role::take_nothing(request_id id, request& r, protocol::effects& out) {
  r.found.reset();
  spaces_.erase(r.slot.gang);
  known_.erase(r.slot.gang);
  switch (r.what) {
  case kind::decide:
    if (r.is_place_gone)
      tell_decided(id, nullptr, "namespace " + r.proposed->gang_name.space + " is going away", out);
    else
      write_decision(id, r);
    return;
  case kind::amend:
    amend_by(id, r, out);
    return;
  case kind::forget:
    finish(id, out);
    return;
  case kind::clear:
  case kind::list:
    return; // they read no object
  }
}

void decisions_role::take_object(request_id id, request& r, decision_object x,
                                 protocol::effects& out) {
  spaces_[r.slot.gang] = x.space();
  if (r.what == kind::forget) {
    again(id, r, step::removing);
    return;
  }
  r.space = x.space();
  r.found = standing{std::move(x), nullptr};
  if (r.found->object.ordinal == 0) {
    judge_found(id, r, out);
  } else if (r.found->object.chunks.empty()) {
    take_bytes(id, r, r.found->object.record, out);
  } else {
    r.names = r.found->object.chunks;
    r.next = 0;
    r.bytes.clear();
    again(id, r, step::loading);
  }
}

void decisions_role::on_loaded(request_id id, request& r, verdict v, const std::string& body,
                               protocol::effects& out) {
  if (v != verdict::done) {
    // Its decision is done, or gone, since it was read.
    r.all.clear();
    r.unread.clear();
    r.token.clear();
    retry(id, r, step::reading, {}, out);
    return;
  }
  auto piece = read_chunk(body);
  if (!piece) {
    refuse_to_guess(id, r, piece.error(), out);
    return;
  }
  r.bytes += *piece;
  if (++r.next < r.names.size())
    again(id, r, step::loading);
  else
    take_bytes(id, r, std::exchange(r.bytes, {}), out);
}

void decisions_role::take_bytes(request_id id, request& r, std::string_view bytes,
                                protocol::effects& out) {
  const auto& object = r.what == kind::list ? r.unread.front() : r.found->object;
  auto read = decision_of(object, bytes);
  if (!read) {
    refuse_to_guess(id, r, read.error(), out);
    return;
  }
  if (r.what == kind::list) {
    spaces_[read->by.gang] = object.space();
    r.all.push_back(std::move(*read));
    r.unread.pop_front();
    next_listed(id, r, out);
    return;
  }
  r.found->what = std::make_shared<const protocol::decision>(std::move(*read));
  judge_found(id, r, out);
}

void decisions_role::judge_found(request_id id, request& r, protocol::effects& out) {
  if (r.what == kind::decide)
    decide_by(id, r, out);
  else
    amend_by(id, r, out);
}

// ---------------------------------------------------------------- deciding and amending

/// Upholds S2: what stands in the slot wins. Upholds S7: a slot begins when the one before it is
/// finished.
void decisions_role::decide_by(request_id id, request& r, protocol::effects& out) {
  const auto& stands = r.found->what;
  const bool is_over_winner = base::is_planted(base::mutant::write_over_a_winner);
  if (stands && stands->by.ordinal == r.slot.ordinal
      && (stands->by == r.proposed->by || !is_over_winner)) {
    if (stands->by == r.proposed->by)
      remember(*r.found); // our own write, whose answer was lost
    tell_decided(id, stands, {}, out);
    return;
  }
  if (stands && stands->by.ordinal != r.slot.ordinal
      && !base::is_planted(base::mutant::skip_the_turn))
    if (const auto refused = protocol::refuse_turn(*stands, r.slot)) {
      const auto last = stands;
      tell_decided(id, nullptr, refused->message(), out);
      tell_what_stands(last, out);
      return;
    }
  write_decision(id, r);
}

/// Not its turn: beside others a partition may know less of a gang than the log does, and would ask
/// for the same slot for ever.
void decisions_role::tell_what_stands(const protocol::decision_ptr& last,
                                      protocol::effects& out) const {
  const auto whose = protocol::partition_of(last->by.gang);
  if (how_.has_others)
    out.tell(protocol::to_partition(whose), protocol::resume_decision{last, {}, whose, 0});
}

/// A plan that is too large goes into chunks first, and they need an object to belong to: with it
/// they go, whether their slot is won or not.
void decisions_role::write_decision(request_id id, request& r) {
  r.written = r.proposed;
  r.pieces.clear();
  r.next = 0;
  const auto bytes = protocol::encode(*r.proposed);
  if (bytes.size() <= how_.inline_bytes) {
    again(id, r, step::writing);
  } else if (!r.found) {
    again(id, r, step::making);
  } else {
    r.pieces = cut(bytes, how_.inline_bytes, r.found->object, r.slot);
    again(id, r, step::chunking);
  }
}

void decisions_role::amend_by(request_id id, request& r, protocol::effects& out) {
  const auto stands = r.found ? r.found->what : nullptr;
  if (!stands || stands->by.ordinal != r.slot.ordinal) {
    // Unfinished it would still be there: somebody has finished it, and its gang is gone.
    if (!stands && r.seen && r.change.finish) {
      auto done = std::make_shared<protocol::decision>(*r.seen);
      done->is_done = true;
      tell_amended(id, false, std::move(done), out);
    } else {
      tell_amended(id, true, nullptr, out);
    }
    return;
  }
  auto became = protocol::amend_decision(*stands, r.change);
  if (became.is_refused || !became.is_changed) {
    if (became.is_refused)
      known_.erase(r.slot.gang); // another owner writes it now
    else
      remember(*r.found);
    tell_amended(id, became.is_refused, stands, out);
    return;
  }
  r.seen = stands;
  r.written = std::make_shared<const protocol::decision>(std::move(became.now));
  again(id, r, step::writing);
}

void decisions_role::on_chunked(request_id id, request& r, verdict v, const std::string& body,
                                protocol::effects& out) {
  // If it is there already, its name says what it holds. Other conflicts are of the moment: quotas.
  const bool is_there = v == verdict::look && body.find("AlreadyExists") != std::string::npos;
  if (v == verdict::look && !is_there) {
    retry(id, r, step::chunking, {}, out);
    return;
  }
  if (v == verdict::done || is_there) {
    again(id, r, ++r.next < r.pieces.size() ? step::chunking : step::writing);
    return;
  }
  refused_or_gone(id, r, v, out);
}

void decisions_role::on_written(request_id id, request& r, verdict v, const std::string& body,
                                protocol::effects& out) {
  const bool is_making = r.at == step::making;
  if (r.what == kind::decide && !is_making)
    out.add(protocol::fault{"C3"});
  if (v == verdict::done) {
    auto x = parse_decision_object(body);
    if (!x)
      retry(id, r, step::reading, {}, out); // written, but what?
    else if (is_making)
      take_object(id, r, std::move(*x), out);
    else
      was_written(id, r, std::move(*x), out);
    return;
  }
  known_.erase(r.slot.gang);
  if (v == verdict::look) {
    ++r.tries;
    again(id, r, step::reading);
    return;
  }
  if (v == verdict::unknown) {
    if (r.what == kind::decide && base::is_planted(base::mutant::take_lost_decision_for_failed)) {
      tell_decided(id, nullptr, "the API server does not answer", out);
      return;
    }
    retry(id, r, step::reading, {}, out);
    return;
  }
  refused_or_gone(id, r, v, out);
}

/// A write that is refused for what it says would be refused again; one whose namespace is gone or
/// ends cannot succeed any more, but an earlier one of ours may have: one more read says it.
void decisions_role::refused_or_gone(request_id id, request& r, verdict v, protocol::effects& out) {
  if (v == verdict::gone) {
    r.is_place_gone = r.what == kind::decide && !r.found;
    again(id, r, step::reading);
    return;
  }
  out.add(protocol::note{"decisions.refused", {{"gang", r.slot.gang.value}}, true});
  if (r.what == kind::decide)
    tell_decided(id, nullptr, "the API server refuses the decision as invalid", out);
  else
    retry(id, r, step::reading, limits::forbidden_wait, out);
}

void decisions_role::was_written(request_id id, request& r, decision_object x,
                                 protocol::effects& out) {
  auto leftover =
      r.found && r.written->is_done ? r.found->object.chunks : std::vector<std::string>{};
  const auto space = std::string{x.space()};
  remember({std::move(x), r.written});
  if (!leftover.empty()) {
    request rest;
    rest.what = kind::clear;
    rest.slot = r.slot;
    rest.space = space;
    rest.names = std::move(leftover);
    add(std::move(rest), out);
  }
  if (r.what == kind::decide)
    tell_decided(id, r.written, {}, out);
  else
    tell_amended(id, false, r.written, out);
}

void decisions_role::on_removed(request_id id, request& r, verdict v, protocol::effects& out) {
  if (v != verdict::done && v != verdict::gone) {
    retry(id, r, step::removing, {}, out);
    return;
  }
  if (r.what == kind::clear && ++r.next < r.names.size()) {
    again(id, r, step::removing);
    return;
  }
  if (r.what == kind::forget)
    spaces_.erase(r.slot.gang);
  finish(id, out);
}

// ---------------------------------------------------------------- the whole log

void decisions_role::on_page(request_id id, request& r, const std::string& body,
                             protocol::effects& out) {
  const parsed_json read{body};
  const auto* whole = read.object();
  const auto* items = whole ? array_at(*whole, "items") : nullptr;
  const auto* metadata = whole ? object_at(*whole, "metadata") : nullptr;
  if (items == nullptr || metadata == nullptr) {
    refuse_to_guess(id, r, {code::corrupt, "the answer is no list"}, out);
    return;
  }
  for (const auto& item : *items) {
    auto x = item.is_object() ? read_decision_object(item.get_object())
                              : base::result<decision_object>{
                                  error{code::corrupt, "an item of the list is no object"}};
    if (!x) {
      refuse_to_guess(id, r, x.error(), out);
      return;
    }
    if (x->ordinal > 0)
      r.unread.push_back(std::move(*x));
  }
  r.token = text_at(*metadata, "continue");
  if (!r.token.empty())
    again(id, r, step::reading);
  else
    next_listed(id, r, out);
}

/// Reads on until an object's chunks must be asked for, or all have been read.
void decisions_role::next_listed(request_id id, request& r, protocol::effects& out) {
  while (!r.unread.empty()) {
    const auto& x = r.unread.front();
    if (!x.chunks.empty()) {
      r.names = x.chunks;
      r.space = x.space();
      r.next = 0;
      r.bytes.clear();
      again(id, r, step::loading);
      return;
    }
    auto read = decision_of(x, x.record);
    if (!read) {
      refuse_to_guess(id, r, read.error(), out);
      return;
    }
    spaces_[read->by.gang] = x.space();
    r.all.push_back(std::move(*read));
    r.unread.pop_front();
  }
  out.tell(r.from, protocol::slots_told{r.list_id, std::move(r.all)});
  finish(id, out);
}

} // namespace tutti::bridge
