#include "chaos/coverage.hpp"

#include <algorithm>

#include "chaos/action.hpp"
#include "chaos/swarm.hpp"
#include "protocol/gang_role.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos {

namespace {

using cells = std::vector<std::pair<std::string_view, std::string_view>>;

bool is_hit(const coverage_matrix& hits, std::string_view fault, std::string_view state) {
  const auto pos = hits.find({std::string{fault}, std::string{state}});
  return pos != hits.end() && pos->second > 0;
}

cells cells_where(const std::vector<std::string_view>& faults, const auto& is_wanted) {
  cells out;
  for (const auto fault : faults)
    for (const auto& group : covered_states())
      for (const auto state : group.states)
        if (is_wanted(fault, state))
          out.emplace_back(fault, state);
  return out;
}

} // namespace

const std::vector<state_group>& covered_states() {
  static const std::vector<state_group> all{
      {"coordinator",
       {"idle", "planning", "seeking_victims", "preparing", "looking", "deciding", "committing",
        "evicting", "binding", "withdrawing", "finishing"}},
      {"participant", {"in-doubt", "committed", "consumed", "stale"}},
      {"bridge",
       {"bind", "read", "touch", "mark-victim", "delete-victim", "read-victim", "write-log"}},
  };
  return all;
}

bool is_state_of_a_role(std::string_view state) {
  const auto& all = covered_states();
  return state != "idle" && std::any_of(all.begin(), all.end(), [&](const auto& group) {
           return std::find(group.states.begin(), group.states.end(), state) != group.states.end();
         });
}

const std::vector<std::string_view>& covered_faults() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> out;
    for (const auto& kind : action_kinds())
      if (kind.what != "node" && kind.what != "gang")
        out.push_back(kind.what);
    return out;
  }();
  return all;
}

const impossible_cell* find_impossible(std::string_view fault, std::string_view state) {
  const auto& all = impossible_cells();
  const auto fits = [](std::string_view pattern, std::string_view x) {
    return pattern == "*" || pattern == x;
  };
  const auto pos = std::find_if(all.begin(), all.end(), [&](const auto& x) {
    return fits(x.fault, fault) && fits(x.state, state);
  });
  return pos == all.end() ? nullptr : &*pos;
}

std::vector<std::string_view> covered_faults(const swarm_options& of) {
  auto out = covered_faults();
  std::erase_if(out, [&](std::string_view what) {
    if (!is_fault(*find_kind(what)))
      return false;
    const bool is_left_out = !of.faults.empty() && !of.faults.contains(std::string{what});
    const bool needs_others = what == "link_cut" || what == "link" || what == "alien";
    return is_left_out || (needs_others && of.replicas == 1);
  });
  return out;
}

std::vector<std::pair<std::string_view, std::string_view>>
empty_cells(const coverage_matrix& hits, const std::vector<std::string_view>& faults) {
  return cells_where(faults, [&](auto fault, auto state) {
    return !is_hit(hits, fault, state) && find_impossible(fault, state) == nullptr;
  });
}

std::vector<std::pair<std::string_view, std::string_view>>
wrongly_impossible(const coverage_matrix& hits) {
  return cells_where(covered_faults(), [&](auto fault, auto state) {
    return is_hit(hits, fault, state) && find_impossible(fault, state) != nullptr;
  });
}

std::set<std::string_view> states_of(const protocol::address& where, const protocol::role& role) {
  std::set<std::string_view> out;
  if (where.kind == protocol::role_kind::gang) {
    const auto* gang = dynamic_cast<const protocol::gang_role*>(&role);
    if (gang != nullptr && gang->state() != protocol::attempt_state::over)
      out.insert(protocol::name_of(gang->state()));
  } else if (where.kind == protocol::role_kind::shard) {
    if (const auto* shard = dynamic_cast<const shards::shard_role*>(&role)) {
      if (!shard->nodes().is_fresh())
        out.insert("stale");
      for (const auto& [attempt, r] : shard->reservations().all())
        out.insert(r.is_in_doubt()                                  ? "in-doubt"
                   : r.state == shards::reservation_state::consumed ? "consumed"
                                                                    : "committed");
    }
  }
  return out;
}

std::string_view step_of(const protocol::address& where, const protocol::http_request& request) {
  const auto word = request_word(request.method, request.target);
  switch (where.kind) {
  case protocol::role_kind::binder:
    return word == "bind" ? "bind" : word == "touch" ? "touch" : word == "read" ? "read" : "";
  case protocol::role_kind::evictor:
    return word == "status"  ? "mark-victim"
           : word == "evict" ? "delete-victim"
           : word == "read"  ? "read-victim"
                             : "";
  case protocol::role_kind::decisions:
    return word == "decide" ? "write-log" : "";
  default:
    return "";
  }
}

} // namespace tutti::chaos
