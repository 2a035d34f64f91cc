#include "chaos/trace.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tutti::chaos {

namespace {

std::string_view name_of(const protocol::event& e) {
  constexpr std::array<std::string_view, std::variant_size_v<protocol::event>> names{
      "replayed",       "started",        "received",       "decided",
      "decide_refused", "decide_unknown", "amended",        "amend_refused",
      "timer_fired",    "answered",       "answer_unknown", "stream_opened",
      "stream_lines",   "stream_closed",  "child_died",     "disk_told"};
  return names[e.index()];
}

std::string_view name_of(const protocol::effect& e) {
  constexpr std::array<std::string_view, std::variant_size_v<protocol::effect>> names{
      "append",  "decide", "amend",  "forget",  "send", "arm",  "disarm", "exchange",
      "hang_up", "host",   "retire", "rebuild", "own",  "note", "fault"};
  return names[e.index()];
}

/// Timers and notes say nothing about what others see.
bool is_seen(const protocol::effect& e) {
  return !std::holds_alternative<protocol::arm>(e) && !std::holds_alternative<protocol::disarm>(e)
         && !std::holds_alternative<protocol::note>(e)
         && !std::holds_alternative<protocol::fault>(e);
}

/// What a reader asks first about some messages: who, and why not.
std::string detail_of(const protocol::message& m) {
  const auto why = [](const base::explanation& x) {
    return fmt::format("[{} {}/{}]", base::name_of(x.primary), x.placed, x.wanted);
  };
  if (const auto* x = std::get_if<protocol::try_gang>(&m))
    return fmt::format("[{}]", protocol::to_text(x->who->name));
  if (const auto* x = std::get_if<protocol::plan_answer>(&m); x && !x->placement)
    return why(x->why_not);
  if (const auto* x = std::get_if<protocol::vote>(&m); x && !x->yes)
    return why(x->why_not);
  if (const auto* x = std::get_if<protocol::ack>(&m); x && x->refused)
    return why(x->why);
  if (const auto* x = std::get_if<protocol::attempt_over>(&m))
    return fmt::format("[{}{}{}]", protocol::name_of(x->outcome),
                       x->why.primary == base::reason_code::none ? "" : " ",
                       x->why.primary == base::reason_code::none ? "" : why(x->why));
  return {};
}

std::string text_of(const protocol::effect& e) {
  if (const auto* s = std::get_if<protocol::send>(&e))
    return fmt::format("{}{}>{}", protocol::name_of(s->what), detail_of(s->what),
                       protocol::to_text(s->to));
  if (const auto* x = std::get_if<protocol::exchange>(&e))
    return fmt::format("{} {}", x->request.method, x->request.target);
  return std::string{name_of(e)};
}

} // namespace

void tracer::add(std::string line) {
  const double seconds = std::chrono::duration<double>(on_.time().now().time_since_epoch()).count();
  kept_.push_back(fmt::format("{:.6f}s {}", seconds, line));
  if (!keeps_all_ && kept_.size() > lines_)
    kept_.pop_front();
}

std::deque<std::string> tracer::take() {
  return std::exchange(kept_, {});
}

tracer::states tracer::states_now() const {
  states out;
  bool is_idle = true;
  for (std::size_t n = 0; n < on_.processes(); ++n)
    for (const auto& [where, role] : on_.at(n).roles())
      if (where.kind == protocol::role_kind::shard || where.kind == protocol::role_kind::gang) {
        const auto here = states_of(where, *role);
        is_idle &= where.kind != protocol::role_kind::gang || here.empty();
        out.insert(here.begin(), here.end());
      }
  if (is_idle)
    out.insert("idle");
  for (const auto& [exchange, step] : out_)
    out.insert(step);
  return out;
}

void tracer::count(const std::string& fault, const states& met) {
  for (const auto state : met)
    ++coverage_[{fault, std::string{state}}];
}

/// Who is in a state when the first spell begins has been counted, and does not enter it.
void tracer::remember_states() {
  for (std::size_t n = 0; n < on_.processes(); ++n)
    for (const auto& [where, role] : on_.at(n).roles())
      if (where.kind == protocol::role_kind::shard || where.kind == protocol::role_kind::gang)
        known_[{on_.at(n).name(), where}] = states_of(where, *role);
}

void tracer::enters(const std::string& who, std::string_view state) {
  for (const auto& x : spells_)
    if (x.target.empty() || x.target == who)
      ++coverage_[{x.what, std::string{state}}];
}

/// Roles are asked only while something lasts: at all other times nobody counts what they enter.
void tracer::follow_states(sim::process& who, const protocol::address& where,
                           const protocol::event& e, const protocol::effects& wanted) {
  using protocol::role_kind;
  const auto now = on_.time().now();
  if (!spells_.empty() && std::erase_if(spells_, [&](const auto& x) { return x.until <= now; }) > 0
      && spells_.empty())
    known_.clear();
  const auto here = [&] { return place{who.name(), where}; }; // two copied texts: few steps need it
  if (where.kind == role_kind::binder || where.kind == role_kind::evictor
      || where.kind == role_kind::decisions) {
    if (const auto* a = std::get_if<protocol::answered>(&e))
      out_.erase({here(), a->id});
    else if (const auto* u = std::get_if<protocol::answer_unknown>(&e))
      out_.erase({here(), u->id});
    for (const auto& w : wanted.list())
      if (const auto* x = std::get_if<protocol::exchange>(&w)) {
        if (const auto step = step_of(where, x->request); !step.empty()) {
          out_[{here(), x->id}] = step;
          enters(who.name(), step);
        }
      } else if (const auto* given_up = std::get_if<protocol::hang_up>(&w)) {
        out_.erase({here(), given_up->id});
      }
  } else if (!spells_.empty()
             && (where.kind == role_kind::shard || where.kind == role_kind::gang)) {
    const auto* role = who.role(where);
    auto met = role != nullptr ? states_of(where, *role) : states{};
    auto& before = known_[here()];
    for (const auto state : met)
      if (!before.contains(state))
        enters(who.name(), state);
    before = std::move(met);
  }
}

void tracer::happens(const action& x, nemesis::moment when) {
  if (when == nemesis::moment::strikes) {
    count(x.what, waits_for_its_place(x) ? states_now() : met_);
    if (const auto lasts = time_of(x, "for"); lasts > base::duration{0} || x.what == "disk_full") {
      if (spells_.empty())
        remember_states();
      spells_.push_back(
          {x.what, on_.find(x.target) != nullptr ? x.target : std::string{},
           lasts > base::duration{0} ? std::min(on_.time().now() + lasts, healed_) : healed_});
    }
    return;
  }
  met_ = states_now();
  if (!is_kept())
    return;
  std::string with;
  for (const auto& [key, value] : x.with)
    with += fmt::format(" {}={}", key, value);
  add(fmt::format("*** {} {}{}", x.what, x.target, with));
}

void tracer::stepped(sim::process& who, const protocol::address& where, const protocol::event& e,
                     const protocol::effects& wanted) {
  ++deliveries_;
  follow_states(who, where, e, wanted);
  for (const auto& w : wanted.list())
    if (const auto* f = std::get_if<protocol::fault>(&w); f && who.armed_at() == f->id)
      at_fault_[who.name()] = states_now();
  if (!is_kept())
    return;
  std::string line = fmt::format("{} {} ", who.name(), protocol::to_text(where));
  if (const auto* r = std::get_if<protocol::received>(&e))
    line += fmt::format("{}<{}", protocol::name_of(r->what), protocol::to_text(r->from));
  else if (const auto* a = std::get_if<protocol::answered>(&e))
    line += fmt::format("answered {}", a->status);
  else
    line += name_of(e);
  std::string sep = " : ";
  for (const auto& w : wanted.list())
    if (is_seen(w))
      line += std::exchange(sep, ", ") + text_of(w);
  add(std::move(line));
}

void tracer::arrives(std::string_view client, const protocol::http_request& request) {
  if (is_kept() && request.method != "GET")
    add(fmt::format("api < {} {} {}", client, request.method, request.target));
}

void tracer::began(sim::process& who) {
  if (is_kept())
    add(fmt::format("{} begins life {}", who.name(), who.lives()));
}

void tracer::ended(sim::process& who, std::string_view why) {
  if (who.died_as_armed() && why.starts_with("died at "))
    count("crash_at", std::exchange(at_fault_[who.name()], {}));
  const auto is_its_own = [&](const auto& x) { return x.first.first.first == who.name(); };
  std::erase_if(out_, is_its_own);
  std::erase_if(known_, [&](const auto& x) { return x.first.first == who.name(); });
  if (is_kept())
    add(fmt::format("{} ends: {}", who.name(), why));
}

} // namespace tutti::chaos
