// Who asks the decision log for what, and which exchange comes next.
#include "bridge/decisions_role.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "bridge/backoff.hpp"
#include "bridge/json_read.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/records_codec.hpp"

namespace tutti::bridge {

namespace {

constexpr protocol::timer_id look_timer{3, 0};

} // namespace

decisions_role::decisions_role(options how)
    : how_(std::move(how)), window_(limits::decisions_in_flight) {
  ensure(how_.inline_bytes > 0);
}

protocol::effects decisions_role::on(const protocol::event& e, base::time_point now) {
  ensure(now >= now_);
  now_ = now;
  protocol::effects out;
  if (const auto* x = std::get_if<protocol::started>(&e)) {
    seed_ = x->seed;
    if (how_.has_others)
      out.add(protocol::arm{look_timer, limits::log_look});
  } else if (const auto* m = std::get_if<protocol::received>(&e)) {
    if (const auto* d = std::get_if<protocol::slot_decide>(&m->what))
      hear(m->from, *d, out);
    else if (const auto* a = std::get_if<protocol::slot_amend>(&m->what))
      hear(m->from, *a, out);
    else if (const auto* f = std::get_if<protocol::slots_forget>(&m->what))
      hear(*f, out);
    else if (const auto* w = std::get_if<protocol::slots_wanted>(&m->what))
      hear(m->from, *w, out);
    else if (std::holds_alternative<protocol::inspect>(m->what))
      inspect(*m, out);
  } else if (const auto* a = std::get_if<protocol::answered>(&e)) {
    on_answer(a->id, a->status, a->body, a->retry_after_ms, out);
  } else if (const auto* u = std::get_if<protocol::answer_unknown>(&e)) {
    on_answer(u->id, 0, {}, 0, out);
  } else if (const auto* t = std::get_if<protocol::timer_fired>(&e)) {
    if (t->timer == look_timer)
      look(out);
    else
      window_.on_timer(t->timer);
  } else if (const auto* died = std::get_if<protocol::child_died>(&e)) {
    drop_questions_of(died->where, out);
  }
  window_.pump(now_, out, [&](request_id id) { return next_exchange(id); });
  return out;
}

// ---------------------------------------------------------------- what is asked

void decisions_role::hear(const protocol::address& from, const protocol::slot_decide& x,
                          protocol::effects& out) {
  ensure(x.what != nullptr, x.gang.value);
  ensure((base::slot_of(x.what->by) == base::slot_id{x.gang, x.ordinal}), x.gang.value, x.ordinal);
  request r;
  r.what = kind::decide;
  r.from = from;
  r.slot = {x.gang, x.ordinal};
  r.proposed = x.what;
  add(std::move(r), out);
}

void decisions_role::hear(const protocol::address& from, const protocol::slot_amend& x,
                          protocol::effects& out) {
  request r;
  r.what = kind::amend;
  r.from = from;
  r.slot = {x.gang, x.ordinal};
  r.change = x.what;
  add(std::move(r), out);
}

/// Beside others nobody can be sure that a gang is gone: a queue may only not have heard of it yet,
/// and slots that are gone too early would be written once more. An object that its root owns goes
/// with it. Upholds S2.
void decisions_role::hear(const protocol::slots_forget& x, protocol::effects& out) {
  if (how_.has_others && !how_.roots.group_api_version.empty()) {
    if (!lines_.contains(x.gang))
      spaces_.erase(x.gang);
    return;
  }
  request r;
  r.what = kind::forget;
  r.slot = {x.gang, 0};
  add(std::move(r), out);
}

void decisions_role::hear(const protocol::address& from, const protocol::slots_wanted& x,
                          protocol::effects& out) {
  request r;
  r.what = kind::list;
  r.from = from;
  r.list_id = x.id;
  add(std::move(r), out);
}

/// One that is still under way answers for the next.
void decisions_role::look(protocol::effects& out) {
  request r;
  r.what = kind::list;
  r.is_look = true;
  r.from = protocol::to(protocol::role_kind::keeper);
  add(std::move(r), out);
  out.add(protocol::arm{look_timer, limits::log_look});
}

/// A replica that has lost its Lease, or a partition that was given away, has no business in the
/// log. What is out already may still arrive: then the next owner finds it.
void decisions_role::drop_questions_of(const protocol::address& who, protocol::effects& out) {
  if (!how_.has_others)
    return; // nobody else would settle what became of it
  std::vector<request_id> idle;
  const auto look_at = [&](const std::deque<request_id>& line) {
    for (const auto id : line)
      if (auto& r = requests_.at(id); r.from == who && r.what != kind::forget) {
        r.is_orphan = true;
        if (!r.is_open)
          idle.push_back(id);
      }
  };
  if (who.kind != protocol::role_kind::gang) {
    for (const auto& [gang, line] : lines_)
      look_at(line);
  } else if (const auto line = lines_.find({who.key}); line != lines_.end()) {
    look_at(line->second);
  }
  for (const auto id : idle)
    finish(id, out);
}

void decisions_role::inspect(const protocol::received& e, protocol::effects& out) const {
  const auto& x = std::get<protocol::inspect>(e.what);
  out.tell(e.from, protocol::inspected{
                       x.id, fmt::format(R"({{"requests":{},"inFlight":{},"unfinished":{}}})",
                                         requests_.size(), window_.open(), known_.size())});
}

/// Whoever hears nothing asks again.
bool decisions_role::is_copy(const request& r) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const auto& other) {
    const auto& o = other.second;
    const bool is_same_proposal =
        (r.proposed == nullptr) == (o.proposed == nullptr)
        && (r.proposed == o.proposed || (r.proposed && *r.proposed == *o.proposed));
    return !o.is_orphan && r.what == o.what && r.from == o.from && r.slot == o.slot
           && r.list_id == o.list_id && r.change == o.change && is_same_proposal;
  });
}

void decisions_role::add(request r, protocol::effects& out) {
  const bool has_line = r.what != kind::list && r.what != kind::clear;
  const auto line = has_line ? lines_.find(r.slot.gang) : lines_.end();
  if (r.what != kind::clear && (!has_line || line != lines_.end()) && is_copy(r))
    return;
  const auto id = ++last_request_;
  const auto gang = r.slot.gang;
  requests_.emplace(id, std::move(r));
  if (!has_line) {
    begin(id, out);
    return;
  }
  auto& waiting = lines_[gang];
  waiting.push_back(id);
  if (waiting.size() == 1)
    begin(id, out);
}

/// The first exchange. A first slot and an amendment of what this role wrote last need no reading.
void decisions_role::begin(request_id id, protocol::effects& out) {
  auto& r = requests_.at(id);
  switch (r.what) {
  case kind::decide:
    if (r.slot.ordinal == 1 && !spaces_.contains(r.slot.gang))
      write_decision(id, r);
    else
      again(id, r, step::reading);
    return;
  case kind::amend: {
    const auto known = known_.find(r.slot.gang);
    if (known == known_.end() || known->second.what->by.ordinal != r.slot.ordinal) {
      again(id, r, step::reading);
      return;
    }
    auto became = protocol::amend_decision(*known->second.what, r.change);
    if (became.is_refused || !became.is_changed) {
      again(id, r, step::reading); // what is remembered may be old
      return;
    }
    r.found = known->second;
    amend_by(id, r, out);
    return;
  }
  case kind::forget:
    again(id, r, spaces_.contains(r.slot.gang) ? step::removing : step::reading);
    return;
  case kind::clear:
    again(id, r, step::removing);
    return;
  case kind::list:
    if (r.is_look) {
      again(id, r, step::reading);
      return;
    }
    // Whoever is made anew reads what its former life has still asked for.
    for (const auto& [gang, line] : lines_)
      r.behind.insert(line.begin(), line.end());
    lists_.insert(id);
    if (r.behind.empty())
      again(id, r, step::reading);
    return;
  }
}

// ---------------------------------------------------------------- asking the server

std::string decisions_role::space_of(const request& r) const {
  if (r.proposed)
    return r.proposed->gang_name.space;
  if (r.found)
    return std::string{r.found->object.space()};
  const auto known = spaces_.find(r.slot.gang);
  return known == spaces_.end() ? std::string{} : known->second;
}

protocol::http_request decisions_role::read_request(const request& r) const {
  if (r.what == kind::list)
    return r.is_look ? list_unfinished_request(r.token) : list_decisions_request(r.token);
  const auto name = decision_name(r.slot.gang);
  const auto space = space_of(r);
  return space.empty() ? find_decision_request(name) : get_decision_request(space, name);
}

std::optional<protocol::http_request> decisions_role::next_exchange(request_id id) {
  const auto pos = requests_.find(id);
  if (pos == requests_.end() || pos->second.is_open)
    return std::nullopt;
  auto& r = pos->second;
  r.is_open = true;
  switch (r.at) {
  case step::reading:
    return read_request(r);
  case step::loading:
    return get_chunk_request(r.space, r.names.at(r.next));
  case step::making: {
    decision_object x;
    x.metadata = new_metadata(*r.proposed, how_.roots);
    x.gang = r.proposed->gang_name.name;
    return create_decision_request(x);
  }
  case step::chunking:
    return create_chunk_request(r.pieces.at(r.next), r.found->object);
  case step::writing:
    return write_request(r);
  case step::removing:
    return r.what == kind::clear ? delete_chunk_request(r.space, r.names.at(r.next))
                                 : delete_decision_request(space_of(r), decision_name(r.slot.gang));
  }
  return std::nullopt;
}

protocol::http_request decisions_role::write_request(const request& r) const {
  ensure(r.written != nullptr, r.slot.gang.value);
  decision_object x;
  if (r.found)
    x = r.found->object;
  else
    x.metadata = new_metadata(*r.written, how_.roots);
  std::vector<std::string> names;
  for (const auto& piece : r.pieces)
    names.push_back(piece.name);
  put_decision(x, *r.written, std::move(names));
  return r.found ? replace_decision_request(x, r.what == kind::amend) : create_decision_request(x);
}

void decisions_role::on_answer(std::uint64_t exchange, int status, const std::string& body,
                               std::int64_t retry_after_ms, protocol::effects& out) {
  const auto id = window_.close(exchange);
  const auto pos = id ? requests_.find(*id) : requests_.end();
  if (pos == requests_.end())
    return;
  auto& r = pos->second;
  r.is_open = false;
  if (r.is_orphan) {
    known_.erase(r.slot.gang);
    finish(*id, out);
    return;
  }
  const bool is_page = r.what == kind::list && r.at == step::reading;
  const auto asked = is_page                                          ? operation::watch
                     : r.at == step::reading || r.at == step::loading ? operation::read
                     : r.at == step::removing                         ? operation::remove
                                                                      : operation::patch;
  if (is_page && status == 404)
    out.add(protocol::note{"decisions.kind_unknown", {}, true}); // deploy/crds was not applied
  const auto v = judge(asked, status, body);
  if (on_common(*id, r, v, retry_after_ms, out))
    return;
  switch (r.at) {
  case step::reading:
    on_read(*id, r, v, body, out);
    return;
  case step::loading:
    on_loaded(*id, r, v, body, out);
    return;
  case step::chunking:
    on_chunked(*id, r, v, body, out);
    return;
  case step::making:
  case step::writing:
    on_written(*id, r, v, body, out);
    return;
  case step::removing:
    on_removed(*id, r, v, out);
    return;
  }
}

bool decisions_role::on_common(request_id id, request& r, verdict v, std::int64_t retry_after_ms,
                               protocol::effects& out) {
  if (v == verdict::wait) {
    const auto asked = asked_wait(retry_after_ms);
    if (asked.count() > 0)
      window_.pause(asked, now_, out);
    retry(id, r, r.at, asked, out);
    return true;
  }
  if (v == verdict::forbidden) {
    out.add(protocol::note{"decisions.forbidden", {{"gang", r.slot.gang.value}}, true});
    retry(id, r, r.at, limits::forbidden_wait, out);
    return true;
  }
  const bool is_write = r.at == step::making || r.at == step::writing;
  const bool is_repeatable =
      v == verdict::unknown || v == verdict::reconnect || v == verdict::too_new;
  if (is_repeatable && !is_write) {
    retry(id, r, r.at, {}, out); // reading, a chunk or a removal once more changes nothing
    return true;
  }
  return false;
}

// ---------------------------------------------------------------- helpers

void decisions_role::again(request_id id, request& r, step at) {
  r.at = at;
  window_.enqueue(id, r.what == kind::amend || r.tries > 0);
}

void decisions_role::retry(request_id id, request& r, step at, base::duration at_least,
                           protocol::effects& out) {
  r.at = at;
  const auto wait = backoff({base::limits::resend_first, base::limits::resend_longest}, r.tries,
                            seed_, base::hash_of(r.slot.gang.value));
  ++r.tries;
  window_.later(id, std::max(wait, at_least), out);
}

/// What the server holds is not what any of us writes. Whoever guesses now may start a gang twice;
/// a human must look.
void decisions_role::refuse_to_guess(request_id id, request& r, const base::error& why,
                                     protocol::effects& out) {
  out.add(protocol::note{"decisions.corrupt", {{"why", why.message()}}, true});
  r.all.clear();
  r.unread.clear();
  r.token.clear();
  retry(id, r, step::reading, limits::forbidden_wait, out);
}

void decisions_role::finish(request_id id, protocol::effects& out) {
  const auto pos = requests_.find(id);
  ensure(pos != requests_.end(), id);
  const auto gang = pos->second.slot.gang;
  const bool is_orphan = pos->second.is_orphan;
  const bool has_line = pos->second.what != kind::list && pos->second.what != kind::clear;
  requests_.erase(pos);
  lists_.erase(id);
  for (const auto list : lists_)
    if (auto& r = requests_.at(list); r.behind.erase(id) > 0 && r.behind.empty())
      again(list, r, step::reading);
  if (!has_line)
    return;
  const auto line = lines_.find(gang);
  ensure(line != lines_.end(), id, gang.value);
  const bool was_first = line->second.front() == id;
  ensure(was_first || is_orphan, id, gang.value);
  std::erase(line->second, id);
  if (line->second.empty())
    lines_.erase(line);
  else if (was_first)
    begin(line->second.front(), out);
}

void decisions_role::remember(const standing& x) {
  const auto& gang = x.what->by.gang;
  spaces_[gang] = x.object.space();
  if (protocol::is_finished(*x.what)) {
    known_.erase(gang);
    return;
  }
  if (known_.size() >= limits::decisions_remembered && !known_.contains(gang))
    known_.erase(known_.begin());
  known_.insert_or_assign(gang, x);
}

void decisions_role::tell_decided(request_id id, protocol::decision_ptr winner, std::string refusal,
                                  protocol::effects& out) {
  const auto& r = requests_.at(id);
  ensure((winner == nullptr) != refusal.empty(), r.slot.gang.value, refusal);
  out.tell(r.from, protocol::slot_decided{r.slot.gang, r.slot.ordinal, std::move(winner),
                                          std::move(refusal)});
  finish(id, out);
}

void decisions_role::tell_amended(request_id id, bool is_refused, protocol::decision_ptr now,
                                  protocol::effects& out) {
  const auto& r = requests_.at(id);
  ensure(is_refused || now != nullptr, r.slot.gang.value);
  out.tell(r.from, protocol::slot_amended{r.slot.gang, r.slot.ordinal, is_refused, std::move(now)});
  finish(id, out);
}

/// Requests go by what was asked; their numbers count where a timer or a line knows them by it.
std::uint64_t decisions_role::state_hash() const {
  using base::hash_of;
  auto h = hash_of(std::uint64_t{requests_.size()});
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  const auto add_decision = [&](const protocol::decision_ptr& x) {
    add(x ? hash_of(protocol::encode(*x)) : 0);
  };
  const auto add_standing = [&](const standing& x) {
    add(hash_of(x.object.uid()));
    add(hash_of(x.object.resource_version()));
    add_decision(x.what);
  };
  for (const auto& [id, r] : requests_) {
    add(id);
    add(static_cast<std::uint64_t>(r.what) * 64 + static_cast<std::uint64_t>(r.at) * 8
        + (r.is_open ? 1u : 0u) + (r.is_place_gone ? 2u : 0u) + (r.is_orphan ? 512u : 0u)
        + (r.is_look ? 1024u : 0u));
    add(std::hash<protocol::address>{}(r.from));
    add(hash_of(r.slot.gang.value));
    add(r.slot.ordinal);
    add_decision(r.proposed);
    add_decision(r.written);
    add_decision(r.seen);
    add(r.change.by.value * 4 + (r.change.adopt ? 1u : 0u) + (r.change.finish ? 2u : 0u));
    add(r.change.cancel.size());
    for (const auto& pod : r.change.cancel)
      add(hash_of(pod.value));
    for (const auto& pod : r.change.bound)
      add(hash_of(pod.value));
    if (r.found)
      add_standing(*r.found);
    add(r.list_id);
    for (const auto before : r.behind)
      add(before);
    add(hash_of(r.token));
    add(hash_of(r.bytes));
    add(r.next);
    for (const auto& name : r.names)
      add(hash_of(name));
    for (const auto& d : r.all)
      add(hash_of(protocol::encode(d)));
    add(r.unread.size());
    add(r.tries);
  }
  for (const auto id : window_.line())
    add(id);
  for (const auto& [gang, x] : known_)
    add_standing(x);
  for (const auto& [gang, space] : spaces_)
    add(base::hash_combine(hash_of(gang.value), hash_of(space)));
  add(seed_);
  add(static_cast<std::uint64_t>(window_.paused_until().time_since_epoch().count()));
  return h;
}

} // namespace tutti::bridge
