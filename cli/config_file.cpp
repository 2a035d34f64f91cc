// Every setting is one row of a table: reading, writing and the reference page go by it.
#include "cli/config_file.hpp"

#include <cstdio>
#include <fstream>
#include <set>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "api/manifest_text.hpp"
#include "api/quantity.hpp"
#include "api/selector.hpp"
#include "base/limits.hpp"
#include "base/time.hpp"
#include "bridge/machine.hpp"
#include "cli/output.hpp"
#include "sim/api_server/run_for.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;
using base::code;
using base::error;
using result = base::result<void>;

constexpr std::int64_t longest_repair_s = 86400;
constexpr std::int64_t most_shards = 1024;

error not_allowed(std::string what) {
  return {code::bad_input, std::move(what)};
}

result take_text(const json::value& v, std::string& out) {
  if (!v.is_string())
    return not_allowed("is no text");
  out = v.get_string();
  return {};
}

result take_flag(const json::value& v, bool& out) {
  if (!v.is_bool())
    return not_allowed("is neither true nor false");
  out = v.get_bool();
  return {};
}

result take_texts(const json::value& v, std::vector<std::string>& out) {
  if (!v.is_array() || v.get_array().empty())
    return not_allowed("is no list of texts");
  out.clear();
  for (const auto& x : v.get_array()) {
    if (!x.is_string() || x.get_string().empty())
      return not_allowed("has an entry that is no text");
    out.emplace_back(x.get_string());
  }
  return {};
}

result take_levels(const json::value& v, local_options& how) {
  if (auto ok = take_texts(v, how.levels); !ok)
    return ok;
  const auto ok = check_levels(how.levels);
  return ok ? ok : not_allowed("is wrong: " + ok.error().message());
}

result take_admin(const json::value& v, local_options& how) {
  if (auto ok = take_text(v, how.admin); !ok)
    return ok;
  const auto ok = check_address(how.admin);
  return ok ? ok : not_allowed("is wrong: " + ok.error().message());
}

result take_profiles(const json::value& v, local_options& how) {
  const auto* list = v.if_array();
  if (list == nullptr || list->empty())
    return not_allowed("is no list of profiles");
  std::vector<std::string> names;
  for (const auto& x : *list) {
    const auto* profile = x.if_object();
    const auto* name = profile == nullptr ? nullptr : profile->if_contains("schedulerName");
    if (name == nullptr || !name->is_string() || name->get_string().empty())
      return not_allowed("has a profile without schedulerName");
    if (profile->size() > 1)
      return not_allowed("has a profile with other fields than schedulerName");
    names.emplace_back(name->get_string());
  }
  if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
    return not_allowed("has two profiles of one name");
  how.scheduler_names = std::move(names);
  return {};
}

result take_count(const json::value& v, unsigned& out) {
  constexpr std::int64_t most = 1'000'000;
  if (!v.is_int64() || v.get_int64() < 0 || v.get_int64() > most)
    return not_allowed("is no such number");
  out = static_cast<unsigned>(v.get_int64());
  return {};
}

result take_shards(const json::value& v, local_options& how) {
  if (!v.is_int64() || v.get_int64() < 1 || v.get_int64() > most_shards)
    return not_allowed("is no such number");
  how.shards = static_cast<unsigned>(v.get_int64());
  return {};
}

result take_disk_reserve(const json::value& v, local_options& how) {
  const auto size = api::quantity_of(v);
  if (!size || v.is_null() || size->is_negative() || !size->is_whole())
    return not_allowed("is no size");
  how.disk_reserve = static_cast<std::uint64_t>(size->value());
  return {};
}

/// Whole seconds, at least `least` and at most `most`.
result take_seconds(const json::value& v, std::int64_t least, std::int64_t most, unsigned& out) {
  const auto read = v.is_string() ? sim::api_server::parse_duration(v.get_string()) : std::nullopt;
  if (!read)
    return not_allowed("is no such duration");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*read);
  if (seconds.count() < least || seconds.count() > most || seconds != *read)
    return not_allowed("is no such duration");
  out = static_cast<unsigned>(seconds.count());
  return {};
}

json::value list_of(const std::vector<std::string>& x) {
  return json::array(x.begin(), x.end());
}

json::value profiles_of(const std::vector<std::string>& names) {
  json::array out;
  for (const auto& name : names)
    out.push_back(json::object{{"schedulerName", name}});
  return out;
}

json::value deadline_of(const local_options& how) {
  const auto s =
      how.repair_deadline_s != 0
          ? std::int64_t{how.repair_deadline_s}
          : std::chrono::duration_cast<std::chrono::seconds>(base::limits::repair_deadline).count();
  return json::string{fmt::format("{}s", s)};
}

/// What is said to other processes of ours.
config_field text_field(const char* path, const char* flag, const char* allowed,
                        std::string replica_flags::*where) {
  return {path, flag, allowed,
          [where](const json::value& x, local_options& how) {
            return take_text(x, how.replica.*where);
          },
          [where](const local_options& how) {
            const auto& text = how.replica.*where;
            return text.empty() ? json::value{} : json::value(text);
          }};
}

result take_policy(const json::value& v, local_options& how) {
  std::string word;
  if (auto ok = take_text(v, word); !ok)
    return ok;
  if (word != "least-cost" && word != "upstream")
    return not_allowed("is no such policy");
  how.preemption.policy = word == "upstream" ? placement::victim_policy::upstream
                                             : placement::victim_policy::least_cost;
  return {};
}

result take_exempt(const json::value& v, local_options& how) {
  std::string text;
  if (auto ok = take_text(v, text); !ok)
    return ok;
  if (const auto read = api::parse_label_selector(text); !read)
    return not_allowed("is wrong: " + read.error().message());
  how.exempt_pods = std::move(text);
  return {};
}

result take_min_runtime(const json::value& v, local_options& how) {
  unsigned seconds = 0;
  constexpr std::int64_t longest = 30 * 86400;
  if (auto ok = take_seconds(v, 1, longest, seconds); !ok)
    return ok;
  how.preemption.min_runtime = std::chrono::seconds{seconds};
  return {};
}

json::value min_runtime_of(const local_options& how) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(how.preemption.min_runtime);
  return s.count() == 0 ? json::value{} : json::value(fmt::format("{}s", s.count()));
}

/// Who is evicted for a gang that finds no room.
std::vector<config_field> preemption_fields() {
  using o = local_options;
  using v = json::value;
  return {
      {"preemption.allowed", "", "true or false",
       [](const v& x, o& how) { return take_flag(x, how.preemption.is_allowed); },
       [](const o& how) { return v(how.preemption.is_allowed); }},
      {"preemption.policy", "", "least-cost or upstream", take_policy,
       [](const o& how) {
         return v(how.preemption.policy == placement::victim_policy::upstream ? "upstream"
                                                                              : "least-cost");
       }},
      {"preemption.exempt", "", "a label selector: a=b,c in (d,e)", take_exempt,
       [](const o& how) { return how.exempt_pods.empty() ? v{} : v(how.exempt_pods); }},
      {"preemption.minRuntime", "", "whole seconds: 1s to 720h", take_min_runtime, min_runtime_of},
      {"preemption.evictionsPerMinute", "", "a whole number; 0 = no limit",
       [](const v& x, o& how) { return take_count(x, how.preemption.evictions_per_minute); },
       [](const o& how) {
         const auto most = how.preemption.evictions_per_minute;
         return most == 0 ? v{} : v(most);
       }},
  };
}

std::vector<config_field> make_fields() {
  using o = local_options;
  using v = json::value;
  return {
      {"clientConnection.kubeconfig", "--kubeconfig", "the path of a file",
       [](const v& x, o& how) { return take_text(x, how.elsewhere.kubeconfig); },
       [](const o& how) {
         return how.elsewhere.kubeconfig.empty() ? v{} : v(how.elsewhere.kubeconfig);
       }},
      {"clientConnection.context", "--context", "a context of the kubeconfig",
       [](const v& x, o& how) { return take_text(x, how.elsewhere.context); },
       [](const o& how) { return how.elsewhere.context.empty() ? v{} : v(how.elsewhere.context); }},
      {"clientConnection.qps", "--qps", "a whole number; 0 = no limit",
       [](const v& x, o& how) { return take_count(x, how.qps); },
       [](const o& how) { return how.qps == 0 ? v{} : v(how.qps); }},
      {"clientConnection.burst", "--burst", "a whole number; 0 = as many as qps",
       [](const v& x, o& how) { return take_count(x, how.burst); },
       [](const o& how) { return how.burst == 0 ? v{} : v(how.burst); }},
      text_field("clientConnection.bridge", "--bridge", "HOST:PORT of `tutti bridge`",
                 &replica_flags::bridge),
      {"profiles", "", "a list of {schedulerName: NAME}", take_profiles,
       [](const o& how) { return profiles_of(how.scheduler_names); }},
      {"topology.levels", "--topology", "label keys, outermost first; the last is the rack",
       take_levels, [](const o& how) { return how.levels.empty() ? v{} : list_of(how.levels); }},
      {"store.dataDir", "--data-dir", "the path of a directory",
       [](const v& x, o& how) { return take_text(x, how.data_dir); },
       [](const o& how) { return v(how.data_dir); }},
      {"store.shards", "--shards", "1 to 1024, for a new store", take_shards,
       [](const o& how) { return how.shards == 0 ? v{} : v(how.shards); }},
      {"store.diskReserve", "--disk-reserve", "a size: 128Mi, 1Gi; 0 = do not look",
       take_disk_reserve, [](const o& how) { return v(how.disk_reserve); }},
      {"reservation.longPath", "--long-path", "true or false",
       [](const v& x, o& how) { return take_flag(x, how.long_path); },
       [](const o& how) { return v(how.long_path); }},
      {"degraded.repairDeadline", "--repair-deadline", "whole seconds: 1s to 24h",
       [](const v& x, o& how) {
         return take_seconds(x, 1, longest_repair_s, how.repair_deadline_s);
       },
       deadline_of},
      {"degraded.evict", "--evict-degraded", "true or false",
       [](const v& x, o& how) { return take_flag(x, how.evicts_degraded); },
       [](const o& how) { return v(how.evicts_degraded); }},
      {"events.steps", "--step-events", "true or false",
       [](const v& x, o& how) { return take_flag(x, how.step_events); },
       [](const o& how) { return v(how.step_events); }},
      text_field("replica.name", "--replica", "a name of its own for each replica",
                 &replica_flags::name),
      text_field("replica.link.listen", "--link", "HOST:PORT", &replica_flags::link),
      text_field("replica.link.address", "--link-address", "HOST:PORT, as others call it",
                 &replica_flags::address),
      text_field("replica.link.tlsDir", "--link-tls", "the path of a directory",
                 &replica_flags::tls_dir),
      text_field("replica.link.certificateName", "--link-name", "a name in every certificate",
                 &replica_flags::certificate_name),
      {"replica.leaseDuration", "--lease-duration", "whole seconds: 2s to 10m",
       [](const v& x, o& how) { return take_seconds(x, 2, 600, how.replica.lease_s); },
       [](const o& how) {
         return how.replica.lease_s == 0 ? v{} : v(fmt::format("{}s", how.replica.lease_s));
       }},
      {"replica.link.plain", "--link-plain", "true or false",
       [](const v& x, o& how) { return take_flag(x, how.replica.is_plain); },
       [](const o& how) { return how.replica.is_plain ? v{true} : v{}; }},
      {"admin.address", "--admin", "HOST:PORT; \"\" = none", take_admin,
       [](const o& how) { return v(how.admin); }},
  };
}

const config_field* find_field(std::string_view path) {
  for (const auto& x : config_fields())
    if (x.path == path)
      return &x;
  return nullptr;
}

bool is_group(std::string_view path) {
  for (const auto& x : config_fields())
    if (x.path.starts_with(path) && x.path.size() > path.size() && x.path[path.size()] == '.')
      return true;
  return false;
}

error no_such_field(const std::string& path) {
  std::vector<std::string> known;
  for (const auto& x : config_fields())
    known.emplace_back(x.path);
  const auto near = nearest(path, known);
  return {code::bad_input, path + ": there is no such field",
          near.empty() ? "docs/reference/configuration.md has them all"
                       : fmt::format("did you mean {}?", near)};
}

/// The fields below `at`, which stands at `path`.
result take_group(const json::object& at, const std::string& path,
                  const std::function<bool(std::string_view)>& is_given, local_options& how) {
  for (const auto& [key, value] : at) {
    auto where =
        path.empty() ? std::string{key} : fmt::format("{}.{}", path, std::string_view{key});
    if (path.empty() && (where == "apiVersion" || where == "kind"))
      continue;
    if (const auto* field = find_field(where)) {
      local_options unused = how;
      const bool is_overruled = !field->flag.empty() && is_given(field->flag);
      if (auto ok = field->take(value, is_overruled ? unused : how); !ok)
        return error{code::bad_input, where + " " + ok.error().message(),
                     fmt::format("allowed: {}", field->allowed)};
    } else if (!is_group(where)) {
      return no_such_field(where);
    } else if (!value.is_object()) {
      return error{code::bad_input, where + " is no object"};
    } else if (auto ok = take_group(value.get_object(), where, is_given, how); !ok) {
      return ok;
    }
  }
  return {};
}

result check_head(const json::object& x) {
  for (const auto& [field, wanted] :
       {std::pair{"apiVersion", config_version}, {"kind", config_kind}}) {
    const auto* there = x.if_contains(field);
    if (there == nullptr || !there->is_string() || there->get_string() != wanted)
      return error{code::bad_input,
                   there == nullptr
                       ? fmt::format("{} is missing", field)
                       : fmt::format("{}: {} is not known", field, json::serialize(*there)),
                   fmt::format("write {}: {}", field, wanted)};
  }
  return {};
}

} // namespace

const std::vector<config_field>& config_fields() {
  static const auto all = [] {
    auto out = make_fields();
    auto more = preemption_fields();
    out.insert(out.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
    return out;
  }();
  return all;
}

result read_config(const std::string& file, const std::function<bool(std::string_view)>& is_given,
                   local_options& how) {
  const auto text = bridge::this_machine(base::system_clock{})->read(file);
  if (!text)
    return error{text.error().what(), text.error().message(), "name another file with --config"}.in(
        file);
  auto documents = api::parse_documents(*text);
  if (!documents)
    return documents.error().in(file);
  if (documents->size() != 1 || !documents->front().content.is_object())
    return error{code::bad_input, file + ": is no single object",
                 fmt::format("begin with apiVersion: {}", config_version)};
  const auto& top = documents->front().content.get_object();
  if (auto ok = check_head(top); !ok)
    return ok.error().in(file);
  auto now = how;
  if (auto ok = take_group(top, {}, is_given, now); !ok)
    return ok.error().in(file);
  how = std::move(now);
  return {};
}

json::object config_in_force(const local_options& how) {
  json::object out{{"apiVersion", config_version}, {"kind", config_kind}};
  for (const auto& field : config_fields()) {
    auto value = field.show(how);
    if (value.is_null())
      continue;
    auto* at = &out;
    auto rest = field.path;
    for (auto dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
      auto& inner = (*at)[rest.substr(0, dot)];
      if (!inner.is_object())
        inner = json::object{};
      at = &inner.get_object();
      rest.remove_prefix(dot + 1);
    }
    (*at)[rest] = std::move(value);
  }
  return out;
}

result write_config(const local_options& how, const std::string& file) {
  const auto text = yaml_text(config_in_force(how));
  if (file == "-") {
    std::fputs(text.c_str(), stdout);
    return flush_output();
  }
  std::ofstream out{file};
  out << text;
  out.close();
  if (!out)
    return error{code::io, file + ": cannot be written",
                 "name another file with --write-config-to"};
  return {};
}

} // namespace tutti::cli
