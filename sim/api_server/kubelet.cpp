// What nodes do with the pods bound to them.
#include "sim/api_server/kubelet.hpp"

#include <algorithm>

#include "api/timestamp.hpp"
#include "base/ensure.hpp"
#include "sim/api_server/run_for.hpp"

namespace tutti::sim::api_server {

namespace {

std::optional<base::duration> run_for_of(const json::object& doc) {
  auto text = text_at(doc, {"metadata", "annotations", run_for_annotation});
  return text.empty() ? std::nullopt : parse_duration(text);
}

json::object& condition(json::array& list, std::string_view type) {
  auto it = std::ranges::find_if(list, [&](const json::value& c) {
    return c.is_object() && text_at(c.get_object(), {"type"}) == type;
  });
  if (it == list.end()) {
    list.emplace_back(json::object(list.storage()));
    it = list.end() - 1;
    it->get_object()["type"] = type;
  }
  return it->get_object();
}

void set_condition(json::array& list, std::string_view type, bool holds, std::string_view reason,
                   std::string_view now) {
  auto& c = condition(list, type);
  c["status"] = holds ? "True" : "False";
  c["lastProbeTime"] = nullptr;
  c["lastTransitionTime"] = now;
  if (reason.empty())
    c.stable_erase("reason");
  else
    c["reason"] = reason;
}

json::array& conditions_of(json::object& status) {
  auto& list = status["conditions"];
  if (!list.is_array())
    list = json::array(status.storage());
  return list.get_array();
}

void write_containers(json::object& doc, bool is_running, std::string_view now) {
  auto* containers = look(doc, {"spec", "containers"});
  auto& status = child(doc, "status");
  json::array out(doc.storage());
  if (containers && containers->is_array())
    for (const auto& c : containers->get_array()) {
      if (!c.is_object())
        continue;
      json::object one(doc.storage());
      one["name"] = text_at(c.get_object(), {"name"});
      one["image"] = text_at(c.get_object(), {"image"});
      one["imageID"] = "";
      one["ready"] = is_running;
      one["started"] = is_running;
      one["restartCount"] = 0;
      auto& state = child(one, "state");
      if (is_running) {
        child(state, "running")["startedAt"] = now;
      } else {
        auto& end = child(state, "terminated");
        end["exitCode"] = 0;
        end["reason"] = "Completed";
        end["finishedAt"] = now;
      }
      out.push_back(std::move(one));
    }
  status["containerStatuses"] = std::move(out);
}

} // namespace

void kubelet::begin(base::time_point now) {
  if (!options_.is_on)
    return;
  pods_seen_ = store_.end_event(kind_id::pods);
  nodes_seen_ = store_.end_event(kind_id::nodes);
  std::vector<object_ptr> all;
  for (const auto& [key, pod] : store_.all(kind_id::pods))
    all.push_back(pod);
  std::erase_if(tasks_, [&](const auto& t) {
    auto is_gone = !store_.find(kind_id::pods, t.first);
    if (is_gone)
      by_time_.erase({t.second.due, t.first});
    return is_gone;
  });
  auto wall = clock_.wall_now();
  for (const auto& pod : all) {
    auto is_known = tasks_.contains(pod->key);
    look_at(pod, now);
    auto it = tasks_.find(pod->key);
    if (is_known || it == tasks_.end() || it->second.doing == what::start)
      continue;
    // What is left of its time, counted from what the object says about its beginning or end.
    draft parsed{pod->body};
    auto t = it->second;
    auto from = api::parse_timestamp(t.doing == what::die
                                         ? text_at(parsed.doc(), {"metadata", "deletionTimestamp"})
                                         : text_at(parsed.doc(), {"status", "startTime"}));
    if (!from)
      continue;
    auto passed = std::chrono::milliseconds{wall.unix_ms - from->unix_ms};
    t.due = t.doing == what::die ? now - passed : t.due - passed;
    plan(pod->key, t);
  }
}

void kubelet::react(base::time_point now) {
  if (!options_.is_on)
    return;
  if (pods_seen_ < store_.first_event(kind_id::pods)
      || nodes_seen_ < store_.first_event(kind_id::nodes))
    begin(now); // more happened at once than the window holds: look at everything again
  for (; nodes_seen_ < store_.end_event(kind_id::nodes); ++nodes_seen_) {
    const auto e = store_.event_at(kind_id::nodes, nodes_seen_);
    if (e.what == change::added)
      start_all_on(e.now->name(), now);
    if (auto current = store_.find(kind_id::nodes, e.now->key); current == e.now)
      report_node(current);
  }
  // Our own writes make events that are read in the same loop; each pod takes two rounds at most.
  for (; pods_seen_ < store_.end_event(kind_id::pods); ++pods_seen_) {
    if (pods_seen_ < store_.first_event(kind_id::pods))
      return begin(now); // as above, by our own writes
    auto e = store_.event_at(kind_id::pods, pods_seen_);
    if (e.what == change::deleted)
      drop(e.now->key);
    else if (auto current = store_.find(kind_id::pods, e.now->key); current == e.now)
      look_at(current, now); // older versions of it tell nothing any more
  }
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    auto key = by_time_.begin()->second;
    auto t = tasks_.at(key);
    drop(key);
    auto pod = store_.find(kind_id::pods, key);
    if (pod && pod->uid == t.uid)
      perform(pod, t, now);
  }
  if (pods_seen_ < store_.end_event(kind_id::pods))
    react(now); // what was just done may have started a timer
}

std::optional<base::time_point> kubelet::next_deadline() const {
  if (by_time_.empty())
    return std::nullopt;
  return by_time_.begin()->first;
}

void kubelet::look_at(const object_ptr& pod, base::time_point now) {
  auto it = tasks_.find(pod->key);
  const auto* has = it != tasks_.end() && it->second.uid == pod->uid ? &it->second : nullptr;
  if (pod->node_name.empty() || pod->is_finished()) {
    drop(pod->key);
    if (pod->is_deleting && pod->is_finished() && !pod->node_name.empty())
      plan(pod->key, {what::die, pod->uid, now, 0}); // nothing of it runs any more
    return;
  }
  if (pod->is_deleting) {
    draft parsed{pod->body};
    auto* g = look(parsed.doc(), {"metadata", "deletionGracePeriodSeconds"});
    auto grace = g && g->is_int64() ? g->get_int64() : 0;
    if (!has || has->doing != what::die || has->grace_s != grace)
      plan(pod->key, {what::die, pod->uid, now + std::chrono::seconds{grace}, grace});
    return;
  }
  if (has)
    return;
  if (pod->phase != "Running") {
    if (!store_.find(kind_id::nodes, pod->node_name))
      return; // no such node, no kubelet
    task t{what::start, pod->uid, now + options_.start_delay, 0};
    if (options_.start_delay == base::duration{0})
      perform(pod, t, now);
    else
      plan(pod->key, t);
    return;
  }
  if (pod->body.find(run_for_annotation) == std::string::npos)
    return;
  draft parsed{pod->body};
  if (auto time = run_for_of(parsed.doc()))
    plan(pod->key, {what::finish, pod->uid, now + *time, 0});
}

void kubelet::start_all_on(std::string_view node, base::time_point now) {
  std::vector<object_ptr> waiting;
  for (const auto& [key, pod] : store_.all(kind_id::pods))
    if (pod->node_name == node)
      waiting.push_back(pod);
  for (const auto& pod : waiting)
    look_at(pod, now);
}

void kubelet::plan(const std::string& key, task t) {
  drop(key);
  by_time_.emplace(t.due, key);
  tasks_.emplace(key, std::move(t));
  ensure(by_time_.size() == tasks_.size(), by_time_.size(), tasks_.size());
}

void kubelet::drop(const std::string& key) {
  auto it = tasks_.find(key);
  if (it == tasks_.end())
    return;
  by_time_.erase({it->second.due, key});
  tasks_.erase(it);
}

void kubelet::perform(const object_ptr& pod, const task& t, base::time_point now) {
  switch (t.doing) {
  case what::start:
    if (!pod->is_deleting)
      start(pod, now);
    break;
  case what::finish:
    if (!pod->is_deleting)
      finish(pod);
    break;
  case what::die:
    if (pod->is_deleting)
      registry_.finish_deletion(kind_id::pods, pod);
    break;
  }
}

/// A node of which nobody has said whether it is well has a kubelet of ours, and it is.
void kubelet::report_node(const object_ptr& node) {
  if (node->body.find("\"KubeletReady\"") != std::string::npos)
    return; // said already, and cheaper than to parse it
  draft parsed{node->body};
  auto& list = conditions_of(child(parsed.doc(), "status"));
  for (const auto& c : list)
    if (c.is_object() && text_at(c.get_object(), {"type"}) == "Ready")
      return;
  const auto now = api::timestamp_text(clock_.wall_now());
  set_condition(list, "Ready", true, "KubeletReady", now);
  condition(list, "Ready")["lastHeartbeatTime"] = now;
  condition(list, "Ready").stable_erase("lastProbeTime");
  registry_.write_status(kind_id::nodes, *node, parsed.doc());
}

void kubelet::start(const object_ptr& pod, base::time_point) {
  draft parsed{pod->body};
  auto& doc = parsed.doc();
  auto& status = child(doc, "status");
  auto now = api::timestamp_text(clock_.wall_now());
  status["phase"] = "Running";
  status["startTime"] = now;
  auto& list = conditions_of(status);
  for (auto type : {"Initialized", "Ready", "ContainersReady"})
    set_condition(list, type, true, "", now);
  if (!text_at(condition(list, "PodScheduled"), {"status"}).starts_with("T"))
    set_condition(list, "PodScheduled", true, "", now);
  write_containers(doc, true, now);
  registry_.write_status(kind_id::pods, *pod, doc);
}

void kubelet::finish(const object_ptr& pod) {
  draft parsed{pod->body};
  auto& doc = parsed.doc();
  auto& status = child(doc, "status");
  auto now = api::timestamp_text(clock_.wall_now());
  status["phase"] = "Succeeded";
  auto& list = conditions_of(status);
  for (auto type : {"Ready", "ContainersReady"})
    set_condition(list, type, false, "PodCompleted", now);
  write_containers(doc, false, now);
  registry_.write_status(kind_id::pods, *pod, doc);
}

} // namespace tutti::sim::api_server
