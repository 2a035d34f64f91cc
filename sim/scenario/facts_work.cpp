// Facts about what it cost and what the scheduler remembers.
#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sim/scenario/held_memory.hpp"
#include "sim/scenario/scene.hpp"

namespace tutti::sim::scenario {

namespace {

namespace json = boost::json;
using protocol::role_kind;
using protocol::to;

/// One fact per field whose value is a number.
template <class Count>
void add_numbers(const tree& value, const char* word, facts& out, Count count) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    for (const auto& name : expand(f.name, where))
      add_fact(
          out, where, fmt::format("{}: {{{}: {}}}", word, name, to_text(f.value)),
          [name, wanted = read_bounds(f.value), count](scene& at) -> finding {
            const double n = count(at, name);
            if (wanted.hold(n))
              return std::nullopt;
            return fmt::format("{}", n);
          },
          sight::mind);
  }
}

void read_attempts(const tree&, const tree& value, facts& out) {
  add_numbers(value, "attempts", out, [](scene& at, const std::string& word) {
    const auto name = split_name(at.group_named(word));
    auto short_name = name.api_name();
    if (at.kubernetes() == api::release::v1_35 && at.is_group(word))
      short_name += "/" + short_name;
    return static_cast<double>(at.counts().attempts({name.space, short_name}));
  });
}

void read_writes(const tree&, const tree& value, facts& out) {
  auto counted = map_of(value);
  std::string by;
  if (const auto* process = counted.find("by")) {
    by = text_of(*process);
    std::erase_if(counted.fields, [](const field& f) { return f.name == "by"; });
  }
  for (const auto& f : counted.fields) {
    const bool is_word = f.name == "bindings" || f.name == "deletes" || f.name == "status"
                         || f.name == "all" || scene::kind_named(f.name);
    if (!is_word) {
      auto where = f.value;
      where.line = f.line;
      fail_unknown(where, "kind of write", f.name,
                   {"a resource (pods, podgroups, …)", "bindings", "deletes", "status", "all"});
    }
  }
  add_numbers(counted, "writes", out, [by](scene& at, const std::string& what) {
    const auto* process = by.empty() ? nullptr : at.process_named(by);
    return static_cast<double>(at.counts().writes(what, by.empty() ? ""
                                                        : process  ? process->name()
                                                                   : by));
  });
}

double number_at(const json::value& x, std::initializer_list<std::string_view> path) {
  const auto* found = x.is_object() ? api_server::look(x.get_object(), path) : nullptr;
  return found && found->is_number() ? found->to_number<double>() : 0;
}

/// Objects in the mirror's table of this resource.
double mirrored(scene& at, const std::string& plural) {
  const auto mirror = at.ask(to(role_kind::mirror), "status");
  const auto* list =
      mirror.is_object() ? api_server::look(mirror.get_object(), {"resources"}) : nullptr;
  if (list && list->is_array())
    for (const auto& r : list->get_array())
      if (api_server::text_at(r.as_object(), {"path"}).ends_with("/" + plural))
        return number_at(r, {"objects"});
  return 0;
}

double known(scene& at, const std::string& what) {
  const auto queue = at.ask(to(role_kind::queue), "status");
  if (what == "queued") {
    double n = 0;
    if (const auto* pools =
            queue.is_object() ? api_server::look(queue.get_object(), {"pools"}) : nullptr;
        pools && pools->is_object())
      for (const auto& [name, size] : pools->get_object())
        n += size.to_number<double>();
    return n;
  }
  if (what == "status_writes") {
    const auto status = at.ask(to(role_kind::status), "status");
    return number_at(status, {"waiting"}) + number_at(status, {"inFlight"});
  }
  if (what == "groups")
    return mirrored(at, at.kubernetes() == api::release::v1_35 ? "workloads" : "podgroups");
  if (what == "pods")
    return std::max(mirrored(at, "pods"), number_at(queue, {"pods"}));
  return mirrored(at, what);
}

void read_known(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    static const std::vector<std::string> allowed{"pods", "groups", "nodes", "queued",
                                                  "status_writes"};
    auto word = f.value;
    word.is = tree::kind::text;
    word.text = f.name;
    word.line = f.line;
    word_of(word, "thing that is kept in memory", allowed);
  }
  add_numbers(value, "known", out, known);
}

void read_metric(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    add_fact(
        out, where, fmt::format("metric: {{{}: {}}}", f.name, to_text(f.value)),
        [name = f.name, wanted = read_bounds(f.value)](scene& at) -> finding {
          bool is_there = false;
          double sum = 0;
          for (const auto& [series, n] : at.metrics())
            if (series == name || series.starts_with(name + "{")) {
              is_there = true;
              sum += n;
            }
          if (!is_there)
            return "no such metric";
          if (wanted.hold(sum))
            return std::nullopt;
          return fmt::format("{}", sum);
        },
        sight::mind);
  }
}

void read_since(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    mapping fields{f.value, "thing to compare"};
    const auto* memory = fields.take("memory");
    const auto* series = fields.take("series");
    fields.end();
    const auto wanted_memory = memory ? std::optional{read_bounds(*memory)} : std::nullopt;
    const auto wanted_series = series ? std::optional{read_bounds(*series)} : std::nullopt;
    add_fact(
        out, where, fmt::format("since: {{{}: {}}}", f.name, to_text(f.value)),
        [name = f.name, wanted_memory, wanted_series](scene& at) -> finding {
          const auto* then = at.find_mark(name);
          if (!then)
            return "there is no such mark";
          const auto memory_now = wanted_memory ? bytes_of_schedulers(at.where()) : 0;
          if (wanted_memory && (memory_now == 0 || then->memory_bytes == 0))
            return "memory: cannot be measured here";
          const auto memory_ratio =
              static_cast<double>(memory_now) / static_cast<double>(then->memory_bytes);
          if (wanted_memory && !wanted_memory->hold(memory_ratio))
            return fmt::format("memory: {:.2f} times, {} bytes after {}", memory_ratio, memory_now,
                               then->memory_bytes);
          const auto series_now = static_cast<double>(at.metrics().size());
          const auto series_ratio =
              series_now / std::max<double>(1, static_cast<double>(then->series));
          if (wanted_series && !wanted_series->hold(series_ratio))
            return fmt::format("series: {:.2f} times", series_ratio);
          return std::nullopt;
        },
        sight::mind);
  }
}

void read_plan(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    mapping fields{f.value, "word about a plan"};
    const auto* fits = fields.take("fits");
    const auto* reason = fields.take("reason");
    fields.end();
    const auto is_wanted = fits ? std::optional{flag_of(*fits)} : std::nullopt;
    const auto reasons = reason ? texts_of(*reason) : std::vector<std::string>{};
    add_fact(
        out, where, fmt::format("plan: {{{}: {}}}", f.name, to_text(f.value)),
        [name = f.name, is_wanted, reasons](scene& at) -> finding {
          const auto key = split_name(at.group_named(name)).key();
          const auto said =
              at.plans() ? at.plans()(at.where().api().plane(), key) : std::optional<planned>{};
          if (!said)
            return "nothing is said of it";
          const bool is_reason =
              reasons.empty()
              || std::find(reasons.begin(), reasons.end(), said->reason) != reasons.end();
          if (is_wanted.value_or(said->fits) == said->fits && is_reason)
            return std::nullopt;
          return said->fits ? "it fits" : "it does not fit: " + said->reason;
        },
        sight::mind);
  }
}

} // namespace

const std::vector<fact_word>& facts_about_work() {
  static const std::vector<fact_word> words{{"attempts", read_attempts}, {"writes", read_writes},
                                            {"known", read_known},       {"metric", read_metric},
                                            {"plan", read_plan},         {"since", read_since}};
  return words;
}

} // namespace tutti::sim::scenario
