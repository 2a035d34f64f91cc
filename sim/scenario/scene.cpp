#include "sim/scenario/scene.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "actors/replica.hpp"
#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "bridge/partition_map.hpp"
#include "protocol/sharding.hpp"
#include "sim/scenario/held_memory.hpp"

namespace tutti::sim::scenario {

namespace json = boost::json;
using api_server::kind_id;

world& scene::where() const {
  ensure(world_ != nullptr);
  return *world_;
}

tally& scene::counts() const {
  ensure(counts_ != nullptr);
  return *counts_;
}

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

/// Whoever owns shard 0 leads; whoever is called so first stays it.
process* scene::process_named(const std::string& word) {
  if (word == "leader") {
    if (leader_.empty())
      if (const auto* owner = owner_of(protocol::to_shard({0})))
        leader_ = owner->name();
    return where().find(leader_);
  }
  if (word == "standby") {
    const auto* leader = standby_.empty() ? process_named("leader") : nullptr;
    for (std::size_t n = 0; leader && n < where().processes() && standby_.empty(); ++n)
      if (&where().at(n) != leader)
        standby_ = where().at(n).name();
    return where().find(standby_);
  }
  return where().find(word);
}

// ---------------------------------------------------------------- several replicas

/// Parsed once per version: it is asked for at every step.
std::string scene::owner_in_map(const protocol::address& unit) {
  const auto map = objects().find(kind_id::partition_maps, "tutti");
  if (!map)
    return {};
  if (map->rev != owners_at_) {
    owners_at_ = map->rev;
    owners_.clear();
    api_server::draft parsed{map->body};
    for (const auto kind : {protocol::role_kind::shard, protocol::role_kind::partition}) {
      const auto* units = api_server::look(
          parsed.doc(), {"spec", kind == protocol::role_kind::shard ? "shards" : "partitions"});
      std::uint32_t n = 0;
      for (const auto& x : units->as_array())
        owners_[{kind, n++, {}}] = api_server::text_at(x.as_object(), {"replica"});
    }
  }
  const auto pos = owners_.find(unit);
  return pos == owners_.end() ? std::string{} : pos->second;
}

process* scene::owner_of(const protocol::address& unit) {
  return has_others() ? where().find(owner_in_map(unit)) : &where().at(0);
}

bool scene::is_shared_out() {
  if (!has_others())
    return true;
  std::set<std::string> live;
  for (std::size_t n = 0; n < where().processes(); ++n)
    if (where().at(n).is_up())
      live.insert(where().at(n).name());
  if (live.empty())
    return false;
  const auto is_owned = [&](const protocol::address& unit) {
    const auto* who = owner_of(unit);
    return who && who->is_up() && who->role(unit) != nullptr
           && who->name() == bridge::chosen_for(unit, live);
  };
  const auto shards = where().at(0).options().shards;
  for (std::uint32_t n = 0; n < shards; ++n)
    if (!is_owned(protocol::to_shard({n})))
      return false;
  for (std::uint32_t n = 0; n < base::limits::partitions; ++n)
    if (!is_owned(protocol::to_partition({n})))
      return false;
  return true;
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
  const bool is_owned = whom.kind == protocol::role_kind::shard;
  const auto* who = is_owned ? owner_of(whom) : process_named("leader");
  for (std::size_t n = 0; !is_owned && !(who && who->is_up()) && n < where().processes(); ++n)
    who = &where().at(n);
  return ask(who, whom, what, name);
}

json::value scene::ask(const process* who, const protocol::address& whom, const std::string& what,
                       const std::string& name) const {
  const auto text = who && who->is_up() ? who->inspect(whom, what, name) : std::string{};
  boost::system::error_code failed;
  auto out = json::parse(text.empty() ? "null" : text, failed);
  return failed ? json::value{} : out;
}

json::value scene::queue_row(const std::string& word) {
  if (!has_mind())
    return {};
  auto key = split_name(group_named(word)).key();
  if (kubernetes_ == api::release::v1_35 && is_group(word))
    key += "/" + split_name(group_named(word)).api_name();
  const auto queue = protocol::to(protocol::role_kind::queue);
  const auto root = is_group(word) ? group(word) : pod(word);
  if (!has_others() || !root)
    return ask(queue, "gang", key);
  return ask(owner_of(protocol::to_partition(protocol::partition_of({root->uid}))), queue, "gang",
             key);
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

void scene::set_mark(const std::string& name, bool measures_memory) {
  marks_[name] = {measures_memory ? bytes_of_schedulers(where()) : 0, metrics().size()};
  counts().restart();
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
