// What fails in a drawn world, and when: each kind of fault from a stream of its own.
#include <algorithm>

#include "chaos/swarm_drawing.hpp"

namespace tutti::chaos {

using namespace std::chrono_literals;
using base::random_stream;

/// Most faults fall into the moments after something has begun: in an idle world they meet
/// nobody.
base::duration drawing::fault_time(random_stream& own) {
  if (squeezed_for_ > 0ms && own.chance(1, 3))
    return squeezed_at_ + sim::draw(own, 0ms, squeezed_for_) / 1000 * 1000;
  if (own.chance(1, 5) || out_.actions.empty())
    return some_time(own);
  const auto n = static_cast<std::size_t>(own.below(users_actions_));
  const auto after = own.chance(1, 4) ? sim::draw(own, 0ms, 3s) : sim::draw(own, 0ms, 40ms);
  return out_.actions[n].at + after;
}

/// Each kind has a stream of its own: leaving one out does not move the others.
void drawing::draw_faults() {
  users_actions_ = out_.actions.size();
  if (squeezed_for_ > 0ms && is_wanted("slow_disk"))
    add(squeezed_at_, "slow_disk", "scheduler-0",
        {{"for", duration_text(2 * squeezed_for_)}, {"sync", duration_text(sync_takes_)}});
  for (const auto& kind : action_kinds()) {
    auto own = faults_.fork(kind.what);
    const bool is_on = own.chance(1, 2);
    if (!is_fault(kind) || !(is_on || how_.takes_every_kind) || !is_wanted(kind.what))
      continue;
    for (auto left = own.between(1, 3); left > 0; --left)
      draw_fault(kind.what, own);
  }
}

void drawing::draw_fault(std::string_view what, random_stream& own) {
  constexpr std::array<std::string_view, 23> rows{
      "C0",  "C1", "C2", "C4", "C5", "C7", "C8", "C9", "C10", "C11", "C12", "C13",
      "C14", "P0", "P1", "P2", "P3", "P4", "P5", "P6", "B0",  "B1",  "B2"};
  constexpr std::array<std::string_view, 10> deadly{"C1", "C2", "C4", "C5", "C7",
                                                    "C8", "P1", "P2", "P4", "B1"};
  constexpr std::array<std::string_view, 8> words{"bind",  "bind",  "read",   "list",
                                                  "watch", "touch", "status", "event"};
  constexpr std::array<std::string_view, 8> answers{"409",  "429",  "500",          "503",
                                                    "lost", "lost", "applied_lost", "applied_lost"};
  constexpr std::array<std::string_view, 3> resources{"pods", "nodes", "podgroups"};
  const auto at = fault_time(own);
  // Where decisions are API objects, half of the API server's faults meet those.
  const auto word = [&] {
    return out_.log_is_objects && own.chance(1, 2) ? std::string{"decide"}
                                                   : std::string{one_of(own, words)};
  };
  const auto who = process(own);
  const auto span = [&](base::duration least, base::duration most) {
    return drawing::span(own, least, most);
  };
  if (what == "crash")
    draw_crash(at, who, own);
  else if (what == "crash_at")
    add(at, what, who,
        {{"row", std::string{one_of(own, rows)}},
         {"pass", std::to_string(own.between(1, 3))},
         {"kept", std::to_string(own.below(3))}});
  else if (what == "restart")
    add(at, what, who, {{"down", span(10ms, 3s)}});
  else if (what == "pause")
    add(at, what, who, {{"for", span(10ms, 20s)}});
  else if (what == "kill_actor")
    add(at, what, who, {{"role", role(own)}});
  else if (what == "kill_at")
    add(at, what, who,
        {{"row", std::string{one_of(own, deadly)}}, {"pass", std::to_string(own.between(1, 3))}});
  else if (what == "late")
    add(at, what, who,
        {{"nth", std::to_string(own.between(1, 4))},
         {"count", std::to_string(own.between(1, 8))},
         {"message", own.chance(1, 4) ? "abort" : "prepare"},
         {"by", span(1ms, 6s)}});
  else if (what == "clock")
    add(at, what, who, {{"by", own.chance(1, 2) ? "3h" : "-3h"}});
  else if (what == "disk_full" || what == "sync_fails" || what == "slow_disk" || what == "corrupt")
    draw_disk(at, what, who, own);
  else if (what == "alien" && how_.replicas > 1)
    add(at, what, who);
  else if (what == "cut_off")
    add(at, what, who, {{"for", span(100ms, 10s)}});
  else if (what == "link_cut" || what == "link")
    draw_link(at, what, who, own);
  else if (what == "api")
    draw_answer(at, word(), std::string{one_of(own, answers)}, own);
  else if (what == "api_down")
    draw_outage(at, word(), std::string{one_of(own, answers)}, own);
  else if (what == "watch_stall")
    add(at, what, std::string{one_of(own, resources)}, {{"for", span(100ms, 15s)}});
  else if (what == "watch_expired")
    draw_expiry(at, own);
  else if (what == "watch_twice")
    add(at, what, std::string{one_of(own, resources)}, {{"for", span(1s, 10s)}});
  else if (what == "watch_cut")
    add(at, what, std::string{one_of(own, resources)});
}

void drawing::draw_disk(base::duration at, std::string_view what, const std::string& who,
                        random_stream& own) {
  if (what == "slow_disk")
    add(at, what, who, {{"for", span(own, 100ms, 5s)}, {"sync", span(own, 10ms, 900ms)}});
  else if (what == "disk_full")
    add(at, what, who, {{"for", span(own, 10ms, 20s)}});
  else if (what != "corrupt")
    add(at, what, who);
  else if (!has_epochs_alone())
    add(at, what, who, {{"nth", std::to_string(own.below(200))}, {"down", span(own, 10ms, 3s)}});
}

/// Where several share the cluster a disk may be lost, too: all that matters is elsewhere.
void drawing::draw_crash(base::duration at, const std::string& who, random_stream& own) {
  pairs with{{"kept", std::to_string(own.below(4))}, {"down", span(own, 10ms, 3s)}};
  if (how_.replicas > 1 && own.fork(fmt::format("disk {}", at.count())).chance(1, 3))
    with["disk"] = "lost";
  add(at, "crash", who, std::move(with));
}

/// Frames between processes, where there are several.
void drawing::draw_link(base::duration at, std::string_view what, const std::string& who,
                        random_stream& own) {
  constexpr std::array<std::string_view, 3> fates{"lost", "twice", "late"};
  if (how_.replicas == 1)
    return;
  if (what == "link_cut")
    add(at, what, who, {{"from", process(own)}, {"for", span(own, 100ms, 10s)}});
  else
    add(at, what, who,
        {{"nth", std::to_string(own.between(1, 20))},
         {"count", std::to_string(own.between(1, 6))},
         {"fate", std::string{one_of(own, fates)}},
         {"by", span(own, 1ms, 4s)}});
}

/// One request is answered otherwise. What came later is drawn from a fork: all else stays as it
/// was.
void drawing::draw_answer(base::duration at, std::string word, std::string becomes,
                          random_stream& own) {
  auto more = own.fork(fmt::format("answer {}", at.count()));
  pairs with{{"nth", std::to_string(own.between(1, 12))}, {"silent", own.chance(1, 4) ? "1" : "0"}};
  if (becomes == "429" && more.chance(1, 2))
    with["retry"] = std::to_string(more.between(1, 8));
  if (becomes != "lost" && more.chance(1, 4))
    with["delay"] = span(more, 10ms, 12s);
  with["becomes"] = std::move(becomes);
  add(at, "api", std::move(word), std::move(with));
}

/// While a decided gang may not bind, others come to its nodes.
void drawing::draw_outage(base::duration at, std::string word, std::string answer,
                          random_stream& own) {
  const bool is_forbidden = word == "bind" && own.chance(1, 2);
  const auto how_long = sim::draw(own, 100ms, 4s) / 1'000'000 * 1'000'000;
  if (is_forbidden)
    add(at + how_long / 4, "foreign", fmt::format("y{}", own.below(1000)),
        {{"node", node(own)}, {"cpu", std::to_string(own.between(1, 3))}});
  add(at, "api_down", std::move(word),
      {{"for", duration_text(how_long)}, {"becomes", is_forbidden ? "403" : std::move(answer)}});
}

/// An expired watch matters if something goes meanwhile that the list does not name any more.
void drawing::draw_expiry(base::duration at, random_stream& own) {
  constexpr std::array<std::string_view, 4> resources{"pods", "pods", "nodes", "podgroups"};
  const auto how_long = sim::draw(own, 10ms, 6s) / 1'000'000 * 1'000'000;
  const std::string resource{one_of(own, resources)};
  add(at, "watch_expired", resource, {{"for", duration_text(how_long)}});
  if (resource == "pods" && own.chance(1, 2))
    add(at + how_long / 2, "pod_gone", pod(own), {{"again", "0"}});
}

std::string drawing::role(random_stream& own) {
  constexpr std::array<std::string_view, 7> kinds{"queue",  "topology", "mirror",    "binder",
                                                  "status", "evictor",  "preemption"};
  if (out_.log_is_objects && own.chance(1, 5))
    return "decisions";
  switch (own.below(6)) {
  case 0:
  case 1:
    return fmt::format("shard({})", own.below(out_.shards));
  case 2:
    return fmt::format("coordinator({})", gang(own));
  case 3:
    return fmt::format("gang({})", gang(own));
  case 4:
    return fmt::format("node({})", node(own));
  default:
    return std::string{one_of(own, kinds)};
  }
}

} // namespace tutti::chaos
