// Everything from scratch: what the judge has kept up with, step by step, is made anew from the
// objects of the API server, from what is durable and from the roles themselves, and compared.
#include "chaos/checker.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/decode.hpp"
#include "api/requests.hpp"
#include "base/ensure.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/sharding.hpp"
#include "queue/queue_role.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos {

using sim::api_server::kind_id;

namespace {

constexpr std::uint64_t deliveries_between_recounts = 1'000;

/// Uids of gangs that the queue lists twice. Of one name there may be two for a while: a group that
/// is gone, and whose attempt is not over, and its heir.
std::vector<std::string> listed_twice(sim::process& who) {
  std::set<std::string> seen;
  std::vector<std::string> out;
  const auto text = who.inspect(protocol::to(protocol::role_kind::queue), "gangs", {});
  boost::json::monotonic_resource memory;
  boost::system::error_code failed;
  const auto rows = boost::json::parse(text.empty() ? "[]" : text, failed, &memory);
  if (failed || !rows.is_array())
    return out;
  for (const auto& row : rows.get_array()) {
    const auto* uid = row.get_object().if_contains("uid");
    if (uid && uid->is_string() && !uid->get_string().empty()
        && !seen.insert(std::string{uid->get_string()}).second)
      out.emplace_back(uid->get_string());
  }
  return out;
}

} // namespace

void checker::look_around() {
  if (broken_)
    return;
  if (deliveries_ >= recounted_at_ + deliveries_between_recounts) {
    recounted_at_ = deliveries_;
    recount();
  }
  rest();
}

void checker::recount() {
  recount_decisions();
  recount_room();
  recount_plans();
  recount_bound();
  for (std::size_t n = 0; n < on_.processes() && !broken_; ++n)
    if (on_.at(n).is_up())
      recount_roles(on_.at(n));
}

/// S2: one decision as it is durable now.
void checker::take_durable(const protocol::decision& x, std::set<base::slot_id>& found) {
  const auto slot = base::slot_of(x.by);
  const auto known = decisions_.find(slot);
  if (!found.insert(slot).second)
    say("S2", name_of(x) + " is kept twice");
  else if (known == decisions_.end())
    say("S2", name_of(x) + " is there, and nobody has seen it written");
  else if (!(known->second.latest == x))
    say("S2", name_of(x) + " is not as it was written last");
}

/// Upholds S2, from scratch: the log holds what was written, and everything of it that is not
/// finished.
void checker::recount_decisions() {
  if (!look("S2"))
    return;
  std::set<base::slot_id> found;
  for (const auto& [key, object] : on_.api().plane().objects().all(kind_id::gang_decisions))
    if (auto read = decision_in(*object))
      take_durable(*read, found);
  for (std::size_t n = 0; n < on_.processes(); ++n) {
    auto& p = on_.at(n);
    const auto& disk = p.is_up() ? p.store().durable() : p.disk();
    for (const auto& [key, value] : disk.of(persistence::family::decisions))
      take_durable(decision_in(key, value), found);
  }
  for (const auto& [slot, d] : decisions_)
    if (!d.is_lost && !d.is_over && !protocol::is_finished(d.latest) && !found.contains(slot))
      say("S2", name_of(d.first) + " is not finished, and not in the log any more");
}

/// Upholds S1a and S1b, from scratch. What was decided or bound at any time did fit then, so that
/// no more of ours may be there than the most that the node has offered.
void checker::recount_room() {
  if (!look("J1") || !look("S1b"))
    return;
  room_book made;
  const auto& pods = on_.api().plane().objects().all(kind_id::pods);
  for (const auto& [key, object] : pods) {
    auto& asks = asks_[object->uid];
    if (asks.first != object->rev) {
      const auto read = api::decode_pod(sim::api_server::draft{object->body}.doc());
      ensure(read.has_value(), object->key);
      asks = {object->rev, api::footprint_of(*read).amounts};
    }
    pod_truth x;
    x.uid = object->uid;
    x.node = object->node_name;
    x.takes.amounts = asks.second;
    x.is_finished = object->is_finished();
    made.pod_changed(nullptr, &x);
  }
  std::erase_if(asks_, [this](const auto& x) { return !truth_.pods().contains(x.first); });
  for (const auto& [slot, d] : decisions_)
    if (d.is_live())
      for (const auto& part : d.first.chosen.slices)
        for (const auto& s : part.seats)
          if (!is_cancelled(d, s.pod))
            made.hold(slot, s);
  if (const auto text = room_.difference(made); !text.empty())
    say("J1", text);
  auto victims = victims_by_node();
  for (const auto& [name, node] : truth_.nodes()) {
    const auto ever = truth_.offered_ever(name);
    const auto here = made.here(name) - room_.brought(name, std::nullopt);
    if (const auto lacks = base::first_shortage(here, ever); !lacks.fits())
      say("S1b", fmt::format("node {} has {} {} of ours, and has never offered more than {}", name,
                             lacks.name, lacks.need, lacks.room));
    if (has_replicas() || !look("S1a"))
      continue; // plans may collide there (checker_room.cpp)
    const auto all = here + made.promised(node.uid) - victims[name];
    if (const auto lacks = base::first_shortage(all, ever); !lacks.fits())
      say("S1a", fmt::format("node {} has or is promised {} {}, and has never offered more than {}",
                             name, lacks.name, lacks.need, lacks.room));
  }
}

/// Upholds S5, S6, S7 and S9, from scratch: over all decisions that are known.
void checker::recount_plans() {
  if (!look("S5") || !look("S6") || !look("S7"))
    return;
  std::map<base::pod_uid, const protocol::decision*> members;
  std::map<base::pod_uid, const protocol::decision*> victims;
  const known_decision* open = nullptr; // of the gang at hand
  for (const auto& [slot, d] : decisions_) {
    if (d.is_lost || d.is_over)
      continue;
    if (open != nullptr && slot.gang == open->first.by.gang)
      say("S7", fmt::format("{} was written, and {} is not done", name_of(d.first),
                            name_of(open->first)));
    open = protocol::is_finished(d.latest) ? nullptr : &d;
    if (d.first.what != protocol::verdict::committed)
      continue;
    if (d.latest.is_done)
      check_done(d);
    for (const auto& part : d.first.chosen.slices) {
      if (!d.is_live())
        continue;
      for (const auto& s : part.seats)
        if (!is_cancelled(d, s.pod) && !members.emplace(s.pod, &d.first).second)
          say("S6", fmt::format("pod {} is in {} and in {}", s.pod_name, name_of(d.first),
                                name_of(*members[s.pod])));
      for (const auto& v : part.victims)
        if (look("S9") && !victims.emplace(v.pod, &d.first).second)
          say("S9", fmt::format("pod {} is to go for {} and for {}", protocol::to_text(v.pod_name),
                                name_of(d.first), name_of(*victims[v.pod])));
    }
  }
}

/// Upholds S3, from scratch: whoever is bound and was not brought bound was decided for that node.
/// And P2, which holds at every moment.
void checker::recount_bound() {
  if (!look("S3"))
    return;
  for (const auto& [uid, pod] : truth_.pods())
    if (pod.is_ours && !pod.came_bound && !pod.node.empty() && !decided_.contains({uid, pod.node}))
      say("S3", fmt::format("pod {} is bound to {}, and no decision said so", pod.name, pod.node));
  for (const auto& [name, group] : truth_.groups())
    check_domains(name, group);
}

/// Upholds S10, S12 and S13 as far as they hold at every moment, by what roles hold now.
void checker::recount_roles(sim::process& who) {
  if (look("S13"))
    for (const auto& uid : listed_twice(who))
      say("S13", fmt::format("gang {} is in the queue of {} twice", uid, who.name()));
  for (std::uint32_t s = 0; s < who.options().shards; ++s) {
    const auto* role = dynamic_cast<const shards::shard_role*>(who.role(protocol::to_shard({s})));
    if (role == nullptr || !look("S10") || !look("S12"))
      continue;
    const auto& word = shards_[{who.name(), s}];
    if (role->nodes().is_fresh() && !word.is_fresh)
      say("S12", fmt::format("shard {} takes its view for fresh, and was told that it is not", s));
    for (const auto& [attempt, r] : role->reservations().all()) {
      const auto decided = decisions_.find(base::slot_of(attempt));
      const bool is_known = begun_.contains(attempt) || decided != decisions_.end();
      if (!is_known)
        say("S10", fmt::format("shard {} holds room for an attempt of gang {} that nobody began", s,
                               attempt.gang.value));
      else if (r.is_in_doubt() && word.given_up.contains(attempt))
        say("S10", fmt::format("shard {} holds room for gang {}, and was told that its attempt is "
                               "given up",
                               s, attempt.gang.value));
    }
  }
}

} // namespace tutti::chaos
