// Keepers of several replicas, an API server that has nothing but Leases and the map, and time.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "bridge/keeper_role.hpp"

namespace tutti::bridge::testing {

namespace json = boost::json;
using namespace std::chrono_literals;

/// Objects by path, with versions, behind compare-and-set.
class tiny_api {
public:
  struct reply {
    int status = 0;
    std::string body;
  };

  reply ask(const protocol::http_request& r) {
    const auto path = r.target.substr(0, r.target.find('?'));
    if (r.method == "GET" && path == leases_path())
      return list();
    if (r.method == "GET")
      return objects.contains(path) ? reply{200, json::serialize(objects.at(path))}
                                    : reply{404, {}};
    auto sent = json::parse(r.body).as_object();
    writes[path] += 1;
    if (is_refused(sent))
      return {422, {}};
    auto& meta = sent.at("metadata").as_object();
    if (r.method == "POST") {
      const auto whole = path + "/" + std::string{meta.at("name").as_string()};
      if (objects.contains(whole))
        return {409, {}};
      return put(whole, std::move(sent), 201);
    }
    if (!objects.contains(path))
      return {404, {}};
    if (objects.at(path).at("metadata").at("resourceVersion") != meta.at("resourceVersion"))
      return {409, {}};
    return put(path, std::move(sent), 200);
  }
  json::object& map() { return objects.at("/apis/tutti.dev/v1alpha1/partitionmaps/tutti"); }
  std::uint64_t epoch(const std::string& list, std::size_t n) {
    return map().at("spec").at(list).at(n).at("epoch").to_number<std::uint64_t>();
  }
  std::string owner(const std::string& list, std::size_t n) {
    return std::string{map().at("spec").at(list).at(n).at("replica").as_string()};
  }
  std::string holder(const std::string& replica) {
    const auto& lease = objects.at(leases_path() + "/" + lease_name(replica));
    const auto* holder = lease.at("spec").as_object().if_contains("holderIdentity");
    return holder ? std::string{holder->as_string()} : std::string{};
  }
  /// As somebody else would.
  void touch(json::object& object) {
    object.at("metadata").as_object()["resourceVersion"] = std::to_string(++version);
  }

  std::map<std::string, json::object> objects;
  std::map<std::string, int> writes; ///< asked for, by path
  bool refuses_leases = false;
  int version = 0;

private:
  /// As a genuine server: a holder may be absent, and not empty.
  bool is_refused(const json::object& sent) const {
    if (sent.at("kind") != "Lease")
      return false;
    const auto* holder = sent.at("spec").as_object().if_contains("holderIdentity");
    return refuses_leases || (holder && *holder == "");
  }
  reply put(const std::string& path, json::object what, int status) {
    touch(what);
    objects[path] = std::move(what);
    return {status, json::serialize(objects.at(path))};
  }
  reply list() {
    json::array items;
    for (const auto& [path, object] : objects)
      if (path.starts_with(leases_path()))
        items.push_back(object);
    return {200, json::serialize(json::object{{"items", std::move(items)}})};
  }
};

/// One process: its keeper, its timers, its way to the server.
struct replica_seat {
  std::unique_ptr<keeper_role> role;
  std::map<protocol::timer_id, base::time_point> timers;
  std::deque<std::pair<std::uint64_t, protocol::http_request>> pending;
  std::vector<protocol::own> owns;
  std::vector<protocol::send> sent;
  std::vector<std::string> notes;
  int errors = 0;
  bool is_cut = false;        ///< requests get no answer and do nothing
  bool loses_answers = false; ///< requests are done, answers lost
  bool answers_lists = true;  ///< there is a `decisions` that answers at once
  bool has_retired = false;

  /// What it may run, by its last word.
  std::map<protocol::address, std::uint64_t> runs() const {
    std::map<protocol::address, std::uint64_t> out;
    if (owns.empty())
      return out;
    const auto& last = *owns.back().what;
    for (std::uint32_t i = 0; i < last.shards.size(); ++i)
      if (last.shards[i].replica == last.self)
        out[protocol::to_shard({i})] = last.shards[i].epoch.value;
    for (std::uint32_t i = 0; i < last.partitions.size(); ++i)
      if (last.partitions[i].replica == last.self)
        out[protocol::to_partition({i})] = last.partitions[i].epoch.value;
    return out;
  }
  template <class M>
  std::vector<M> said() const {
    std::vector<M> out;
    for (const auto& s : sent)
      if (const auto* m = std::get_if<M>(&s.what))
        out.push_back(*m);
    return out;
  }
};

class replica_world {
public:
  static constexpr std::uint32_t shards = 4;
  static constexpr std::uint32_t partitions = 8;

  replica_seat& start(const std::string& process, const std::string& replica) {
    auto& s = seats[process];
    s = {};
    s.role = std::make_unique<keeper_role>(keeper_role::options{.replica = replica,
                                                                .holder = replica + "_" + process,
                                                                .shards = shards,
                                                                .partitions = partitions,
                                                                .wall_at_zero = {}});
    tell(process, protocol::started{.epoch = {1}, .incarnation = {1}, .seed = 3});
    return s;
  }
  void kill(const std::string& process) { seats.erase(process); }

  void tell(const std::string& process, const protocol::event& e) {
    auto& s = seats.at(process);
    const auto wanted = s.role->on(e, now);
    for (const auto& x : wanted.list())
      take(process, s, x);
  }
  template <class M>
  void say(const std::string& process, const protocol::address& from, M m) {
    tell(process, protocol::received{from, protocol::message{std::move(m)}});
  }
  replica_seat& at(const std::string& process) { return seats.at(process); }

  void run_for(base::duration how_long) {
    const auto end = now + how_long;
    while (answer_one() || fire_one(end)) {
    }
    now = end;
  }

  tiny_api api;
  base::time_point now{};
  std::map<std::string, replica_seat> seats;
  std::vector<std::string> log; ///< "a list", "a PUT …"

private:
  void take(const std::string& process, replica_seat& s, const protocol::effect& e) {
    if (const auto* x = std::get_if<protocol::exchange>(&e)) {
      s.pending.push_back({x->id, x->request});
    } else if (const auto* h = std::get_if<protocol::hang_up>(&e)) {
      std::erase_if(s.pending, [&](const auto& p) { return p.first == h->id; });
    } else if (const auto* t = std::get_if<protocol::arm>(&e)) {
      s.timers[t->timer] = now + t->after;
    } else if (const auto* n = std::get_if<protocol::note>(&e)) {
      s.notes.emplace_back(n->what);
      s.errors += n->is_error ? 1 : 0;
    } else if (const auto* own = std::get_if<protocol::own>(&e)) {
      s.owns.push_back(*own);
    } else if (const auto* m = std::get_if<protocol::send>(&e)) {
      s.sent.push_back(*m);
      if (const auto* wanted = std::get_if<protocol::slots_wanted>(&m->what)) {
        log.push_back(process + " list");
        if (s.answers_lists)
          lists.push_back({process, wanted->id});
      }
    } else if (std::holds_alternative<protocol::retire>(e)) {
      s.has_retired = true;
    }
  }
  bool answer_one() {
    if (!lists.empty()) {
      const auto [process, id] = lists.front();
      lists.pop_front();
      if (seats.contains(process))
        say(process, protocol::to(protocol::role_kind::decisions), protocol::slots_told{id, {}});
      return true;
    }
    for (auto& [process, s] : seats) {
      if (s.is_cut || s.pending.empty())
        continue;
      const auto [id, request] = s.pending.front();
      s.pending.pop_front();
      const auto got = api.ask(request);
      if (request.method != "GET")
        log.push_back(fmt::format("{} {} {} {}", process, request.method,
                                  request.target.substr(request.target.rfind('/') + 1),
                                  got.status));
      if (s.loses_answers)
        tell(process, protocol::answer_unknown{id, "lost"});
      else
        tell(process, protocol::answered{id, got.status, got.body, 0});
      return true;
    }
    return false;
  }
  bool fire_one(base::time_point end) {
    std::optional<std::tuple<base::time_point, std::string, protocol::timer_id>> next;
    for (const auto& [process, s] : seats)
      for (const auto& [timer, due] : s.timers)
        if (!next || due < std::get<0>(*next))
          next = {due, process, timer};
    if (!next || std::get<0>(*next) > end)
      return false;
    now = std::max(now, std::get<0>(*next));
    seats.at(std::get<1>(*next)).timers.erase(std::get<2>(*next));
    tell(std::get<1>(*next), protocol::timer_fired{std::get<2>(*next)});
    return true;
  }

  std::deque<std::pair<std::string, std::uint64_t>> lists;
};

} // namespace tutti::bridge::testing
