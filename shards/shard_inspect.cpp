// What a shard says of itself to people: JSON for the command line and the web page.
#include "shards/shard_role.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "base/attempt_text.hpp"

namespace tutti::shards {

using namespace protocol;
namespace json = boost::json;

namespace {

std::int64_t milliseconds(base::duration x) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(x).count();
}

json::object describe(const base::attempt_id& attempt, const reservation& r, base::time_point now) {
  json::array nodes;
  std::set<base::node_name> names;
  for (const auto& s : r.asked->seats)
    if (r.left.contains(s.pod))
      names.insert(s.node_name);
  for (const auto& name : names)
    nodes.emplace_back(name.value);
  return {{"attempt", to_text(attempt)},
          {"gang", attempt.gang.value},
          {"state", std::string{name_of(r.state)}},
          {"partition", r.coordinator.value},
          {"members", r.asked->seats.size()},
          {"held", r.left.size()},
          {"nodes", std::move(nodes)},
          {"victims", r.asked->victims.size()},
          {"guards", r.asked->guards.size()},
          {"finished", r.is_finished},
          {"age_ms", milliseconds(now - r.since)}};
}

} // namespace

/// "shards": one object about this shard. "holds": its reservations, oldest attempt first. `name`,
/// if given, is this shard's number; a shard that is not meant, or does not know `what`, answers
/// with nothing.
void shard_role::hear(const inspect& x) {
  inspected answer{x.id, {}};
  const bool is_meant = x.name.empty() || x.name == std::to_string(how_.shard.value);
  if (is_meant && x.what == "shards") {
    std::size_t in_doubt = 0;
    auto oldest = now_, oldest_in_doubt = now_;
    for (const auto& [attempt, r] : book_.all()) {
      oldest = std::min(oldest, r.since);
      if (!r.is_in_doubt())
        continue;
      ++in_doubt;
      oldest_in_doubt = std::min(oldest_in_doubt, r.since);
    }
    const auto nodes = std::count_if(nodes_.all().begin(), nodes_.all().end(),
                                     [](const auto& e) { return e.second.facts != nullptr; });
    answer.json =
        json::serialize(json::object{{"shard", how_.shard.value},
                                     {"epoch", epoch_.value},
                                     {"incarnation", incarnation_.value},
                                     {"fresh", nodes_.is_fresh()},
                                     {"nodes", nodes},
                                     {"preparing", gatherings_.size()},
                                     {"prepared", in_doubt},
                                     {"in_doubt", in_doubt},
                                     {"committed", book_.all().size() - in_doubt},
                                     {"oldest_ms", milliseconds(now_ - oldest)},
                                     {"in_doubt_oldest_ms", milliseconds(now_ - oldest_in_doubt)}});
  } else if (is_meant && x.what == "holds") {
    json::array holds;
    for (const auto& [attempt, r] : book_.all())
      holds.push_back(describe(attempt, r, now_));
    answer.json = json::serialize(holds);
  }
  out_.tell(from_, std::move(answer));
}

} // namespace tutti::shards
