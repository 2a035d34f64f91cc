#include "chaos/action.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::chaos {

using namespace std::chrono_literals;

namespace {

/// What users and the cluster do.
std::vector<action_kind> doings() {
  return {
      // what users and the cluster do
      {"node", "", "NODE", {"cpu", "rack"}, "a node comes, or has this much and stands there now"},
      {"node_gone", "F21", "NODE", {}, "a node is deleted; its pods with it"},
      {"cordon", "F21", "NODE", {"off"}, "no more pods for it; off=1: again"},
      {"gang",
       "",
       "GANG",
       {"members", "min", "cpu", "key", "app", "apart", "near", "even", "prio", "mode"},
       "a PodGroup and its pods come; app: their label; apart, near, even: required anti-affinity, "
       "affinity and spread, each as LABEL@TOPOLOGY-KEY; prio: their priority, and then they leave "
       "within a second when they are evicted; mode: single or all are disrupted at once"},
      {"gang_gone", "F22", "GANG", {}, "all pods of a gang and its PodGroup are deleted"},
      {"group_gone", "F22", "GANG", {}, "a PodGroup is deleted, and its pods stay"},
      {"group_again", "F22", "GANG", {}, "it is made anew, as it was at first"},
      {"pod_gone", "F22", "POD", {"again"}, "a pod is deleted; again=1: and made anew at once"},
      {"pod_done", "", "POD", {}, "a pod has succeeded"},
      {"min", "F24", "GANG", {"to"}, "a gang's minCount is changed"},
      {"foreign", "F23", "POD", {"node", "cpu"}, "another scheduler's pod runs on a node"},
      {"cancel",
       "",
       "GANG",
       {"pod"},
       "an operator takes back what is under way of a gang, as `tutti cancel` does; pod: that "
       "member"},
  };
}

/// What fails: processes and disks, then what lies between them.
std::vector<action_kind> failures() {
  return {
      // processes
      {"crash",
       "F7 F11 F13",
       "PROCESS",
       {"kept", "down", "disk"},
       "kill -9; the first `kept` unsynced writes survive (F11); up again after `down`; disk=lost: "
       "it is empty then (F13)"},
      {"crash_at",
       "F7 F11",
       "PROCESS",
       {"row", "pass", "kept", "down"},
       "the same where a row of the crash table is passed for the pass-th time"},
      {"restart", "", "PROCESS", {"down"}, "ends in order, and is up again after `down`"},
      {"pause", "F8 F25", "PROCESS", {"for"}, "stands still, as by SIGSTOP"},
      {"kill_actor",
       "F6",
       "PROCESS",
       {"role"},
       "one actor dies, e.g. role=shard(1); role=node(n0), role=gang(g0) and role=coordinator(g0) "
       "go by names"},
      {"kill_at",
       "F6 P10",
       "PROCESS",
       {"row", "pass"},
       "the actor dies that passes a row of the crash table for the pass-th time; what it wanted "
       "there is done"},
      {"late",
       "F2 F3",
       "PROCESS",
       {"nth", "count", "by", "message"},
       "the nth PREPARE (message=abort: ABORT) from here on is heard a second time, so much later; "
       "count: so many in a row"},
      {"clock", "F14", "PROCESS", {"by"}, "the wall clock jumps; by=-2h: back"},
      // disk
      {"disk_full",
       "F9",
       "PROCESS",
       {"for"},
       "nothing is free on the disk for a time (without `for`: to the end of faults)"},
      {"sync_fails",
       "F10",
       "PROCESS",
       {},
       "the next sync fails: it may or may not have been written"},
      {"slow_disk", "F5", "PROCESS", {"for", "sync"}, "every sync takes so long"},
      {"corrupt",
       "F12 F13",
       "PROCESS",
       {"nth", "down"},
       "kill -9, and the nth record on its disk is damaged: it must refuse to begin on it; up "
       "again "
       "after `down` with an empty disk"},
  };
}

std::vector<action_kind> failures_of_the_network() {
  return {
      // network and API server
      {"cut_off", "F4 F25", "PROCESS", {"for"}, "nothing between it and the API server arrives"},
      {"link_cut",
       "F4",
       "PROCESS",
       {"from", "for"},
       "what another process (from=scheduler-1) sends to it is lost; the other direction is not"},
      {"link",
       "F1 F2 F3",
       "PROCESS",
       {"nth", "count", "fate", "by"},
       "the nth frame for it from here on, and so many in a row, are fate=lost, twice or late"},
      {"alien",
       "F26",
       "PROCESS",
       {},
       "frames of a later version come to it: a message and a role of kinds that are not known"},
      {"api",
       "F15 F17 F18",
       "REQUEST",
       {"nth", "becomes", "retry", "delay", "silent"},
       "the nth request of this kind from here on is answered 409, 429, 500, …, or is `lost`, or "
       "`applied_lost`: served, and the answer is lost"},
      {"api_down",
       "F17",
       "REQUEST",
       {"for", "becomes"},
       "all requests of this kind fail for a time"},
      {"watch_cut", "F16", "RESOURCE", {}, "the watches of a resource break"},
      {"watch_expired",
       "F16",
       "RESOURCE",
       {"for"},
       "the watches of a resource break, and are told 410 for a time: what happens meanwhile must "
       "be found in a list"},
      {"watch_stall",
       "F19",
       "RESOURCE",
       {"for"},
       "the watches of a resource say nothing for a time"},
      {"watch_twice", "F20", "RESOURCE", {"for"}, "every event of a resource comes twice"},
  };
}

} // namespace

const std::vector<action_kind>& action_kinds() {
  static const std::vector<action_kind> all = [] {
    auto both = doings();
    for (const auto& more : {failures(), failures_of_the_network()})
      both.insert(both.end(), more.begin(), more.end());
    return both;
  }();
  return all;
}

bool is_fault(const action_kind& x) {
  return x.targets == "PROCESS" || x.targets == "REQUEST" || x.targets == "RESOURCE";
}

const action_kind* find_kind(std::string_view what) {
  const auto& all = action_kinds();
  const auto pos =
      std::find_if(all.begin(), all.end(), [&](const auto& k) { return k.what == what; });
  return pos == all.end() ? nullptr : &*pos;
}

std::string_view request_word(std::string_view method, std::string_view target) {
  const auto path = target.substr(0, target.find('?'));
  const bool is_watch = target.find("watch=") != std::string_view::npos;
  const bool is_pod = path.find("/pods/") != std::string_view::npos;
  if (path.ends_with("/binding"))
    return "bind";
  if (path.ends_with("/status"))
    return "status";
  if (path.find("/events") != std::string_view::npos)
    return "event";
  if (method != "GET" && path.find("/gangdecisions") != std::string_view::npos)
    return "decide";
  if (path.ends_with("/eviction") || (method == "DELETE" && is_pod))
    return "evict";
  if (method == "PATCH" && is_pod)
    return "touch";
  if (method == "GET" && is_watch)
    return "watch";
  if (method == "GET" && is_pod)
    return "read";
  if (method == "GET")
    return "list";
  return "other";
}

namespace {

struct unit {
  std::string_view name;
  base::duration is;
};
constexpr std::array<unit, 5> units{{{"h", 1h}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}, {"us", 1us}}};

} // namespace

base::result<base::duration> read_duration(std::string_view text) {
  std::int64_t count = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, ec] = std::from_chars(text.data(), end, count);
  const std::string_view name{rest, static_cast<std::size_t>(end - rest)};
  const auto pos =
      std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.name == name; });
  constexpr std::int64_t hours_max = 24 * 365;
  if (ec != std::errc{} || pos == units.end() || std::abs(count) > hours_max * (1h / pos->is))
    return base::error{base::code::bad_input, fmt::format("\"{}\" is no duration", text),
                       "a whole number and one of h, m, s, ms, us, at most a year: 1200ms"};
  return pos->is * count;
}

std::string duration_text(base::duration x) {
  for (const auto& u : units)
    if (x % u.is == base::duration{0} && x / u.is != 0)
      return fmt::format("{}{}", x / u.is, u.name);
  return x == base::duration{0} ? "0s" : fmt::format("{}us", x / 1us);
}

std::string text(const action& x, std::string_view key) {
  const auto pos = x.with.find(std::string{key});
  return pos == x.with.end() ? std::string{} : pos->second;
}

std::int64_t number(const action& x, std::string_view key) {
  const auto value = text(x, key);
  std::int64_t out = 0;
  std::from_chars(value.data(), value.data() + value.size(), out);
  return out;
}

base::duration time_of(const action& x, std::string_view key) {
  const auto value = text(x, key);
  if (value.empty())
    return {};
  const auto read = read_duration(value);
  ensure(read.has_value(), x.what, key, value); // the reader of schedules has checked it
  return *read;
}

} // namespace tutti::chaos
