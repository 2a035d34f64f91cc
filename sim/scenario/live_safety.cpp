#include "sim/scenario/live_safety.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/decode.hpp"
#include "api/requests.hpp"

namespace tutti::sim::scenario {

namespace {

using api_server::kind_id;
using api_server::look;

/// The minimum of a gang that nobody has called started; nothing for others.
std::optional<std::int64_t> minimum_of(const api_server::object& group) {
  api_server::draft parsed{group.body};
  const auto* min = look(parsed.doc(), {"spec", "schedulingPolicy", "gang", "minCount"});
  if (!min || !min->is_int64() || group.is_deleting)
    return std::nullopt;
  const auto* list = look(parsed.doc(), {"status", "conditions"});
  for (const auto& c : list && list->is_array() ? list->get_array() : boost::json::array{})
    if (api_server::text_at(c.as_object(), {"status"}) == "True")
      return std::nullopt;
  return min->get_int64();
}

} // namespace

/// What others have on a node already is theirs to answer for: only what this pod asks for counts.
std::optional<std::string> live_safety::too_much_for(const api_server::object& chosen) const {
  const auto found = copy_.objects().find(kind_id::nodes, chosen.node_name);
  if (!found)
    return std::nullopt;
  api_server::draft parsed{found->body};
  const auto has = api::decode_node(parsed.doc());
  if (!has)
    return std::nullopt;
  base::resources room = has->allocatable, need;
  for (const auto& [key, pod] : copy_.objects().all(kind_id::pods)) {
    if (pod->node_name != chosen.node_name || pod->is_finished())
      continue;
    api_server::draft each{pod->body};
    const auto read = api::decode_pod(each.doc());
    if (!read)
      continue;
    if (pod->key == chosen.key)
      need = api::footprint_of(*read).amounts;
    else
      room -= api::footprint_of(*read).amounts;
  }
  const auto lacking = base::first_shortage(need, room);
  if (lacking.fits())
    return std::nullopt;
  return fmt::format("S1b: {} was bound to {}, which has not enough {} for it", chosen.key,
                     chosen.node_name, lacking.name);
}

std::optional<std::string> live_safety::look() {
  const auto& all = copy_.objects();
  std::vector<api_server::object_ptr> chosen;
  std::set<std::string> changed;
  for (auto n = all.event_after(kind_id::nodes, seen_); n < all.end_event(kind_id::nodes); ++n)
    changed.insert(all.event_at(kind_id::nodes, n).now->key);
  for (auto n = all.event_after(kind_id::pods, seen_); n < all.end_event(kind_id::pods); ++n) {
    const auto& e = all.event_at(kind_id::pods, n);
    if (e.now->node_name.empty() || (e.before && !e.before->node_name.empty()))
      continue;
    if (e.before && e.now->scheduler_name == scheduler_)
      chosen.push_back(e.now);
    else
      changed.insert(e.now->node_name);
  }
  seen_ = all.last();
  for (const auto& pod : chosen)
    if (!changed.contains(pod->node_name))
      if (auto wrong = too_much_for(*pod))
        return wrong;
  return std::nullopt;
}

std::optional<std::string> live_safety::settled() const {
  std::map<std::string, std::int64_t> bound;
  for (const auto& [key, pod] : copy_.objects().all(kind_id::pods))
    if (!pod->group.empty() && !pod->node_name.empty() && !pod->is_finished() && !pod->is_deleting)
      ++bound[api_server::key_of(pod->ns(), pod->group)];
  for (const auto& [key, n] : bound)
    if (const auto group = copy_.objects().find(kind_id::pod_groups, key))
      if (const auto min = minimum_of(*group); min && n < *min)
        return fmt::format("a gang that has not started has no member bound or its minimum: {} has "
                           "{} of {}",
                           key, n, *min);
  return std::nullopt;
}

} // namespace tutti::sim::scenario
