// Steps that make, change and delete objects of a live cluster, and the controllers that stand
// behind some pods.
#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/manifest.hpp"
#include "sim/scenario/live_stage.hpp"

namespace tutti::sim::scenario {

namespace json = boost::json;
using api_server::kind_id;
using api_server::text_at;

/// A step that is to be refused must be, with these words. What it would make is only tried.
void live_stage::apply_checked(const std::function<refusal()>& input) {
  const auto refused = input();
  acted_at_ = now();
  if (!current_->is_to_be_refused) {
    if (refused)
      give_up("the step is accepted", *refused);
    look(cluster_copy::extent::core);
    return;
  }
  if (!refused)
    give_up("the step is refused", "it was accepted");
  if (const auto* missing = first_missing(current_->refusal, *refused))
    give_up(fmt::format("the refusal says {}", missing->text()), *refused);
}

refusal live_stage::apply_all(const std::vector<json::object>& objects) {
  for (const auto& x : objects)
    if (auto refused = current_->is_to_be_refused ? hands_.try_to_apply(x) : hands_.apply(x))
      return refused;
  return std::nullopt;
}

std::vector<std::string> live_stage::keys_of(const chosen_pods& pods) {
  std::vector<std::string> out;
  if (!pods.group.empty()) {
    for (const auto& pod : scene_.members(pods.group))
      out.push_back(pod->key);
    if (out.empty())
      give_up(fmt::format("group {} has members", pods.group), "none");
  }
  for (const auto& name : pods.names)
    out.push_back(split_name(name).key());
  return out;
}

void live_stage::note_ending(const std::string& key) {
  if (const auto pod = copy_.objects().find(kind_id::pods, key))
    copy_.note_ending(pod->uid);
}

void live_stage::perform(const create_step& x) {
  std::vector<json::object> objects;
  for (const auto& w : x.objects)
    objects.push_back(w.object);
  apply_checked([&] { return apply_all(objects); });
  for (const auto& w : x.objects) {
    if (!w.is_recreated || current_->is_to_be_refused)
      continue;
    const std::string name{text_at(w.object, {"metadata", "name"})};
    const auto key = api_server::key_of(text_at(w.object, {"metadata", "namespace"}), name);
    const auto made = copy_.objects().find(kind_id::pods, key);
    recreated_[key] = {w.object, name, 0, made ? made->uid : std::string{}};
  }
}

void live_stage::perform(const apply_step& x) {
  apply_checked([&]() -> refusal {
    auto read = api::read_manifest_text(x.text, x.name, {.kubernetes = story_.speaks.kubernetes});
    if (!read)
      return read.error().message();
    std::vector<json::object> objects;
    for (auto& m : *read) {
      if (auto* spec = m.kind == "Pod" ? m.object.if_contains("spec") : nullptr;
          spec && spec->is_object() && !spec->get_object().contains("schedulerName"))
        spec->get_object()["schedulerName"] = story_.speaks.scheduler;
      objects.push_back(std::move(m.object));
    }
    return apply_all(objects);
  });
}

void live_stage::perform(const patch_step& x) {
  look(cluster_copy::extent::all);
  apply_checked([&]() -> refusal {
    const auto kind = scene::kind_named(x.whom.plural);
    const auto found = scene_.find(x.whom);
    if (found.empty())
      return fmt::format("{} {} is not there", x.whom.plural, x.whom.key);
    for (const auto& one : found)
      if (auto refused = hands_.merge(*kind, one->key, x.whom.subresource, x.changes))
        return refused;
    return std::nullopt;
  });
}

void live_stage::perform(const delete_step& x) {
  look(cluster_copy::extent::all);
  std::vector<std::pair<kind_id, std::string>> all;
  if (!x.group.empty())
    for (const auto& key : keys_of({{}, x.group}))
      all.emplace_back(kind_id::pods, key);
  for (const auto& whom : x.whom)
    for (const auto& one : scene_.find(whom))
      all.emplace_back(*scene::kind_named(whom.plural), one->key);
  if (all.empty())
    give_up("there is something to delete", "nothing of that name");
  apply_checked([&]() -> refusal {
    for (const auto& [kind, key] : all) {
      if (kind == kind_id::pods)
        note_ending(key);
      if (auto refused = hands_.remove(kind, key))
        return refused;
    }
    return std::nullopt;
  });
}

void live_stage::perform(const finish_step& x) {
  const auto* phase = x.is_failure ? "Failed" : "Succeeded";
  apply_checked([&]() -> refusal {
    for (const auto& key : keys_of(x.pods))
      if (auto refused = hands_.merge(kind_id::pods, key, "status",
                                      json::object{{"status", {{"phase", phase}}}}))
        return refused;
    return std::nullopt;
  });
}

void live_stage::perform(const evict_step& x) {
  apply_checked([&]() -> refusal {
    for (const auto& key : keys_of(x.pods)) {
      note_ending(key);
      const auto slash = key.find('/');
      const json::object body{
          {"apiVersion", "policy/v1"},
          {"kind", "Eviction"},
          {"metadata", {{"name", key.substr(slash + 1)}, {"namespace", key.substr(0, slash)}}}};
      if (auto refused = hands_.ask("POST", hands_.path(kind_id::pods, key, "eviction"), body))
        return refused;
    }
    return std::nullopt;
  });
}

void live_stage::perform(const bind_step& x) {
  apply_checked([&]() -> refusal {
    const auto name = split_name(x.pod);
    const json::object body{
        {"apiVersion", "v1"},
        {"kind", "Binding"},
        {"metadata", {{"name", name.api_name()}, {"namespace", name.space}}},
        {"target", {{"kind", "Node"}, {"name", full_name{"", x.node}.api_name()}}}};
    return hands_.ask("POST", hands_.path(kind_id::pods, name.key(), "binding"), body);
  });
}

/// A pod with a controller has a successor as soon as it is deleted: NAME-r1, NAME-r2, …
void live_stage::replace_deleted() {
  std::vector<recreated> to_make;
  for (auto pos = recreated_.begin(); pos != recreated_.end();) {
    const auto pod = copy_.objects().find(kind_id::pods, pos->first);
    if (pod && pod->uid == pos->second.uid && !pod->is_deleting) {
      ++pos;
      continue;
    }
    to_make.push_back(std::move(pos->second));
    pos = recreated_.erase(pos);
  }
  for (auto& next : to_make) {
    auto& meta = next.object["metadata"].as_object();
    meta["name"] = fmt::format("{}-r{}", next.base, ++next.generation);
    meta["labels"].as_object()["name"] = meta["name"];
    next.object["spec"].as_object().erase("nodeName");
    next.object.erase("status");
    if (const auto refused = hands_.apply(next.object))
      give_up("a controller replaces its pod", *refused);
    if (auto ok = copy_.read(cluster_copy::extent::core); !ok)
      give_up("the API server answers", ok.error().message());
    const auto key = api_server::key_of(text_at(next.object, {"metadata", "namespace"}),
                                        text_at(next.object, {"metadata", "name"}));
    const auto made = copy_.objects().find(kind_id::pods, key);
    next.uid = made ? made->uid : std::string{};
    recreated_[key] = std::move(next);
  }
}

} // namespace tutti::sim::scenario
