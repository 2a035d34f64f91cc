// Steps that make, change and delete objects, and the controllers that stand behind some pods.
#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/manifest.hpp"
#include "protocol/sharding.hpp"
#include "sim/scenario/stage.hpp"

namespace tutti::sim::scenario {

namespace json = boost::json;
using api_server::kind_id;

namespace {

constexpr std::string_view merge_patch = "application/merge-patch+json";

std::string name_in(const json::object& x) {
  return api_server::key_of(api_server::text_at(x, {"metadata", "namespace"}),
                            api_server::text_at(x, {"metadata", "name"}));
}

} // namespace

// ---------------------------------------------------------------- what is refused

/// A step that is to be refused must be, with these words, and leave nothing behind.
void stage::apply_checked(const std::function<refusal()>& input) {
  const auto before = scene_->objects().last();
  const auto refused = input();
  if (!current_->is_to_be_refused) {
    if (refused)
      give_up("the step is accepted", *refused);
    return;
  }
  if (!refused)
    give_up("the step is refused", "it was accepted");
  if (const auto* missing = first_missing(current_->refusal, *refused))
    give_up(fmt::format("the refusal says {}", missing->text()), *refused);
  if (scene_->objects().last() != before)
    give_up("nothing of what was refused comes into being",
            fmt::format("{} writes were accepted before: {}", scene_->objects().last() - before,
                        *refused));
}

stage::refusal stage::apply_objects(const std::vector<json::object>& objects,
                                    const std::vector<std::string>& places) {
  const auto done = world_->api().plane().apply(objects, places);
  world_->api().turn();
  if (!done)
    return done.error().message();
  return std::nullopt;
}

stage::refusal stage::ask(const std::string& method, const std::string& target,
                          const json::value& body, const std::string& content_type) {
  protocol::http_request request;
  request.method = method;
  request.target = target;
  if (!body.is_null())
    request.body = json::serialize(body);
  request.content_type = content_type;
  const auto answer = world_->api().ask(request);
  if (answer.status < 300)
    return std::nullopt;
  boost::system::error_code failed;
  const auto said = json::parse(answer.body, failed);
  const auto message = !failed && said.is_object()
                           ? std::string{api_server::text_at(said.get_object(), {"message"})}
                           : answer.body;
  return fmt::format("{} {}: {} {}", method, target, answer.status, message);
}

/// In order. A group with a home gets a uid whose partition that process owns now.
stage::refusal stage::create(const wanted_objects& all) {
  std::vector<json::object> objects;
  const auto apply_so_far = [&]() -> refusal {
    return objects.empty() ? std::nullopt : apply_objects(std::exchange(objects, {}), {});
  };
  for (const auto& w : all) {
    if (w.home.empty()) {
      objects.push_back(w.object);
      continue;
    }
    if (auto refused = apply_so_far())
      return refused;
    const auto* home = &need_process(w.home);
    auto& plane = world_->api().plane();
    plane.wish_uids([this, home](const std::string& uid) {
      return scene_->owner_of(protocol::to_partition(protocol::partition_of({uid}))) == home;
    });
    auto refused = apply_objects({w.object}, {});
    plane.wish_uids({});
    if (refused)
      return refused;
  }
  return apply_so_far();
}

std::string stage::url_of(const target& whom) const {
  const auto kind = scene::kind_named(whom.plural);
  const api_server::catalog kinds{story_.speaks.kubernetes};
  const auto* end = kind ? kinds.preferred(*kind) : nullptr;
  if (!end)
    return "/api/v1/" + whom.plural;
  auto out = end->group.empty() ? fmt::format("/api/{}", end->version)
                                : fmt::format("/apis/{}/{}", end->group, end->version);
  auto name = whom.key;
  if (end->what->is_namespaced) {
    const auto slash = name.find('/');
    out += "/namespaces/" + name.substr(0, slash);
    name = name.substr(slash + 1);
  }
  out += fmt::format("/{}/{}", whom.plural, name);
  return whom.subresource.empty() ? out : out + "/" + whom.subresource;
}

std::vector<std::string> stage::keys_of(const chosen_pods& pods) {
  std::vector<std::string> out;
  if (!pods.group.empty()) {
    for (const auto& pod : scene_->members(pods.group))
      out.push_back(pod->key);
    if (out.empty())
      give_up(fmt::format("group {} has members", pods.group), "none");
  }
  for (const auto& name : pods.names)
    out.push_back(split_name(name).key());
  return out;
}

// ---------------------------------------------------------------- steps

void stage::perform(const create_step& x) {
  apply_checked([&]() -> refusal {
    auto refused = create(x.objects);
    for (const auto& w : x.objects) {
      if (refused || !w.is_recreated)
        continue;
      const auto key = name_in(w.object);
      const auto made = scene_->objects().find(kind_id::pods, key);
      recreated_[key] = {w.object, std::string{api_server::text_at(w.object, {"metadata", "name"})},
                         0, made ? made->uid : std::string{}};
    }
    return refused;
  });
}

void stage::perform(const apply_step& x) {
  apply_checked([&]() -> refusal {
    auto read = api::read_manifest_text(x.text, x.name, {.kubernetes = story_.speaks.kubernetes});
    if (!read)
      return read.error().message();
    std::vector<json::object> objects;
    std::vector<std::string> places;
    for (auto& m : *read) {
      places.push_back(api::place_of(m));
      objects.push_back(std::move(m.object));
    }
    return apply_objects(objects, places);
  });
}

void stage::perform(const patch_step& x) {
  apply_checked([&]() -> refusal {
    const auto found = scene_->find(x.whom);
    if (found.empty())
      return fmt::format("{} {} is not there", x.whom.plural, x.whom.key);
    for (const auto& one : found) {
      auto each = x.whom;
      each.key = one->key;
      if (auto refused = ask("PATCH", url_of(each), x.changes, std::string{merge_patch}))
        return refused;
    }
    return std::nullopt;
  });
}

void stage::perform(const delete_step& x) {
  std::vector<target> all;
  if (!x.group.empty())
    for (const auto& key : keys_of({{}, x.group}))
      all.push_back({"pods", key, {}});
  for (const auto& whom : x.whom)
    for (const auto& one : scene_->find(whom))
      all.push_back({whom.plural, one->key, {}});
  if (all.empty())
    give_up("there is something to delete", "nothing of that name");
  apply_checked([&]() -> refusal {
    for (const auto& whom : all)
      if (auto refused = ask("DELETE", url_of(whom), nullptr))
        return refused;
    return std::nullopt;
  });
}

void stage::perform(const finish_step& x) {
  const auto* phase = x.is_failure ? "Failed" : "Succeeded";
  apply_checked([&]() -> refusal {
    for (const auto& key : keys_of(x.pods)) {
      const json::object status{{"status", {{"phase", phase}}}};
      if (auto refused =
              ask("PATCH", url_of({"pods", key, "status"}), status, std::string{merge_patch}))
        return refused;
    }
    return std::nullopt;
  });
}

void stage::perform(const evict_step& x) {
  apply_checked([&]() -> refusal {
    for (const auto& key : keys_of(x.pods)) {
      const auto slash = key.find('/');
      const json::object body{
          {"apiVersion", "policy/v1"},
          {"kind", "Eviction"},
          {"metadata", {{"name", key.substr(slash + 1)}, {"namespace", key.substr(0, slash)}}}};
      if (auto refused = ask("POST", url_of({"pods", key, "eviction"}), body))
        return refused;
    }
    return std::nullopt;
  });
}

void stage::perform(const bind_step& x) {
  apply_checked([&]() -> refusal {
    const auto name = split_name(x.pod);
    const json::object body{
        {"apiVersion", "v1"},
        {"kind", "Binding"},
        {"metadata", {{"name", name.api_name()}, {"namespace", name.space}}},
        {"target", {{"kind", "Node"}, {"name", full_name{"", x.node}.api_name()}}}};
    return ask("POST", url_of({"pods", name.key(), "binding"}), body);
  });
}

// ---------------------------------------------------------------- controllers

/// A pod with a controller has a successor as soon as it is deleted: NAME-r1, NAME-r2, …
void stage::replace_deleted() {
  const auto& objects = scene_->objects();
  if (recreated_.empty() || recreate_seen_ == objects.last())
    return;
  std::vector<recreated> to_make;
  for (auto pos = recreated_.begin(); pos != recreated_.end();) {
    const auto pod = objects.find(kind_id::pods, pos->first);
    if (pod && pod->uid == pos->second.uid && !pod->is_deleting) {
      ++pos;
      continue;
    }
    to_make.push_back(std::move(pos->second));
    pos = recreated_.erase(pos);
  }
  for (auto& next : to_make) {
    ++next.generation;
    auto& meta = next.object["metadata"].as_object();
    meta["name"] = fmt::format("{}-r{}", next.base, next.generation);
    meta["labels"].as_object()["name"] = meta["name"];
    next.object["spec"].as_object().erase("nodeName");
    next.object.erase("status");
    if (const auto refused = apply_objects({next.object}, {}))
      give_up("a controller replaces its pod", *refused);
    const auto key = name_in(next.object);
    next.uid = objects.find(kind_id::pods, key)->uid;
    recreated_[key] = std::move(next);
  }
  recreate_seen_ = objects.last();
}

} // namespace tutti::sim::scenario
