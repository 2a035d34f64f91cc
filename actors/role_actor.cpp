#include "actors/role_actor.hpp"

#include <utility>

#include <caf/all.hpp>

#include "base/ensure.hpp"

namespace tutti::actors {

namespace {

/// An effect that no one outside the process sees, or that the role wants at once.
bool is_unordered(const protocol::effect& e) {
  if (const auto* s = std::get_if<protocol::send>(&e))
    return s->unordered;
  return std::holds_alternative<protocol::append>(e) || std::holds_alternative<protocol::arm>(e)
         || std::holds_alternative<protocol::disarm>(e) || std::holds_alternative<protocol::note>(e)
         || std::holds_alternative<protocol::hang_up>(e)
         || std::holds_alternative<protocol::rebuild>(e);
}

/// What a checkpoint keeps of the role is afterwards what it was: somebody reads, or it hears of
/// the disk, which would else be written to because it is full.
bool leaves_no_trace(const protocol::event& e) {
  if (std::holds_alternative<protocol::disk_told>(e))
    return true;
  const auto* heard = std::get_if<protocol::received>(&e);
  return heard != nullptr && std::holds_alternative<protocol::inspect>(heard->what);
}

std::string text_of(const std::exception_ptr& x) {
  try {
    std::rethrow_exception(x);
  } catch (const std::exception& e) {
    return std::string{"exception: "} + e.what();
  } catch (...) {
    return "exception of unknown type";
  }
}

} // namespace

role_actor::role_actor(caf::actor_config& cfg, services* around, protocol::role_ptr role,
                       options how)
    : caf::event_based_actor(cfg), around_(*around), role_(std::move(role)), how_(std::move(how)) {
  ensure(role_ != nullptr);
  applied_ = how_.applied;
  set_default_handler(caf::drop);
  set_exception_handler([this](std::exception_ptr& x) -> caf::error {
    death_ = text_of(x);
    return caf::exit_reason::unhandled_exception;
  });
}

caf::behavior role_actor::make_behavior() {
  return {[this](const mail& m) { open(m); }};
}

void role_actor::on_exit() {
  around_.routes.drop(how_.where, address());
  for (const auto& [mine, id] : exchanges_)
    if (around_.http != nullptr)
      around_.http->hang_up(id);
  exchanges_.clear();
  role_.reset();
  around_.ended(how_.incarnation, death_);
}

void role_actor::open(const mail& m) {
  if (!has_begun_ && !std::holds_alternative<begin>(*m))
    early_.push_back(m);
  else
    handle(*m);
}

void role_actor::handle(letter& x) {
  if (is_over_)
    return;
  std::visit(
      [this](auto& item) {
        if constexpr (std::is_same_v<std::decay_t<decltype(item)>, protocol::event>)
          take(item);
        else
          on(item);
      },
      x);
}

void role_actor::take(const protocol::event& e) {
  if (take_log_answer(e))
    return;
  since_checkpoint_ += leaves_no_trace(e) ? 0 : 1;
  forget_exchange(e);
  auto wanted = role_->on(e, around_.clock.now());
  std::uint64_t batch_mark = 0;
  for (auto& effect : wanted.list()) {
    if (is_over_)
      return;
    perform(effect, batch_mark);
  }
}

/// An answer of the log's role becomes the event that a store would have given, if it is an answer
/// to this life.
bool role_actor::take_log_answer(const protocol::event& e) {
  const auto* heard = std::get_if<protocol::received>(&e);
  if (heard == nullptr || heard->from.kind != protocol::role_kind::decisions || !log_)
    return false;
  std::optional<protocol::event> meant;
  if (const auto* d = std::get_if<protocol::slot_decided>(&heard->what)) {
    meant = log_->take(*d);
    if (meant)
      around_.numbers.decided(log_->took(around_.clock.now()));
  } else if (const auto* a = std::get_if<protocol::slot_amended>(&heard->what)) {
    meant = log_->take(*a);
  } else {
    return false;
  }
  if (meant)
    take(*meant);
  return true;
}

/// Most actors never ask it anything: there is one actor per node.
log_words& role_actor::log() {
  if (!log_)
    log_ = std::make_unique<log_words>();
  return *log_;
}

void role_actor::tell_log(protocol::message what) {
  around_.routes.send(how_.where, protocol::to(protocol::role_kind::decisions), std::move(what));
  if (!std::exchange(log_timer_runs_, true))
    delayed_send(this, log_resend, make_mail(log_overdue{}));
}

/// The last event of an exchange ends it.
void role_actor::forget_exchange(const protocol::event& e) {
  if (const auto* a = std::get_if<protocol::answered>(&e))
    exchanges_.erase(a->id);
  else if (const auto* u = std::get_if<protocol::answer_unknown>(&e))
    exchanges_.erase(u->id);
  else if (const auto* c = std::get_if<protocol::stream_closed>(&e))
    exchanges_.erase(c->id);
}

/// `batch_mark` is the last synced append of this call. Fault points wait for that one only: they
/// name a place between the effects of one step, whatever other steps still have under way.
void role_actor::perform(protocol::effect& e, std::uint64_t& batch_mark) {
  if (std::holds_alternative<protocol::append>(e)) {
    const bool synced = std::get<protocol::append>(e).how == protocol::append::durability::synced;
    perform_now(e);
    if (synced)
      batch_mark = last_synced_ = appends_;
    return;
  }
  const bool is_fault = std::holds_alternative<protocol::fault>(e);
  const auto behind = is_fault ? batch_mark : last_synced_;
  const bool must_wait =
      is_fault ? behind > appends_done_ : behind > appends_done_ || !queue_.empty();
  if (!is_unordered(e) && must_wait)
    queue_.push_back({behind, std::move(e)});
  else
    perform_now(e);
}

void role_actor::perform_now(protocol::effect& e) {
  std::visit([this](auto& x) { act(x); }, e);
}

void role_actor::act(protocol::append& x) {
  if (!how_.keeps_journal)
    return;
  const auto n = ++appends_;
  auto self = caf::actor_cast<caf::actor>(this);
  around_.store.submit(
      persistence::append_request{how_.where, how_.incarnation, std::move(x.what),
                                  x.how == protocol::append::durability::synced},
      [self, n](base::result<persistence::outcome> how) {
        append_done answer{
            n, how ? base::result<persistence::journal_index>{std::get<persistence::appended>(*how)
                                                                  .index}
                   : base::result<persistence::journal_index>{how.error()}};
        caf::anon_send(self, make_mail(std::move(answer)));
      });
}

void role_actor::act(protocol::decide& x) {
  if (around_.list_log) {
    tell_log(log().ask(x, around_.clock.now()));
    return;
  }
  auto self = caf::actor_cast<caf::actor>(this);
  const auto slot = x.slot;
  const auto since = around_.clock.now();
  around_.store.submit(persistence::decide_request{std::move(x)},
                       [self, slot, since](base::result<persistence::outcome> how) {
                         decide_done answer{slot, how.error(), since};
                         if (how)
                           answer.outcome = std::get<persistence::decide_outcome>(std::move(*how));
                         caf::anon_send(self, make_mail(std::move(answer)));
                       });
}

void role_actor::act(protocol::amend& x) {
  if (around_.list_log) {
    tell_log(log().ask(x));
    return;
  }
  auto self = caf::actor_cast<caf::actor>(this);
  const auto slot = x.slot;
  around_.store.submit(persistence::amend_request{std::move(x)},
                       [self, slot](base::result<persistence::outcome> how) {
                         amend_done answer{slot, how.error()};
                         if (how)
                           answer.outcome = std::get<persistence::amend_outcome>(std::move(*how));
                         caf::anon_send(self, make_mail(std::move(answer)));
                       });
}

/// Nobody waits for it: what a full disk or a crash leaves is asked for again at the next start.
void role_actor::act(protocol::forget& x) {
  if (around_.list_log) {
    around_.routes.send(how_.where, protocol::to(protocol::role_kind::decisions),
                        protocol::slots_forget{std::move(x.gang)});
    return;
  }
  around_.store.submit(persistence::forget_request{std::move(x.gang)},
                       [](const base::result<persistence::outcome>&) {});
}

void role_actor::act(protocol::send& x) {
  around_.numbers.sees(x.to, x.what, around_.clock.now());
  around_.routes.send(how_.where, x.to, std::move(x.what));
}

void role_actor::act(protocol::arm& x) {
  armed_[x.timer] = ++armings_;
  delayed_send(this, x.after, make_mail(timer_due{x.timer, armings_}));
}

void role_actor::act(protocol::disarm& x) {
  armed_.erase(x.timer);
}

void role_actor::act(protocol::exchange& x) {
  if (around_.http == nullptr) {
    caf::anon_send(
        this, make_mail(protocol::event{protocol::answer_unknown{x.id, "there is no API server"}}));
    return;
  }
  const auto id = ++around_.last_exchange;
  exchanges_[x.id] = id;
  auto self = caf::actor_cast<caf::actor>(this);
  auto what = call_of(x.request);
  around_.http->start(
      id, std::move(x.request),
      [self, mine = x.id, what = std::move(what), calls = around_.calls](protocol::event e) {
        calls->heard(what, e);
        std::visit(
            [mine](auto& item) {
              if constexpr (requires { item.id = mine; })
                item.id = mine;
            },
            e);
        caf::anon_send(self, make_mail(std::move(e)));
      });
}

void role_actor::act(protocol::hang_up& x) {
  if (auto pos = exchanges_.find(x.id); pos != exchanges_.end()) {
    around_.http->hang_up(pos->second);
    exchanges_.erase(pos);
  }
}

void role_actor::act(protocol::host& x) {
  around_.bring_up(x.where, how_.incarnation);
}

void role_actor::act(protocol::retire&) {
  is_over_ = true;
  death_.reset();
  around_.routes.drop(how_.where, address());
  quit();
}

void role_actor::act(protocol::rebuild& x) {
  is_over_ = true;
  death_ = std::move(x.why);
  quit(caf::exit_reason::unhandled_exception);
}

void role_actor::act(protocol::own& x) {
  ensure(around_.own != nullptr, protocol::to_text(how_.where));
  around_.own(std::move(x));
}

void role_actor::act(protocol::note& x) {
  const auto wall = around_.clock.wall_now();
  around_.numbers.sees(x, wall);
  around_.notes.record(how_.where, x, around_.clock.now(), wall);
}

void role_actor::act(protocol::fault& x) {
  around_.pass_fault(x.id);
}

void role_actor::on(begin&) {
  has_begun_ = true;
  for (const auto& e : std::exchange(how_.first, {}))
    if (!is_over_)
      take(e);
  for (const auto& m : std::exchange(early_, {}))
    handle(*m);
}

/// F10: what did not become durable cannot be taken back from the role's memory. It says nothing
/// more, whatever else the store answers; the process ends and recovers from disk.
void role_actor::fail(const base::error& why) {
  is_over_ = true;
  queue_.clear();
  around_.fatal(why);
  if (is_stopping_)
    quit();
}

void role_actor::on(append_done& x) {
  ensure(x.n == appends_done_ + 1, x.n, appends_done_);
  if (!x.index) {
    fail(x.index.error().in("journal of " + protocol::to_text(how_.where)));
    return;
  }
  appends_done_ = x.n;
  applied_ = *x.index;
  submit_snapshot();
  if (is_over_)
    return;
  while (!queue_.empty() && queue_.front().behind <= appends_done_) {
    auto next = std::move(queue_.front().what);
    queue_.pop_front();
    perform_now(next);
    if (is_over_)
      return;
  }
}

void role_actor::on(decide_done& x) {
  if (x.outcome) {
    around_.numbers.decided(around_.clock.now() - x.since);
    take(protocol::event{protocol::decided{x.slot, x.outcome->winner}});
    return;
  }
  if (x.outcome.error().what() == base::code::io) {
    fail(x.outcome.error().in("decision log"));
    return;
  }
  take(protocol::event{protocol::decide_refused{x.slot, x.outcome.error()}});
}

void role_actor::on(amend_done& x) {
  if (!x.outcome) {
    fail(x.outcome.error().in("decision log"));
    return;
  }
  if (x.outcome->refused)
    take(protocol::event{protocol::amend_refused{x.slot, x.outcome->now}});
  else
    take(protocol::event{protocol::amended{x.slot, x.outcome->now}});
}

void role_actor::on(timer_due& x) {
  auto pos = armed_.find(x.timer);
  if (pos == armed_.end() || pos->second != x.n)
    return; // disarmed or armed anew since
  armed_.erase(pos);
  take(protocol::event{protocol::timer_fired{x.timer}});
}

void role_actor::on(checkpoint_due& x) {
  const bool is_time = x.is_last || around_.clock.now() >= next_checkpoint_;
  checkpoint_wanted_ = how_.keeps_checkpoints && since_checkpoint_ > 0 && is_time;
  if (x.is_last) {
    is_stopping_ = true;
    death_.reset();
  }
  write_checkpoint();
  if (is_stopping_ && !checkpoint_wanted_ && !is_writing_checkpoint_)
    quit();
}

/// The snapshot is taken at once and written behind the watermark: it may not know of a record that
/// the disk does not have, and a role that never stops appending gets its checkpoint, too.
void role_actor::write_checkpoint() {
  if (!checkpoint_wanted_ || is_writing_checkpoint_)
    return;
  checkpoint_wanted_ = false;
  since_checkpoint_ = 0;
  auto bytes = role_->snapshot();
  if (bytes.empty())
    return;
  is_writing_checkpoint_ = true;
  next_checkpoint_ =
      around_.clock.now()
      + std::chrono::nanoseconds{std::chrono::seconds{bytes.size()}} / checkpoint_bytes_per_second;
  snapshot_ = snapshot{appends_, std::move(bytes)};
  submit_snapshot();
}

/// Once the last record that the snapshot includes is durable, and before the next one is:
/// `applied_` is then the index of exactly that record.
void role_actor::submit_snapshot() {
  if (!snapshot_ || snapshot_->behind != appends_done_)
    return;
  auto bytes = std::move(snapshot_->bytes);
  snapshot_.reset();
  auto self = caf::actor_cast<caf::actor>(this);
  around_.store.submit(persistence::checkpoint_request{how_.where, applied_, std::move(bytes)},
                       [self](base::result<persistence::outcome> how) {
                         checkpoint_done answer{how ? base::result<void>{}
                                                    : base::result<void>{how.error()}};
                         caf::anon_send(self, make_mail(std::move(answer)));
                       });
}

void role_actor::on(log_overdue&) {
  log_timer_runs_ = false;
  for (auto& what : log_->open())
    tell_log(std::move(what));
}

void role_actor::on(checkpoint_done& x) {
  is_writing_checkpoint_ = false;
  if (!x.how) {
    fail(x.how.error().in("checkpoint of " + protocol::to_text(how_.where)));
    return;
  }
  write_checkpoint(); // asked for meanwhile
  if (is_stopping_ && !is_writing_checkpoint_)
    quit();
}

} // namespace tutti::actors
