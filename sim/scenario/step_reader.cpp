// Steps as they stand in scenario files, each word with its own reader.
#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sim/api_server/catalog.hpp"
#include "sim/scenario/story.hpp"

namespace tutti::sim::scenario {

namespace {

using actions = std::vector<action>;
using step_reader = actions (*)(const tree& x, const step_context& how);

constexpr auto settle_patience = std::chrono::minutes{30};
constexpr auto until_patience = std::chrono::minutes{10};

template <class T>
actions one(T x) {
  actions out;
  out.emplace_back(std::move(x));
  return out;
}

// ---------------------------------------------------------------- objects

actions read_apply(const tree& x, const step_context& how) {
  apply_step out;
  if (x.is == tree::kind::list) {
    for (const auto& item : x.items)
      out.text += "---\n" + boost::json::serialize(to_json(map_of(item))) + "\n";
    out.name = "apply";
    return one(std::move(out));
  }
  mapping fields{x, "way to apply"};
  const auto* file = fields.take("file");
  const auto* text = fields.take("text");
  fields.end();
  if ((file != nullptr) == (text != nullptr))
    fail(x, "apply is a list of objects, {file: PATH} or {text: \"…\"}");
  if (text) {
    out.text = text_of(*text);
    out.name = "text";
    return one(std::move(out));
  }
  out.name = how.folder.empty() ? text_of(*file) : how.folder + "/" + text_of(*file);
  std::ifstream in{out.name};
  if (!in)
    fail(*file, fmt::format("{} cannot be read", out.name));
  std::ostringstream all;
  all << in.rdbuf();
  out.text = all.str();
  return one(std::move(out));
}

actions read_patch(const tree& x, const step_context&) {
  actions out;
  for (const auto& f : map_of(x).fields) {
    auto where = f.value;
    where.line = f.line;
    const auto names = expand(f.name, where);
    for (std::size_t i = 0; i < names.size(); ++i)
      out.emplace_back(patch_step{read_target(names[i], where),
                                  to_json(with_dealt(map_of(f.value), i, names.size()))});
  }
  return out;
}

actions read_min(const tree& x, const step_context& how) {
  actions out;
  for (const auto& f : map_of(x).fields) {
    const boost::json::object gang{{"minCount", number_of(f.value)}};
    if (how.speaks.kubernetes == api::release::v1_35)
      fail(f.value, "min: 1.35 has no groups whose minimum could change");
    out.emplace_back(
        patch_step{read_target("podgroup/" + f.name, f.value),
                   boost::json::object{{"spec", {{"schedulingPolicy", {{"gang", gang}}}}}}});
  }
  return out;
}

chosen_pods read_pods_or_group(const tree& x) {
  if (x.is != tree::kind::map)
    return {expand_all(x), {}};
  mapping fields{x, "way to choose pods"};
  const auto group = text_of(fields.need("group"));
  fields.end();
  return {{}, group};
}

actions read_delete(const tree& x, const step_context&) {
  if (x.is == tree::kind::map)
    return one(delete_step{{}, read_pods_or_group(x).group});
  delete_step out;
  for (const auto& text : expand_all(x))
    out.whom.push_back(read_target(text, x));
  return one(std::move(out));
}

actions read_bind(const tree& x, const step_context&) {
  actions out;
  for (const auto& f : map_of(x).fields) {
    const auto pods = expand(f.name, f.value);
    for (std::size_t i = 0; i < pods.size(); ++i)
      out.emplace_back(bind_step{pods[i], text_of(with_dealt(f.value, i, pods.size()))});
  }
  return out;
}

// ---------------------------------------------------------------- time

actions read_settle(const tree& x, const step_context&) {
  mapping fields{x, "field of settle"};
  const auto* within = fields.take("within");
  fields.end();
  return one(settle_step{within ? duration_of(*within) : base::duration{settle_patience}});
}

actions read_until(const tree& x, const step_context&) {
  const auto* within = map_of(x).find("within");
  return one(until_step{within ? duration_of(*within) : base::duration{until_patience},
                        read_facts(x, {"within"})});
}

actions read_eventually(const tree& x, const step_context&) {
  const auto* within = map_of(x).find("within");
  if (!within)
    fail(x, "\"within\" is missing: how long it may take");
  return one(eventually_step{duration_of(*within), read_facts(x, {"within"})});
}

actions read_always(const tree& x, const step_context&) {
  const auto* how_long = map_of(x).find("for");
  return one(always_step{how_long ? std::optional{duration_of(*how_long)} : std::nullopt,
                         read_facts(x, {"for"})});
}

// ---------------------------------------------------------------- faults

actions read_hold(const tree& x, const step_context&) {
  static const std::vector<std::string> points{"planning", "planned", "refused",   "prepared",
                                               "voted",    "decided", "committed", "binding"};
  mapping fields{x, "field of hold"};
  hold_step out;
  out.gang = text_of(fields.need("group"));
  const auto& at = word_of(fields.need("at"), "point to hold at", points);
  out.at = static_cast<stop_point>(std::find(points.begin(), points.end(), at) - points.begin());
  if (const auto* how_long = fields.take("for"))
    out.how_long = duration_of(*how_long);
  fields.end();
  return one(std::move(out));
}

/// "POST pods/a1/binding", "writes".
void read_what_is_asked(const tree& x, api_rule& out) {
  const auto& text = text_of(x);
  if (text == "writes") {
    out.is_any_write = true;
    return;
  }
  const auto space = text.find(' ');
  if (space == std::string::npos)
    fail(x, fmt::format("\"{}\": a verb and a path, or writes", text));
  auto verb = x;
  verb.text = text.substr(0, space);
  out.verb = word_of(verb, "verb", {"*", "GET", "POST", "PUT", "PATCH", "DELETE", "LIST", "WATCH"});
  std::istringstream rest{text.substr(space + 1)};
  for (std::string part; std::getline(rest, part, '/');) {
    std::transform(part.begin(), part.end(), part.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!part.empty())
      out.path.push_back(part);
  }
  if (out.path.empty())
    fail(x, fmt::format("\"{}\" has no path", text));
}

void read_answer(const tree* answer, api_rule& out) {
  using effect = api_rule::effect;
  if (!answer)
    return;
  if (answer->text == "timeout_applied")
    out.what = effect::timeout_applied;
  else if (answer->text == "timeout_lost")
    out.what = effect::timeout_lost;
  else {
    out.what = effect::status;
    out.status = static_cast<int>(number_of(*answer));
    if (out.status < 100 || out.status > 599)
      fail(*answer, "answer: an HTTP status, timeout_applied or timeout_lost");
  }
}

actions read_api(const tree& x, const step_context&) {
  mapping fields{x, "field of an API rule"};
  if (const auto* clear = fields.take("clear")) {
    flag_of(*clear);
    fields.end();
    return one(api_step{});
  }
  api_rule out;
  read_what_is_asked(fields.need("on"), out);
  read_answer(fields.take("answer"), out);
  if (const auto* delay = fields.take("delay"))
    out.delay = duration_of(*delay);
  if (const auto* wait = fields.take("retry_after"))
    out.retry_after_s =
        std::chrono::duration_cast<std::chrono::seconds>(duration_of(*wait)).count();
  const auto* times = fields.take("times");
  const auto* lasts = fields.take("for");
  if (lasts)
    out.lasts = duration_of(*lasts);
  if (times && times->text != "all")
    out.times = static_cast<std::uint64_t>(number_of(*times));
  else if (!times && !lasts)
    out.times = 1;
  if (const auto* skip = fields.take("skip"))
    out.skip = static_cast<std::uint64_t>(number_of(*skip));
  if (const auto* share = fields.take("share")) {
    const auto slash = text_of(*share).find('/');
    auto part = *share;
    part.text = share->text.substr(0, slash);
    out.share = static_cast<std::uint64_t>(number_of(part));
    part.text = slash == std::string::npos ? "" : share->text.substr(slash + 1);
    out.of = static_cast<std::uint64_t>(number_of(part));
    if (out.of == 0)
      fail(*share, "share: N/M");
  }
  if (const auto* process = fields.take("process"))
    out.process = text_of(*process);
  fields.end();
  if (out.what == api_rule::effect::late && out.delay == base::duration{})
    fail(x, "an answer or a delay is missing");
  return one(api_step{std::move(out)});
}

actions read_watch(const tree& x, const step_context&) {
  mapping fields{x, "field of watch"};
  watch_step out;
  const auto& resource = fields.need("resource");
  out.plural = read_target(text_of(resource) + "/*", resource).plural;
  int effects = 0;
  if (const auto* stall = fields.take("stall")) {
    out.stall = duration_of(*stall);
    ++effects;
  }
  if (const auto* gone = fields.take("gone")) {
    out.is_gone = flag_of(*gone);
    ++effects;
  }
  if (const auto* twice = fields.take("duplicate")) {
    out.is_double = flag_of(*twice);
    ++effects;
  }
  actions all;
  for (const auto* word : {"drop", "again"})
    if (const auto* events = fields.take(word)) {
      ++effects;
      for (const auto& f : map_of(*events).fields) {
        auto where = f.value;
        where.line = f.line;
        for (const auto& name : expand(f.name, where)) {
          auto each = out;
          each.whom = read_target(name, where);
          each.event_type = word_of(f.value, "event of a watch", {"ADDED", "MODIFIED", "DELETED"});
          each.is_again = std::string_view{word} == "again";
          all.emplace_back(std::move(each));
        }
      }
    }
  fields.end();
  if (effects != 1)
    fail(x, "one of stall, gone, duplicate, drop, again");
  if (all.empty())
    all.emplace_back(std::move(out));
  return all;
}

const std::vector<std::string>& crash_rows() {
  static const std::vector<std::string> rows = [] {
    std::vector<std::string> out{"now"};
    for (int n = 0; n <= 14; ++n)
      out.push_back(fmt::format("C{}", n));
    for (int n = 0; n <= 8; ++n)
      out.push_back(fmt::format("P{}", n));
    for (int n = 0; n <= 3; ++n)
      out.push_back(fmt::format("B{}", n));
    return out;
  }();
  return rows;
}

actions read_crash(const tree& x, const step_context&) {
  mapping fields{x, "field of crash"};
  crash_step out;
  out.process = text_of(fields.need("process"));
  if (const auto* at = fields.take("at"))
    out.at = word_of(*at, "row of the crash table", crash_rows());
  if (out.at == "now")
    out.at.clear();
  if (const auto* disk = fields.take("disk")) {
    const auto& fate = word_of(*disk, "fate of a disk", {"intact", "torn", "lost"});
    out.disk = fate == "intact" ? disk_fate::intact
               : fate == "torn" ? disk_fate::torn
                                : disk_fate::lost;
  }
  fields.end();
  return one(std::move(out));
}

actions read_start(const tree& x, const step_context&) {
  mapping fields{x, "field of start"};
  start_step out{text_of(fields.need("process"))};
  fields.end();
  return one(std::move(out));
}

actions read_pause(const tree& x, const step_context&) {
  mapping fields{x, "field of pause"};
  pause_step out{text_of(fields.need("process")), duration_of(fields.need("for"))};
  fields.end();
  return one(std::move(out));
}

actions read_network(const tree& x, const step_context&) {
  mapping fields{x, "field of network"};
  network_step out;
  const auto* heal = fields.take("heal");
  const auto* cut = fields.take("cut");
  if (const auto* way = fields.take("one_way"))
    out.is_one_way = flag_of(*way);
  fields.end();
  if ((heal != nullptr) == (cut != nullptr))
    fail(x, "network: {cut: [A, B]} or {heal: true}");
  if (cut) {
    out.cut = texts_of(*cut);
    if (out.cut.size() != 2)
      fail(*cut, "cut: two ends");
  }
  return one(std::move(out));
}

actions read_clock(const tree& x, const step_context&) {
  mapping fields{x, "field of clock"};
  clock_step out;
  out.process = text_of(fields.need("process"));
  auto jump = fields.need("jump");
  const bool is_back = text_of(jump).starts_with('-');
  if (is_back)
    jump.text.erase(0, 1);
  out.jump = is_back ? -duration_of(jump) : duration_of(jump);
  fields.end();
  return one(std::move(out));
}

// ---------------------------------------------------------------- together

actions read_repeat(const tree& x, const step_context& how) {
  mapping fields{x, "field of repeat"};
  repeat_step out;
  out.times = static_cast<std::uint64_t>(number_of(fields.need("times")));
  if (const auto* every = fields.take("every"))
    out.every = duration_of(*every);
  if (const auto* word = fields.take("as"))
    out.word = text_of(*word);
  out.steps = fields.need("steps");
  fields.end();
  read_steps(with_replaced(out.steps, out.word, "1"), how); // what is wrong is found at once
  return one(std::move(out));
}

struct step_word {
  const char* name;
  step_reader read;
};

const std::vector<step_word>& step_words() {
  static const std::vector<step_word> words{
      {"nodes", [](const tree& x, const step_context&) { return one(create_step{read_nodes(x)}); }},
      {"group",
       [](const tree& x, const step_context& how) {
         return one(create_step{read_groups(x, how.speaks)});
       }},
      {"composite",
       [](const tree& x, const step_context&) { return one(create_step{read_composites(x)}); }},
      {"pods", [](const tree& x,
                  const step_context& how) { return one(create_step{read_pods(x, how.speaks)}); }},
      {"devices",
       [](const tree& x, const step_context&) { return one(create_step{read_devices(x)}); }},
      {"claims",
       [](const tree& x, const step_context&) { return one(create_step{read_claims(x)}); }},
      {"budget",
       [](const tree& x, const step_context&) { return one(create_step{read_budgets(x)}); }},
      {"apply", read_apply},
      {"patch", read_patch},
      {"min", read_min},
      {"delete", read_delete},
      {"finish",
       [](const tree& x, const step_context&) {
         return one(finish_step{read_pods_or_group(x), false});
       }},
      {"fail",
       [](const tree& x, const step_context&) {
         return one(finish_step{read_pods_or_group(x), true});
       }},
      {"evict",
       [](const tree& x, const step_context&) { return one(evict_step{read_pods_or_group(x)}); }},
      {"bind", read_bind},
      {"batch",
       [](const tree& x, const step_context& how) { return one(batch_step{read_steps(x, how)}); }},
      {"repeat", read_repeat},
      {"advance",
       [](const tree& x, const step_context&) { return one(advance_step{duration_of(x)}); }},
      {"settle", read_settle},
      {"until", read_until},
      {"hold", read_hold},
      {"release",
       [](const tree& x, const step_context&) { return one(release_step{expand_all(x)}); }},
      {"api", read_api},
      {"watch", read_watch},
      {"crash", read_crash},
      {"start", read_start},
      {"pause", read_pause},
      {"network", read_network},
      {"clock", read_clock},
      {"mark", [](const tree& x, const step_context&) { return one(mark_step{text_of(x)}); }},
      {"expect",
       [](const tree& x, const step_context&) { return one(expect_step{read_facts(x)}); }},
      {"eventually", read_eventually},
      {"always", read_always},
  };
  return words;
}

step read_step(const tree& x, const step_context& how) {
  step out;
  out.line = x.line;
  out.text = to_text(x);
  bool has_word = false;
  for (const auto& f : map_of(x).fields) {
    if (f.name == "refused") {
      out.is_to_be_refused = true;
      out.refusal = read_fragments(f.value);
      continue;
    }
    const auto& words = step_words();
    const auto pos = std::find_if(words.begin(), words.end(),
                                  [&](const step_word& w) { return f.name == w.name; });
    auto where = f.value;
    where.line = f.line;
    if (pos == words.end()) {
      std::vector<std::string> allowed;
      for (const auto& w : words)
        allowed.emplace_back(w.name);
      allowed.emplace_back("refused");
      fail_unknown(where, "step", f.name, allowed);
    }
    if (has_word)
      fail(where, fmt::format("\"{}\": one step per entry of the list", f.name));
    has_word = true;
    out.what = pos->read(f.value.is == tree::kind::nothing ? where : f.value, how);
  }
  if (!has_word)
    fail(x, "a step without a word");
  return out;
}

} // namespace

std::vector<step> read_steps(const tree& list, const step_context& how) {
  std::vector<step> out;
  for (const auto& item : list_of(list).items)
    out.push_back(read_step(item, how));
  return out;
}

target read_target(const std::string& text, const tree& where) {
  using namespace api_server;
  std::vector<std::string> parts;
  std::istringstream in{text};
  for (std::string part; std::getline(in, part, '/');)
    parts.push_back(part);
  if (parts.empty())
    fail(where, "an empty name");
  const auto kind_of = [](std::string word) -> const kind_info* {
    if (word == "composite")
      return &info_of(kind_id::composite_pod_groups);
    if (word == "claim")
      return &info_of(kind_id::resource_claims);
    if (word == "slice")
      return &info_of(kind_id::resource_slices);
    if (word == "class")
      return &info_of(kind_id::device_classes);
    for (std::size_t i = 0; i < kind_count; ++i) {
      const auto& info = info_of(static_cast<kind_id>(i));
      const bool is_short = std::find(info.short_names.begin(), info.short_names.end(), word)
                            != info.short_names.end();
      if (word == info.singular || word == info.plural || is_short)
        return &info;
    }
    return nullptr;
  };
  const auto* kind = parts.size() > 1 ? kind_of(parts.front()) : nullptr;
  target out;
  if (!kind) { // a bare name is a pod; it may carry its namespace
    if (parts.size() > 2) {
      std::vector<std::string> allowed{"composite", "claim", "slice", "class"};
      for (std::size_t i = 0; i < kind_count; ++i)
        allowed.emplace_back(info_of(static_cast<kind_id>(i)).singular);
      fail_unknown(where, "kind of object", parts.front(), allowed);
    }
    return {"pods", split_name(text).key(), {}};
  }
  out.plural = kind->plural;
  parts.erase(parts.begin());
  if (parts.size() > 1 && (parts.back() == "status" || parts.back() == "binding")) {
    out.subresource = parts.back();
    parts.pop_back();
  }
  const auto name = split_name(fmt::format("{}", fmt::join(parts, "/")));
  if (name.name == "*")
    out.key = "*";
  else
    out.key = kind->is_namespaced ? name.key() : name.api_name();
  return out;
}

} // namespace tutti::sim::scenario
