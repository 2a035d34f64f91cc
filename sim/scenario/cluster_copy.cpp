#include "sim/scenario/cluster_copy.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "bridge/http_text.hpp"

namespace tutti::sim::scenario {

namespace {

namespace json = boost::json;
using api_server::kind_id;
using api_server::text_at;

constexpr int page_size = 500;
constexpr std::array core_kinds{kind_id::nodes, kind_id::pods, kind_id::pod_groups,
                                kind_id::resource_claims};

bool is_core(kind_id kind) {
  return std::find(core_kinds.begin(), core_kinds.end(), kind) != core_kinds.end();
}

/// A scheduler says so of its victims.
bool is_marked(const api_server::object& pod) {
  return pod.body.find("PreemptionByScheduler") != std::string::npos;
}

} // namespace

std::string path_of(const api_server::endpoint& end, const std::string& key) {
  auto out = end.group.empty() ? fmt::format("/api/{}", end.version)
                               : fmt::format("/apis/{}/{}", end.group, end.version);
  auto name = key;
  if (const auto slash = key.find('/'); end.what->is_namespaced && slash != std::string::npos) {
    out += "/namespaces/" + key.substr(0, slash);
    name = key.substr(slash + 1);
  }
  out += fmt::format("/{}", end.what->plural);
  return name.empty() ? out : out + "/" + name;
}

base::result<void> cluster_copy::read(extent which) {
  for (std::size_t i = 0; i < api_server::kind_count; ++i) {
    const auto kind = static_cast<kind_id>(i);
    if ((which == extent::core && !is_core(kind)) || absent_.contains(kind))
      continue;
    if (auto ok = read_kind(kind); !ok)
      return ok.error();
  }
  return {};
}

/// All pages, then who is not there any more. A list that has changed under us is read next time.
base::result<void> cluster_copy::read_kind(kind_id kind) {
  const auto* end =
      kind == kind_id::events ? kinds_.find("", "v1", "events") : kinds_.preferred(kind);
  if (!end) {
    absent_.insert(kind);
    return {};
  }
  const auto path = path_of(*end, {});
  std::set<std::string, std::less<>> present;
  std::string next;
  do {
    const auto said = door_.ask(
        {.method = "GET",
         .target = fmt::format("{}?limit={}{}", path, page_size,
                               next.empty() ? next : "&continue=" + bridge::escaped_query(next))});
    if (said.status == 404) {
      absent_.insert(kind);
      return {};
    }
    if (said.status == 410)
      return {};
    boost::system::error_code failed;
    auto page = json::parse(said.body, failed);
    if (said.status != 200 || failed || !page.is_object())
      return base::error{base::code::unavailable,
                         fmt::format("{}: {} {}", path, said.status, said.body.substr(0, 200))};
    auto& fields = page.get_object();
    if (auto* items = fields.if_contains("items"); items && items->is_array())
      for (auto& item : items->get_array())
        take_in(kind, item.as_object(), present);
    next = std::string{text_at(fields, {"metadata", "continue"})};
  } while (!next.empty());
  remove_others(kind, present);
  return {};
}

void cluster_copy::take_in(kind_id kind, json::object& item,
                           std::set<std::string, std::less<>>& present) {
  const auto key = api_server::key_of(text_at(item, {"metadata", "namespace"}),
                                      text_at(item, {"metadata", "name"}));
  const std::string version{text_at(item, {"metadata", "resourceVersion"})};
  present.insert(key);
  auto& known = versions_[{kind, key}];
  if (known == version)
    return;
  known = version;
  const auto before = store_.find(kind, key);
  item.erase("kind");
  item.erase("apiVersion");
  const auto now = api_server::make_object(kind, item, store_.next());
  store_.put(kind, now);
  const bool is_same = before && before->uid == now->uid;
  if (kind == kind_id::pods) {
    if (before && !is_same)
      judge_end(*before);
    judge_pod(*now, is_same ? before.get() : nullptr);
  }
  note_change(kind, is_same ? "MODIFIED" : "ADDED", *now);
}

void cluster_copy::remove_others(kind_id kind, const std::set<std::string, std::less<>>& present) {
  std::vector<api_server::object_ptr> gone;
  for (const auto& [key, x] : store_.all(kind))
    if (!present.contains(key))
      gone.push_back(x);
  for (const auto& x : gone) {
    versions_.erase({kind, x->key});
    store_.erase(kind, api_server::with_revision(*x, store_.next()));
    if (kind == kind_id::pods)
      judge_end(*x);
    note_change(kind, "DELETED", *x);
  }
}

/// Gone without a word between two readings.
void cluster_copy::judge_end(const api_server::object& last) {
  if (!last.is_deleting && !last.is_finished() && !ended_by_others_.contains(last.uid))
    evicted_.insert(last.key);
}

/// Whoever is made to leave, and by none of those who have said so, is the scheduler's victim.
void cluster_copy::judge_pod(const api_server::object& now, const api_server::object* before) {
  const bool begins_to_end = now.is_deleting && !(before && before->is_deleting);
  const bool is_victim = (begins_to_end && !ended_by_others_.contains(now.uid))
                         || (is_marked(now) && !(before && is_marked(*before)));
  if (is_victim && !now.is_finished())
    evicted_.insert(now.key);
}

void cluster_copy::note_change(kind_id kind, const char* what, const api_server::object& x) {
  if (!is_core(kind))
    return;
  changed_at_ = door_.now();
  if (told_)
    told_(fmt::format("api {} {} {}{}", what, api_server::info_of(kind).singular, x.key,
                      x.node_name.empty() ? "" : " on " + x.node_name));
}

void cluster_copy::restart() {
  evicted_.clear();
  restarted_at_ = store_.last();
}

} // namespace tutti::sim::scenario
