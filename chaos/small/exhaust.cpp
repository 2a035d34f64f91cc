#include "chaos/small/exhaust.hpp"

#include <algorithm>
#include <cstdio>

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "chaos/small/collision.hpp"

namespace tutti::chaos::small {

namespace {

/// A path that is longer never comes to rest: the longest that do take a third of it.
constexpr std::size_t path_longest = 1000;
/// Attempts on one path. Every fault costs an attempt or two.
constexpr std::uint32_t tries_most = 12; // of each gang
constexpr std::uint64_t states_between_questions = 256;

class search {
public:
  explicit search(const exhaust_options& how) : how_(how) {}

  exhaust_result run() {
    current_ = this;
    base::set_failure_hook([](const char*) noexcept {
      for (const auto& line : current_->path())
        std::fprintf(stderr, "  %s\n", line.c_str());
    });
    enter(how_.begins_with_collision ? before_collision(how_.of) : world{how_.of}, how_.faults,
          UINT64_MAX);
    while (!stack_.empty() && !out_.broken && go_on())
      advance();
    out_.is_complete = stack_.empty() && !out_.broken && !was_cut_;
    base::set_failure_hook(nullptr);
    return std::move(out_);
  }

private:
  struct frame {
    world at;
    std::vector<step> steps;
    std::size_t next = 0;
    std::uint32_t faults_left = 0;
    std::uint64_t until = UINT64_MAX; ///< states, where the branch behind a fault is cut off
  };

  bool go_on() {
    if (out_.states >= how_.states_max)
      return false;
    return !how_.may_go_on || out_.states % states_between_questions != 0 || how_.may_go_on();
  }

  void advance() {
    auto& top = stack_.back();
    if (top.next == top.steps.size() || out_.states >= top.until) {
      was_cut_ |= top.next < top.steps.size();
      stack_.pop_back();
      return;
    }
    const auto n = top.next++;
    const auto& s = top.steps[n];
    const auto left = top.faults_left - (s.is_fault ? 1 : 0);
    auto until = top.until;
    if (s.is_fault && how_.states_per_fault < UINT64_MAX - out_.states)
      until = std::min(until, out_.states + how_.states_per_fault);
    auto next = top.at;
    ++out_.steps;
    note_crash(top.at, s);
    take(next, s);
    for (const auto id : next.passed())
      ++out_.passed[std::string{id}];
    enter(std::move(next), left, until);
  }

  /// A crash right behind a step that passed a row's point, and the rows that are crashes
  /// themselves.
  void note_crash(const world& before, const step& s) {
    switch (s.what) {
    case step::kind::crash_one:
      break;
    case step::kind::crash:
      for (const auto& x : before.under_way())
        if (x->what == item::kind::word && std::holds_alternative<protocol::decided>(x->event))
          ++out_.crashed["C3"]; // it is durable, and nobody has been told
      break;
    case step::kind::half_snapshot:
    case step::kind::whole_snapshot:
      ++out_.crashed["P8"];
      break;
    case step::kind::kill:
      if (s.who.kind == protocol::role_kind::node)
        for (const auto& x : before.under_way())
          if (const auto* r = std::get_if<protocol::received>(&x->event);
              x->from == s.who && r != nullptr && std::holds_alternative<protocol::held>(r->what))
            ++out_.crashed["P10"];
      break;
    case step::kind::deliver:
    case step::kind::fire:
    case step::kind::lose:
    case step::kind::repeat:
    case step::kind::lose_answer:
    case step::kind::remove:
    case step::kind::take_over:
    case step::kind::look:
      return;
    }
    for (const auto id : before.passed())
      ++out_.crashed[std::string{id}];
  }

  void enter(world x, std::uint32_t faults_left, std::uint64_t until) {
    out_.longest = std::max(out_.longest, stack_.size());
    if (x.broken())
      return fail(*x.broken());
    if (stack_.size() > path_longest || x.tries() > tries_most * x.gangs())
      return fail(
          {"L3", fmt::format("no rest after {} steps and {} attempts", stack_.size(), x.tries())});
    const auto hash = base::hash_combine(x.state_hash(), faults_left);
    if (!seen_.insert(hash).second)
      return;
    ++out_.states;
    frame f{std::move(x), {}, 0, faults_left, until};
    f.steps = steps_of(f.at, how_.is_reduced);
    if (how_.is_old_owner_slow)
      std::stable_partition(f.steps.begin(), f.steps.end(),
                            [&f](const step& s) { return !is_of_old_owner(f.at, s); });
    if (f.at.is_quiet() && f.at.timers().empty() && !f.at.may_look()) {
      ++out_.ends;
      if (auto wrong = judge_end(f.at))
        return fail(std::move(*wrong));
    }
    if (faults_left > 0)
      add_faults(f);
    if (how_.shuffle != 0)
      shuffle(f.steps, base::hash_combine(out_.states, how_.shuffle));
    stack_.push_back(std::move(f));
  }

  void add_faults(frame& f) const {
    for (int k = 0; k < fault_kind_count; ++k)
      if (const auto kind = static_cast<fault_kind>(k); is_wanted(kind))
        for (auto& each : faults_of(f.at, kind)) {
          each.is_fault = true;
          f.steps.push_back(std::move(each));
        }
  }

  static void shuffle(std::vector<step>& all, std::uint64_t dice) {
    for (auto n = all.size(); n > 1; --n) {
      dice = base::hash_combine(dice, n);
      std::swap(all[n - 1], all[dice % n]);
    }
  }

  static bool is_of_old_owner(const world& x, const step& s) {
    if (s.what != step::kind::deliver)
      return false;
    const auto& it = *x.under_way().at(s.at);
    for (std::size_t unit = 0; unit < units; ++unit)
      for (const auto p : {it.from.in, it.to.in})
        if (x.owner_of(unit).in != p && x.find({address_of(unit), p}) != nullptr)
          return true;
    return false;
  }

  bool is_wanted(fault_kind x) const {
    return how_.kinds.empty()
           || std::find(how_.kinds.begin(), how_.kinds.end(), x) != how_.kinds.end();
  }

  void fail(finding what) {
    out_.broken = std::move(what);
    out_.path = path();
  }

  std::vector<std::string> path() const {
    std::vector<std::string> out;
    for (const auto& f : stack_)
      if (f.next > 0)
        out.push_back(to_text(f.at, f.steps[f.next - 1]));
    return out;
  }

  static inline const search* current_ = nullptr;
  const exhaust_options& how_;
  std::vector<frame> stack_;
  boost::unordered_flat_set<std::uint64_t> seen_;
  exhaust_result out_;
  bool was_cut_ = false;
};

} // namespace

void add(exhaust_result& to, exhaust_result x) {
  to.states += x.states;
  to.steps += x.steps;
  to.ends += x.ends;
  to.longest = std::max(to.longest, x.longest);
  to.is_complete &= x.is_complete;
  for (const auto& [id, n] : x.passed)
    to.passed[id] += n;
  for (const auto& [id, n] : x.crashed)
    to.crashed[id] += n;
  if (x.broken && !to.broken) {
    to.broken = std::move(x.broken);
    to.path = std::move(x.path);
  }
}

exhaust_result exhaust(const exhaust_options& how) {
  return search{how}.run();
}

std::vector<std::vector<fault_kind>> pairs_of_kinds(log_kind where) {
  std::vector<fault_kind> all;
  for (int n = 0; n < fault_kind_count; ++n)
    if (const auto kind = static_cast<fault_kind>(n); can_happen(kind, where))
      all.push_back(kind);
  std::vector<std::vector<fault_kind>> out;
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a; b < all.size(); ++b)
      out.push_back({all[a], all[b]});
  return out;
}

exhaust_result exhaust_pairs(exhaust_options how) {
  exhaust_result all;
  how.faults = 2;
  for (auto& pair : pairs_of_kinds(how.of.log)) {
    if (all.broken)
      break;
    how.kinds = std::move(pair);
    add(all, exhaust(how));
  }
  return all;
}

const std::vector<std::string>& all_rows() {
  static const std::vector<std::string> all{
      "C0",  "C1",  "C2",  "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11",
      "C12", "C13", "C14", "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7",  "P8",
      "P9",  "P10", "P11", "B0", "B1", "B2", "B3", "Q0", "Q1", "Q2", "Q3"};
  return all;
}

std::map<std::string, std::string, std::less<>> unreachable_rows(const world::options& of) {
  std::map<std::string, std::string, std::less<>> out;
  if (!of.has_victim) {
    out.emplace("C6", "no pod is in the way: the plan has no victims");
    out.emplace("B3", "no pod is in the way: there is no evictor");
  }
  if (of.log == log_kind::objects) {
    out.emplace("P8", "beside others a shard has neither journal nor checkpoint");
    if (of.gangs == 1)
      out.emplace("P11", "one gang has one unfinished decision at a time: two of them cannot be in "
                         "one's way");
    return out;
  }
  for (const auto* row : {"P7", "P9"})
    out.emplace(row, "a shard has no disk of its own: it shares the decision log's");
  out.emplace("P11", "a shard has no other owner: one process has them all");
  for (const auto* row : {"Q0", "Q1", "Q2", "Q3"})
    out.emplace(row, "no owner is paused while another one works: the store's lock forbids it");
  return out;
}

} // namespace tutti::chaos::small
