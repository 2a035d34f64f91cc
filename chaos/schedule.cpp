#include "chaos/schedule.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "chaos/coverage.hpp"
#include "chaos/invariant.hpp"

namespace tutti::chaos {

namespace {

using base::code;
using base::error;
using words = std::vector<std::string_view>;

words split(std::string_view line) {
  words out;
  while (!line.empty()) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#')
      break;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(" \t\r"), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return out;
}

/// Keys whose values are durations, and those that are numbers; all others are words.
bool is_duration(std::string_view key) {
  constexpr std::array<std::string_view, 8> keys{"for",  "down",  "by",           "delay",
                                                 "sync", "until", "faults_until", "pause"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}
bool is_number(std::string_view key) {
  constexpr std::array<std::string_view, 13> keys{"replicas", "cpu",  "members", "min",   "to",
                                                  "kept",     "pass", "nth",     "retry", "again",
                                                  "shards",   "off",  "count"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

base::result<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t out = 0;
  const auto* end = text.data() + text.size();
  if (const auto [rest, ec] = std::from_chars(text.data(), end, out);
      ec != std::errc{} || rest != end)
    return error{code::bad_input, fmt::format("\"{}\" is no number", text), "0, 1, 2, …"};
  return out;
}

error unknown(std::string_view what, const words& allowed) {
  return {code::bad_input, fmt::format("\"{}\" is not known", what),
          fmt::format("one of: {}", fmt::join(allowed, ", "))};
}

bool is_one_of(std::string_view x, const words& allowed) {
  return std::find(allowed.begin(), allowed.end(), x) != allowed.end();
}

bool is_process(std::string_view x) {
  constexpr std::string_view process = "scheduler-";
  return x.starts_with(process) && read_number(x.substr(process.size()));
}

/// What stands behind the action's word. Users' objects may have any name: one that is not there is
/// left alone, so that lines can be taken out.
base::result<void> check_target(std::string_view kind, std::string_view target) {
  static const words requests{"bind",   "read",  "list",  "watch",  "touch",
                              "status", "event", "evict", "decide", "other"};
  static const words resources{"pods", "nodes", "podgroups"};
  if (kind == "REQUEST" && !is_one_of(target, requests))
    return unknown(target, requests);
  if (kind == "RESOURCE" && !is_one_of(target, resources))
    return unknown(target, resources);
  if (kind == "PROCESS" && !is_process(target))
    return unknown(target, {"scheduler-0"});
  return {};
}

/// Rows of the crash table: C4, P6, B1.
bool is_row(std::string_view x) {
  return x.size() > 1 && is_one_of(x.substr(0, 1), {"C", "P", "B"}) && read_number(x.substr(1));
}

/// Words that a key may have; a status of an answer is a number from 400 to 599.
base::result<void> check_word(std::string_view key, std::string_view value) {
  static const std::map<std::string_view, words> all{{"disk", {"lost"}},
                                                     {"message", {"prepare", "abort"}},
                                                     {"silent", {"0", "1"}},
                                                     {"fate", {"lost", "twice", "late"}}};
  if (const auto known = all.find(key); known != all.end() && !is_one_of(value, known->second))
    return unknown(value, known->second);
  if (key == "from" && !is_process(value))
    return unknown(value, {"scheduler-0"});
  if (key == "row" && !is_row(value))
    return unknown(value, {"C0 to C14", "P0 to P11", "B0 to B3"});
  if (key == when_key && !is_state_of_a_role(value))
    return unknown(value, {"a state of `tutti chaos coverage`, but idle"});
  if (key == "becomes" && value != "lost" && value != "applied_lost") {
    const auto status = read_number(value);
    if (!status || *status < 400 || *status > 599)
      return unknown(value, {"lost", "applied_lost", "400 to 599"});
  }
  return {};
}

base::result<void> check_value(std::string_view key, std::string_view value) {
  if (is_duration(key)) {
    const auto read = read_duration(value);
    if (!read)
      return read.error();
    if (*read < base::duration{0} && key != "by") // only clocks go back
      return error{code::bad_input, fmt::format("{} is less than nothing", value), "0s or more"};
  } else if (is_number(key)) {
    if (auto ok = read_number(value); !ok)
      return ok.error();
  } else if (value.empty()) {
    return error{code::bad_input, fmt::format("{} has no value", key), "KEY=VALUE"};
  }
  return check_word(key, value);
}

template <class Keys>
base::result<std::map<std::string, std::string>> read_pairs(const words& line, std::size_t from,
                                                            const Keys& allowed) {
  std::map<std::string, std::string> out;
  for (auto n = from; n < line.size(); ++n) {
    const auto eq = line[n].find('=');
    const auto key = line[n].substr(0, eq);
    if (eq == std::string_view::npos
        || std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      return error{code::bad_input, fmt::format("\"{}\" is not known here", line[n]),
                   fmt::format("KEY=VALUE with one of: {}", fmt::join(allowed, ", "))};
    const auto value = line[n].substr(eq + 1);
    if (auto ok = check_value(key, value); !ok)
      return ok.error().in(key);
    if (!out.emplace(key, value).second)
      return error{code::bad_input, fmt::format("{} stands twice", key), "once"};
  }
  return out;
}

base::result<void> read_world(const words& line, schedule& into) {
  words allowed;
  for (const auto& w : world_words())
    allowed.push_back(w.key);
  auto pairs = read_pairs(line, 1, allowed);
  if (!pairs)
    return pairs.error();
  const action x{{}, {}, {}, std::move(*pairs)};
  if (const auto path = text(x, "path"); !path.empty() && path != "fast" && path != "long")
    return error{code::bad_input, fmt::format("path={} is not known", path),
                 "path=fast or path=long"};
  if (const auto policy = text(x, "policy"); !policy.empty() && policy != "evict")
    return error{code::bad_input, fmt::format("policy={} is not known", policy), "policy=evict"};
  into.evicts_degraded = text(x, "policy") == "evict";
  if (const auto log = text(x, "log"); !log.empty() && log != "store" && log != "objects")
    return error{code::bad_input, fmt::format("log={} is not known", log),
                 "log=store or log=objects"};
  into.log_is_objects = text(x, "log") == "objects";
  if (into.log_is_objects && text(x, "path") == "fast")
    return error{code::bad_input, "the fast path needs the decision log in the store",
                 "path=long with log=objects"};
  if (x.with.contains("shards"))
    into.shards = static_cast<std::uint32_t>(number(x, "shards"));
  if (into.shards == 0 || into.shards > 1024)
    return error{code::bad_input, "shards is out of range", "1 to 1024"};
  if (x.with.contains("replicas"))
    into.replicas = static_cast<std::uint32_t>(number(x, "replicas"));
  if (into.replicas == 0 || into.replicas > replicas_most)
    return error{code::bad_input, "replicas is out of range",
                 fmt::format("1 to {}", replicas_most)};
  into.log_is_objects = into.log_is_objects || into.replicas > 1;
  into.fast_path = text(x, "path") != "long" && !into.log_is_objects;
  into.burst_pause = time_of(x, "pause");
  if (number(x, "window") < 0 || number(x, "window") > window_most)
    return error{code::bad_input, "window is out of range",
                 fmt::format("0 (as usual) to {}", window_most)};
  into.window = static_cast<std::uint32_t>(number(x, "window"));
  into.faults_until = time_of(x, "faults_until");
  into.until = time_of(x, "until");
  return {};
}

base::result<void> read_action(const words& line, schedule& into) {
  if (line.size() < 4)
    return error{code::bad_input, "an action has a time, a word and a target",
                 "at 1s crash scheduler-0"};
  const auto at = read_duration(line[1]);
  if (!at)
    return at.error();
  const auto* kind = find_kind(line[2]);
  if (kind == nullptr) {
    std::vector<std::string_view> known;
    for (const auto& k : action_kinds())
      known.push_back(k.what);
    return error{code::bad_input, fmt::format("\"{}\" is no action", line[2]),
                 fmt::format("one of: {}", fmt::join(known, ", "))};
  }
  if (*at < base::duration{0})
    return error{code::bad_input, fmt::format("{} is before the beginning", line[1]),
                 "0s or later"};
  if (auto ok = check_target(kind->targets, line[3]); !ok)
    return ok.error();
  auto keys = kind->keys;
  keys.push_back(when_key);
  auto pairs = read_pairs(line, 4, keys);
  if (!pairs)
    return pairs.error();
  into.actions.push_back({*at, std::string{line[2]}, std::string{line[3]}, std::move(*pairs)});
  return {};
}

base::result<void> read_line(const words& line, schedule& into) {
  if (line[0] == "at")
    return read_action(line, into);
  if (line[0] == "world")
    return read_world(line, into);
  if (line[0] == "seed" && line.size() == 2) {
    const auto seed = read_number(line[1]);
    if (!seed)
      return seed.error();
    into.seed = *seed;
    return {};
  }
  if (line[0] == "breaks" && line.size() == 2 && find_invariant(line[1]) != nullptr) {
    into.breaks = line[1];
    return {};
  }
  if (line[0] == "breaks")
    return error{code::bad_input, "no such invariant", "breaks S6: an id of `tutti chaos list`"};
  return error{code::bad_input, fmt::format("\"{}\" is not known", line[0]),
               "one of: breaks ID, seed N, world KEY=VALUE…, at TIME ACTION TARGET KEY=VALUE…"};
}

base::result<void> check_head(const words& head) {
  if (head.size() != 3 || head[0] != "tutti" || head[1] != "schedule")
    return error{code::bad_input, "this is no schedule",
                 fmt::format("the first line is: tutti schedule {}", schedule_format)};
  if (head[2] != std::to_string(schedule_format))
    return error{
        code::newer_format,
        fmt::format("written in format {}; this program reads format {}", head[2], schedule_format),
        "use the program that wrote it, or draw the seed again with this one"};
  return {};
}

} // namespace

const std::vector<world_word>& world_words() {
  static const std::vector<world_word> all{
      {"shards", "N", "", "how many share the nodes"},
      {"replicas", "N", "", "processes that share the cluster; decisions are API objects then"},
      {"path", "fast|long", "", "promises, decision and acks share one write, or do not"},
      {"policy", "evict", "", "members of degraded gangs are evicted"},
      {"log", "store|objects", "", "where decisions are kept"},
      {"pause", "TIME", "", "the queue waits so long for what is created in one moment"},
      {"window", "N", "F27", "attempts and Bindings at once: so few that the rest must wait"},
      {"faults_until", "TIME", "", "nothing fails after it, and everything is healed"},
      {"until", "TIME", "", "the end, at which everything must have come right"},
  };
  return all;
}

base::result<schedule> read_schedule(std::string_view bytes, const std::string& file) {
  schedule out;
  bool has_head = false;
  for (std::size_t line = 1; !bytes.empty(); ++line) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    const auto found = split(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (found.empty())
      continue;
    const auto ok = has_head ? read_line(found, out) : check_head(found);
    if (!ok)
      return ok.error().in(fmt::format("{}:{}", file, line));
    has_head = true;
  }
  if (!has_head)
    return error{code::bad_input, file + ": empty",
                 fmt::format("the first line is: tutti schedule {}", schedule_format)};
  if (out.until < out.faults_until || out.until <= base::duration{0})
    return error{code::bad_input, file + ": the world ends before its faults do",
                 "world faults_until=20s until=110s"};
  std::stable_sort(out.actions.begin(), out.actions.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return out;
}

std::string write_schedule(const schedule& x) {
  auto out = fmt::format("tutti schedule {}\n", schedule_format);
  if (!x.breaks.empty())
    out += fmt::format("breaks {}  # {}\n", x.breaks, find_invariant(x.breaks)->sentence);
  std::string more;
  if (x.replicas > 1)
    more += fmt::format(" replicas={}", x.replicas);
  if (x.log_is_objects)
    more += " log=objects";
  if (x.evicts_degraded)
    more += " policy=evict";
  if (x.burst_pause > base::duration{})
    more += fmt::format(" pause={}", duration_text(x.burst_pause));
  if (x.window > 0)
    more += fmt::format(" window={}", x.window);
  out += fmt::format("seed {}\nworld shards={} path={}{} faults_until={} until={}\n", x.seed,
                     x.shards, x.fast_path ? "fast" : "long", more, duration_text(x.faults_until),
                     duration_text(x.until));
  for (const auto& a : x.actions) {
    out += fmt::format("at {} {} {}", duration_text(a.at), a.what, a.target);
    for (const auto& [key, value] : a.with)
      out += fmt::format(" {}={}", key, value);
    out += "\n";
  }
  return out;
}

} // namespace tutti::chaos
