// The verbs about one gang: explain, describe, trace, wait.
#include <chrono>
#include <cstdio>
#include <thread>
#include <tuple>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/resources.hpp"
#include "cli/output.hpp"
#include "cli/reading.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// How often `wait` looks: fast enough for a script, slow enough for the daemon.
constexpr auto poll_interval = 100ms;

/// "NAMESPACE/NAME" as two segments of a path.
std::string path_of(const std::string& name) {
  const auto slash = name.find('/');
  return path_segment(name.substr(0, slash)) + "/" + path_segment(name.substr(slash + 1));
}

} // namespace

std::string gang_name(std::string what, const read_options& how) {
  if (what.starts_with("gang/") || what.starts_with("gangs/"))
    what = what.substr(what.find('/') + 1);
  return what.find('/') == std::string::npos ? how.space + "/" + what : what;
}

std::string gang_path(const std::string& what, const read_options& how) {
  return "/api/gangs/" + path_of(gang_name(what, how));
}

namespace {

base::result<json::object> read_gang(const reader& from, const std::string& what,
                                     const read_options& how) {
  return from(gang_path(what, how));
}

/// "NAME" of "NAMESPACE/NAME".
std::string last_part(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

bool print_as_machine(const json::object& x, const std::string& format) {
  if (format == "json")
    std::fputs(pretty_json(x).c_str(), stdout);
  else if (format == "yaml")
    std::fputs(yaml_text(x).c_str(), stdout);
  else if (format == "name")
    fmt::print("gang/{}\n", last_part(cell(x, "name")));
  else
    return false;
  return true;
}

void line(const char* title, const std::string& text) {
  if (!text.empty())
    fmt::print("{:<11}{}\n", title, text);
}

std::string rejected_text(const json::object& why) {
  std::string out;
  if (const auto* list = why.if_contains("rejected"); list != nullptr && list->is_array())
    for (const auto& r : list->as_array())
      out += fmt::format(" · {} {}", number(r.as_object(), "nodes"), cell(r.as_object(), "cause"));
  return out;
}

/// "in one example.com/rack: r3 2/3 · r1 0/3": what is wanted in one domain, and who comes closest.
std::string closest_text(const json::object& why) {
  std::string out;
  std::string level;
  const auto* list = why.if_contains("closest");
  if (list == nullptr || !list->is_array())
    return out;
  for (const auto& c : list->as_array()) {
    const auto& o = c.as_object();
    const auto domain = cell(o, "domain");
    level = cell(o, "level");
    const auto nameless = level.empty() ? "cluster" : "\"\""; // a label with an empty value
    out += fmt::format("{}{} {}/{}", out.empty() ? "" : " · ", domain.empty() ? nameless : domain,
                       number(o, "placed"), number(o, "wanted"));
  }
  return level.empty() ? out : fmt::format("in one {}: {}", level, out);
}

/// True if the detail of a refused gang has the numbers that its explanation has, too.
bool says_the_refusal(const json::object& gang) {
  const auto* why = gang.if_contains("explanation");
  return why != nullptr && why->is_object()
         && cell(why->as_object(), "text") == cell(gang, "reason") + ": " + cell(gang, "detail");
}

/// The lines of `tutti explain` that come from the last refusal.
void print_why(const json::object& why) {
  auto text = cell(why, "reason");
  text +=
      fmt::format(": {} of {} members can be placed", number(why, "placed"), number(why, "wanted"));
  if (const auto dimension = cell(why, "dimension"); !dimension.empty())
    text += fmt::format(", {} short by {}", dimension,
                        base::amount_text(dimension, number(why, "short_by")));
  if (const auto detail = cell(why, "detail"); !detail.empty())
    text += ": " + detail;
  line("Why", text);
  std::string others;
  if (const auto* list = why.if_contains("others"); list != nullptr && list->is_array())
    for (const auto& o : list->as_array())
      others += (others.empty() ? "" : ", ") + std::string{o.as_string()};
  line("Also", others);
  if (number(why, "nodes_seen") > 0)
    line("Nodes", fmt::format("{} seen · {} fit a member{}", number(why, "nodes_seen"),
                              number(why, "nodes_fit"), rejected_text(why)));
  line("Closest", closest_text(why));
}

/// "last attempt: decided after 1.2ms, over after 3.4ms"; what has not happened is left out.
std::string durations_text(const json::array& items) {
  std::int64_t tried = 0, decided = 0, over = 0;
  for (const auto& x : items) {
    const auto what = cell(x.as_object(), "what");
    const auto at = number(x.as_object(), "at_ns");
    if (what == "queue.tried" && (tried == 0 || over != 0))
      std::tie(tried, decided, over) = std::tuple{at, std::int64_t{0}, std::int64_t{0}};
    else if (what == "gang.decided")
      decided = at;
    else if (what == "gang.over")
      over = at;
  }
  const auto after = [tried](const char* word, std::int64_t at) {
    return fmt::format("{} after {:.1f}ms", word, static_cast<double>(at - tried) / 1e6);
  };
  if (tried == 0 || (decided == 0 && over == 0))
    return {};
  return "last attempt: " + (decided != 0 ? after("decided", decided) : std::string{})
         + (decided != 0 && over != 0 ? ", " : "") + (over != 0 ? after("over", over) : "");
}

std::string headline(const json::object& g) {
  auto text = fmt::format("{} {}, {}/{} bound, attempt {}", cell(g, "name"), cell(g, "phase"),
                          number(g, "bound"), std::max(number(g, "members"), number(g, "min")),
                          number(g, "attempts"));
  if (g.contains("next_try_in_ms"))
    text += fmt::format(", next try in {}", age_text(number(g, "next_try_in_ms")));
  else if (g.contains("tried_at_latest_in_ms"))
    text += fmt::format(", next try on an event that can help, or in {}",
                        age_text(number(g, "tried_at_latest_in_ms")));
  return text;
}

} // namespace

base::result<void> explain_gang(const reader& from, const std::string& what,
                                const read_options& how) {
  auto g = read_gang(from, what, how);
  if (!g)
    return g.error();
  if (print_as_machine(*g, how.format))
    return {};
  fmt::print("{}\n", headline(*g));
  if (const auto* why = g->if_contains("explanation"); why != nullptr && why->is_object())
    print_why(why->as_object());
  else if (const auto reason = cell(*g, "reason"); !reason.empty())
    line("Why", reason + (cell(*g, "detail").empty() ? "" : ": " + cell(*g, "detail")));
  else
    line("Why", "nothing holds it back");
  line("History", "tutti trace gang " + cell(*g, "name") + " -n " + cell(*g, "namespace"));
  return {};
}

base::result<void> describe_gang(const reader& from, const std::string& what,
                                 const read_options& how) {
  auto g = read_gang(from, what, how);
  if (!g)
    return g.error();
  if (print_as_machine(*g, how.format))
    return {};
  for (const auto& [title, field] : {std::pair{"Name:", "name"},
                                     {"Namespace:", "namespace"},
                                     {"UID:", "uid"},
                                     {"Kind:", "rootKind"},
                                     {"Priority:", "priority"},
                                     {"Members:", "members"},
                                     {"Minimum:", "min"},
                                     {"Bound:", "bound"},
                                     {"Phase:", "phase"},
                                     {"Reason:", "reason"},
                                     {"Attempts:", "attempts"}})
    line(title, cell(*g, field));
  if (!says_the_refusal(*g))
    line("Detail:", cell(*g, "detail"));
  if (const auto* why = g->if_contains("explanation"); why != nullptr && why->is_object()) {
    fmt::print("Last refusal:\n");
    print_why(why->as_object());
  }
  if (const auto* pods = g->if_contains("pods"); pods != nullptr && pods->is_array()) {
    table out{{"POD", "STATE", "NODE"}};
    for (const auto& p : pods->as_array())
      out.add(
          {cell(p.as_object(), "name"), cell(p.as_object(), "state"), cell(p.as_object(), "node")});
    fmt::print("{}", out.text());
  }
  if (const auto* past = g->if_contains("history");
      past != nullptr && past->is_array() && !past->as_array().empty()) {
    table out{{"TRY", "OUTCOME", "REASON", "BOUND", "TOOK", "ENDED"}};
    for (const auto& a : past->as_array()) {
      const auto& o = a.as_object();
      out.add({cell(o, "try"), cell(o, "outcome"), cell(o, "reason"), cell(o, "bound"),
               fmt::format("{}ms", number(o, "took_ms")),
               age_text(number(o, "ended_ms_ago")) + " ago"});
    }
    fmt::print("{}", out.text());
  }
  return {};
}

base::result<void> trace_gang(const reader& from, const std::string& what,
                              const read_options& how) {
  const auto name = gang_name(what, how);
  auto trace = from("/api/trace/" + path_of(name));
  if (!trace)
    return trace.error();
  if (print_as_machine(*trace, how.format))
    return {};
  const auto& items = trace->at("items").as_array();
  if (items.empty())
    return base::error{base::code::not_found, "nothing is recorded of " + name,
                       "`tutti get gangs -A` lists the gangs; the recorder keeps the last hour"};
  const auto start = number(items.front().as_object(), "at_ns");
  for (const auto& x : items) {
    const auto& o = x.as_object();
    std::string fields;
    for (const auto& [key, value] : o.at("fields").as_object())
      if (key != "gang")
        fields += fmt::format(" {}={}", std::string{key}, cell(o.at("fields").as_object(), key));
    fmt::print("+{:9.3f}ms  {:<20} {}\n", static_cast<double>(number(o, "at_ns") - start) / 1e6,
               cell(o, "what"), fields);
  }
  const auto took = durations_text(items);
  if (!took.empty())
    fmt::print("{}\n", took);
  return {};
}

base::result<void> retry_gang(const reader& to, const std::string& what, const read_options& how) {
  auto said = to(gang_path(what, how) + "/retry");
  if (!said)
    return said.error();
  if (print_as_machine(*said, how.format))
    return {};
  const auto* before = said->if_contains("before");
  const auto phase =
      before != nullptr && before->is_object() ? cell(before->as_object(), "phase") : std::string{};
  const bool is_freed = cell(*said, "was_quarantined") == "true";
  fmt::print("gang/{} {}\n", cell(*said, "name"),
             is_freed           ? "freed, and tried again"
             : phase == "Bound" ? "is bound: there is nothing to try"
                                : "is tried again");
  return {};
}

namespace {

/// Until when `wait` waits, and what it says while nobody answers.
class waiting {
public:
  waiting(const wait_options& how, const base::clock& clock)
      : how_(how), clock_(clock), deadline_(clock.now() + std::chrono::seconds{how.timeout_s}) {}

  bool is_over() const { return clock_.now() >= deadline_; }
  static void pause() { std::this_thread::sleep_for(poll_interval); }

  /// Nobody answers: no error before the time is over. A scheduler that starts is waited for.
  base::result<void> bear(const base::error& e) {
    if (is_over())
      return base::error{e.what(), fmt::format("{}, for {} s", e.message(), how_.timeout_s),
                         e.hint()};
    if (!std::exchange(has_said_, true))
      fmt::print(stderr, "{}; trying again for {} s\n", e.message(), how_.timeout_s);
    pause();
    return {};
  }

private:
  const wait_options& how_;
  const base::clock& clock_;
  const base::time_point deadline_;
  bool has_said_ = false;
};

} // namespace

base::result<void> wait_for_gang(const reader& from, const std::string& what,
                                 const read_options& how, const wait_options& until,
                                 const base::clock& clock) {
  waiting patience{until, clock};
  const std::string wanted = until.until == "degraded" ? "Degraded" : "Bound";
  const auto name = gang_name(what, how);
  for (;;) {
    auto g = read_gang(from, what, how);
    if (!g && g.error().what() == base::code::unavailable) {
      if (auto ok = patience.bear(g.error()); !ok)
        return ok;
      continue;
    }
    if (!g && g.error().what() != base::code::not_found)
      return g.error();
    if (g && cell(*g, "phase") == wanted) {
      fmt::print("gang/{} {}\n", cell(*g, "name"), until.until);
      return {};
    }
    if (patience.is_over()) {
      const auto seen =
          !g ? "not there"
             : cell(*g, "phase") + (cell(*g, "reason").empty() ? "" : " " + cell(*g, "reason"));
      return base::error{base::code::unavailable,
                         fmt::format("gang {} is not {} after {} s: it is {}", name, until.until,
                                     until.timeout_s, seen),
                         g ? "why: tutti explain gang " + name
                           : "`tutti get gangs -A` lists the gangs"};
    }
    waiting::pause();
  }
}

base::result<void> wait_until_settled(const reader& from, const wait_options& until,
                                      const base::clock& clock) {
  waiting patience{until, clock};
  for (;;) {
    auto said = from("/api/settled");
    if (!said && said.error().what() == base::code::unavailable) {
      if (auto ok = patience.bear(said.error()); !ok)
        return ok;
      continue;
    }
    if (!said)
      return said.error();
    if (cell(*said, "settled") == "true") {
      fmt::print("settled\n");
      return {};
    }
    if (patience.is_over())
      return base::error{base::code::unavailable,
                         fmt::format("not settled after {} s", until.timeout_s),
                         "what is under way: tutti status; tutti get gangs -A"};
    waiting::pause();
  }
}

} // namespace tutti::cli
