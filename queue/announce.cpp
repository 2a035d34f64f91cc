// Conditions and the event of a refusal, each only if it is news.
#include "queue/announce.hpp"

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "protocol/address.hpp"

namespace tutti::queue {

namespace {

struct saying {
  const char* reason;
  std::string text;

  std::uint64_t hash() const {
    return base::hash_combine(base::hash_of(reason), base::hash_of(text)) | 1u; // never "nothing"
  }
};

protocol::emit_event event_of(const saying& what) {
  return {.about = {},
          .is_pod = true,
          .uid = {},
          .is_warning = true,
          .reason = "FailedScheduling",
          .action = "Scheduling",
          .text = what.text};
}

void tell_pods(gang_entry& g, const saying& what, bool with_events, protocol::effects& out) {
  for (auto* pod : g.members) {
    if (!pod->is_pending() || pod->told == what.hash())
      continue;
    pod->told = what.hash();
    out.tell(protocol::to(protocol::role_kind::status),
             protocol::set_condition{.name = {g.space(), pod->name},
                                     .is_pod = true,
                                     .uid = pod->uid.text(),
                                     .type = "PodScheduled",
                                     .status = false,
                                     .reason = what.reason,
                                     .message = what.text});
    if (!with_events)
      continue;
    auto event = event_of(what);
    event.about = {g.space(), pod->name};
    event.uid = pod->uid.text();
    out.tell(protocol::to(protocol::role_kind::status), std::move(event));
  }
}

void announce(gang_entry& g, const saying& what, const options& how, protocol::effects& out) {
  ensure(g.life != nullptr);
  const bool is_news = g.life->told != what.hash();
  g.life->told = what.hash();
  const bool has_group = !g.is_lone_pod() && g.group->facts.has_value();
  const bool is_object = g.is_lone_pod() || (has_group && how.has_group_objects());
  const bool has_condition = !g.is_lone_pod() && is_object && !g.group->facts->has_started
                             && !g.group->is_start_said; // M-1: it is never taken back
  if (is_news && has_condition)
    out.tell(protocol::to(protocol::role_kind::status),
             protocol::set_condition{.name = g.name(),
                                     .is_pod = false,
                                     .uid = g.uid().value,
                                     .type = how.group_condition,
                                     .status = false,
                                     .reason = what.reason,
                                     .message = what.text});
  tell_pods(g, what, !is_object, out);
  if (!is_news || !is_object)
    return;
  auto event = event_of(what);
  event.about = g.name();
  event.is_pod = g.is_lone_pod();
  event.uid = g.uid().value;
  out.tell(protocol::to(protocol::role_kind::status), std::move(event));
}

} // namespace

void announce_refusal(gang_entry& g, const base::explanation& why, const options& how,
                      protocol::effects& out) {
  announce(g, {"Unschedulable", base::to_text(why)}, how, out);
}

void announce_error(gang_entry& g, const std::string& text, const options& how,
                    protocol::effects& out) {
  announce(g, {"SchedulerError", text}, how, out);
}

void announce_gated(gang_entry& g, const options& how, protocol::effects& out) {
  const auto& life = *g.life;
  const bool is_told = life.reason == base::reason_code::waiting_for_members
                       || life.reason == base::reason_code::gated;
  if (!is_told || g.is_lone_pod())
    return;
  const auto& group = *g.group;
  if (group.facts && group.facts->is_deleting)
    return;
  base::explanation why;
  why.primary = life.reason;
  why.detail = life.detail;
  const saying what{"Unschedulable", base::to_text(why)};
  const bool has_started =
      g.has_run || group.is_start_said || (group.facts && group.facts->has_started);
  if (has_started) // the group has run, so the words are those of the members that wait
    tell_pods(g, what, true, out);
  else
    announce(g, what, how, out);
}

} // namespace tutti::queue
