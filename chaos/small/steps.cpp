#include "chaos/small/steps.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::chaos::small {

using protocol::role_kind;

std::string_view name_of(fault_kind x) {
  static constexpr std::array<std::string_view, fault_kind_count> names{
      "drop",  "duplicate", "answer",  "crash",    "snapshot", "node",
      "actor", "hurry",     "removal", "takeover", "shard"};
  return names.at(static_cast<std::size_t>(x));
}

std::optional<fault_kind> find_fault_kind(std::string_view name) {
  for (int n = 0; n < fault_kind_count; ++n)
    if (const auto kind = static_cast<fault_kind>(n); name_of(kind) == name)
      return kind;
  return std::nullopt;
}

bool can_happen(fault_kind x, log_kind where) {
  const bool is_takeover = x == fault_kind::takeover || x == fault_kind::shard_takeover;
  return where == log_kind::store ? !is_takeover : x != fault_kind::snapshot;
}

std::vector<step> steps_of(const world& x, bool is_reduced) {
  if (is_reduced)
    if (const auto n = find_harmless(x); n != npos)
      return {{step::kind::deliver, n, {}}};
  std::vector<step> out;
  for (std::size_t n = 0; n < x.under_way().size(); ++n)
    if (x.is_deliverable(n))
      out.push_back({step::kind::deliver, n, {}});
  if (x.is_quiet() && x.timers().empty() && x.may_look())
    out.push_back({step::kind::look, 0, {}});
  if (!x.is_quiet() || x.timers().empty())
    return out;
  const auto first = std::min_element(x.timers().begin(), x.timers().end(),
                                      [](const auto& a, const auto& b) { return a.due < b.due; });
  for (std::size_t n = 0; n < x.timers().size(); ++n)
    if (x.timers()[n].due == first->due)
      out.push_back({step::kind::fire, n, {}});
  return out;
}

namespace {

void add_messages(const world& x, step::kind what, std::vector<step>& out) {
  for (std::size_t n = 0; n < x.under_way().size(); ++n)
    if (x.under_way()[n]->what == item::kind::message && !is_ordered(*x.under_way()[n]))
      out.push_back({what, n, {}});
}

void add_answers(const world& x, std::vector<step>& out) {
  for (std::size_t n = 0; n < x.under_way().size(); ++n) {
    const auto& it = *x.under_way()[n];
    if (it.what != item::kind::request || it.is_orphan)
      continue;
    out.push_back({step::kind::lose, n, {}});
    if (it.request.method != "GET")
      out.push_back({step::kind::lose_answer, n, {}});
  }
}

void add_deaths(const world& x, bool of_nodes, std::vector<step>& out) {
  for (const auto& [where, here] : x.roles())
    if ((where.kind == role_kind::node) == of_nodes)
      out.push_back({step::kind::kill, 0, where});
}

void add_crashes(const world& x, std::vector<step>& out) {
  if (!x.has_objects())
    for (std::size_t kept = 0; kept <= x.store().at_risk(); ++kept)
      out.push_back({step::kind::crash, kept, {}});
  for (std::uint8_t p = 0; p < processes && x.has_objects(); ++p) {
    bool has_unit = false;
    for (std::size_t unit = 0; unit < units; ++unit)
      has_unit |= x.owner_of(unit).in == p || x.find({address_of(unit), p}) != nullptr;
    if (has_unit)
      out.push_back({step::kind::crash_one, p, {}});
  }
}

void add_takeover(std::uint32_t which, std::vector<step>& out) {
  out.push_back({step::kind::take_over, which, {}});
}

/// The partition; or all that there is, while it is where it was at first.
void add_takeovers(const world& x, std::vector<step>& out) {
  add_takeover(1u << the_partition, out);
  bool has_spare_some = false;
  for (std::size_t unit = 0; unit < units; ++unit)
    has_spare_some |= x.owner_of(unit).in == spare;
  if (!has_spare_some)
    add_takeover((1u << units) - 1, out);
}

} // namespace

std::vector<step> faults_of(const world& x, fault_kind kind) {
  std::vector<step> out;
  if (!can_happen(kind, x.has_objects() ? log_kind::objects : log_kind::store))
    return out;
  switch (kind) {
  case fault_kind::drop:
    add_messages(x, step::kind::lose, out);
    break;
  case fault_kind::duplicate:
    add_messages(x, step::kind::repeat, out);
    break;
  case fault_kind::answer:
    add_answers(x, out);
    break;
  case fault_kind::crash:
    add_crashes(x, out);
    break;
  case fault_kind::takeover:
    add_takeovers(x, out);
    break;
  case fault_kind::shard_takeover:
    for (std::uint32_t s = 0; s < shards; ++s)
      add_takeover(1u << s, out);
    if (x.gangs() > 1) // one alone does not make room for a rival
      add_takeover((1u << shards) - 1, out);
    break;
  case fault_kind::snapshot:
    for (std::size_t s = 0; s < shards; ++s) {
      out.push_back({step::kind::half_snapshot, s, {}});
      out.push_back({step::kind::whole_snapshot, s, {}});
    }
    break;
  case fault_kind::node_actor:
    add_deaths(x, true, out);
    break;
  case fault_kind::actor:
    add_deaths(x, false, out);
    break;
  case fault_kind::hurry:
    if (!x.is_quiet())
      for (std::size_t n = 0; n < x.timers().size(); ++n)
        out.push_back({step::kind::fire, n, {}});
    if (!x.is_quiet() && x.may_look())
      out.push_back({step::kind::look, 0, {}});
    break;
  case fault_kind::removal:
    for (std::size_t n = 0; n < pods_most; ++n)
      if (!x.api().all()[n].is_gone)
        out.push_back({step::kind::remove, n, {}});
    break;
  }
  return out;
}

void take(world& x, const step& s) {
  switch (s.what) {
  case step::kind::deliver:
    x.deliver(s.at);
    return;
  case step::kind::fire:
    x.fire(s.at);
    return;
  case step::kind::lose:
    x.lose(s.at);
    return;
  case step::kind::repeat:
    x.repeat(s.at);
    return;
  case step::kind::lose_answer:
    x.lose_answer(s.at);
    return;
  case step::kind::crash:
    x.crash(s.at);
    return;
  case step::kind::half_snapshot:
  case step::kind::whole_snapshot:
    x.crash_in_snapshot(static_cast<std::uint32_t>(s.at), s.what == step::kind::whole_snapshot);
    return;
  case step::kind::kill:
    x.kill(s.who);
    return;
  case step::kind::remove:
    x.remove(s.at);
    return;
  case step::kind::crash_one:
    x.crash_one(static_cast<std::uint8_t>(s.at));
    return;
  case step::kind::take_over:
    x.take_over(static_cast<std::uint32_t>(s.at));
    return;
  case step::kind::look:
    x.look();
    return;
  }
}

namespace {

std::string units_text(std::size_t which) {
  std::string out;
  for (std::size_t unit = 0; unit < units; ++unit)
    if ((which >> unit & 1) != 0)
      out += (out.empty() ? "" : ", ") + protocol::to_text(address_of(unit));
  return out;
}

std::string text_of(const item& x) {
  switch (x.what) {
  case item::kind::message:
    return fmt::format("{} → {}: {}", to_text(x.from), to_text(x.to),
                       protocol::name_of(std::get<protocol::received>(x.event).what));
  case item::kind::list:
    return fmt::format("mirror → {}: the whole list", to_text(x.to));
  case item::kind::word:
    return fmt::format("{} hears of its child or of the store", to_text(x.to));
  case item::kind::request:
    return fmt::format("{} {} of {}{}", x.request.method, x.request.target, to_text(x.from),
                       x.is_orphan ? ", who is dead" : "");
  case item::kind::map_read:
    return fmt::format("{} is told the map", to_text(x.from));
  case item::kind::departure:
    return fmt::format("pod {} stops", api_truth::name_of(the_victim));
  case item::kind::map_news:
    return fmt::format("process {} hears who owns what", x.to.in);
  }
  return {};
}

} // namespace

std::string to_text(const world& x, const step& s) {
  const auto item_text = [&] { return text_of(*x.under_way().at(s.at)); };
  switch (s.what) {
  case step::kind::deliver:
    return item_text();
  case step::kind::fire: {
    const auto& t = x.timers().at(s.at);
    return fmt::format("timer {} of {} fires{}", t.id.kind, to_text(t.of),
                       x.is_quiet() ? "" : ", too early");
  }
  case step::kind::lose:
    return "LOST: " + item_text();
  case step::kind::repeat:
    return "TWICE: " + item_text();
  case step::kind::lose_answer:
    return "ANSWER LOST: " + item_text();
  case step::kind::crash:
    return fmt::format("CRASH, {} of {} unsynced batches survive", s.at, x.store().at_risk());
  case step::kind::half_snapshot:
    return fmt::format("CRASH, the checkpoint of shard {} is half written", s.at);
  case step::kind::whole_snapshot:
    return fmt::format("CRASH, the checkpoint of shard {} is written", s.at);
  case step::kind::kill:
    return fmt::format("DEATH of {}", to_text(s.who));
  case step::kind::remove:
    return fmt::format("REMOVED: pod {}", api_truth::name_of(s.at));
  case step::kind::crash_one:
    return fmt::format("CRASH of process {}", s.at);
  case step::kind::take_over:
    return "TAKEOVER of " + units_text(s.at);
  case step::kind::look:
    return "the log is looked through";
  }
  return {};
}

} // namespace tutti::chaos::small
