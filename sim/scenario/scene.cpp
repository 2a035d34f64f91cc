#include "sim/scenario/scene.hpp"

#include <algorithm>
#include <fstream>

#include <malloc.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "actors/replica.hpp"

namespace tutti::sim::scenario {

namespace json = boost::json;
using api_server::kind_id;

std::string scene::group_named(const std::string& word) const {
  if (word == "winner")
    return winner_;
  if (word == "loser")
    return loser_;
  return word;
}

api_server::object_ptr scene::pod(const std::string& name) const {
  return objects().find(kind_id::pods, split_name(name).key());
}

api_server::object_ptr scene::group(const std::string& name) const {
  const auto kind = kubernetes_ == api::release::v1_35 ? kind_id::workloads : kind_id::pod_groups;
  return objects().find(kind, split_name(group_named(name)).key());
}

/// In a file `A` and `a` differ, on the server they do not: a capital letter means the group.
bool scene::is_group(const std::string& word) const {
  if (word == "winner" || word == "loser")
    return true;
  const auto name = split_name(word).name;
  const bool has_capital =
      std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return has_capital || (!pod(word) && group(word));
}

void scene::remember_outcome(std::string winner, std::string loser) {
  if (!winner.empty())
    winner_ = std::move(winner);
  if (!loser.empty())
    loser_ = std::move(loser);
}

/// One process owns all shards, so it leads; whoever is called so stays it.
process* scene::process_named(const std::string& word) {
  if (word == "leader") {
    if (leader_.empty())
      leader_ = world_.at(0).name();
    return world_.find(leader_);
  }
  if (word == "standby") {
    if (standby_.empty() && world_.processes() > 1)
      standby_ = world_.at(1).name();
    return world_.find(standby_);
  }
  return world_.find(word);
}

std::vector<api_server::object_ptr> scene::members(const std::string& group_word) const {
  const auto name = split_name(group_named(group_word));
  const auto prefix = name.space + "/";
  const auto group = name.api_name();
  std::vector<api_server::object_ptr> out;
  const auto& all = objects().all(kind_id::pods);
  for (auto pos = all.lower_bound(prefix); pos != all.end() && pos->first.starts_with(prefix);
       ++pos) {
    auto of = pos->second->group;
    if (of.empty() && kubernetes_ == api::release::v1_35) {
      api_server::draft parsed{pos->second->body};
      of = api_server::text_at(parsed.doc(), {"spec", "workloadRef", "name"});
    }
    if (of == group)
      out.push_back(pos->second);
  }
  return out;
}

std::vector<api_server::object_ptr> scene::bound_members(const std::string& group_word) const {
  auto out = members(group_word);
  std::erase_if(out, [](const auto& pod) {
    return pod->node_name.empty() || pod->is_finished() || pod->is_deleting;
  });
  return out;
}

json::value scene::body_of(const api_server::object& x) {
  return json::parse(x.body);
}

std::optional<kind_id> scene::kind_named(const std::string& plural) {
  for (std::size_t i = 0; i < api_server::kind_count; ++i)
    if (api_server::info_of(static_cast<kind_id>(i)).plural == plural)
      return static_cast<kind_id>(i);
  return std::nullopt;
}

std::vector<api_server::object_ptr> scene::find(const target& whom) const {
  std::vector<api_server::object_ptr> out;
  const auto kind = kind_named(whom.plural);
  if (!kind)
    return out;
  if (whom.key == "*") {
    for (const auto& [key, x] : objects().all(*kind))
      out.push_back(x);
    return out;
  }
  if (auto x = objects().find(*kind, whom.key))
    out.push_back(std::move(x));
  return out;
}

// ---------------------------------------------------------------- the scheduler's mind

json::value scene::ask(const protocol::address& whom, const std::string& what,
                       const std::string& name) {
  const auto* leader = process_named("leader");
  const auto text = leader && leader->is_up() ? leader->inspect(whom, what, name) : std::string{};
  boost::system::error_code failed;
  auto out = json::parse(text.empty() ? "null" : text, failed);
  return failed ? json::value{} : out;
}

json::value scene::queue_row(const std::string& word) {
  auto key = split_name(group_named(word)).key();
  if (kubernetes_ == api::release::v1_35 && is_group(word))
    key += "/" + split_name(group_named(word)).api_name();
  return ask(protocol::to(protocol::role_kind::queue), "gang", key);
}

std::map<std::string, double> scene::metrics() {
  std::map<std::string, double> out;
  auto* leader = process_named("leader");
  if (!leader || !leader->replica())
    return out;
  auto& replica = *leader->replica();
  for (const auto& [name, n] : replica.notes().counts())
    out[fmt::format("gang_notes_total{{what=\"{}\"}}", name)] = static_cast<double>(n);
  const auto counted = replica.store_counters();
  out["gang_store_syncs_total"] = static_cast<double>(counted.syncs);
  out["gang_store_records_total"] = static_cast<double>(counted.records);
  out["gang_journal_bytes"] = static_cast<double>(counted.bytes);
  const auto status = ask(protocol::to(protocol::role_kind::queue), "status");
  if (const auto* all = status.if_object())
    if (const auto* phases = all->if_contains("phases"); phases && phases->is_object())
      for (const auto& [phase, n] : phases->get_object())
        out[fmt::format("gang_phase{{phase=\"{}\"}}", std::string_view{phase})] =
            n.to_number<double>();
  out["gang_invariant_violations_total"] = static_cast<double>(violations);
  return out;
}

// ---------------------------------------------------------------- marks and holds

std::size_t scene::resident_bytes() {
  malloc_trim(0); // what is free does not count
  std::ifstream in{"/proc/self/statm"};
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void scene::set_mark(const std::string& name) {
  marks_[name] = {resident_bytes(), metrics().size()};
  counts_.restart();
}

const scene::mark* scene::find_mark(const std::string& name) const {
  const auto pos = marks_.find(name);
  return pos == marks_.end() ? nullptr : &pos->second;
}

void scene::set_held(const std::string& gang, bool is_held) {
  if (is_held)
    held_.insert(gang);
  else
    held_.erase(gang);
}

} // namespace tutti::sim::scenario
