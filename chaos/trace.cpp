#include "chaos/trace.hpp"

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

void tracer::happens(const action& x) {
  for (const auto& [gang, at] : phases_)
    ++coverage_[{x.what, std::string{protocol::name_of(at)}}];
  if (phases_.empty())
    ++coverage_[{x.what, "idle"}];
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
  for (const auto& w : wanted.list())
    if (const auto* s = std::get_if<protocol::send>(&w)) {
      if (const auto* p = std::get_if<protocol::gang_progress>(&s->what))
        phases_[p->attempt.gang.value] = p->at;
      else if (const auto* o = std::get_if<protocol::attempt_over>(&s->what))
        phases_.erase(o->attempt.gang.value);
    }
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
  phases_.clear();
  if (is_kept())
    add(fmt::format("{} ends: {}", who.name(), why));
}

} // namespace tutti::chaos
